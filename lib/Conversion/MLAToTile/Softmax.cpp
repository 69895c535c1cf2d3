//===- Softmax.cpp - Online softmax on tiles -*- C++ -*-===//
//
// Part of the MLA project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// In base 2, after Milakov and Gimelshein, "Online normalizer calculation for
// softmax" (arXiv:1805.02867), and Dao et al., "FlashAttention"
// (arXiv:2205.14135). With c = scale * log2(e) and m the running maximum of the
// raw scores:
//
//     ref  = (m == -inf ? 0 : m) * c        always finite
//     p    = exp2(s * c - ref)              0 for a masked score
//     corr = exp2(m_old * c - ref)          0 for a row that has seen no key
//
// p is one fused multiply-add; corr rounds its product as ref does, so that a
// maximum that stays gives exactly 1 and nothing drifts over many tiles.
//
// so masked scores are real -infs and -inf - -inf never arises. Needs scale >
// 0.
//
//===----------------------------------------------------------------------===//

#include "TileBuilder.h"

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace mlir::mla;

static Value constant(ImplicitLocOpBuilder &b, float value) {
  return arith::ConstantOp::create(b, b.getF32FloatAttr(value));
}

static Value filled(ImplicitLocOpBuilder &b, ArrayRef<int64_t> shape,
                    float value) {
  Value empty = tensor::EmptyOp::create(b, shape, b.getF32Type());
  return linalg::FillOp::create(b, ValueRange{constant(b, value)},
                                ValueRange{empty})
      .getResult(0);
}

Value mla::buildMap(
    ImplicitLocOpBuilder &b, ArrayRef<int64_t> shape, Type element,
    ValueRange inputs,
    function_ref<Value(ImplicitLocOpBuilder &, ValueRange)> body) {
  Value empty = tensor::EmptyOp::create(b, shape, element);
  unsigned rank = shape.size();
  SmallVector<AffineMap> maps;
  for (Value input : inputs)
    maps.push_back(
        AffineMap::getMultiDimIdentityMap(rank, b.getContext())
            .getMajorSubMap(cast<ShapedType>(input.getType()).getRank()));
  maps.push_back(b.getMultiDimIdentityMap(rank));
  SmallVector<utils::IteratorType> iterators(rank,
                                             utils::IteratorType::parallel);
  return linalg::GenericOp::create(
             b, empty.getType(), inputs, empty, maps, iterators,
             [&](OpBuilder &nested, Location loc, ValueRange arguments) {
               ImplicitLocOpBuilder inner(loc, nested);
               linalg::YieldOp::create(inner,
                                       body(inner, arguments.drop_back()));
             })
      .getResult(0);
}

/// Reduces the columns of `tile` into `init` with Op.
template <typename Op>
static Value reduceRows(ImplicitLocOpBuilder &b, Value tile, Value init) {
  AffineMap identity = b.getMultiDimIdentityMap(2);
  return linalg::GenericOp::create(
             b, init.getType(), tile, init,
             ArrayRef{identity, identity.getMajorSubMap(1)},
             ArrayRef{utils::IteratorType::parallel,
                      utils::IteratorType::reduction},
             [](OpBuilder &nested, Location loc, ValueRange x) {
               linalg::YieldOp::create(
                   nested, loc,
                   Op::create(nested, loc, x[0], x[1]).getResult());
             })
      .getResult(0);
}

Carried mla::buildEmpty(ImplicitLocOpBuilder &b, const PrefillTensors &op) {
  int64_t rows = op.schedule.getQueryTile();
  return {filled(b, {rows, op.getDv()}, 0.0f),
          filled(b, {rows}, -std::numeric_limits<float>::infinity()),
          filled(b, {rows}, 0.0f)};
}

Carried mla::buildAbsorb(ImplicitLocOpBuilder &b, const PrefillTensors &op,
                         Value scores, Value values, Value factor,
                         const Carried &carried) {
  Type f32 = b.getF32Type();
  ArrayRef<int64_t> tile = cast<ShapedType>(scores.getType()).getShape();
  int64_t rows = tile[0];
  Value zero = constant(b, 0.0f);
  Value minusInf = constant(b, -std::numeric_limits<float>::infinity());

  Value max = reduceRows<arith::MaximumFOp>(b, scores, carried.max);
  Value ref =
      buildMap(b, rows, f32, max, [&](ImplicitLocOpBuilder &b, ValueRange x) {
        Value none =
            arith::CmpFOp::create(b, arith::CmpFPredicate::OEQ, x[0], minusInf);
        Value finite = arith::SelectOp::create(b, none, zero, x[0]);
        return arith::MulFOp::create(b, finite, factor);
      });
  Value p = buildMap(b, tile, f32, {scores, ref},
                     [&](ImplicitLocOpBuilder &b, ValueRange x) {
                       Value minus = arith::NegFOp::create(b, x[1]);
                       return math::Exp2Op::create(
                           b, math::FmaOp::create(b, x[0], factor, minus));
                     });
  Value correction = buildMap(
      b, rows, f32, {carried.max, ref},
      [&](ImplicitLocOpBuilder &b, ValueRange x) {
        Value scaled = arith::MulFOp::create(b, x[0], factor);
        return math::Exp2Op::create(b, arith::SubFOp::create(b, scaled, x[1]));
      });

  auto product = [](ImplicitLocOpBuilder &b, ValueRange x) {
    return arith::MulFOp::create(b, x[0], x[1]);
  };
  Value scaledSum = buildMap(b, rows, f32, {carried.sum, correction}, product);
  Value sum = reduceRows<arith::AddFOp>(b, p, scaledSum);
  Value scaledAcc =
      buildMap(b, {rows, op.getDv()}, f32, {carried.acc, correction}, product);
  Type probability = op.schedule.getProbability();
  if (probability != f32)
    p = buildMap(b, tile, probability, p,
                 [&](ImplicitLocOpBuilder &b, ValueRange x) {
                   return arith::TruncFOp::create(b, probability, x[0]);
                 });
  Value acc =
      linalg::MatmulOp::create(b, ValueRange{p, values}, ValueRange{scaledAcc})
          .getResult(0);
  return {acc, max, sum};
}

Value mla::buildOutput(ImplicitLocOpBuilder &b, const PrefillTensors &op,
                       const Carried &carried) {
  // One division a row. A row that saw no key is 0 (MLA-R2).
  ArrayRef<int64_t> tile = cast<ShapedType>(carried.acc.getType()).getShape();
  Value inverse =
      buildMap(b, tile[0], b.getF32Type(), carried.sum,
               [&](ImplicitLocOpBuilder &b, ValueRange x) {
                 Value zero = constant(b, 0.0f), one = constant(b, 1.0f);
                 Value none = arith::CmpFOp::create(
                     b, arith::CmpFPredicate::OEQ, x[0], zero);
                 Value quotient = arith::DivFOp::create(b, one, x[0]);
                 return arith::SelectOp::create(b, none, zero, quotient);
               });
  Type element = cast<ShapedType>(op.output.getType()).getElementType();
  return buildMap(b, tile, element, {carried.acc, inverse},
                  [&](ImplicitLocOpBuilder &b, ValueRange x) -> Value {
                    Value y = arith::MulFOp::create(b, x[0], x[1]);
                    if (element == b.getF32Type())
                      return y;
                    return arith::TruncFOp::create(b, element, y);
                  });
}

Value mla::buildLse(ImplicitLocOpBuilder &b, const PrefillTensors &op,
                    const Carried &carried) {
  return buildMap(
      b, cast<ShapedType>(carried.sum.getType()).getShape(), b.getF32Type(),
      {carried.max, carried.sum}, [&](ImplicitLocOpBuilder &b, ValueRange x) {
        Value scaled = arith::MulFOp::create(b, x[0], op.scale);
        return arith::AddFOp::create(b, scaled, math::LogOp::create(b, x[1]));
      });
}
