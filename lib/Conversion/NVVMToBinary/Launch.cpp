//===- Launch.cpp - Launches as calls of the runtime -*- C++ -*-===//
//
// Part of the MLA project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "mla/Conversion/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/FunctionCallUtils.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "mlir/IR/SymbolTable.h"

namespace mlir::mla {
#define GEN_PASS_DEF_MLALOWERLAUNCH
#include "mla/Conversion/Passes.h.inc"
} // namespace mlir::mla

using namespace mlir;

namespace {
/// The structs of mla-c/Runtime.h, field by field.
struct RuntimeTypes {
  explicit RuntimeTypes(MLIRContext *context)
      : pointer(LLVM::LLVMPointerType::get(context)),
        i32(IntegerType::get(context, 32)), i64(IntegerType::get(context, 64)),
        dims(LLVM::LLVMArrayType::get(i32, 3)),
        kernelOptions(LLVM::LLVMStructType::getLiteral(
            context, {i64, pointer, i64, i64})),
        launchConfig(LLVM::LLVMStructType::getLiteral(
            context, {i64, pointer, dims, dims, i32, i32})) {}

  Type pointer, i32, i64, dims;
  /// size, arch, sharedBytes, slotBytes: MlaRuntimeKernelOptions.
  LLVM::LLVMStructType kernelOptions;
  /// size, stream, grid, block, flags, reserved: MlaRuntimeLaunchConfig.
  LLVM::LLVMStructType launchConfig;
};
constexpr int64_t kKernelOptionsSize = 32, kLaunchConfigSize = 48;

class LaunchLowering {
public:
  explicit LaunchLowering(ModuleOp module)
      : module(module), symbols(module), types(module.getContext()) {}

  LogicalResult lower(gpu::LaunchFuncOp launch);

private:
  Value buildText(ImplicitLocOpBuilder &b, StringRef name, StringRef text);
  Value buildCell(ImplicitLocOpBuilder &b, StringRef name);
  Value constant(ImplicitLocOpBuilder &b, Type type, int64_t value) {
    return LLVM::ConstantOp::create(b, type, b.getIntegerAttr(type, value));
  }
  /// A struct on the stack.
  Value buildStruct(ImplicitLocOpBuilder &b, LLVM::LLVMStructType type,
                    ValueRange fields);

  ModuleOp module;
  SymbolTable symbols;
  RuntimeTypes types;
};
} // namespace

/// The address of constant bytes, ended by a zero.
Value LaunchLowering::buildText(ImplicitLocOpBuilder &b, StringRef name,
                                StringRef text) {
  auto global = symbols.lookup<LLVM::GlobalOp>(name);
  if (!global) {
    OpBuilder builder(module.getBodyRegion());
    std::string bytes = text.str();
    bytes.push_back('\0');
    auto type = LLVM::LLVMArrayType::get(builder.getI8Type(), bytes.size());
    global =
        LLVM::GlobalOp::create(builder, b.getLoc(), type,
                               /*isConstant=*/true, LLVM::Linkage::Internal,
                               name, builder.getStringAttr(bytes),
                               /*alignment=*/16);
    symbols.insert(global);
  }
  return LLVM::AddressOfOp::create(b, types.pointer, global.getSymName());
}

/// The address of a pointer, initially null.
Value LaunchLowering::buildCell(ImplicitLocOpBuilder &b, StringRef name) {
  auto global = symbols.lookup<LLVM::GlobalOp>(name);
  if (!global) {
    OpBuilder builder(module.getBodyRegion());
    global = LLVM::GlobalOp::create(builder, b.getLoc(), types.pointer,
                                    /*isConstant=*/false,
                                    LLVM::Linkage::Internal, name, Attribute());
    builder.createBlock(&global.getInitializerRegion());
    Value null = LLVM::ZeroOp::create(builder, b.getLoc(), types.pointer);
    LLVM::ReturnOp::create(builder, b.getLoc(), null);
    symbols.insert(global);
  }
  return LLVM::AddressOfOp::create(b, types.pointer, global.getSymName());
}

Value LaunchLowering::buildStruct(ImplicitLocOpBuilder &b,
                                  LLVM::LLVMStructType type,
                                  ValueRange fields) {
  Value record = LLVM::PoisonOp::create(b, type);
  for (auto [index, field] : llvm::enumerate(fields))
    record = LLVM::InsertValueOp::create(b, record, field, index);
  Value one = constant(b, types.i64, 1);
  Value place = LLVM::AllocaOp::create(b, types.pointer, type, one);
  LLVM::StoreOp::create(b, record, place);
  return place;
}

LogicalResult LaunchLowering::lower(gpu::LaunchFuncOp launch) {
  auto binary = symbols.lookup<gpu::BinaryOp>(launch.getKernelModuleName());
  if (!binary)
    return launch.emitOpError()
           << "expected a gpu.binary '" << launch.getKernelModuleName()
           << "'; run mla-nvvm-to-binary";
  auto object = cast<gpu::ObjectAttr>(binary.getObjects()[0]);
  StringRef code = object.getObject().getValue();
  StringRef entry = launch.getKernelName().getValue();
  int64_t sharedBytes = 0;
  if (DictionaryAttr facts = object.getProperties())
    if (auto bytes = facts.getAs<IntegerAttr>(entry))
      sharedBytes = bytes.getInt();
  auto target = cast<NVVM::NVVMTargetAttr>(object.getTarget());

  ImplicitLocOpBuilder b(launch.getLoc(), launch);
  auto function = [&](StringRef name, ArrayRef<Type> parameters, Type result) {
    return LLVM::lookupOrCreateFn(b, module, name, parameters, result);
  };
  FailureOr<LLVM::LLVMFuncOp> load =
      function("mlaRuntimeLoadKernelOnce",
               {types.pointer, types.pointer, types.i64, types.pointer,
                types.pointer, types.pointer},
               types.pointer);
  FailureOr<LLVM::LLVMFuncOp> enqueue = function(
      "mlaRuntimeLaunch",
      {types.pointer, types.pointer, types.pointer, types.i64, types.pointer},
      types.i32);
  if (failed(load) || failed(enqueue))
    return failure();

  std::string prefix = (binary.getName() + "_").str();
  Value null = LLVM::ZeroOp::create(b, types.pointer);
  Value arch = buildText(b, prefix + "arch", target.getChip());
  Value options = buildStruct(b, types.kernelOptions,
                              {constant(b, types.i64, kKernelOptionsSize), arch,
                               constant(b, types.i64, sharedBytes),
                               constant(b, types.i64, 0)});
  Value kernel =
      LLVM::CallOp::create(
          b, *load,
          ValueRange{buildCell(b, prefix + entry.str() + "_cell"),
                     buildText(b, prefix + "code", code),
                     constant(b, types.i64, code.size()),
                     buildText(b, prefix + entry.str() + "_name", entry),
                     options, null})
          .getResult();

  auto dims = [&](gpu::KernelDim3 size) {
    Value array = LLVM::PoisonOp::create(b, types.dims);
    for (auto [index, value] :
         llvm::enumerate(ArrayRef<Value>{size.x, size.y, size.z})) {
      Value narrow = arith::IndexCastOp::create(b, types.i32, value);
      array = LLVM::InsertValueOp::create(b, array, narrow, index);
    }
    return array;
  };
  Value config =
      buildStruct(b, types.launchConfig,
                  {constant(b, types.i64, kLaunchConfigSize), null,
                   dims(launch.getGridSizeOperandValues()),
                   dims(launch.getBlockSizeOperandValues()),
                   constant(b, types.i32, 0), constant(b, types.i32, 0)});
  // Each operand is the address of a parameter.
  int64_t count = launch.getNumKernelOperands();
  auto array = LLVM::LLVMStructType::getLiteral(
      b.getContext(), SmallVector<Type>(count, types.pointer));
  Value arguments = buildStruct(b, array, launch.getKernelOperands());
  LLVM::CallOp::create(b, *enqueue,
                       ValueRange{kernel, config, arguments,
                                  constant(b, types.i64, count), null});
  launch.erase();
  return success();
}

namespace {
struct LowerLaunch : mla::impl::MLALowerLaunchBase<LowerLaunch> {
  void runOnOperation() override {
    ModuleOp module = getOperation();
    LaunchLowering lowering(module);
    SmallVector<gpu::LaunchFuncOp> launches;
    module.walk([&](gpu::LaunchFuncOp op) { launches.push_back(op); });
    for (gpu::LaunchFuncOp launch : launches)
      if (failed(lowering.lower(launch)))
        return signalPassFailure();
    for (auto binary :
         llvm::make_early_inc_range(module.getOps<gpu::BinaryOp>()))
      binary.erase();
    module->removeAttr(gpu::GPUDialect::getContainerModuleAttrName());
  }
};
} // namespace
