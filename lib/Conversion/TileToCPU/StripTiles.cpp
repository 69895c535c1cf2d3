//===- StripTiles.cpp - Tiles of queries and their strips -*- C++ -*-===//
//
// Part of the MLA project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "PackRows.h"
#include "StripRewriter.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Dominance.h"

using namespace mlir;
using namespace mlir::mla;

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

namespace {
/// `size` entries of a tensor's first dimension from `first` on, all of the
/// others.
struct LeadingSlice {
  LeadingSlice(OpBuilder &b, Value tensor, Value first, int64_t size) {
    auto type = cast<RankedTensorType>(tensor.getType());
    offsets.assign(type.getRank(), b.getIndexAttr(0));
    strides.assign(type.getRank(), b.getIndexAttr(1));
    sizes = getAsIndexOpFoldResult(b.getContext(), type.getShape());
    offsets[0] = first;
    sizes[0] = b.getIndexAttr(size);
  }

  SmallVector<OpFoldResult> offsets, sizes, strides;
};
} // namespace

/// Strip `number` of a packed tile.
Value StripRewriter::sliceStrip(Value packed, Value number) {
  auto type = cast<RankedTensorType>(packed.getType());
  LeadingSlice slice(b, packed, number, 1);
  auto part = RankedTensorType::get(type.getShape().drop_front(),
                                    type.getElementType());
  return tensor::ExtractSliceOp::create(b, part, packed, slice.offsets,
                                        slice.sizes, slice.strides);
}

Value StripRewriter::insertStrip(Value part, Value packed, Value number) {
  LeadingSlice slice(b, packed, number, 1);
  return tensor::InsertSliceOp::create(b, part, packed, slice.offsets,
                                       slice.sizes, slice.strides);
}

/// The rows of strip `number` in [queries, columns] or [queries].
Value StripRewriter::sliceRows(Value rows, Value number) {
  Value size = arith::ConstantIndexOp::create(b, strip);
  Value first = arith::MulIOp::create(b, number, size);
  LeadingSlice slice(b, rows, first, strip);
  return tensor::ExtractSliceOp::create(b, rows, slice.offsets, slice.sizes,
                                        slice.strides);
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
  if (packPoint)
    b.setInsertionPoint(packPoint);
  else
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
