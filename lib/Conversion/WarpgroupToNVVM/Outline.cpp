//===- Outline.cpp - Work items as a kernel -*- C++ -*-===//
//
// Part of the MLA project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "mla/Conversion/KernelAttrs.h"
#include "mla/Conversion/Passes.h"
#include "mla/Dialect/Warpgroup/IR/Layouts.h"
#include "mla/Dialect/Warpgroup/IR/Warpgroup.h"

#include "mlir/Conversion/LLVMCommon/TypeConverter.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/Transforms/RegionUtils.h"

namespace mlir::mla {
#define GEN_PASS_DEF_MLAWARPGROUPOUTLINE
#include "mla/Conversion/Passes.h.inc"
} // namespace mlir::mla

using namespace mlir;
using namespace mlir::mla;

namespace {
class Outliner {
public:
  explicit Outliner(ModuleOp module)
      : module(module), symbols(module), converter(module.getContext()) {}

  LogicalResult outline(scf::ForallOp loop);

private:
  FailureOr<LLVM::LLVMFuncOp> buildKernel(scf::ForallOp loop,
                                          ArrayRef<Value> captures,
                                          ArrayRef<Value> maps,
                                          LLVM::LLVMStructType fields,
                                          int64_t threads);

  ModuleOp module;
  SymbolTable symbols;
  LLVMTypeConverter converter;
};
} // namespace

/// What the copy engine reads is a parameter by itself.
static constexpr int64_t kMapBytes = 128, kMapAlignment = 64;
/// Two counters: items claimed, blocks that are done.
static constexpr int64_t kCounterBytes = 8;

/// The threads of a block: as many warpgroups as the fragments are spread over,
/// and a producer's where there are roles.
static FailureOr<int64_t> getNumThreads(scf::ForallOp loop) {
  auto roles = loop.getBody()->getOps<wg::RolesOp>();
  if (!roles.empty())
    return (1 + static_cast<int64_t>((*roles.begin()).getWarpgroups())) *
           wg::threadsPerWarpgroup;
  int64_t warpgroups = 0;
  WalkResult walk = loop.walk([&](Operation *op) {
    for (Value value : op->getResults())
      if (auto type = dyn_cast<wg::FragmentType>(value.getType())) {
        if (warpgroups && warpgroups != type.getWarpgroups()) {
          op->emitOpError() << "expected fragments of " << warpgroups
                            << " warpgroups as before, got " << type;
          return WalkResult::interrupt();
        }
        warpgroups = type.getWarpgroups();
      }
    return WalkResult::advance();
  });
  if (walk.wasInterrupted())
    return failure();
  return std::max<int64_t>(warpgroups, 1) * wg::threadsPerWarpgroup;
}

FailureOr<LLVM::LLVMFuncOp> Outliner::buildKernel(scf::ForallOp loop,
                                                  ArrayRef<Value> captures,
                                                  ArrayRef<Value> maps,
                                                  LLVM::LLVMStructType fields,
                                                  int64_t threads) {
  MLIRContext *context = module.getContext();
  Location loc = loop.getLoc();
  StringRef function = loop->getParentOfType<func::FuncOp>().getName();
  OpBuilder builder(context);
  auto gpuModule =
      gpu::GPUModuleOp::create(builder, loc, (function + "_kernels").str());
  symbols.insert(gpuModule);
  builder.setInsertionPointToStart(gpuModule.getBody());
  auto pointer = LLVM::LLVMPointerType::get(context);
  bool counts = loop.walk([](wg::ClaimOp) { return WalkResult::interrupt(); })
                    .wasInterrupted();
  SmallVector<Type> parameters(1 + maps.size() + counts, pointer);
  auto kernel = LLVM::LLVMFuncOp::create(
      builder, loc, (function + "_kernel").str(),
      LLVM::LLVMFunctionType::get(LLVM::LLVMVoidType::get(context),
                                  parameters));
  if (counts)
    kernel->setAttr(kSlotBytes, builder.getI64IntegerAttr(kCounterBytes));
  kernel->setAttr(gpu::GPUDialect::getKernelFuncAttrName(),
                  builder.getUnitAttr());
  kernel->setAttr(NVVM::NVVMDialect::getKernelFuncAttrName(),
                  builder.getUnitAttr());
  kernel->setAttr(
      NVVM::NVVMDialect::getReqntidAttrName(),
      builder.getDenseI32ArrayAttr({static_cast<int32_t>(threads), 1, 1}));
  kernel.setArgAttr(0, LLVM::LLVMDialect::getByValAttrName(),
                    TypeAttr::get(fields));
  kernel.setArgAttr(0, NVVM::NVVMDialect::getGridConstantAttrName(),
                    builder.getUnitAttr());

  auto map = LLVM::LLVMArrayType::get(builder.getI8Type(), kMapBytes);
  for (unsigned i = 1; i <= maps.size(); ++i) {
    kernel.setArgAttr(i, LLVM::LLVMDialect::getByValAttrName(),
                      TypeAttr::get(map));
    kernel.setArgAttr(i, LLVM::LLVMDialect::getAlignAttrName(),
                      builder.getI64IntegerAttr(kMapAlignment));
    kernel.setArgAttr(i, NVVM::NVVMDialect::getGridConstantAttrName(),
                      builder.getUnitAttr());
  }

  Block *entry = kernel.addEntryBlock(builder);
  ImplicitLocOpBuilder b(loc, builder);
  b.setInsertionPointToStart(entry);
  IRMapping mapping;
  auto cast = [&](Type type, Value value) -> Value {
    if (type == value.getType())
      return value;
    return UnrealizedConversionCastOp::create(b, type, value).getResult(0);
  };
  for (auto [index, capture] : llvm::enumerate(captures)) {
    Value address = LLVM::GEPOp::create(
        b, pointer, fields, entry->getArgument(0),
        ArrayRef<LLVM::GEPArg>{0, static_cast<int32_t>(index)});
    Value field = LLVM::LoadOp::create(b, fields.getBody()[index], address);
    mapping.map(capture, cast(capture.getType(), field));
  }
  for (auto [index, value] : llvm::enumerate(maps))
    mapping.map(value, cast(value.getType(), entry->getArgument(1 + index)));
  SetVector<Value> outside;
  getUsedValuesDefinedAbove(loop.getRegion(), outside);
  for (Value value : outside)
    if (matchPattern(value, m_Constant()))
      mapping.map(value, b.clone(*value.getDefiningOp())->getResult(0));

  // Blocks count the last dimension fastest: items of one number, such as the
  // heads of one tile of queries, start together.
  Value block = arith::IndexCastOp::create(
      b, b.getIndexType(), NVVM::BlockIdXOp::create(b, b.getI32Type()));
  if (loop.getRank() == 1) {
    mapping.map(loop.getInductionVar(0), block);
  } else {
    OpFoldResult bound = loop.getMixedUpperBound()[1];
    Value inner = isa<Attribute>(bound)
                      ? getValueOrCreateConstantIndexOp(b, loc, bound)
                      : mapping.lookupOrDefault(::cast<Value>(bound));
    mapping.map(loop.getInductionVar(0),
                arith::DivUIOp::create(b, block, inner).getResult());
    mapping.map(loop.getInductionVar(1),
                arith::RemUIOp::create(b, block, inner).getResult());
  }
  for (Operation &op : loop.getBody()->without_terminator())
    b.clone(op, mapping);
  LLVM::ReturnOp::create(b, ValueRange());
  return kernel;
}

LogicalResult Outliner::outline(scf::ForallOp loop) {
  // A dimension of one item may have been folded away.
  if (loop.getRank() > 2 || loop.getNumResults() != 0 || !loop.isNormalized())
    return loop.emitOpError(
        "expected at most two dimensions from 0 by 1, and no results");
  FailureOr<int64_t> threads = getNumThreads(loop);
  if (failed(threads))
    return failure();
  SetVector<Value> used;
  getUsedValuesDefinedAbove(loop.getRegion(), used);
  if (loop.getRank() == 2)
    if (auto inner = dyn_cast<Value>(loop.getMixedUpperBound()[1]))
      used.insert(inner);
  SmallVector<Value> captures, maps;
  for (Value value : used)
    if (isa<wg::TensorMapType>(value.getType()))
      maps.push_back(value);
    else if (!matchPattern(value, m_Constant()))
      captures.push_back(value);
  SmallVector<Type> types;
  for (Value capture : captures) {
    Type type = converter.convertType(capture.getType());
    if (!type)
      return loop.emitOpError()
             << "captures a value of type " << capture.getType()
             << ", which has no LLVM type";
    types.push_back(type);
  }
  MLIRContext *context = module.getContext();
  auto fields = LLVM::LLVMStructType::getLiteral(context, types);
  FailureOr<LLVM::LLVMFuncOp> kernel =
      buildKernel(loop, captures, maps, fields, *threads);
  if (failed(kernel))
    return failure();

  ImplicitLocOpBuilder b(loop.getLoc(), loop);
  // On the stack of the function, once, however often the loop runs.
  Block &entry = loop->getParentOfType<func::FuncOp>().getBody().front();
  auto pointer = LLVM::LLVMPointerType::get(context);
  Value parameter;
  {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(&entry);
    Value count = LLVM::ConstantOp::create(b, b.getI64IntegerAttr(1));
    parameter = LLVM::AllocaOp::create(b, pointer, fields, count);
  }
  Value record = LLVM::PoisonOp::create(b, fields);
  for (auto [index, capture] : llvm::enumerate(captures)) {
    Value field = capture;
    if (field.getType() != types[index])
      field = UnrealizedConversionCastOp::create(b, types[index], field)
                  .getResult(0);
    record = LLVM::InsertValueOp::create(b, record, field, index);
  }
  LLVM::StoreOp::create(b, record, parameter);
  SmallVector<Value> operands{parameter};
  for (Value map : maps)
    operands.push_back(
        UnrealizedConversionCastOp::create(b, pointer, map).getResult(0));
  SmallVector<Value> bounds =
      llvm::map_to_vector(loop.getMixedUpperBound(), [&](OpFoldResult bound) {
        return getValueOrCreateConstantIndexOp(b, b.getLoc(), bound);
      });
  Value one = arith::ConstantIndexOp::create(b, 1);
  Value blocks = bounds[0];
  if (bounds.size() == 2)
    blocks = arith::MulIOp::create(b, bounds[0], bounds[1]);
  Value size = arith::ConstantIndexOp::create(b, *threads);
  auto gpuModule = (*kernel)->getParentOfType<gpu::GPUModuleOp>();
  auto symbol =
      SymbolRefAttr::get(gpuModule.getNameAttr(),
                         {FlatSymbolRefAttr::get((*kernel).getNameAttr())});
  auto launch =
      gpu::LaunchFuncOp::create(b, symbol, gpu::KernelDim3{blocks, one, one},
                                gpu::KernelDim3{size, one, one},
                                /*dynamicSharedMemorySize=*/Value(), operands);
  if (loop->hasAttr(wg::kResidentName))
    launch->setAttr(wg::kResidentName, b.getUnitAttr());
  loop.erase();
  return success();
}

namespace {
struct WarpgroupOutline : mla::impl::MLAWarpgroupOutlineBase<WarpgroupOutline> {
  void runOnOperation() override {
    SmallVector<scf::ForallOp> loops;
    getOperation().walk([&](scf::ForallOp loop) { loops.push_back(loop); });
    if (loops.empty())
      return;
    getOperation()->setAttr(gpu::GPUDialect::getContainerModuleAttrName(),
                            UnitAttr::get(&getContext()));
    Outliner outliner(getOperation());
    for (scf::ForallOp loop : loops)
      if (failed(outliner.outline(loop)))
        return signalPassFailure();
  }
};
} // namespace
