//===- ExpandGather.cpp - mla.gather_pages to a loop over rows -*- C++ -*-===//
//
// Part of the MLA project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "mla/Dialect/MLA/IR/MLA.h"
#include "mla/Dialect/MLA/Transforms/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "mlir/IR/PatternMatch.h"

namespace mlir::mla {
#define GEN_PASS_DEF_MLAEXPANDGATHER
#include "mla/Dialect/MLA/Transforms/Passes.h.inc"
} // namespace mlir::mla

using namespace mlir;
using namespace mlir::mla;

/// The page that holds `position`, and the position's row in it.
static std::pair<Value, Value> buildPage(ImplicitLocOpBuilder &b,
                                         GatherPagesOp op, Value position) {
  Value pageSize = tensor::DimOp::create(b, op.getCache(), 3);
  Value column = arith::DivUIOp::create(b, position, pageSize);
  Value row = arith::RemUIOp::create(b, position, pageSize);
  Value entry = tensor::ExtractOp::create(b, op.getTable(),
                                          ValueRange{op.getSequence(), column});
  return {castToIndex(b, b.getLoc(), entry), row};
}

static void expandGather(RewriterBase &rewriter, GatherPagesOp op) {
  ImplicitLocOpBuilder b(op.getLoc(), rewriter);
  auto type = cast<RankedTensorType>(op.getDest().getType());
  auto cacheType = cast<RankedTensorType>(op.getCache().getType());
  int64_t width = type.getDimSize(1);
  auto rowType = RankedTensorType::get({1, width}, type.getElementType());
  auto cacheRowType =
      RankedTensorType::get({1, width}, cacheType.getElementType());

  Value zero = arith::ConstantIndexOp::create(b, 0);
  Value one = arith::ConstantIndexOp::create(b, 1);
  OpFoldResult c0 = b.getIndexAttr(0), c1 = b.getIndexAttr(1),
               columns = b.getIndexAttr(width);
  SmallVector<OpFoldResult> rowSizes{c1, columns}, unit2(2, c1);

  auto copied = scf::ForOp::create(
      b, zero, op.getCount(), one, op.getDest(),
      [&](OpBuilder &nested, Location loc, Value row, ValueRange dest) {
        ImplicitLocOpBuilder b(loc, nested);
        Value position = arith::AddIOp::create(b, op.getPosition(), row);
        auto [page, inPage] = buildPage(b, op, position);
        Value source = tensor::ExtractSliceOp::create(
            b, cacheRowType, op.getCache(),
            ArrayRef<OpFoldResult>{page, c0, op.getLayer(), inPage, c0,
                                   b.getIndexAttr(op.getColumn())},
            ArrayRef<OpFoldResult>{c1, c1, c1, c1, c1, columns},
            SmallVector<OpFoldResult>(6, c1));
        SmallVector<OpFoldResult> at{row, c0};
        Value part = tensor::ExtractSliceOp::create(b, rowType, dest[0], at,
                                                    rowSizes, unit2);
        // Extends the elements where the types differ.
        Value filled = linalg::CopyOp::create(b, source, part).getResult(0);
        Value next = tensor::InsertSliceOp::create(b, filled, dest[0], at,
                                                   rowSizes, unit2);
        scf::YieldOp::create(b, next);
      });
  // The rows past the end.
  OpFoldResult rows = tensor::getMixedSize(b, b.getLoc(), op.getDest(), 0);
  Value end = isa<Attribute>(rows)
                  ? arith::ConstantIndexOp::create(b, type.getDimSize(0))
                  : cast<Value>(rows);
  auto cleared = scf::ForOp::create(
      b, op.getCount(), end, one, copied.getResult(0),
      [&](OpBuilder &nested, Location loc, Value row, ValueRange dest) {
        ImplicitLocOpBuilder b(loc, nested);
        SmallVector<OpFoldResult> at{row, c0};
        Value part = tensor::ExtractSliceOp::create(b, rowType, dest[0], at,
                                                    rowSizes, unit2);
        Value value =
            arith::ConstantOp::create(b, b.getZeroAttr(type.getElementType()));
        Value filled =
            linalg::FillOp::create(b, ValueRange{value}, ValueRange{part})
                .getResult(0);
        Value next = tensor::InsertSliceOp::create(b, filled, dest[0], at,
                                                   rowSizes, unit2);
        scf::YieldOp::create(b, next);
      });
  rewriter.replaceOp(op, cleared.getResults());
}

namespace {
struct ExpandGather : mla::impl::MLAExpandGatherBase<ExpandGather> {
  void runOnOperation() override {
    SmallVector<GatherPagesOp> ops;
    getOperation()->walk([&](GatherPagesOp op) { ops.push_back(op); });
    IRRewriter rewriter(&getContext());
    for (GatherPagesOp op : ops) {
      if (!op.getResult()) {
        op.emitOpError("expected tensors; expand before bufferization");
        return signalPassFailure();
      }
      rewriter.setInsertionPoint(op);
      expandGather(rewriter, op);
    }
  }
};
} // namespace
