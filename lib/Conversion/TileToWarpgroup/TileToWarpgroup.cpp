//===- TileToWarpgroup.cpp - Homes for tile values on a GPU -*- C++ -*-===//
//
// Part of the MLA project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// One rule for each op of a work item's body; where a value lives follows from
// the op that makes it:
//
//     slice, padded slice, gather          shared memory
//     contraction, and what is computed    registers: accumulator, row
//     elementwise or by reduction from it
//     computed left operand                registers: operand_a
//
//===----------------------------------------------------------------------===//

#include "mla/Conversion/Passes.h"
#include "mla/Dialect/MLA/IR/MLA.h"
#include "mla/Dialect/Warpgroup/IR/Layouts.h"
#include "mla/Dialect/Warpgroup/IR/Warpgroup.h"

#include "mlir/Dialect/Affine/ViewLikeInterfaceUtils.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/TypeSwitch.h"

namespace mlir::mla {
#define GEN_PASS_DEF_MLATILETOWARPGROUP
#include "mla/Conversion/Passes.h.inc"
} // namespace mlir::mla

using namespace mlir;
using namespace mlir::mla;
using wg::FragmentKind;

namespace {
/// Rewrites one work item's body, op by op, into a new one. Tensors are mapped
/// to tiles, fragments, or memrefs (views of outer operands that nobody has
/// loaded).
class ItemRewriter {
public:
  ItemRewriter(scf::ForallOp forall)
      : forall(forall), b(forall.getLoc(), forall.getContext()) {}

  LogicalResult run();

private:
  LogicalResult rewrite(Operation &op);
  LogicalResult rewriteBlock(Block &block);
  LogicalResult rewriteFor(scf::ForOp op);
  LogicalResult rewriteSlice(tensor::ExtractSliceOp op);
  LogicalResult loadRows(RankedTensorType type, Value view, Value tensor,
                         Value operand);
  LogicalResult rewritePad(tensor::PadOp op);
  LogicalResult rewriteGather(GatherPagesOp op);
  LogicalResult rewriteLocate(LocateOp op);
  LogicalResult rewriteContraction(linalg::LinalgOp op);
  LogicalResult rewriteMap(linalg::LinalgOp op);
  LogicalResult rewriteReduction(linalg::LinalgOp op);
  LogicalResult rewriteInsert(tensor::ParallelInsertSliceOp op);

  FailureOr<Value> getMemref(Value tensor);
  FailureOr<Value> getTile(Value tensor);
  FailureOr<Value> getFragment(Value tensor, Operation *user);
  wg::FragmentType getFragmentType(Type tensor);

  scf::ForallOp forall;
  ImplicitLocOpBuilder b;
  IRMapping mapping;
};
} // namespace

//===----------------------------------------------------------------------===//
// Homes
//===----------------------------------------------------------------------===//

/// The memref behind a tensor from outside the loop.
FailureOr<Value> ItemRewriter::getMemref(Value tensor) {
  if (Value known = mapping.lookupOrNull(tensor);
      known && isa<MemRefType>(known.getType()))
    return known;
  if (auto argument = dyn_cast<BlockArgument>(tensor);
      argument && argument.getOwner() == forall.getBody())
    if (OpOperand *output = forall.getTiedOpOperand(argument))
      return getMemref(output->get());
  if (auto view = tensor.getDefiningOp<bufferization::ToTensorOp>())
    return view.getBuffer();
  return emitError(tensor.getLoc())
         << "a GPU reads memrefs: expected a tensor that is "
            "bufferization.to_tensor of one, got "
         << tensor.getType();
}

/// What the operand is called in messages goes along with its load.
static void keepName(Value tensor, Operation *load) {
  Operation *op = tensor.getDefiningOp();
  if (Attribute name = op ? op->getAttr(MLADialect::kOperand) : Attribute())
    load->setAttr(MLADialect::kOperand, name);
}

/// A tile in shared memory; a view of an outer operand is loaded.
FailureOr<Value> ItemRewriter::getTile(Value tensor) {
  Value known = mapping.lookupOrNull(tensor);
  if (known && isa<wg::TileType>(known.getType()))
    return known;
  if (known && isa<MemRefType>(known.getType())) {
    auto type = cast<RankedTensorType>(tensor.getType());
    if (!type.hasStaticShape())
      return emitError(tensor.getLoc())
             << "a tile needs a static shape; pad it: " << type;
    auto tile = wg::TileType::getChecked(
        [&] { return emitError(tensor.getLoc()); }, b.getContext(),
        type.getShape(), type.getElementType());
    if (!tile)
      return failure();
    // Where the slice is made, so that all who read it see the tile.
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointAfterValue(known);
    auto load = wg::LoadOp::create(b, tile, known, /*count=*/Value());
    keepName(tensor, load);
    mapping.map(tensor, load.getTile());
    return Value(load.getTile());
  }
  return emitError(tensor.getLoc())
         << "expected a slice of an operand or a gather, which can be in "
            "shared memory, got a value of type "
         << tensor.getType();
}

wg::FragmentType ItemRewriter::getFragmentType(Type tensor) {
  auto type = cast<RankedTensorType>(tensor);
  return wg::FragmentType::getChecked(
      [&] { return emitError(b.getLoc()); }, b.getContext(), type.getShape(),
      type.getElementType(),
      type.getRank() == 1 ? FragmentKind::Row : FragmentKind::Accumulator);
}

/// A fragment; a constant tile is made where it is used.
FailureOr<Value> ItemRewriter::getFragment(Value tensor, Operation *user) {
  Value known = mapping.lookupOrNull(tensor);
  if (known && isa<wg::FragmentType>(known.getType()))
    return known;
  if (auto fill = tensor.getDefiningOp<linalg::FillOp>()) {
    wg::FragmentType type = getFragmentType(tensor.getType());
    if (!type)
      return failure();
    return wg::SplatOp::create(
               b, type, mapping.lookupOrDefault(fill.getInputs().front()))
        .getResult();
  }
  return user->emitOpError()
         << "has no home on a GPU: it reads " << tensor.getType()
         << " in registers, but that is not computed there; use it as an "
            "operand of a contraction";
}

//===----------------------------------------------------------------------===//
// Data movement
//===----------------------------------------------------------------------===//

static Value makeView(ImplicitLocOpBuilder &b, Value source,
                      ArrayRef<OpFoldResult> offsets,
                      ArrayRef<OpFoldResult> sizes,
                      ArrayRef<OpFoldResult> strides, ArrayRef<int64_t> shape) {
  auto type = memref::SubViewOp::inferRankReducedResultType(
      shape, cast<MemRefType>(source.getType()), offsets, sizes, strides);
  return memref::SubViewOp::create(b, cast<MemRefType>(type), source, offsets,
                                   sizes, strides);
}

static SmallVector<OpFoldResult> remap(ArrayRef<OpFoldResult> values,
                                       const IRMapping &mapping) {
  return llvm::map_to_vector(values, [&](OpFoldResult value) -> OpFoldResult {
    if (auto attribute = dyn_cast<Attribute>(value))
      return attribute;
    return mapping.lookupOrDefault(cast<Value>(value));
  });
}

LogicalResult ItemRewriter::rewriteSlice(tensor::ExtractSliceOp op) {
  // Loaded already, as a tile of its own.
  if (mapping.contains(op.getResult()))
    return success();
  Value known = mapping.lookupOrNull(op.getSource());
  if (known && isa<wg::TileType>(known.getType())) {
    std::optional<int64_t> column =
        getConstantIntValue(op.getMixedOffsets()[1]);
    if (!column || op.getType().getRank() != 2 ||
        !op.getType().hasStaticShape() || !op.hasUnitStride() ||
        op.getType().getDimSize(0) != op.getSourceType().getDimSize(0))
      return op.emitOpError("has no home on a GPU: expected whole rows of a "
                            "tile and a constant first column");
    auto tile = wg::TileType::getChecked(
        [&] { return op.emitOpError(); }, b.getContext(),
        op.getType().getShape(), op.getType().getElementType());
    if (!tile)
      return failure();
    mapping.map(op, wg::ColumnsOp::create(b, tile, known, *column).getResult());
    return success();
  }
  // The first rows of a result: the insertion stores them.
  if (known && isa<wg::FragmentType>(known.getType())) {
    if (!llvm::all_of(op.getMixedOffsets(), isZeroInteger) ||
        !op.hasUnitStride())
      return op.emitOpError("has no home on a GPU: expected the first rows of "
                            "a tile in registers");
    mapping.map(op, known);
    return success();
  }
  FailureOr<Value> source = getMemref(op.getSource());
  if (failed(source))
    return failure();
  mapping.map(op, makeView(b, *source, remap(op.getMixedOffsets(), mapping),
                           remap(op.getMixedSizes(), mapping),
                           op.getMixedStrides(), op.getType().getShape()));
  return success();
}

/// The slices of columns that a tile is read in, if one of them does not begin
/// where a panel of shared memory does: each is then loaded as a tile of its
/// own, in which it does. Empty if the tile is loaded as it is.
static SmallVector<tensor::ExtractSliceOp>
findSlicesWithinPanels(tensor::PadOp op) {
  SmallVector<tensor::ExtractSliceOp> slices;
  bool isWithin = false;
  for (Operation *user : op->getUsers()) {
    auto slice = dyn_cast<tensor::ExtractSliceOp>(user);
    if (!slice || slice.getType().getRank() != 2 ||
        !slice.getType().hasStaticShape() || !slice.hasUnitStride() ||
        slice.getType().getDimSize(0) != op.getType().getDimSize(0))
      return {};
    std::optional<int64_t> column =
        getConstantIntValue(slice.getMixedOffsets()[1]);
    if (!column)
      return {};
    isWithin |= *column % wg::panelColumns != 0;
    slices.push_back(slice);
  }
  if (!isWithin)
    return {};
  // In the order of the text.
  llvm::sort(slices, [](Operation *left, Operation *right) {
    return left->isBeforeInBlock(right);
  });
  return slices;
}

/// The slice's columns of rows of an operand, as one part of the operand: a
/// tensor map can describe it.
static Value makeColumns(ImplicitLocOpBuilder &b, memref::SubViewOp rows,
                         tensor::ExtractSliceOp slice) {
  int64_t width = slice.getType().getDimSize(1);
  SmallVector<OpFoldResult> sizes{memref::getMixedSize(b, b.getLoc(), rows, 0),
                                  b.getIndexAttr(width)};
  SmallVector<OpFoldResult> allOffsets, allSizes, allStrides;
  LogicalResult merged = affine::mergeOffsetsSizesAndStrides(
      b, b.getLoc(), rows.getMixedOffsets(), rows.getMixedSizes(),
      rows.getMixedStrides(), rows.getDroppedDims(), slice.getMixedOffsets(),
      sizes, slice.getMixedStrides(), allOffsets, allSizes, allStrides);
  assert(succeeded(merged) && "two dimensions of two");
  (void)merged;
  return makeView(b, rows.getSource(), allOffsets, allSizes, allStrides,
                  {ShapedType::kDynamic, width});
}

LogicalResult ItemRewriter::rewritePad(tensor::PadOp op) {
  Value view = mapping.lookupOrNull(op.getSource());
  Value padding = op.getConstantPaddingValue();
  SmallVector<OpFoldResult> high = op.getMixedHighPad();
  if (!view || !isa<MemRefType>(view.getType()) || !padding ||
      !matchPattern(padding, m_AnyZeroFloat()) ||
      !llvm::all_of(op.getMixedLowPad(), isZeroInteger) || high.size() != 2 ||
      !isZeroInteger(high[1]))
    return op.emitOpError("has no home on a GPU: expected rows of an operand, "
                          "padded with zero rows at the end");
  SmallVector<tensor::ExtractSliceOp> slices = findSlicesWithinPanels(op);
  if (slices.empty())
    return loadRows(op.getType(), view, op, op.getSource());
  for (tensor::ExtractSliceOp slice : slices) {
    Value columns =
        makeColumns(b, view.getDefiningOp<memref::SubViewOp>(), slice);
    if (failed(loadRows(slice.getType(), columns, slice, op.getSource())))
      return failure();
  }
  return success();
}

/// The first rows of a tile from a view of an operand; `tensor` is the tile.
LogicalResult ItemRewriter::loadRows(RankedTensorType type, Value view,
                                     Value tensor, Value operand) {
  auto tile = wg::TileType::getChecked(
      [&] { return tensor.getDefiningOp()->emitOpError(); }, b.getContext(),
      type.getShape(), type.getElementType());
  if (!tile)
    return failure();
  Value count = memref::DimOp::create(b, view, 0);
  auto load = wg::LoadOp::create(b, tile, view, count);
  keepName(operand, load);
  mapping.map(tensor, load.getTile());
  return success();
}

LogicalResult ItemRewriter::rewriteGather(GatherPagesOp op) {
  FailureOr<Value> cache = getMemref(op.getCache());
  FailureOr<Value> table = getMemref(op.getTable());
  if (failed(cache) || failed(table))
    return failure();
  auto type = cast<RankedTensorType>(op.getDest().getType());
  auto tile =
      wg::TileType::getChecked([&] { return op.emitOpError(); }, b.getContext(),
                               type.getShape(), type.getElementType());
  if (!tile)
    return failure();
  auto load = wg::LoadPagesOp::create(
      b, tile, *cache, mapping.lookupOrDefault(op.getLayer()), op.getColumn(),
      *table, mapping.lookupOrDefault(op.getSequence()),
      mapping.lookupOrDefault(op.getPosition()),
      mapping.lookupOrDefault(op.getCount()));
  keepName(op.getResult(), load);
  mapping.map(op.getResult(), load.getTile());
  return success();
}

LogicalResult ItemRewriter::rewriteLocate(LocateOp op) {
  FailureOr<Value> offsets = getMemref(op.getOffsets());
  if (failed(offsets))
    return failure();
  auto locate = wg::LocateOp::create(b, mapping.lookupOrDefault(op.getItem()),
                                     *offsets, op.getTile());
  mapping.map(op->getResults(), locate->getResults());
  return success();
}

LogicalResult ItemRewriter::rewriteInsert(tensor::ParallelInsertSliceOp op) {
  FailureOr<Value> fragment = getFragment(op.getSource(), op);
  FailureOr<Value> dest = getMemref(op.getDest());
  if (failed(fragment) || failed(dest))
    return failure();
  Value view = makeView(b, *dest, remap(op.getMixedOffsets(), mapping),
                        remap(op.getMixedSizes(), mapping),
                        op.getMixedStrides(), op.getSourceType().getShape());
  Value count = memref::DimOp::create(b, view, 0);
  wg::StoreOp::create(b, *fragment, view, count);
  return success();
}

//===----------------------------------------------------------------------===//
// Computation
//===----------------------------------------------------------------------===//

LogicalResult ItemRewriter::rewriteContraction(linalg::LinalgOp op) {
  MLIRContext *context = b.getContext();
  AffineExpr m, n, k;
  bindDims(context, m, n, k);
  SmallVector<AffineMap> maps = op.getIndexingMapsArray();
  auto map = [&](AffineExpr x, AffineExpr y) {
    return AffineMap::get(3, 0, {x, y}, context);
  };
  bool plain = maps == ArrayRef{map(m, k), map(k, n), map(m, n)};
  bool transposed = maps == ArrayRef{map(m, k), map(n, k), map(m, n)};
  if (!plain && !transposed)
    return op.emitOpError("has no home on a GPU: expected a product of [m, k] "
                          "and [k, n] or [n, k]");
  Value left = op.getDpsInputs()[0], init = op.getDpsInits()[0];
  wg::FragmentType type = getFragmentType(init.getType());
  FailureOr<Value> right = getTile(op.getDpsInputs()[1]);
  if (!type || failed(right))
    return failure();

  Value a = mapping.lookupOrNull(left);
  if (a && isa<wg::FragmentType>(a.getType())) {
    auto from = cast<wg::FragmentType>(a.getType());
    auto to = wg::FragmentType::getChecked(
        [&] { return op.emitOpError(); }, context, from.getShape(),
        from.getElementType(), FragmentKind::OperandA);
    if (!to)
      return failure();
    a = wg::OperandAOp::create(b, to, a);
  } else {
    FailureOr<Value> tile = getTile(left);
    if (failed(tile))
      return failure();
    a = *tile;
  }
  // A sum of products is one product of several pairs.
  SmallVector<Value> lefts{a}, rights{*right};
  Value known = mapping.lookupOrNull(init);
  auto wait = known ? known.getDefiningOp<wg::WaitOp>() : nullptr;
  auto earlier = wait ? wait.getProduct().getDefiningOp<wg::MmaOp>() : nullptr;
  if (earlier && init.hasOneUse() && earlier->getBlock() == b.getBlock() &&
      earlier.getTransposed() == transposed &&
      isa<wg::TileType>(earlier.getA().front().getType()) &&
      isa<wg::TileType>(a.getType())) {
    lefts.insert(lefts.begin(), earlier.getA().begin(), earlier.getA().end());
    rights.insert(rights.begin(), earlier.getB().begin(), earlier.getB().end());
    Value issued =
        wg::MmaOp::create(b, wg::PendingType::get(context, type), lefts, rights,
                          earlier.getAcc(), transposed);
    mapping.map(op->getResult(0),
                wg::WaitOp::create(b, type, issued).getResult());
    mapping.erase(init);
    wait.erase();
    earlier.erase();
    return success();
  }
  // One that starts from zero needs no accumulator.
  Value acc;
  auto fill = init.getDefiningOp<linalg::FillOp>();
  if (!fill || !matchPattern(fill.getInputs().front(), m_AnyZeroFloat())) {
    FailureOr<Value> fragment = getFragment(init, op);
    if (failed(fragment))
      return failure();
    acc = *fragment;
  }
  Value issued = wg::MmaOp::create(b, wg::PendingType::get(context, type),
                                   lefts, rights, acc, transposed);
  mapping.map(op->getResult(0),
              wg::WaitOp::create(b, type, issued).getResult());
  return success();
}

/// Clones the scalar ops of a linalg body whose arguments are mapped already.
static void cloneBody(ImplicitLocOpBuilder &b, Block *body, IRMapping &inner) {
  for (Operation &op : body->without_terminator())
    if (!isa<linalg::IndexOp>(op))
      b.clone(op, inner);
  wg::YieldOp::create(
      b, inner.lookupOrDefault(body->getTerminator()->getOperand(0)));
}

LogicalResult ItemRewriter::rewriteMap(linalg::LinalgOp op) {
  OpOperand *init = op.getDpsInitOperand(0);
  AffineMap out = op.getMatchingIndexingMap(init);
  if (!out.isIdentity() || op.getNumDpsInits() != 1)
    return op.emitOpError("has no home on a GPU: expected one result with an "
                          "identity map");
  SmallVector<OpOperand *> operands = op.getDpsInputOperands();
  if (!op.getMatchingBlockArgument(init).use_empty())
    operands.push_back(init);
  // The first input gives the layout.
  auto *whole = llvm::find_if(operands, [&](OpOperand *operand) {
    return op.getMatchingIndexingMap(operand).isIdentity();
  });
  if (whole == operands.end())
    return op.emitOpError("has no home on a GPU: expected an operand of the "
                          "result's shape");
  std::rotate(operands.begin(), whole, whole + 1);
  SmallVector<Value> inputs;
  SmallVector<BlockArgument> arguments;
  for (OpOperand *operand : operands) {
    AffineMap map = op.getMatchingIndexingMap(operand);
    bool whole = map.isIdentity();
    bool row = out.getNumDims() == 2 && map.getNumResults() == 1 &&
               map.getResult(0) == b.getAffineDimExpr(0);
    if (!whole && !row)
      return op.emitOpError("has no home on a GPU: expected operands of the "
                            "result's shape or one value a row");
    FailureOr<Value> fragment = getFragment(operand->get(), op);
    if (failed(fragment))
      return failure();
    inputs.push_back(*fragment);
    arguments.push_back(op.getMatchingBlockArgument(operand));
  }
  wg::FragmentType type = getFragmentType(init->get().getType());
  if (!type)
    return failure();
  auto map = wg::MapOp::create(b, type, inputs);
  OpBuilder::InsertionGuard guard(b);
  Block *body = b.createBlock(&map.getBody());
  IRMapping inner(mapping);
  for (auto [argument, input] : llvm::zip(arguments, inputs))
    inner.map(argument,
              body->addArgument(
                  cast<wg::FragmentType>(input.getType()).getElementType(),
                  op.getLoc()));
  Value coordinates[] = {body->addArgument(b.getIndexType(), op.getLoc()),
                         body->addArgument(b.getIndexType(), op.getLoc())};
  b.setInsertionPointToEnd(body);
  for (auto index : op.getBlock()->getOps<linalg::IndexOp>())
    inner.map(index.getResult(), coordinates[index.getDim()]);
  for (Operation &each : op.getBlock()->without_terminator())
    if (!isa<linalg::IndexOp>(each))
      b.clone(each, inner);
  wg::YieldOp::create(
      b, inner.lookupOrDefault(op.getBlock()->getTerminator()->getOperand(0)));
  mapping.map(op->getResult(0), map.getResult());
  return success();
}

LogicalResult ItemRewriter::rewriteReduction(linalg::LinalgOp op) {
  if (op.getNumLoops() != 2 || op.getNumDpsInputs() != 1 ||
      op.getNumDpsInits() != 1 ||
      op.getIteratorTypesArray() !=
          SmallVector<utils::IteratorType>{utils::IteratorType::parallel,
                                           utils::IteratorType::reduction} ||
      !op.getMatchingIndexingMap(op.getDpsInputOperand(0)).isIdentity())
    return op.emitOpError("has no home on a GPU: expected a reduction of the "
                          "columns of one tile");
  FailureOr<Value> input = getFragment(op.getDpsInputs()[0], op);
  FailureOr<Value> init = getFragment(op.getDpsInits()[0], op);
  if (failed(input) || failed(init))
    return failure();
  auto reduce = wg::ReduceOp::create(b, init->getType(), *input, *init);
  OpBuilder::InsertionGuard guard(b);
  Block *body = b.createBlock(&reduce.getBody());
  IRMapping inner(mapping);
  for (BlockArgument argument : op.getBlock()->getArguments())
    inner.map(argument, body->addArgument(argument.getType(), op.getLoc()));
  b.setInsertionPointToEnd(body);
  cloneBody(b, op.getBlock(), inner);
  mapping.map(op->getResult(0), reduce.getResult());
  return success();
}

//===----------------------------------------------------------------------===//
// Structure
//===----------------------------------------------------------------------===//

LogicalResult ItemRewriter::rewriteFor(scf::ForOp op) {
  SmallVector<Value> inits;
  for (Value init : op.getInitArgs()) {
    if (!isa<RankedTensorType>(init.getType())) {
      inits.push_back(mapping.lookupOrDefault(init));
      continue;
    }
    FailureOr<Value> fragment = getFragment(init, op);
    if (failed(fragment))
      return failure();
    inits.push_back(*fragment);
  }
  auto loop =
      scf::ForOp::create(b, mapping.lookupOrDefault(op.getLowerBound()),
                         mapping.lookupOrDefault(op.getUpperBound()),
                         mapping.lookupOrDefault(op.getStep()), inits,
                         [](OpBuilder &, Location, Value, ValueRange) {});
  mapping.map(op.getInductionVar(), loop.getInductionVar());
  mapping.map(op.getRegionIterArgs(), loop.getRegionIterArgs());
  mapping.map(op.getResults(), loop.getResults());
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToEnd(loop.getBody());
  if (failed(rewriteBlock(*op.getBody())))
    return failure();
  SmallVector<Value> yields;
  for (Value value : op.getYieldedValues()) {
    if (!isa<RankedTensorType>(value.getType())) {
      yields.push_back(mapping.lookupOrDefault(value));
      continue;
    }
    FailureOr<Value> fragment = getFragment(value, op);
    if (failed(fragment))
      return failure();
    yields.push_back(*fragment);
  }
  scf::YieldOp::create(b, yields);
  return success();
}

LogicalResult ItemRewriter::rewrite(Operation &op) {
  b.setLoc(op.getLoc());
  return llvm::TypeSwitch<Operation *, LogicalResult>(&op)
      .Case([&](tensor::ExtractSliceOp x) { return rewriteSlice(x); })
      .Case([&](tensor::PadOp x) { return rewritePad(x); })
      .Case([&](GatherPagesOp x) { return rewriteGather(x); })
      .Case([&](LocateOp x) { return rewriteLocate(x); })
      .Case([&](scf::ForOp x) { return rewriteFor(x); })
      .Case<tensor::EmptyOp, linalg::FillOp>(
          [](Operation *) { return success(); }) // made where they are used
      .Case([&](tensor::ExtractOp x) -> LogicalResult {
        FailureOr<Value> source = getMemref(x.getTensor());
        if (failed(source))
          return failure();
        SmallVector<Value> indices =
            llvm::map_to_vector(x.getIndices(), [&](Value index) {
              return mapping.lookupOrDefault(index);
            });
        mapping.map(x.getResult(),
                    memref::LoadOp::create(b, *source, indices).getResult());
        return success();
      })
      .Case([&](linalg::LinalgOp x) {
        if (linalg::isaContractionOpInterface(x))
          return rewriteContraction(x);
        return x.getNumReductionLoops() ? rewriteReduction(x) : rewriteMap(x);
      })
      .Default([&](Operation *x) -> LogicalResult {
        auto isTensor = [](Type type) { return isa<TensorType>(type); };
        // Nor may an op inside its regions touch a tensor.
        WalkResult walk = x->walk<WalkOrder::PreOrder>([&](Operation *inner) {
          if (!llvm::any_of(inner->getOperandTypes(), isTensor) &&
              !llvm::any_of(inner->getResultTypes(), isTensor))
            return WalkResult::advance();
          inner->emitOpError("has no home on a GPU: no rule makes a tile in "
                             "shared memory or registers of it");
          return WalkResult::interrupt();
        });
        if (walk.wasInterrupted())
          return failure();
        b.clone(*x, mapping);
        return success();
      });
}

LogicalResult ItemRewriter::rewriteBlock(Block &block) {
  for (Operation &op : block.without_terminator())
    if (failed(rewrite(op)))
      return failure();
  return success();
}

LogicalResult ItemRewriter::run() {
  if (!forall.isNormalized())
    return forall.emitOpError("has no home on a GPU: expected dimensions from "
                              "0 by 1");
  b.setInsertionPoint(forall);
  auto item = scf::ForallOp::create(b, forall.getMixedUpperBound(),
                                    /*outputs=*/ValueRange(),
                                    /*mapping=*/std::nullopt);
  item->setDiscardableAttrs(forall->getDiscardableAttrDictionary());
  mapping.map(forall.getInductionVars(), item.getInductionVars());
  b.setInsertionPoint(item.getTerminator());
  if (failed(rewriteBlock(*forall.getBody())))
    return failure();
  for (Operation &op : forall.getTerminator().getYieldingOps()) {
    auto insert = dyn_cast<tensor::ParallelInsertSliceOp>(op);
    if (!insert)
      return op.emitOpError("has no home on a GPU: expected an insertion into "
                            "an output");
    b.setLoc(insert.getLoc());
    if (failed(rewriteInsert(insert)))
      return failure();
  }
  // The results are in their destinations' memory now.
  for (auto [result, output] :
       llvm::zip(forall.getResults(), forall.getOutputs())) {
    FailureOr<Value> memory = getMemref(output);
    for (Operation *user : llvm::make_early_inc_range(result.getUsers()))
      if (auto materialize =
              dyn_cast<bufferization::MaterializeInDestinationOp>(user);
          materialize && materialize.getDest() == *memory)
        materialize.erase();
    result.replaceAllUsesWith(output);
  }
  forall.erase();
  return success();
}

namespace {
struct TileToWarpgroup : mla::impl::MLATileToWarpgroupBase<TileToWarpgroup> {
  void runOnOperation() override {
    SmallVector<scf::ForallOp> loops;
    getOperation()->walk<WalkOrder::PreOrder>([&](scf::ForallOp loop) {
      loops.push_back(loop);
      return WalkResult::skip();
    });
    for (scf::ForallOp loop : loops)
      if (failed(ItemRewriter(loop).run()))
        return signalPassFailure();
  }
};
} // namespace
