//===- Threads.cpp - Work items for the runtime's thread pool -*- C++ -*-===//
//
// Part of the MLA project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
//     scf.forall (%i, %j) in (%n, %m) { body }
//
// becomes
//
//     mlaRuntimeParallelFor(n, m, bytes of scratch, @f_thunk, &captures)
//     llvm.func @f_thunk(captures: ptr, i, j, scratch: ptr) { call @f_item }
//     func.func @f_item(captured values, i, j, scratch: memref<?xi8>) { body }
//
// The thunk is the only place that knows how captured values travel: as the
// fields of a struct on the caller's stack.
//
//===----------------------------------------------------------------------===//

#include "mla/Conversion/Passes.h"

#include "mlir/Conversion/LLVMCommon/MemRefBuilder.h"
#include "mlir/Conversion/LLVMCommon/TypeConverter.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/FunctionCallUtils.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/Transforms/RegionUtils.h"

namespace mlir::mla {
#define GEN_PASS_DEF_MLACPUTHREADS
#include "mla/Conversion/Passes.h.inc"
} // namespace mlir::mla

using namespace mlir;

/// Alignment of each buffer in the scratch: a cache line, and a whole vector.
static constexpr int64_t kAlignment = 64;

namespace {
class Outliner {
public:
  Outliner(ModuleOp module)
      : module(module), symbols(module), converter(module.getContext()) {}

  LogicalResult outline(scf::ForallOp loop);

private:
  func::FuncOp buildItem(scf::ForallOp loop, ArrayRef<Value> captures,
                         StringRef name);
  LLVM::LLVMFuncOp buildThunk(Location loc, func::FuncOp item,
                              LLVM::LLVMStructType captures, StringRef name);
  FailureOr<LLVM::LLVMFuncOp> getParallelFor(OpBuilder &builder);

  ModuleOp module;
  SymbolTable symbols;
  LLVMTypeConverter converter;
};
} // namespace

/// Whether a buffer outlives an iteration of the loop that allocates it.
static bool isCarried(Value buffer) {
  return llvm::any_of(buffer.getUsers(), [](Operation *user) {
    if (isa<ViewLikeOpInterface>(user))
      return isCarried(user->getResult(0));
    return isa<scf::YieldOp, arith::SelectOp>(user);
  });
}

/// Turns the buffers that `body` allocates into views of `scratch` and returns
/// their total size. Every alloc gets its own part, wherever it stands, so that
/// nothing is allocated, zeroed or freed per item.
static int64_t placeInScratch(Region &body, BlockArgument scratch) {
  int64_t bytes = 0;
  SmallVector<memref::AllocOp> allocs;
  body.walk([&](memref::AllocOp op) {
    MemRefType type = op.getType();
    if (type.hasStaticShape() && type.getLayout().isIdentity() &&
        type.getElementType().isIntOrFloat() && !isCarried(op))
      allocs.push_back(op);
  });
  for (memref::AllocOp op : allocs) {
    MemRefType type = op.getType();
    for (Operation *user : llvm::make_early_inc_range(op->getUsers()))
      if (isa<memref::DeallocOp>(user))
        user->erase();
    ImplicitLocOpBuilder b(op.getLoc(), op);
    b.setInsertionPointToStart(scratch.getOwner());
    Value offset = arith::ConstantIndexOp::create(b, bytes);
    Value view = memref::ViewOp::create(b, type, scratch, offset, ValueRange());
    op.replaceAllUsesWith(view);
    op.erase();
    int64_t size = type.getNumElements() *
                   llvm::divideCeil(type.getElementTypeBitWidth(), 8);
    bytes += llvm::alignTo(size, kAlignment);
  }
  return bytes;
}

func::FuncOp Outliner::buildItem(scf::ForallOp loop, ArrayRef<Value> captures,
                                 StringRef name) {
  OpBuilder builder(module.getContext());
  SmallVector<Type> types;
  for (Value capture : captures)
    types.push_back(capture.getType());
  types.append(2, builder.getIndexType());
  types.push_back(MemRefType::get({ShapedType::kDynamic}, builder.getI8Type()));
  auto item = func::FuncOp::create(loop.getLoc(), name,
                                   builder.getFunctionType(types, {}));
  item.setPrivate();
  symbols.insert(item);
  Block *entry = item.addEntryBlock();
  builder.setInsertionPointToStart(entry);

  IRMapping mapping;
  mapping.map(ArrayRef<Value>(captures),
              entry->getArguments().take_front(captures.size()));
  mapping.map(loop.getInductionVars(),
              entry->getArguments().slice(captures.size(), loop.getRank()));
  // Constants are cheaper made again than carried.
  SetVector<Value> outside;
  getUsedValuesDefinedAbove(loop.getRegion(), outside);
  for (Value value : outside)
    if (matchPattern(value, m_Constant()))
      mapping.map(value, builder.clone(*value.getDefiningOp())->getResult(0));
  for (Operation &op : loop.getBody()->without_terminator())
    builder.clone(op, mapping);
  func::ReturnOp::create(builder, loop.getLoc());
  return item;
}

LLVM::LLVMFuncOp Outliner::buildThunk(Location loc, func::FuncOp item,
                                      LLVM::LLVMStructType captures,
                                      StringRef name) {
  OpBuilder builder(module.getContext());
  auto pointer = LLVM::LLVMPointerType::get(module.getContext());
  Type i64 = builder.getI64Type();
  auto thunk = LLVM::LLVMFuncOp::create(
      builder, loc, name,
      LLVM::LLVMFunctionType::get(LLVM::LLVMVoidType::get(module.getContext()),
                                  {pointer, i64, i64, pointer}),
      LLVM::Linkage::Internal);
  symbols.insert(thunk);
  Block *entry = thunk.addEntryBlock(builder);
  ImplicitLocOpBuilder b(loc, builder);
  b.setInsertionPointToStart(entry);
  Value fields = LLVM::LoadOp::create(b, captures, entry->getArgument(0));
  SmallVector<Value> arguments;
  auto cast = [&](Type type, Value value) {
    return UnrealizedConversionCastOp::create(b, type, value).getResult(0);
  };
  ArrayRef<Type> types = item.getArgumentTypes();
  for (auto [index, type] :
       llvm::enumerate(types.take_front(captures.getBody().size()))) {
    Value field = LLVM::ExtractValueOp::create(b, fields, index);
    arguments.push_back(field.getType() == type ? field : cast(type, field));
  }
  for (int64_t index : {1, 2})
    arguments.push_back(cast(b.getIndexType(), entry->getArgument(index)));
  auto scratchType = ::llvm::cast<MemRefType>(types.back());
  auto staticType = MemRefType::get({1}, b.getI8Type());
  Value descriptor = MemRefDescriptor::fromStaticShape(
      b, loc, converter, staticType, entry->getArgument(3));
  Value scratch = cast(staticType, descriptor);
  arguments.push_back(memref::CastOp::create(b, scratchType, scratch));
  func::CallOp::create(b, item, arguments);
  LLVM::ReturnOp::create(b, ValueRange());
  return thunk;
}

FailureOr<LLVM::LLVMFuncOp> Outliner::getParallelFor(OpBuilder &builder) {
  MLIRContext *context = module.getContext();
  auto pointer = LLVM::LLVMPointerType::get(context);
  Type i64 = builder.getI64Type();
  return LLVM::lookupOrCreateFn(builder, module, "mlaRuntimeParallelFor",
                                {i64, i64, i64, pointer, pointer},
                                LLVM::LLVMVoidType::get(context));
}

LogicalResult Outliner::outline(scf::ForallOp loop) {
  if (loop.getRank() > 2 || loop.getNumResults() != 0 || !loop.isNormalized())
    return success(); // left to run on the calling thread
  SetVector<Value> used;
  getUsedValuesDefinedAbove(loop.getRegion(), used);
  SmallVector<Value> captures = llvm::to_vector(llvm::make_filter_range(
      used, [](Value value) { return !matchPattern(value, m_Constant()); }));

  StringRef function = loop->getParentOfType<func::FuncOp>().getName();
  func::FuncOp item = buildItem(loop, captures, (function + "_item").str());
  int64_t bytes = placeInScratch(item.getBody(), item.getArguments().back());

  ImplicitLocOpBuilder b(loop.getLoc(), loop);
  auto convert = [&](Value value) -> Value {
    Type type = converter.convertType(value.getType());
    if (type == value.getType())
      return value;
    return UnrealizedConversionCastOp::create(b, type, value).getResult(0);
  };
  SmallVector<Type> fieldTypes;
  for (Value capture : captures) {
    Type type = converter.convertType(capture.getType());
    if (!type)
      return loop.emitOpError()
             << "captures a value of type " << capture.getType()
             << ", which has no LLVM type";
    fieldTypes.push_back(type);
  }
  auto structType =
      LLVM::LLVMStructType::getLiteral(module.getContext(), fieldTypes);
  LLVM::LLVMFuncOp thunk =
      buildThunk(loop.getLoc(), item, structType, (function + "_thunk").str());
  FailureOr<LLVM::LLVMFuncOp> parallelFor = getParallelFor(b);
  if (failed(parallelFor))
    return failure();

  Value fields = LLVM::PoisonOp::create(b, structType);
  for (auto [index, capture] : llvm::enumerate(captures))
    fields = LLVM::InsertValueOp::create(b, fields, convert(capture), index);
  auto pointer = LLVM::LLVMPointerType::get(module.getContext());
  Value one = LLVM::ConstantOp::create(b, b.getI64IntegerAttr(1));
  Value context = LLVM::AllocaOp::create(b, pointer, structType, one);
  LLVM::StoreOp::create(b, fields, context);
  SmallVector<Value> arguments;
  // A dimension of one item may have been folded away.
  SmallVector<OpFoldResult> bounds = loop.getMixedUpperBound();
  bounds.resize(2, b.getIndexAttr(1));
  for (OpFoldResult bound : bounds) {
    Value value = getValueOrCreateConstantIndexOp(b, b.getLoc(), bound);
    arguments.push_back(convert(value));
  }
  arguments.push_back(LLVM::ConstantOp::create(b, b.getI64IntegerAttr(bytes)));
  arguments.push_back(LLVM::AddressOfOp::create(b, thunk));
  arguments.push_back(context);
  LLVM::CallOp::create(b, *parallelFor, arguments);
  loop.erase();
  return success();
}

namespace {
struct Threads : mla::impl::MLACPUThreadsBase<Threads> {
  void runOnOperation() override {
    SmallVector<scf::ForallOp> loops;
    getOperation().walk<WalkOrder::PreOrder>([&](scf::ForallOp loop) {
      loops.push_back(loop);
      return WalkResult::skip(); // only the outermost ones
    });
    Outliner outliner(getOperation());
    for (scf::ForallOp loop : loops)
      if (failed(outliner.outline(loop)))
        return signalPassFailure();
  }
};
} // namespace
