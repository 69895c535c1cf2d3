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
