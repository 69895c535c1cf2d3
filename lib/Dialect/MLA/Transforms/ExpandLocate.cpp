//===- ExpandLocate.cpp - mla.locate to a binary search -*- C++ -*-===//
//
// Part of the MLA project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
//     tiles[0] = 0, tiles[b+1] = tiles[b] + ceil(rows of b / tile)    once
//     item -> the last b with tiles[b] <= item                        log2(B)
//
// The last such b, so that sequences without rows are stepped over. Past the
// end (item >= tiles[B]) every result is 0.
//
//===----------------------------------------------------------------------===//

#include "mla/Dialect/MLA/IR/MLA.h"
#include "mla/Dialect/MLA/Transforms/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "mlir/IR/PatternMatch.h"

namespace mlir::mla {
#define GEN_PASS_DEF_MLAEXPANDLOCATE
#include "mla/Dialect/MLA/Transforms/Passes.h.inc"
} // namespace mlir::mla

using namespace mlir;
using namespace mlir::mla;

namespace {
struct Expander {
  ImplicitLocOpBuilder &b;
  Value zero = arith::ConstantIndexOp::create(b, 0);
  Value one = arith::ConstantIndexOp::create(b, 1);

  Value constant(int64_t value) {
    return arith::ConstantIndexOp::create(b, value);
  }
  Value add(Value x, Value y) { return arith::AddIOp::create(b, x, y); }
  Value sub(Value x, Value y) { return arith::SubIOp::create(b, x, y); }
  Value less(Value x, Value y) {
    return arith::CmpIOp::create(b, arith::CmpIPredicate::slt, x, y);
  }
  Value load(Value tensor, Value index) {
    return castToIndex(b, b.getLoc(),
                       tensor::ExtractOp::create(b, tensor, index));
  }

  /// Prefix sums of the tiles per sequence, [B+1] index.
  Value buildSums(Value offsets, int64_t tile);
  /// The sequence, its first row and count of rows of tile `item`.
  SmallVector<Value, 3> buildSearch(Value offsets, Value sums, Value item,
                                    int64_t tile);
};
} // namespace

Value Expander::buildSums(Value offsets, int64_t tile) {
  Value entries = tensor::DimOp::create(b, offsets, 0);
  Value sequences = sub(entries, one);
  Value empty = tensor::EmptyOp::create(b, ArrayRef<OpFoldResult>{entries},
                                        b.getIndexType());
  Value start = tensor::InsertOp::create(b, zero, empty, zero);
  auto loop = scf::ForOp::create(
      b, zero, sequences, one, ValueRange{start, zero},
      [&](OpBuilder &nested, Location loc, Value s, ValueRange carried) {
        ImplicitLocOpBuilder inner(loc, nested);
        Expander x{inner, zero, one};
        Value next = x.add(s, one);
        Value rows = x.sub(x.load(offsets, next), x.load(offsets, s));
        Value tiles = arith::CeilDivSIOp::create(inner, rows, x.constant(tile));
        Value sum = x.add(carried[1], tiles);
        Value sums = tensor::InsertOp::create(inner, sum, carried[0], next);
        scf::YieldOp::create(inner, ValueRange{sums, sum});
      });
  return loop.getResult(0);
}

SmallVector<Value, 3> Expander::buildSearch(Value offsets, Value sums,
                                            Value item, int64_t tile) {
  Value entries = tensor::DimOp::create(b, sums, 0);
  Value sequences = sub(entries, one);
  // Invariant: sums[low] <= item < sums[high], where the item exists.
  auto loop = scf::WhileOp::create(
      b, TypeRange{b.getIndexType(), b.getIndexType()},
      ValueRange{zero, sequences},
      [&](OpBuilder &nested, Location loc, ValueRange bounds) {
        ImplicitLocOpBuilder inner(loc, nested);
        Expander x{inner, zero, one};
        Value more = x.less(x.add(bounds[0], one), bounds[1]);
        scf::ConditionOp::create(inner, more, bounds);
      },
      [&](OpBuilder &nested, Location loc, ValueRange bounds) {
        ImplicitLocOpBuilder inner(loc, nested);
        Expander x{inner, zero, one};
        Value middle =
            arith::ShRUIOp::create(inner, x.add(bounds[0], bounds[1]), one);
        Value after = x.less(item, x.load(sums, middle));
        Value low = arith::SelectOp::create(inner, after, bounds[0], middle);
        Value high = arith::SelectOp::create(inner, after, middle, bounds[1]);
        scf::YieldOp::create(inner, ValueRange{low, high});
      });
  Value found = loop.getResult(0);
  Value next = add(found, one);
  Value rows = sub(load(offsets, next), load(offsets, found));
  // Tiles of a sequence count down: the longest under a causal mask is first.
  Value number = sub(sub(load(sums, next), one), item);
  Value first = arith::MulIOp::create(b, number, constant(tile));
  Value count = arith::MinSIOp::create(b, sub(rows, first), constant(tile));
  Value exists = less(item, load(sums, sequences));
  SmallVector<Value, 3> results;
  for (Value value : {found, first, count})
    results.push_back(arith::SelectOp::create(b, exists, value, zero));
  return results;
}

namespace {
struct ExpandLocate : mla::impl::MLAExpandLocateBase<ExpandLocate> {
  void runOnOperation() override {
    SmallVector<LocateOp> ops;
    getOperation()->walk([&](LocateOp op) { ops.push_back(op); });
    IRRewriter rewriter(&getContext());
    // One prefix sum for all locates that share a loop, offsets and tile.
    DenseMap<std::tuple<Operation *, Value, int64_t>, Value> known;
    for (LocateOp op : ops) {
      if (!isa<TensorType>(op.getOffsets().getType())) {
        op.emitOpError("expected tensors; expand before bufferization");
        return signalPassFailure();
      }
      Operation *outside = op;
      if (auto loop = op->getParentOfType<scf::ForallOp>();
          loop && loop.isDefinedOutsideOfLoop(op.getOffsets()))
        outside = loop;
      Value &sums = known[{outside, op.getOffsets(), op.getTile()}];
      ImplicitLocOpBuilder b(op.getLoc(), rewriter);
      if (!sums) {
        b.setInsertionPoint(outside);
        sums = Expander{b}.buildSums(op.getOffsets(), op.getTile());
      }
      b.setInsertionPoint(op);
      Expander search{b};
      rewriter.replaceOp(op, search.buildSearch(op.getOffsets(), sums,
                                                op.getItem(), op.getTile()));
    }
  }
};
} // namespace
