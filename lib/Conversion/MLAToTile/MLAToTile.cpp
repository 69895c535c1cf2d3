//===- MLAToTile.cpp - mla.prefill to tiled linalg -*- C++ -*-===//
//
// Part of the MLA project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "TileBuilder.h"

#include "mla/Conversion/Passes.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/PatternMatch.h"

#include <cmath>

namespace mlir::mla {
#define GEN_PASS_DEF_MLATOTILE
#include "mla/Conversion/Passes.h.inc"
} // namespace mlir::mla

using namespace mlir;
using namespace mlir::mla;

//===----------------------------------------------------------------------===//
// Operands
//===----------------------------------------------------------------------===//

/// A memref is read, and a destination written, through a tensor.
static Value asTensor(ImplicitLocOpBuilder &b, Value value,
                      bool destination = false) {
  if (!value || !isa<MemRefType>(value.getType()))
    return value;
  return bufferization::ToTensorOp::create(
      b, memref::getTensorTypeFromMemRefType(value.getType()), value,
      /*restrict=*/true, /*writable=*/destination);
}

static PrefillTensors getTensors(ImplicitLocOpBuilder &b, PrefillOp op) {
  PrefillTensors t;
  t.mask = op.getMask();
  for (Value parameter : op.getMaskParameters())
    t.maskParameters.push_back(asTensor(b, parameter));
  t.q = asTensor(b, op.getQ());
  t.inputRowOffsets = asTensor(b, op.getInputRowOffsets());
  t.k = asTensor(b, op.getK());
  t.v = asTensor(b, op.getV());
  t.bufferRowOffsets = asTensor(b, op.getBufferRowOffsets());
  t.cacheOffsets = asTensor(b, op.getCacheOffsets());
  t.kvBlocks = asTensor(b, op.getKvBlocks());
  t.lookupTable = asTensor(b, op.getLookupTable());
  t.kRope = asTensor(b, op.getKRope());
  t.cacheLengths = asTensor(b, op.getCacheLengths());
  if (op.getLayerIdx())
    t.layer = castToIndex(b, b.getLoc(), op.getLayerIdx());
  t.scale = op.getScale();
  t.output = asTensor(b, op.getOutput(), /*destination=*/true);
  t.lse = asTensor(b, op.getLse(), /*destination=*/true);
  t.schedule = *op.getSchedule();
  return t;
}

//===----------------------------------------------------------------------===//
// Tiles of operands
//===----------------------------------------------------------------------===//

/// Rows [row, row + count) of one head of [rows, heads, width], as a tile of
/// `rows` rows. `count` null: all of them; else the rest is zero, never memory.
static Value buildRows(ImplicitLocOpBuilder &b, StringRef name, Value tensor,
                       Value row, Value head, int64_t rows, Value count) {
  auto type = cast<RankedTensorType>(tensor.getType());
  int64_t width = type.getShape().back();
  OpFoldResult one = b.getIndexAttr(1);
  OpFoldResult extent = count ? OpFoldResult(count) : b.getIndexAttr(rows);
  SmallVector<OpFoldResult> offsets{row}, sizes{extent};
  if (head) {
    offsets.push_back(head);
    sizes.push_back(one);
  }
  offsets.push_back(b.getIndexAttr(0));
  sizes.push_back(b.getIndexAttr(width));
  SmallVector<OpFoldResult> strides(offsets.size(), one);
  auto sliceType = RankedTensorType::get(
      {count ? ShapedType::kDynamic : rows, width}, type.getElementType());
  auto slice = tensor::ExtractSliceOp::create(b, sliceType, tensor, offsets,
                                              sizes, strides);
  slice->setAttr(MLADialect::kOperand, b.getStringAttr(name));
  if (!count)
    return slice;
  Value missing = affine::makeComposedAffineApply(
      b, b.getLoc(), rows - b.getAffineSymbolExpr(0), {count});
  OpFoldResult none = b.getIndexAttr(0);
  Value zero =
      arith::ConstantOp::create(b, b.getZeroAttr(type.getElementType()));
  return tensor::PadOp::create(
      b, RankedTensorType::get({rows, width}, type.getElementType()), slice,
      ArrayRef<OpFoldResult>{none, none}, ArrayRef<OpFoldResult>{missing, none},
      zero);
}

/// Columns [begin, begin + width) of a tile.
static Value buildColumns(ImplicitLocOpBuilder &b, Value tile, int64_t begin,
                          int64_t width) {
  int64_t rows = cast<ShapedType>(tile.getType()).getDimSize(0);
  OpFoldResult one = b.getIndexAttr(1);
  return tensor::ExtractSliceOp::create(
      b, tile, ArrayRef<OpFoldResult>{b.getIndexAttr(0), b.getIndexAttr(begin)},
      ArrayRef<OpFoldResult>{b.getIndexAttr(rows), b.getIndexAttr(width)},
      ArrayRef<OpFoldResult>{one, one});
}

/// The rope part of keys [key, key + count) (all `rows` where null).
static Value buildRope(ImplicitLocOpBuilder &b, const PrefillTensors &op,
                       const Item &item, Value key, int64_t rows, Value count) {
  if (op.kRope) {
    Value row = arith::AddIOp::create(b, item.keyRow, key);
    return buildRows(b, "k_rope", op.kRope, row, /*head=*/Value(), rows, count);
  }
  int64_t width = op.getDr();
  Type element = cast<ShapedType>(op.kvBlocks.getType()).getElementType();
  Value dest =
      tensor::EmptyOp::create(b, ArrayRef<int64_t>{rows, width}, element);
  Value position = arith::AddIOp::create(b, item.keyPosition, key);
  if (!count)
    count = arith::ConstantIndexOp::create(b, rows);
  auto gather =
      GatherPagesOp::create(b, dest.getType(), op.kvBlocks, op.layer,
                            op.dimOf(op.kvBlocks, 5) - width, op.lookupTable,
                            item.sequence, position, count, dest);
  gather->setAttr(MLADialect::kOperand, b.getStringAttr("kv_blocks"));
  return gather.getResult();
}

//===----------------------------------------------------------------------===//
// The loop over keys
//===----------------------------------------------------------------------===//

/// -inf where the predicate or the end of the segment hides a key.
static Value buildSelect(ImplicitLocOpBuilder &b, const PrefillTensors &op,
                         const Item &item, Value scores, Value key,
                         Value count) {
  Value position = arith::AddIOp::create(b, item.keyPosition, key);
  Value minusInf = arith::ConstantOp::create(
      b, b.getF32FloatAttr(-std::numeric_limits<float>::infinity()));
  return buildMap(
      b, cast<ShapedType>(scores.getType()).getShape(), b.getF32Type(), scores,
      [&](ImplicitLocOpBuilder &b, ValueRange x) -> Value {
        Value row = linalg::IndexOp::create(b, 0);
        Value column = linalg::IndexOp::create(b, 1);
        Value query = arith::AddIOp::create(b, item.firstPosition, row);
        Value keyPosition = arith::AddIOp::create(b, position, column);
        Value visible = op.mask.buildPredicate(
            b, b.getLoc(), query, keyPosition, item.maskParameters);
        Value inside =
            arith::CmpIOp::create(b, arith::CmpIPredicate::slt, column, count);
        Value both = arith::AndIOp::create(b, visible, inside);
        return arith::SelectOp::create(b, both, x[0], minusInf);
      });
}

/// One pass over a segment: scores, mask, softmax step.
static Carried buildKeyLoop(ImplicitLocOpBuilder &b, const PrefillTensors &op,
                            const Item &item, const Segment &segment,
                            Value qNope, Value qRope, Value factor,
                            const Carried &init) {
  int64_t rows = segment.guarded ? op.schedule.getGuardedKeyTile()
                                 : op.schedule.getKeyTile();
  Value step = arith::ConstantIndexOp::create(b, rows);
  auto loop = scf::ForOp::create(
      b, segment.begin, segment.end, step,
      ValueRange{init.acc, init.max, init.sum},
      [&](OpBuilder &nested, Location loc, Value key, ValueRange carried) {
        ImplicitLocOpBuilder b(loc, nested);
        Value count;
        if (segment.guarded)
          count = affine::AffineMinOp::create(
              b,
              AffineMap::get(
                  0, 2,
                  {b.getAffineSymbolExpr(0) - b.getAffineSymbolExpr(1),
                   b.getAffineConstantExpr(rows)},
                  b.getContext()),
              ValueRange{segment.end, key});
        Value row = arith::AddIOp::create(b, item.keyRow, key);
        Value kNope = buildRows(b, "k", op.k, row, item.head, rows, count);
        Value kRope = buildRope(b, op, item, key, rows, count);
        Value values = buildRows(b, "v", op.v, row, item.head, rows, count);

        Value empty = tensor::EmptyOp::create(
            b, ArrayRef<int64_t>{op.schedule.getQueryTile(), rows},
            b.getF32Type());
        Value zero = arith::ConstantOp::create(b, b.getF32FloatAttr(0.0f));
        Value scores =
            linalg::FillOp::create(b, ValueRange{zero}, ValueRange{empty})
                .getResult(0);
        for (auto [query, keys] : {std::pair(qNope, kNope), {qRope, kRope}})
          scores = linalg::MatmulTransposeBOp::create(
                       b, b.getLoc(), TypeRange{empty.getType()},
                       ValueRange{query, keys}, ValueRange{scores})
                       .getResult(0);
        if (segment.guarded)
          scores = buildSelect(b, op, item, scores, key, count);
        Carried next = buildAbsorb(b, op, scores, values, factor,
                                   {carried[0], carried[1], carried[2]});
        scf::YieldOp::create(b, ValueRange{next.acc, next.max, next.sum});
      });
  // Online softmax: scores of -inf change neither maximum, sum nor accumulator.
  if (segment.guarded)
    loop->setAttr(MLADialect::kSkipMasked, b.getUnitAttr());
  return {loop.getResult(0), loop.getResult(1), loop.getResult(2)};
}

//===----------------------------------------------------------------------===//
// The work item and the domain
//===----------------------------------------------------------------------===//

/// The body of the loop over work items, with the destinations that it inserts
/// into.
static void buildWorkItem(ImplicitLocOpBuilder &b, const PrefillTensors &op,
                          Value factor, Value number, Value head,
                          ValueRange destinations) {
  Item item = buildItem(b, op, number, head);
  Value q = buildRows(b, "q", op.q, item.queryRow, head,
                      op.schedule.getQueryTile(), item.count);
  Value qNope = buildColumns(b, q, 0, op.getDn());
  Value qRope = buildColumns(b, q, op.getDn(), op.getDr());

  SmallVector<Segment> segments = buildSegments(b, op, item);
  if (op.schedule.getOrder() == LoopOrder::GuardedFirst) {
    auto guarded = [](const Segment &s) { return s.guarded; };
    SmallVector<Segment> ordered;
    llvm::append_range(ordered, llvm::make_filter_range(segments, guarded));
    llvm::append_range(ordered,
                       llvm::make_filter_range(segments, [](const Segment &s) {
                         return !s.guarded;
                       }));
    segments = std::move(ordered);
  }
  Carried carried = buildEmpty(b, op);
  for (const Segment &segment : segments)
    carried = buildKeyLoop(b, op, item, segment, qNope, qRope, factor, carried);

  OpFoldResult zero = b.getIndexAttr(0), one = b.getIndexAttr(1);
  SmallVector<Value> tiles{buildOutput(b, op, carried)};
  if (op.lse)
    tiles.push_back(buildLse(b, op, carried));
  SmallVector<std::pair<Value, Value>> parts;
  for (auto [tile, destination] : llvm::zip(tiles, destinations)) {
    // The valid rows of the tile.
    auto type = cast<RankedTensorType>(tile.getType());
    SmallVector<OpFoldResult> offsets(type.getRank(), zero),
        strides(type.getRank(), one), sizes{item.count};
    for (int64_t extent : type.getShape().drop_front())
      sizes.push_back(b.getIndexAttr(extent));
    parts.emplace_back(
        tensor::ExtractSliceOp::create(b, tile, offsets, sizes, strides),
        destination);
  }
  auto terminator = scf::InParallelOp::create(b);
  b.setInsertionPointToStart(terminator.getBody());
  for (auto [part, destination] : parts) {
    int64_t rank = cast<ShapedType>(destination.getType()).getRank();
    SmallVector<OpFoldResult> offsets{item.queryRow, head},
        sizes{item.count, one}, strides(rank, one);
    if (rank == 3) {
      offsets.push_back(zero);
      sizes.push_back(b.getIndexAttr(op.getDv()));
    }
    tensor::ParallelInsertSliceOp::create(b, part, destination, offsets, sizes,
                                          strides);
  }
}

static LogicalResult lowerPrefill(RewriterBase &rewriter, PrefillOp op) {
  if (!op.getSchedule())
    return op.emitOpError(
        "has no schedule; run mla-select-schedule or write one");
  Type probability = op.getSchedule()->getProbability();
  Type input = cast<ShapedType>(op.getV().getType()).getElementType();
  if (!probability.isF32() && probability != input)
    return op.emitOpError() << "schedule: probability: expected f32 or "
                            << input << " as 'v', got " << probability;

  ImplicitLocOpBuilder b(op.getLoc(), rewriter);
  PrefillTensors tensors = getTensors(b, op);
  Value log2e = arith::ConstantOp::create(
      b, b.getF32FloatAttr(static_cast<float>(M_LOG2E)));
  Value factor = arith::MulFOp::create(b, tensors.scale, log2e);
  OpFoldResult items = buildItemBound(b, tensors);
  OpFoldResult heads = tensor::getMixedSize(b, b.getLoc(), tensors.q, 1);
  SmallVector<Value> destinations{tensors.output};
  if (tensors.lse)
    destinations.push_back(tensors.lse);

  auto forall = scf::ForallOp::create(b, ArrayRef<OpFoldResult>{items, heads},
                                      destinations,
                                      /*mapping=*/std::nullopt);
  // The builder leaves a terminator; the work item brings its own.
  forall.getTerminator()->erase();
  b.setInsertionPointToEnd(forall.getBody());
  buildWorkItem(b, tensors, factor, forall.getInductionVar(0),
                forall.getInductionVar(1), forall.getRegionIterArgs());

  if (op.hasTensors()) {
    rewriter.replaceOp(op, forall.getResults());
    return success();
  }
  b.setInsertionPointAfter(forall);
  for (auto [result, destination] :
       llvm::zip(forall.getResults(), op.getDpsInits())) {
    auto materialize = bufferization::MaterializeInDestinationOp::create(
        b, result, destination);
    materialize.setRestrict(true);
    materialize.setWritable(true);
  }
  rewriter.eraseOp(op);
  return success();
}

namespace {
struct MLAToTile : mla::impl::MLAToTileBase<MLAToTile> {
  void runOnOperation() override {
    SmallVector<PrefillOp> ops;
    getOperation()->walk([&](PrefillOp op) { ops.push_back(op); });
    IRRewriter rewriter(&getContext());
    for (PrefillOp op : ops) {
      rewriter.setInsertionPoint(op);
      if (failed(lowerPrefill(rewriter, op)))
        return signalPassFailure();
    }
  }
};
} // namespace
