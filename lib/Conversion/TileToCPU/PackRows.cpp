//===- PackRows.cpp - Operands as contiguous rows of f32 -*- C++ -*-===//
//
// Part of the MLA project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "PackRows.h"

#include "mla/Dialect/MLA/IR/MLA.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace mlir::mla;

/// Rows [first, first + count) of `tile`.
static SmallVector<OpFoldResult> getOffsets(OpBuilder &b, OpFoldResult first) {
  return {first, b.getIndexAttr(0)};
}

static Value extractRows(ImplicitLocOpBuilder &b, Value tile,
                         OpFoldResult first, OpFoldResult count) {
  int64_t columns = cast<RankedTensorType>(tile.getType()).getDimSize(1);
  SmallVector<OpFoldResult> sizes{count, b.getIndexAttr(columns)};
  SmallVector<OpFoldResult> strides(2, b.getIndexAttr(1));
  return tensor::ExtractSliceOp::create(b, tile, getOffsets(b, first), sizes,
                                        strides);
}

static Value insertRows(ImplicitLocOpBuilder &b, Value rows, Value tile,
                        OpFoldResult first, OpFoldResult count) {
  int64_t columns = cast<RankedTensorType>(tile.getType()).getDimSize(1);
  SmallVector<OpFoldResult> sizes{count, b.getIndexAttr(columns)};
  SmallVector<OpFoldResult> strides(2, b.getIndexAttr(1));
  return tensor::InsertSliceOp::create(b, rows, tile, getOffsets(b, first),
                                       sizes, strides);
}

/// `source` copied into `dest`, its elements extended to f32. A linalg.copy,
/// since canonicalization takes an identity linalg.generic for no copy at all.
static Value extend(ImplicitLocOpBuilder &b, Value source, Value dest) {
  return linalg::CopyOp::create(b, source, dest).getResult(0);
}

/// A slice padded with zero rows at its end, or null.
static tensor::PadOp getZeroPaddedRows(Value value) {
  auto pad = value.getDefiningOp<tensor::PadOp>();
  if (!pad)
    return nullptr;
  Value padding = pad.getConstantPaddingValue();
  auto low = pad.getMixedLowPad(), high = pad.getMixedHighPad();
  bool rowsOnly = padding && matchPattern(padding, m_AnyZeroFloat()) &&
                  pad.getSourceType().getRank() == 2 &&
                  llvm::all_of(low, isZeroInteger) && isZeroInteger(high[1]);
  return rowsOnly ? pad : nullptr;
}

Value mla::packRows(ImplicitLocOpBuilder &b, Value value, bool pad,
                    Value limit) {
  auto type = cast<RankedTensorType>(value.getType());
  int64_t rows = type.getDimSize(0), columns = type.getDimSize(1);
  // A stride of 512 bytes puts every eighth row into the same cache set.
  int64_t stride = pad && columns % 128 == 0 ? columns + 16 : columns;
  Value tile = tensor::EmptyOp::create(b, ArrayRef<int64_t>{rows, stride},
                                       b.getF32Type());
  if (stride != columns)
    tile = tensor::ExtractSliceOp::create(
        b, tile, SmallVector<OpFoldResult>(2, b.getIndexAttr(0)),
        getAsIndexOpFoldResult(b.getContext(), {rows, columns}),
        SmallVector<OpFoldResult>(2, b.getIndexAttr(1)));

  if (auto gather = value.getDefiningOp<GatherPagesOp>())
    return GatherPagesOp::create(b, tile.getType(), gather.getCache(),
                                 gather.getLayer(), gather.getColumn(),
                                 gather.getTable(), gather.getSequence(),
                                 gather.getPosition(), gather.getCount(), tile)
        .getResult();
  tensor::PadOp padded = getZeroPaddedRows(value);
  if (!padded)
    return extend(b, value, tile);

  OpFoldResult zero = b.getIndexAttr(0);
  Value source = padded.getSource();
  OpFoldResult count = tensor::getMixedSize(b, b.getLoc(), source, 0);
  Value part = extend(b, source, extractRows(b, tile, zero, count));
  tile = insertRows(b, part, tile, zero, count);
  OpFoldResult missing = padded.getMixedHighPad()[0];
  if (limit) {
    Value rowsDone = getValueOrCreateConstantIndexOp(b, b.getLoc(), count);
    Value end = arith::MaxSIOp::create(b, limit, rowsDone);
    missing = arith::SubIOp::create(b, end, rowsDone).getResult();
  }
  Value value0 = arith::ConstantOp::create(b, b.getF32FloatAttr(0.0f));
  Value rest =
      linalg::FillOp::create(b, ValueRange{value0},
                             ValueRange{extractRows(b, tile, count, missing)})
          .getResult(0);
  return insertRows(b, rest, tile, count, missing);
}
