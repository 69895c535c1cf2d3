//===- KeyLoops.cpp - From a mask's key ranges to loop bounds -*- C++ -*-===//
//
// Part of the MLA project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A mask answers in positions and does not care about tiles. Here its ranges
// become segments of the sequence's keys: clamped to the keys there are, made
// disjoint, and open ranges rounded inward to whole key tiles. What the
// rounding leaves over joins the neighbouring guarded segment:
//
//     mask      |--guarded--|------open------|--guarded--|
//     segments  |---guarded---|--open, n tiles--|guarded-|
//
//===----------------------------------------------------------------------===//

#include "TileBuilder.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"

using namespace mlir;
using namespace mlir::mla;

namespace {
class SegmentBuilder {
public:
  SegmentBuilder(ImplicitLocOpBuilder &b, const PrefillTensors &op,
                 const Item &item)
      : b(b), op(op), item(item), zero(arith::ConstantIndexOp::create(b, 0)) {}

  SmallVector<Segment> run();

private:
  Value min(Value x, Value y) {
    return x == y ? x : arith::MinSIOp::create(b, x, y).getResult();
  }
  Value max(Value x, Value y) {
    return x == y ? x : arith::MaxSIOp::create(b, x, y).getResult();
  }
  Value roundDown(Value x) {
    AffineExpr s = b.getAffineSymbolExpr(0);
    int64_t tile = op.schedule.getKeyTile();
    return affine::AffineApplyOp::create(
        b, AffineMap::get(0, 1, s.floorDiv(tile) * tile), x);
  }
  Value roundUp(Value x) {
    AffineExpr s = b.getAffineSymbolExpr(0);
    int64_t tile = op.schedule.getKeyTile();
    return affine::AffineApplyOp::create(
        b, AffineMap::get(0, 1, s.ceilDiv(tile) * tile), x);
  }
  /// A position as a key number in [0, keys].
  Value toKey(Value position) {
    if (position == tile.firstKey)
      return zero;
    if (position == tile.endKey)
      return item.keys;
    Value key = arith::SubIOp::create(b, position, item.keyPosition);
    return min(max(key, zero), item.keys);
  }
  void emit(Value begin, Value end, bool guarded) {
    if (begin != end)
      segments.push_back({begin, end, guarded});
  }

  ImplicitLocOpBuilder &b;
  const PrefillTensors &op;
  const Item &item;
  Value zero;
  MaskTile tile;
  SmallVector<Segment> segments;
};
} // namespace

SmallVector<Segment> SegmentBuilder::run() {
  Value one = arith::ConstantIndexOp::create(b, 1);
  Value last = arith::AddIOp::create(b, item.firstPosition, item.count);
  tile = {item.firstPosition, arith::SubIOp::create(b, last, one),
          item.keyPosition,
          arith::AddIOp::create(b, item.keyPosition, item.keys)};
  SmallVector<KeyRange> ranges =
      op.mask.buildKeyRanges(b, b.getLoc(), tile, item.maskParameters);

  // Everything before `cursor` belongs to a segment or to none.
  Value cursor = zero;
  for (size_t first = 0; first < ranges.size();) {
    // A run of adjacent ranges.
    size_t end = first + 1;
    while (end < ranges.size() && ranges[end].begin == ranges[end - 1].end)
      ++end;
    ArrayRef<KeyRange> run = ArrayRef(ranges).slice(first, end - first);
    first = end;

    cursor = max(cursor, toKey(run.front().begin));
    SmallVector<Value> bounds{cursor};
    for (const KeyRange &range : run)
      bounds.push_back(max(bounds.back(), toKey(range.end)));
    for (auto [index, range] : llvm::enumerate(run)) {
      if (range.guarded)
        continue;
      Value begin = bounds[index];
      if (begin != zero)
        begin = max(cursor, min(roundUp(begin), bounds.back()));
      Value open = max(begin, roundDown(bounds[index + 1]));
      emit(cursor, begin, /*guarded=*/true);
      emit(begin, open, /*guarded=*/false);
      cursor = open;
    }
    emit(cursor, bounds.back(), /*guarded=*/true);
    cursor = bounds.back();
  }
  return std::move(segments);
}

SmallVector<Segment> mla::buildSegments(ImplicitLocOpBuilder &b,
                                        const PrefillTensors &op,
                                        const Item &item) {
  return SegmentBuilder(b, op, item).run();
}
