//===- Item.cpp - From an item's number to its rows and positions -*- C++
//-*-===//
//
// Part of the MLA project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "TileBuilder.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace mlir::mla;

Value mla::extractIndex(ImplicitLocOpBuilder &b, Value tensor,
                        ValueRange indices) {
  return castToIndex(b, b.getLoc(),
                     tensor::ExtractOp::create(b, tensor, indices));
}

Value mla::buildItemBound(ImplicitLocOpBuilder &b, const PrefillTensors &op) {
  // Every sequence has at most one tile that is not full.
  AffineExpr tokens = b.getAffineSymbolExpr(0);
  AffineExpr offsets = b.getAffineSymbolExpr(1);
  int64_t tile = op.schedule.getQueryTile();
  Value sequences = affine::makeComposedAffineApply(
      b, b.getLoc(), b.getAffineSymbolExpr(0) - 1,
      {tensor::getMixedSize(b, b.getLoc(), op.inputRowOffsets, 0)});
  Value bound = affine::makeComposedAffineApply(
      b, b.getLoc(), tokens.floorDiv(tile) + offsets - 1,
      {tensor::getMixedSize(b, b.getLoc(), op.q, 0),
       tensor::getMixedSize(b, b.getLoc(), op.inputRowOffsets, 0)});
  // Without sequences there is nothing to locate, whatever rows q holds.
  Value zero = arith::ConstantIndexOp::create(b, 0);
  Value some =
      arith::CmpIOp::create(b, arith::CmpIPredicate::sgt, sequences, zero);
  return arith::SelectOp::create(b, some, bound, zero);
}

Item mla::buildItem(ImplicitLocOpBuilder &b, const PrefillTensors &op,
                    Value number, Value head) {
  Value zero = arith::ConstantIndexOp::create(b, 0);
  Value one = arith::ConstantIndexOp::create(b, 1);
  auto locate = LocateOp::create(b, number, op.inputRowOffsets,
                                 op.schedule.getQueryTile());
  Item item;
  item.head = head;
  item.sequence = locate.getSequence();
  item.count = locate.getCount();
  Value next = arith::AddIOp::create(b, item.sequence, one);

  // Begin and length of the sequence in a tensor of offsets.
  auto span = [&](Value offsets) {
    Value begin = extractIndex(b, offsets, item.sequence);
    Value end = extractIndex(b, offsets, next);
    return std::pair(begin, Value(arith::SubIOp::create(b, end, begin)));
  };
  auto [firstQueryRow, queries] = span(op.inputRowOffsets);
  auto [keyRow, bufferRows] = span(op.bufferRowOffsets);
  item.queryRow = arith::AddIOp::create(b, firstQueryRow, locate.getFirst());
  item.keyRow = keyRow;
  item.keyPosition =
      op.cacheOffsets ? extractIndex(b, op.cacheOffsets, item.sequence) : zero;
  Value lengths;
  if (op.cacheLengths) {
    lengths = extractIndex(b, op.cacheLengths, item.sequence);
  } else {
    // MLA-R4: the last query stands at the last key.
    Value end = arith::AddIOp::create(b, item.keyPosition, bufferRows);
    lengths = arith::SubIOp::create(b, end, queries);
  }
  item.firstPosition = arith::AddIOp::create(b, lengths, locate.getFirst());

  // keys = min(bufferRows, max(ctx - keyPosition, 0)); an item past the last
  // tile has none, so that its loops do not run.
  Value context = arith::AddIOp::create(b, lengths, queries);
  Value reach = arith::SubIOp::create(b, context, item.keyPosition);
  Value reachable = arith::MaxSIOp::create(b, reach, zero);
  Value keys = arith::MinSIOp::create(b, bufferRows, reachable);
  Value some =
      arith::CmpIOp::create(b, arith::CmpIPredicate::sgt, item.count, zero);
  item.keys = arith::SelectOp::create(b, some, keys, zero);

  for (Value parameter : op.maskParameters)
    item.maskParameters.push_back(
        isa<ShapedType>(parameter.getType())
            ? extractIndex(b, parameter, item.sequence)
            : castToIndex(b, b.getLoc(), parameter));
  return item;
}
