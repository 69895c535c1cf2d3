//===- Launch.cpp - Launches as calls of the runtime -*- C++ -*-===//
//
// Part of the MLA project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "mla/Conversion/KernelAttrs.h"
#include "mla/Conversion/Passes.h"
#include "mla/Dialect/Warpgroup/IR/Warpgroup.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/FunctionCallUtils.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "mlir/IR/SymbolTable.h"

namespace mlir::mla {
#define GEN_PASS_DEF_MLALOWERLAUNCH
#include "mla/Conversion/Passes.h.inc"
} // namespace mlir::mla

using namespace mlir;
using namespace mlir::mla;

namespace {
/// The structs of mla-c/Runtime.h, field by field.
struct RuntimeTypes {
  explicit RuntimeTypes(MLIRContext *context)
      : pointer(LLVM::LLVMPointerType::get(context)),
        i32(IntegerType::get(context, 32)), i64(IntegerType::get(context, 64)),
        dims(LLVM::LLVMArrayType::get(i32, 3)),
        kernelOptions(LLVM::LLVMStructType::getLiteral(
            context, {i64, pointer, i64, i64, i64})),
        launchConfig(LLVM::LLVMStructType::getLiteral(
            context, {i64, pointer, dims, dims, i32, i32})),
        tensorMapSpec(LLVM::LLVMStructType::getLiteral(
            context, {i64, pointer, pointer, i32, i32, pointer, pointer,
                      pointer, i32, i32, pointer})),
        tensorMap(LLVM::LLVMArrayType::get(IntegerType::get(context, 8), 128)) {
  }

  Type pointer, i32, i64, dims;
  /// size, arch, sharedBytes, slotBytes, parameterCount:
  /// MlaRuntimeKernelOptions.
  LLVM::LLVMStructType kernelOptions;
  /// size, stream, grid, block, flags, reserved: MlaRuntimeLaunchConfig.
  LLVM::LLVMStructType launchConfig;
  /// size, name, data, dtype, rank, shape, strides, box, swizzle, l2Promotion,
  /// stream: MlaRuntimeTensorMapSpec.
  LLVM::LLVMStructType tensorMapSpec;
  LLVM::LLVMArrayType tensorMap;
};
constexpr int64_t kKernelOptionsSize = 40, kLaunchConfigSize = 48,
                  kTensorMapSpecSize = 72, kTensorMapAlignment = 64;
/// MlaRuntimeDType and MLA_RUNTIME_LAUNCH_RESIDENT.
constexpr int64_t kBF16 = 0, kF16 = 1, kResident = 2;

class LaunchLowering {
public:
  explicit LaunchLowering(ModuleOp module)
      : module(module), symbols(module), types(module.getContext()) {}

  LogicalResult lower(gpu::LaunchFuncOp launch);
  LogicalResult lower(wg::TensorMapOp op);

private:
  Value buildText(ImplicitLocOpBuilder &b, StringRef name, StringRef text);
  Value buildCell(ImplicitLocOpBuilder &b, StringRef name);
  Value constant(ImplicitLocOpBuilder &b, Type type, int64_t value) {
    return LLVM::ConstantOp::create(b, type, b.getIntegerAttr(type, value));
  }
  /// Memory on the stack of the function: a launch may be in a loop.
  Value buildPlace(ImplicitLocOpBuilder &b, Type type, int64_t alignment = 0);
  /// A struct on the stack.
  Value buildStruct(ImplicitLocOpBuilder &b, LLVM::LLVMStructType type,
                    ValueRange fields);
  /// An array of numbers on the stack.
  Value buildArray(ImplicitLocOpBuilder &b, Type element, ValueRange values);

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
  Value place = buildPlace(b, type);
  LLVM::StoreOp::create(b, record, place);
  return place;
}

Value LaunchLowering::buildPlace(ImplicitLocOpBuilder &b, Type type,
                                 int64_t alignment) {
  auto function =
      b.getInsertionBlock()->getParentOp()->getParentOfType<func::FuncOp>();
  if (!function)
    function = cast<func::FuncOp>(b.getInsertionBlock()->getParentOp());
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(&function.getBody().front());
  return LLVM::AllocaOp::create(b, types.pointer, type,
                                constant(b, types.i64, 1), alignment);
}

Value LaunchLowering::buildArray(ImplicitLocOpBuilder &b, Type element,
                                 ValueRange values) {
  auto type = LLVM::LLVMStructType::getLiteral(
      b.getContext(), SmallVector<Type>(values.size(), element));
  return buildStruct(b, type, values);
}

/// The map is made when it is launched with; the runtime keeps those it made.
LogicalResult LaunchLowering::lower(wg::TensorMapOp op) {
  ImplicitLocOpBuilder b(op.getLoc(), op);
  FailureOr<LLVM::LLVMFuncOp> encode = LLVM::lookupOrCreateFn(
      b, module, "mlaRuntimeEncodeTensorMap",
      {types.pointer, types.pointer, types.pointer}, types.i32);
  if (failed(encode))
    return failure();
  auto type = cast<MemRefType>(op.getSource().getType());
  auto data = memref::ExtractStridedMetadataOp::create(b, op.getSource());
  auto widen = [&](OpFoldResult value) -> Value {
    Value index = getValueOrCreateConstantIndexOp(b, b.getLoc(), value);
    return arith::IndexCastOp::create(b, types.i64, index);
  };
  auto widenAll = [&](ArrayRef<OpFoldResult> all) {
    return llvm::map_to_vector(all, widen);
  };
  Value start =
      memref::ExtractAlignedPointerAsIndexOp::create(b, op.getSource());
  Value offset = arith::MulIOp::create(
      b, widen(data.getConstifiedMixedOffset()),
      constant(b, types.i64, type.getElementTypeBitWidth() / 8));
  Value address = arith::AddIOp::create(
      b, arith::IndexCastOp::create(b, types.i64, start), offset);
  wg::TensorMapType map = op.getMap().getType();
  SmallVector<Value> box =
      llvm::map_to_vector(map.getBox(), [&](int64_t extent) {
        return constant(b, types.i32, extent);
      });
  Value null = LLVM::ZeroOp::create(b, types.pointer);
  // Rows of whole 256 bytes are read whole.
  int64_t rowBytes = type.getShape().back() * type.getElementTypeBitWidth() / 8;
  int64_t promotion = rowBytes > 0 && rowBytes % 256 == 0 ? 256 : 128;
  Value spec = buildStruct(
      b, types.tensorMapSpec,
      {constant(b, types.i64, kTensorMapSpecSize),
       buildText(b, ("mla_operand_" + op.getOperand()).str(), op.getOperand()),
       LLVM::IntToPtrOp::create(b, types.pointer, address),
       constant(b, types.i32, type.getElementType().isBF16() ? kBF16 : kF16),
       constant(b, types.i32, type.getRank()),
       buildArray(b, types.i64, widenAll(data.getConstifiedMixedSizes())),
       buildArray(b, types.i64, widenAll(data.getConstifiedMixedStrides())),
       buildArray(b, types.i32, box), constant(b, types.i32, 128),
       constant(b, types.i32, promotion), null});
  Value place = buildPlace(b, types.tensorMap, kTensorMapAlignment);
  LLVM::CallOp::create(b, *encode, ValueRange{spec, place, null});
  for (Operation *user : llvm::make_early_inc_range(op.getMap().getUsers())) {
    auto cast = dyn_cast<UnrealizedConversionCastOp>(user);
    if (!cast)
      return user->emitOpError("uses a tensor map other than by a launch");
    cast.getResult(0).replaceAllUsesWith(place);
    cast.erase();
  }
  op.erase();
  return success();
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
  DictionaryAttr facts;
  if (DictionaryAttr ofAll = object.getProperties())
    facts = ofAll.getAs<DictionaryAttr>(entry);
  auto getFact = [&](StringRef name) -> int64_t {
    auto value = facts ? facts.getAs<IntegerAttr>(name) : IntegerAttr();
    return value ? value.getInt() : 0;
  };
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
  Value options =
      buildStruct(b, types.kernelOptions,
                  {constant(b, types.i64, kKernelOptionsSize), arch,
                   constant(b, types.i64, getFact(kSharedBytes)),
                   constant(b, types.i64, getFact(kSlotBytes)),
                   constant(b, types.i64, launch.getNumKernelOperands())});
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
                   constant(b, types.i32,
                            launch->hasAttr(wg::kResidentName) ? kResident : 0),
                   constant(b, types.i32, 0)});
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
    SmallVector<wg::TensorMapOp> maps;
    module.walk([&](wg::TensorMapOp op) { maps.push_back(op); });
    for (wg::TensorMapOp map : maps)
      if (failed(lowering.lower(map)))
        return signalPassFailure();
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
