//===- StripLoops.cpp - Key loops and the loops over strips in them -*- C++
//-*-===//
//
// Part of the MLA project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "StripRewriter.h"

#include "mla/Analysis/VisibleRange.h"
#include "mla/Dialect/MLA/IR/MLA.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace mlir::mla;

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

/// Whether any query of strips [first, last] can see a key of the tile, judged
/// by the predicate that hides scores; null if it cannot be told.
Value StripRewriter::buildMayBeVisible(ArrayRef<Operation *> ops, Value first,
                                       Value last) {
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
            if (index.getDim() != query) {
              int64_t extent = extents[index.getDim()];
              return Interval{arith::ConstantIndexOp::create(b, 0),
                              arith::ConstantIndexOp::create(b, extent - 1)};
            }
            Value size = arith::ConstantIndexOp::create(b, strip);
            Value rest = arith::ConstantIndexOp::create(b, strip - 1);
            Value end = arith::MulIOp::create(b, last, size);
            return Interval{arith::MulIOp::create(b, first, size),
                            arith::AddIOp::create(b, end, rest)};
          }
          // The same for the whole tile.
          if (!op->isAncestor(getOwner(leaf)))
            return Interval{leaf, leaf};
          return std::nullopt;
        });
  }
  return nullptr;
}

/// What `body` makes of `carried` if `condition` holds, `carried` if not. No
/// condition: always.
SmallVector<Value> StripRewriter::buildIf(
    Value condition, ValueRange carried,
    function_ref<SmallVector<Value>(ValueRange carried)> body) {
  if (!condition)
    return body(carried);
  auto branch = scf::IfOp::create(b, carried.getTypes(), condition,
                                  /*withElseRegion=*/true);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToEnd(branch.elseBlock());
  scf::YieldOp::create(b, carried);
  b.setInsertionPointToEnd(branch.thenBlock());
  scf::YieldOp::create(b, body(carried));
  return branch.getResults();
}

/// One strip's way through a key loop's body: the new values of its slices of
/// the carried tiles, in these tiles.
SmallVector<Value> StripRewriter::buildStrip(scf::ForOp loop,
                                             ArrayRef<Operation *> ops,
                                             ArrayRef<unsigned> numbers,
                                             Value number, ValueRange carried) {
  Strip here(number);
  SmallVector<Value> parts, results;
  for (auto [index, tile] : llvm::zip(numbers, carried)) {
    parts.push_back(sliceStrip(tile, number));
    here.values[loop.getRegionIterArg(index)] = parts.back();
  }
  for (Operation *op : ops)
    rewriteOp(op, here);
  ValueRange yielded = loop.getYieldedValues();
  for (auto [index, tile, part] : llvm::zip(numbers, carried, parts)) {
    Value value = lookup(yielded[index], here);
    // Back into the carried tile, unless the value was written there.
    Value root = value;
    while (auto op = root.getDefiningOp<linalg::LinalgOp>())
      root = op.getTiedOpOperand(cast<OpResult>(root))->get();
    if (root != part)
      value = linalg::CopyOp::create(b, value, part).getResult(0);
    results.push_back(insertStrip(value, tile, number));
  }
  return results;
}

/// All active strips, one after the other. Strips, and whole tiles of keys,
/// that see nothing keep what they carry.
SmallVector<Value> StripRewriter::buildStrips(scf::ForOp loop,
                                              ArrayRef<Operation *> ops,
                                              ArrayRef<unsigned> numbers,
                                              ValueRange carried) {
  bool skip = loop->hasAttr(MLADialect::kSkipMasked);
  Value zero = arith::ConstantIndexOp::create(b, 0);
  Value one = arith::ConstantIndexOp::create(b, 1);
  Value last = arith::SubIOp::create(b, activeStrips, one);
  return buildIf(
      skip ? buildMayBeVisible(ops, zero, last) : Value(), carried,
      [&](ValueRange carried) -> SmallVector<Value> {
        auto strips = scf::ForOp::create(
            b, zero, activeStrips, one, carried,
            [&](OpBuilder &nested, Location, Value, ValueRange) {});
        OpBuilder::InsertionGuard guard(b);
        packPoint = strips;
        b.setInsertionPointToEnd(strips.getBody());
        Value number = strips.getInductionVar();
        Value visible = skip ? buildMayBeVisible(ops, number, number) : Value();
        SmallVector<Value> results = buildIf(
            visible, strips.getRegionIterArgs(), [&](ValueRange carried) {
              return buildStrip(loop, ops, numbers, number, carried);
            });
        scf::YieldOp::create(b, results);
        packPoint = nullptr;
        return strips.getResults();
      });
}

void StripRewriter::rewriteKeyLoop(scf::ForOp loop) {
  // Tiles from outside have to be made outside.
  b.setInsertionPoint(loop);
  loop.walk([&](Operation *op) {
    for (Value operand : op->getOperands())
      if (dims.isTagged(operand) && !loop->isAncestor(getOwner(operand)) &&
          !isa_and_present<tensor::EmptyOp, linalg::FillOp>(
              operand.getDefiningOp()))
        getTile(operand);
  });
  SmallVector<Value> inits;
  for (Value init : loop.getInitArgs())
    inits.push_back(dims.isTagged(init) ? getTile(init) : init);
  auto packed = scf::ForOp::create(
      b, loop.getLowerBound(), loop.getUpperBound(), loop.getStep(), inits,
      [](OpBuilder &, Location, Value, ValueRange) {});
  Block *body = packed.getBody();

  // Everything without a query dimension stays as it is, before the strips.
  SmallVector<Value> carried;
  SmallVector<unsigned> numbers;
  loop.getInductionVar().replaceAllUsesWith(packed.getInductionVar());
  for (auto [index, from, to] :
       llvm::enumerate(loop.getRegionIterArgs(), packed.getRegionIterArgs())) {
    if (!dims.isTagged(from)) {
      from.replaceAllUsesWith(to);
      continue;
    }
    carried.push_back(to);
    numbers.push_back(index);
  }
  SmallVector<Operation *> tagged;
  for (Operation &op :
       llvm::make_early_inc_range(loop.getBody()->without_terminator())) {
    if (dims.isTagged(&op))
      tagged.push_back(&op);
    else
      op.moveBefore(body, body->end());
  }

  b.setInsertionPointToEnd(body);
  SmallVector<Value> yields(loop.getYieldedValues());
  for (auto [index, value] :
       llvm::zip(numbers, buildStrips(loop, tagged, numbers, carried)))
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
  scf::InParallelOp terminator = forall.getTerminator();
  b.setInsertionPoint(terminator);
  for (Operation &op : terminator.getYieldingOps())
    for (OpOperand &operand : op.getOpOperands())
      if (dims.isTagged(operand.get()))
        operand.set(unpack(operand.get()));
  // What was rewritten is dead now, consumers first.
  for (Operation *op : llvm::reverse(ops))
    if (dims.isTagged(op) && op->use_empty())
      op->erase();
}
