//===- Strips.cpp - Queries side by side in vector lanes -*- C++ -*-===//
//
// Part of the MLA project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Level 1 has tiles [queries, columns]. A CPU wants a lane per query, so that
// nothing is reduced across lanes, and few queries at a time, so that their
// scores stay in the first-level cache while the packed keys and values of the
// tile are used again for the next few:
//
//     level 1                               here
//     tile [queries, columns]               tile [strips, columns, strip]
//     for key tile {                        for key tile {
//       load K, V                             pack K, V into f32 rows
//       ops on [queries, columns]             for strip {
//     }                                         ops on [columns, strip]
//                                           } }
//
// A layout change is all this is: each linalg op keeps its scalar body, only
// its indexing maps change. So ops that a user added to level 1 come along.
// Where a value enters (the queries) it is packed, where one leaves (the
// output) it is unpacked.
//
//===----------------------------------------------------------------------===//

#include "PackRows.h"
#include "QueryDims.h"

#include "mla/Analysis/VisibleRange.h"
#include "mla/Conversion/Passes.h"
#include "mla/Dialect/MLA/IR/MLA.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/Transforms/Transforms.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Dominance.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/PatternMatch.h"

namespace mlir::mla {
#define GEN_PASS_DEF_MLACPUSTRIPS
#include "mla/Conversion/Passes.h.inc"
} // namespace mlir::mla

using namespace mlir;
using namespace mlir::mla;

namespace {
class StripRewriter {
public:
  StripRewriter(scf::ForallOp forall, const QueryDims &dims, int64_t strip)
      : forall(forall), dims(dims), strip(strip),
        b(forall.getLoc(), forall.getContext()) {}

  void run();

private:
  /// One strip of queries: its number, and what stands for a tile of level 1
  /// while it is being worked on.
  struct Strip {
    explicit Strip(Value number) : number(number) {}

    Value number;
    DenseMap<Value, Value> values;
  };

  Value buildActiveStrips();
  RankedTensorType getPartType(Value value);
  Value sliceStrip(Value packed, Value number);
  Value insertStrip(Value part, Value packed, Value number);
  Value sliceRows(Value rows, Value number);
  Value buildStripLoop(Value init,
                       function_ref<Value(Value number, Value carried)> body);
  Value buildTile(Value value,
                  function_ref<Value(Strip &strip, Value slice)> body);
  Value getTile(Value value);
  Value pack(Value value);
  Value packKeys(Value value);
  Value unpack(Value value);
  Value lookup(Value value, Strip &strip);

  void rewriteOp(Operation *op, Strip &strip);
  void rewriteSlice(tensor::ExtractSliceOp op, Strip &strip);
  void rewriteLinalg(linalg::LinalgOp op, Strip &strip,
                     Value destination = Value());
  Value getDestination(linalg::LinalgOp op, OpOperand *init, Strip &strip);
  Value buildMayBeVisible(ArrayRef<Operation *> ops, Value number);
  void rewriteKeyLoop(scf::ForOp loop);
  void rewriteOuter(Operation *op);

  scf::ForallOp forall;
  const QueryDims &dims;
  int64_t strip;
  ImplicitLocOpBuilder b;
  /// Strips that hold a query anybody asks for.
  Value activeStrips;
  /// Tiles [strips, columns, strip], by what they stand for.
  DenseMap<Value, Value> tiles;
};
} // namespace

//===----------------------------------------------------------------------===//
// Tiles and strips
//===----------------------------------------------------------------------===//

/// Queries are independent of each other, so only those that leave the tile
/// count: where every slice that leaves takes the first `count` queries, the
/// strips past them need not be computed.
Value StripRewriter::buildActiveStrips() {
  Value count;
  bool known = true;
  forall.walk([&](Operation *op) {
    if (dims.isTagged(op) || isa<scf::ForOp, scf::YieldOp>(op))
      return;
    for (Value operand : op->getOperands()) {
      std::optional<int64_t> dim = dims.lookup(operand);
      if (!dim)
        continue;
      auto slice = dyn_cast<tensor::ExtractSliceOp>(op);
      Value size;
      if (slice && isZeroInteger(slice.getMixedOffsets()[*dim]))
        size = dyn_cast<Value>(slice.getMixedSizes()[*dim]);
      known &= size && (!count || size == count);
      count = size;
    }
  });
  Value all = arith::ConstantIndexOp::create(b, dims.getQueries() / strip);
  // It has to be there before the first tile is made.
  Operation *first = nullptr;
  for (Operation &op : *forall.getBody()) {
    auto loop = dyn_cast<scf::ForOp>(op);
    if (dims.isTagged(&op) || llvm::is_contained(dims.getKeyLoops(), loop)) {
      first = &op;
      break;
    }
  }
  DominanceInfo dominance(forall);
  if (!known || !count || !dominance.properlyDominates(count, first))
    return all;
  b.setInsertionPointAfterValue(count);
  if (count.getParentBlock() != forall.getBody())
    b.setInsertionPointToStart(forall.getBody());
  Value size = arith::ConstantIndexOp::create(b, strip);
  return arith::CeilDivSIOp::create(b, count, size);
}

/// [.., queries, ..] as the strip's [.., .., strip].
RankedTensorType StripRewriter::getPartType(Value value) {
  auto type = cast<RankedTensorType>(value.getType());
  SmallVector<int64_t> shape(type.getShape());
  shape.erase(shape.begin() + *dims.lookup(value));
  shape.push_back(strip);
  return RankedTensorType::get(shape, type.getElementType());
}

/// Strip `number` of a packed tile.
Value StripRewriter::sliceStrip(Value packed, Value number) {
  auto type = cast<RankedTensorType>(packed.getType());
  SmallVector<OpFoldResult> offsets(type.getRank(), b.getIndexAttr(0));
  SmallVector<OpFoldResult> strides(type.getRank(), b.getIndexAttr(1));
  SmallVector<OpFoldResult> sizes =
      getAsIndexOpFoldResult(b.getContext(), type.getShape());
  offsets[0] = number;
  sizes[0] = b.getIndexAttr(1);
  auto part = RankedTensorType::get(type.getShape().drop_front(),
                                    type.getElementType());
  return tensor::ExtractSliceOp::create(b, part, packed, offsets, sizes,
                                        strides);
}

Value StripRewriter::insertStrip(Value part, Value packed, Value number) {
  auto type = cast<RankedTensorType>(packed.getType());
  SmallVector<OpFoldResult> offsets(type.getRank(), b.getIndexAttr(0));
  SmallVector<OpFoldResult> strides(type.getRank(), b.getIndexAttr(1));
  SmallVector<OpFoldResult> sizes =
      getAsIndexOpFoldResult(b.getContext(), type.getShape());
  offsets[0] = number;
  sizes[0] = b.getIndexAttr(1);
  return tensor::InsertSliceOp::create(b, part, packed, offsets, sizes,
                                       strides);
}

/// The rows of strip `number` in [queries, columns] or [queries].
Value StripRewriter::sliceRows(Value rows, Value number) {
  auto type = cast<RankedTensorType>(rows.getType());
  Value size = arith::ConstantIndexOp::create(b, strip);
  Value first = arith::MulIOp::create(b, number, size);
  SmallVector<OpFoldResult> offsets(type.getRank(), b.getIndexAttr(0));
  SmallVector<OpFoldResult> strides(type.getRank(), b.getIndexAttr(1));
  SmallVector<OpFoldResult> sizes =
      getAsIndexOpFoldResult(b.getContext(), type.getShape());
  offsets[0] = first;
  sizes[0] = b.getIndexAttr(strip);
  return tensor::ExtractSliceOp::create(b, rows, offsets, sizes, strides);
}

/// A loop over the active strips that carries one tensor.
Value StripRewriter::buildStripLoop(
    Value init, function_ref<Value(Value number, Value carried)> body) {
  Value zero = arith::ConstantIndexOp::create(b, 0);
  Value one = arith::ConstantIndexOp::create(b, 1);
  auto loop = scf::ForOp::create(b, zero, activeStrips, one, init);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToEnd(loop.getBody());
  Value next = body(loop.getInductionVar(), loop.getRegionIterArg(0));
  scf::YieldOp::create(b, next);
  return loop.getResult(0);
}

/// A tile whose strips `body` computes, each into its slice of the tile.
Value StripRewriter::buildTile(
    Value value, function_ref<Value(Strip &strip, Value slice)> body) {
  RankedTensorType part = getPartType(value);
  SmallVector<int64_t> shape{dims.getQueries() / strip};
  llvm::append_range(shape, part.getShape());
  Value empty = tensor::EmptyOp::create(b, shape, part.getElementType());
  return buildStripLoop(empty, [&](Value number, Value carried) {
    Strip here(number);
    Value result = body(here, sliceStrip(carried, number));
    return insertStrip(result, carried, number);
  });
}

/// The packed tile that stands for `value` outside the key loops.
Value StripRewriter::getTile(Value value) {
  if (Value known = tiles.lookup(value))
    return known;
  if (auto fill = value.getDefiningOp<linalg::FillOp>())
    return buildTile(value, [&](Strip &, Value slice) {
      return linalg::FillOp::create(b, fill.getInputs(), ValueRange{slice})
          .getResult(0);
    });
  return tiles[value] = pack(value);
}

/// A tile [queries, columns] from outside, as f32 [strips, columns, strip].
Value StripRewriter::pack(Value value) {
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointAfterValue(value);
  Value size = arith::ConstantIndexOp::create(b, strip);
  Value limit = arith::MulIOp::create(b, activeStrips, size);
  Value rows = packRows(b, value, /*pad=*/false, limit);
  auto type = cast<RankedTensorType>(rows.getType());
  int64_t columns = type.getDimSize(1), strips = type.getDimSize(0) / strip;
  Value empty = tensor::EmptyOp::create(
      b, ArrayRef<int64_t>{strips, columns, strip}, type.getElementType());
  return buildStripLoop(empty, [&](Value number, Value carried) {
    Value part = linalg::TransposeOp::create(b, sliceRows(rows, number),
                                             sliceStrip(carried, number),
                                             ArrayRef<int64_t>{1, 0})
                     ->getResult(0);
    return insertStrip(part, carried, number);
  });
}

/// An operand that all strips share, packed once before the loop over them.
Value StripRewriter::packKeys(Value value) {
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointAfterValue(value);
  return packRows(b, value, /*pad=*/true);
}

/// The tile [queries, columns] or [queries] behind a packed one.
Value StripRewriter::unpack(Value value) {
  Value tile = getTile(value);
  auto type = cast<RankedTensorType>(value.getType());
  if (type.getRank() == 1)
    return tensor::CollapseShapeOp::create(
        b, tile, ArrayRef<ReassociationIndices>{{0, 1}});
  Value empty =
      tensor::EmptyOp::create(b, type.getShape(), type.getElementType());
  return buildStripLoop(empty, [&](Value number, Value carried) {
    auto slice =
        sliceRows(carried, number).getDefiningOp<tensor::ExtractSliceOp>();
    Value rows = linalg::TransposeOp::create(b, sliceStrip(tile, number), slice,
                                             ArrayRef<int64_t>{1, 0})
                     ->getResult(0);
    return tensor::InsertSliceOp::create(
               b, rows, carried, slice.getMixedOffsets(), slice.getMixedSizes(),
               slice.getMixedStrides())
        .getResult();
  });
}

/// What stands for a tagged value in a strip.
Value StripRewriter::lookup(Value value, Strip &here) {
  if (Value known = here.values.lookup(value))
    return known;
  // Constant tiles are made where they are used: hoisted out, each use would
  // have to copy them.
  auto makeEmpty = [&] {
    RankedTensorType type = getPartType(value);
    return tensor::EmptyOp::create(b, type.getShape(), type.getElementType());
  };
  Operation *producer = value.getDefiningOp();
  if (isa_and_present<tensor::EmptyOp>(producer))
    return makeEmpty();
  if (auto fill = dyn_cast_if_present<linalg::FillOp>(producer))
    return linalg::FillOp::create(b, fill.getInputs(), ValueRange{makeEmpty()})
        .getResult(0);
  return here.values[value] = sliceStrip(tiles.lookup(value), here.number);
}

//===----------------------------------------------------------------------===//
// Ops
//===----------------------------------------------------------------------===//

/// Whether `op` is the last to read `value`.
static bool isLastUse(Value value, Operation *op) {
  return llvm::all_of(value.getUsers(), [&](Operation *user) {
    return user == op ||
           (user->getBlock() == op->getBlock() && user->isBeforeInBlock(op));
  });
}

void StripRewriter::rewriteSlice(tensor::ExtractSliceOp op, Strip &here) {
  SmallVector<OpFoldResult> offsets = op.getMixedOffsets(),
                            sizes = op.getMixedSizes();
  int64_t dim = *dims.lookup(op.getSource());
  offsets.erase(offsets.begin() + dim);
  sizes.erase(sizes.begin() + dim);
  offsets.push_back(b.getIndexAttr(0));
  sizes.push_back(b.getIndexAttr(strip));
  SmallVector<OpFoldResult> strides(offsets.size(), b.getIndexAttr(1));
  here.values[op] = tensor::ExtractSliceOp::create(
      b, lookup(op.getSource(), here), offsets, sizes, strides);
}

/// An input that an elementwise op without a destination of its own can write
/// over, since nobody reads it afterwards, or null.
static OpOperand *getReusableInput(linalg::LinalgOp op, OpOperand *init) {
  if (!isa_and_present<tensor::EmptyOp>(init->get().getDefiningOp()) ||
      op.getNumParallelLoops() != op.getNumLoops())
    return nullptr;
  for (OpOperand *input : op.getDpsInputOperands()) {
    Value value = input->get();
    if (value.getType() == init->get().getType() &&
        value.getParentBlock() == op->getBlock() && isLastUse(value, op) &&
        op.getMatchingIndexingMap(input) == op.getMatchingIndexingMap(init))
      return input;
  }
  return nullptr;
}

/// The destination of a rewritten op. One that is read again afterwards is
/// copied here, where the copy is vectorised, rather than by bufferization.
Value StripRewriter::getDestination(linalg::LinalgOp op, OpOperand *init,
                                    Strip &strip) {
  Value value = init->get();
  Value here = lookup(value, strip);
  if (isa_and_present<tensor::EmptyOp, linalg::FillOp>(value.getDefiningOp()) ||
      isLastUse(value, op))
    return here;
  auto type = cast<RankedTensorType>(here.getType());
  Value empty =
      tensor::EmptyOp::create(b, type.getShape(), type.getElementType());
  return linalg::CopyOp::create(b, here, empty).getResult(0);
}

/// The same op on one strip: loops (others, lane) in place of (query, others).
/// `destination` takes the place of an empty one.
void StripRewriter::rewriteLinalg(linalg::LinalgOp op, Strip &here,
                                  Value destination) {
  MLIRContext *context = b.getContext();
  unsigned query = *dims.lookupLoop(op);
  bool contraction = linalg::isaContractionOpInterface(op);
  unsigned numLoops = op.getNumLoops();

  // Old loop -> new loop. Lanes are last, but for the reductions of a
  // contraction: there the vectoriser expects rows, lanes, reduction.
  SmallVector<unsigned> position(op.getNumLoops());
  SmallVector<utils::IteratorType> iterators, old = op.getIteratorTypesArray();
  unsigned next = 0, lane = 0;
  auto place = [&](utils::IteratorType type) {
    iterators.push_back(type);
    return next++;
  };
  auto placeAll = [&](bool reductions) {
    for (unsigned loop = 0; loop < old.size(); ++loop)
      if (loop != query &&
          (old[loop] == utils::IteratorType::reduction) == reductions)
        position[loop] = place(old[loop]);
  };
  if (contraction) {
    placeAll(/*reductions=*/false);
    lane = place(utils::IteratorType::parallel);
    placeAll(/*reductions=*/true);
  } else {
    for (unsigned loop = 0; loop < old.size(); ++loop)
      if (loop != query)
        position[loop] = place(old[loop]);
    lane = place(utils::IteratorType::parallel);
  }

  // An elementwise op inside a strip works in place where it can: its input is
  // read as the destination's old value.
  OpOperand *reused = nullptr;
  if (!destination && op.getNumDpsInits() == 1)
    reused = getReusableInput(op, op.getDpsInitOperand(0));
  SmallVector<Value> inputs;
  SmallVector<BlockArgument> arguments;
  SmallVector<AffineMap> maps;
  auto addMap = [&](OpOperand &operand) {
    SmallVector<AffineExpr> exprs;
    bool tagged = dims.isTagged(operand.get());
    for (AffineExpr expr : op.getMatchingIndexingMap(&operand).getResults()) {
      unsigned loop = cast<AffineDimExpr>(expr).getPosition();
      if (loop != query)
        exprs.push_back(b.getAffineDimExpr(position[loop]));
    }
    if (tagged)
      exprs.push_back(b.getAffineDimExpr(lane));
    maps.push_back(AffineMap::get(numLoops, 0, exprs, context));
  };
  SmallVector<OpOperand *> ordered = op.getDpsInputOperands();
  // The operand without lanes is the left one, whose elements are broadcast.
  if (contraction && dims.isTagged(ordered.front()->get()))
    std::swap(ordered.front(), ordered.back());
  for (OpOperand *input : ordered) {
    if (input == reused)
      continue;
    addMap(*input);
    arguments.push_back(op.getMatchingBlockArgument(input));
    if (dims.isTagged(input->get()))
      inputs.push_back(lookup(input->get(), here));
    else if (contraction && isa<RankedTensorType>(input->get().getType()))
      inputs.push_back(packKeys(input->get()));
    else
      inputs.push_back(input->get());
  }
  SmallVector<Value> inits;
  for (OpOperand &init : op.getDpsInitsMutable()) {
    addMap(init);
    arguments.push_back(op.getMatchingBlockArgument(reused ? reused : &init));
    bool isEmpty = isa_and_present<tensor::EmptyOp>(init.get().getDefiningOp());
    inits.push_back(reused                   ? lookup(reused->get(), here)
                    : destination && isEmpty ? destination
                                             : getDestination(op, &init, here));
  }

  auto generic = linalg::GenericOp::create(
      b, ValueRange(inits).getTypes(), inputs, inits, maps, iterators,
      [&](OpBuilder &nested, Location loc, ValueRange packed) {
        IRMapping mapping;
        for (auto [from, to] : llvm::zip(arguments, packed)) {
          // A packed operand is f32 and its values are exact in the old type.
          Value value = to;
          if (from.getType() != to.getType())
            value = arith::TruncFOp::create(nested, loc, from.getType(), to);
          mapping.map(from, value);
        }
        for (Operation &inner : *op.getBlock()) {
          if (auto index = dyn_cast<linalg::IndexOp>(inner)) {
            if (index.getDim() != query) {
              mapping.map(index, linalg::IndexOp::create(
                                     nested, loc, position[index.getDim()])
                                     .getResult());
              continue;
            }
            Value size = arith::ConstantIndexOp::create(nested, loc, strip);
            Value first = arith::MulIOp::create(nested, loc, here.number, size);
            Value offset = linalg::IndexOp::create(nested, loc, lane);
            mapping.map(
                index,
                arith::AddIOp::create(nested, loc, first, offset).getResult());
            continue;
          }
          // Extending what is f32 already.
          if (auto extend = dyn_cast<arith::ExtFOp>(inner))
            if (auto narrow = mapping.lookup(extend.getIn())
                                  .getDefiningOp<arith::TruncFOp>();
                narrow && narrow.getIn().getType() == extend.getType()) {
              mapping.map(extend, narrow.getIn());
              continue;
            }
          nested.clone(inner, mapping);
        }
      });
  // The vectoriser takes left and right from the product, not from the
  // operands.
  if (contraction)
    for (auto product : generic.getBody()->getOps<arith::MulFOp>())
      if (product.getLhs() == generic.getBody()->getArgument(1) &&
          product.getRhs() == generic.getBody()->getArgument(0))
        product->setOperands({product.getRhs(), product.getLhs()});
  for (auto [from, to] : llvm::zip(op->getResults(), generic.getResults()))
    here.values[from] = to;
}

void StripRewriter::rewriteOp(Operation *op, Strip &here) {
  if (isa<tensor::EmptyOp, linalg::FillOp>(op))
    return; // made where they are used
  if (auto slice = dyn_cast<tensor::ExtractSliceOp>(op);
      slice && dims.isTagged(slice.getSource()))
    return rewriteSlice(slice, here);
  if (auto linalgOp = dyn_cast<linalg::LinalgOp>(op))
    return rewriteLinalg(linalgOp, here);
}

//===----------------------------------------------------------------------===//
// Loops
//===----------------------------------------------------------------------===//

static Operation *getOwner(Value value) {
  return value.getParentBlock()->getParentOp();
}

/// The predicate of an op that hides scores, `select(predicate, score, -inf)`,
/// or null.
static Value getHidingPredicate(Operation *op) {
  auto linalgOp = dyn_cast<linalg::LinalgOp>(op);
  if (!linalgOp || op->getNumResults() != 1)
    return nullptr;
  auto select = linalgOp.getBlock()
                    ->getTerminator()
                    ->getOperand(0)
                    .getDefiningOp<arith::SelectOp>();
  if (!select || !matchPattern(select.getFalseValue(), m_NegInfFloat()))
    return nullptr;
  return select.getCondition();
}

/// Whether any query of strip `number` can see a key of the tile, judged by the
/// predicate that hides scores; null if it cannot be told.
Value StripRewriter::buildMayBeVisible(ArrayRef<Operation *> ops,
                                       Value number) {
  for (Operation *op : ops) {
    Value predicate = getHidingPredicate(op);
    if (!predicate)
      continue;
    auto linalgOp = cast<linalg::LinalgOp>(op);
    SmallVector<int64_t> extents = linalgOp.getStaticLoopRanges();
    unsigned query = *dims.lookupLoop(linalgOp);
    return buildMayHold(
        b, b.getLoc(), predicate, [&](Value leaf) -> std::optional<Interval> {
          if (auto index = leaf.getDefiningOp<linalg::IndexOp>()) {
            Value zero = arith::ConstantIndexOp::create(b, 0);
            if (index.getDim() != query)
              return Interval{zero, arith::ConstantIndexOp::create(
                                        b, extents[index.getDim()] - 1)};
            Value size = arith::ConstantIndexOp::create(b, strip);
            Value rest = arith::ConstantIndexOp::create(b, strip - 1);
            Value first = arith::MulIOp::create(b, number, size);
            return Interval{first, arith::AddIOp::create(b, first, rest)};
          }
          // The same for the whole tile.
          if (!op->isAncestor(getOwner(leaf)))
            return Interval{leaf, leaf};
          return std::nullopt;
        });
  }
  return nullptr;
}

void StripRewriter::rewriteKeyLoop(scf::ForOp loop) {
  b.setInsertionPoint(loop);
  SmallVector<Value> inits;
  for (Value init : loop.getInitArgs())
    inits.push_back(dims.isTagged(init) ? getTile(init) : init);
  auto packed = scf::ForOp::create(b, loop.getLowerBound(),
                                   loop.getUpperBound(), loop.getStep(), inits);
  Block *body = packed.getBody();
  if (!body->empty())
    body->getTerminator()->erase();
  // Everything without a query dimension stays as it is, before the strips.
  for (auto [from, to] :
       llvm::zip(loop.getBody()->getArguments(), body->getArguments()))
    if (!dims.isTagged(from))
      from.replaceAllUsesWith(to);
  Operation *terminator = loop.getBody()->getTerminator();
  // Tiles from outside have to be made outside.
  loop.walk([&](Operation *op) {
    for (Value operand : op->getOperands())
      if (dims.isTagged(operand) && !loop->isAncestor(getOwner(operand)) &&
          !isa_and_present<tensor::EmptyOp, linalg::FillOp>(
              operand.getDefiningOp()))
        getTile(operand);
  });
  SmallVector<Operation *> tagged;
  for (Operation &op :
       llvm::make_early_inc_range(loop.getBody()->without_terminator())) {
    if (dims.isTagged(&op))
      tagged.push_back(&op);
    else
      op.moveBefore(body, body->end());
  }

  b.setInsertionPointToEnd(body);
  SmallVector<Value> carried;
  SmallVector<unsigned> numbers;
  for (auto [index, argument] : llvm::enumerate(loop.getRegionIterArgs()))
    if (dims.isTagged(argument)) {
      carried.push_back(packed.getRegionIterArgs()[index]);
      numbers.push_back(index);
    }
  Value zero = arith::ConstantIndexOp::create(b, 0);
  Value one = arith::ConstantIndexOp::create(b, 1);
  auto stripLoop = scf::ForOp::create(b, zero, activeStrips, one, carried);
  {
    OpBuilder::InsertionGuard guard(b);
    Block *inner = stripLoop.getBody();
    if (!inner->empty())
      inner->getTerminator()->erase();
    b.setInsertionPointToEnd(inner);
    Value number = stripLoop.getInductionVar();
    // A strip that sees nothing keeps what it carries.
    scf::IfOp visible;
    if (loop->hasAttr(MLADialect::kSkipMasked))
      if (Value may = buildMayBeVisible(tagged, number)) {
        visible = scf::IfOp::create(b, ValueRange(carried).getTypes(), may,
                                    /*withElseRegion=*/true);
        b.setInsertionPointToEnd(visible.elseBlock());
        scf::YieldOp::create(b, stripLoop.getRegionIterArgs());
        b.setInsertionPointToEnd(visible.thenBlock());
      }
    Strip here(number);
    SmallVector<Value> parts;
    for (auto [index, tile] :
         llvm::zip(numbers, stripLoop.getRegionIterArgs())) {
      parts.push_back(sliceStrip(tile, number));
      here.values[loop.getRegionIterArgs()[index]] = parts.back();
    }
    for (Operation *op : tagged)
      rewriteOp(op, here);
    SmallVector<Value> results;
    for (auto [index, tile, part] :
         llvm::zip(numbers, stripLoop.getRegionIterArgs(), parts)) {
      Value value = lookup(terminator->getOperand(index), here);
      // Back into the carried tile, unless the value was written there.
      Value root = value;
      while (auto op = root.getDefiningOp<linalg::LinalgOp>())
        root = op.getTiedOpOperand(cast<OpResult>(root))->get();
      if (root != part)
        value = linalg::CopyOp::create(b, value, part).getResult(0);
      results.push_back(insertStrip(value, tile, number));
    }
    if (visible) {
      scf::YieldOp::create(b, results);
      b.setInsertionPointToEnd(inner);
      results.assign(visible.getResults().begin(), visible.getResults().end());
    }
    scf::YieldOp::create(b, results);
  }
  SmallVector<Value> yields(terminator->getOperands());
  for (auto [index, value] : llvm::zip(numbers, stripLoop.getResults()))
    yields[index] = value;
  scf::YieldOp::create(b, yields);
  for (auto [from, to] : llvm::zip(loop.getResults(), packed.getResults()))
    if (dims.isTagged(from))
      tiles[from] = to;
    else
      from.replaceAllUsesWith(to);
}

/// An op on tiles outside the key loops gets a loop over strips of its own.
void StripRewriter::rewriteOuter(Operation *op) {
  if (auto slice = dyn_cast<tensor::ExtractSliceOp>(op);
      slice && dims.isTagged(slice.getSource())) {
    // Columns of a tile: no work, and none per strip.
    Value source = getTile(slice.getSource());
    int64_t dim = *dims.lookup(slice.getSource());
    SmallVector<OpFoldResult> offsets = slice.getMixedOffsets(),
                              sizes = slice.getMixedSizes();
    offsets.erase(offsets.begin() + dim);
    sizes.erase(sizes.begin() + dim);
    offsets.insert(offsets.begin(), b.getIndexAttr(0));
    sizes.insert(sizes.begin(), b.getIndexAttr(dims.getQueries() / strip));
    offsets.push_back(b.getIndexAttr(0));
    sizes.push_back(b.getIndexAttr(strip));
    SmallVector<OpFoldResult> strides(offsets.size(), b.getIndexAttr(1));
    tiles[slice] =
        tensor::ExtractSliceOp::create(b, source, offsets, sizes, strides);
    return;
  }
  auto linalgOp = dyn_cast<linalg::LinalgOp>(op);
  if (!linalgOp || isa<linalg::FillOp>(op))
    return; // made, or packed, where it is used
  for (Value operand : op->getOperands())
    if (dims.isTagged(operand) &&
        !isa_and_present<tensor::EmptyOp>(operand.getDefiningOp()))
      tiles[operand] = getTile(operand);
  for (OpResult result : op->getResults())
    tiles[result] = buildTile(result, [&](Strip &here, Value slice) {
      rewriteLinalg(linalgOp, here, slice);
      Value part = here.values[result];
      // Into the tile, where the op has a destination of its own.
      if (cast<linalg::LinalgOp>(part.getDefiningOp())
              .getDpsInits()[result.getResultNumber()] != slice)
        part = linalg::CopyOp::create(b, part, slice).getResult(0);
      return part;
    });
}

void StripRewriter::run() {
  Block *body = forall.getBody();
  b.setInsertionPointToStart(body);
  activeStrips = buildActiveStrips();
  SmallVector<Operation *> ops;
  for (Operation &op : *body)
    ops.push_back(&op);
  for (Operation *op : ops) {
    b.setLoc(op->getLoc());
    b.setInsertionPoint(op);
    if (auto loop = dyn_cast<scf::ForOp>(op);
        loop && llvm::is_contained(dims.getKeyLoops(), loop)) {
      rewriteKeyLoop(loop);
      continue;
    }
    if (dims.isTagged(op)) {
      rewriteOuter(op);
      continue;
    }
    // A tile that leaves: slices of the output, for example.
    for (OpOperand &operand : op->getOpOperands())
      if (dims.isTagged(operand.get()))
        operand.set(unpack(operand.get()));
  }
  // What was rewritten is dead now, consumers first.
  for (Operation *op : llvm::reverse(ops))
    if (dims.isTagged(op) && op->use_empty())
      op->erase();
}

//===----------------------------------------------------------------------===//
// The pass
//===----------------------------------------------------------------------===//

/// Makes each insertion a copy into the destination, which bufferizes in place
/// and can be vectorised.
static void copyIntoDestinations(scf::ForallOp forall) {
  ImplicitLocOpBuilder b(forall.getLoc(), forall);
  scf::InParallelOp terminator = forall.getTerminator();
  for (Operation &op : terminator.getYieldingOps()) {
    auto insert = dyn_cast<tensor::ParallelInsertSliceOp>(op);
    if (!insert)
      continue;
    b.setInsertionPoint(terminator);
    Value destination = tensor::ExtractSliceOp::create(
        b, insert.getSourceType(), insert.getDest(), insert.getMixedOffsets(),
        insert.getMixedSizes(), insert.getMixedStrides());
    insert.getSourceMutable().assign(
        linalg::CopyOp::create(b, insert.getSource(), destination)
            .getResult(0));
  }
}

/// Where tiles keep their queries in rows, loops still have to carry them in
/// place: the new value is copied over the old one.
static void carryInPlace(scf::ForallOp forall) {
  forall.walk([&](scf::ForOp loop) {
    auto yield = cast<scf::YieldOp>(loop.getBody()->getTerminator());
    ImplicitLocOpBuilder b(loop.getLoc(), yield);
    for (auto [argument, operand] :
         llvm::zip(loop.getRegionIterArgs(), yield->getOpOperands()))
      if (isa<RankedTensorType>(argument.getType()))
        operand.set(
            linalg::CopyOp::create(b, operand.get(), argument).getResult(0));
  });
}

namespace {
struct Strips : mla::impl::MLACPUStripsBase<Strips> {
  void runOnOperation() override {
    SmallVector<scf::ForallOp> loops;
    getOperation()->walk([&](scf::ForallOp loop) { loops.push_back(loop); });
    for (scf::ForallOp loop : loops) {
      auto schedule = loop->getAttrOfType<VectorScheduleAttr>(
          VectorScheduleAttr::attributeName);
      if (!schedule)
        continue;
      std::string reason;
      FailureOr<QueryDims> dims = QueryDims::compute(loop, reason);
      if (succeeded(dims) && dims->getQueries() % schedule.getStrip() != 0) {
        reason = "the number of queries is not a multiple of the strip";
        dims = failure();
      }
      if (succeeded(dims)) {
        StripRewriter(loop, *dims, schedule.getStrip()).run();
      } else {
        loop->emitRemark() << "queries stay in rows, which is slower: "
                           << reason;
        carryInPlace(loop);
      }
      copyIntoDestinations(loop);
    }
  }
};
} // namespace
