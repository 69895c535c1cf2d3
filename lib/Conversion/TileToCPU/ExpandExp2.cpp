//===- ExpandExp2.cpp - math.exp2 as a polynomial -*- C++ -*-===//
//
// Part of the MLA project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// 2^x = 2^i * 2^f with i = round(x) and f in [-1/2, 1/2]: 2^f is a minimax
// polynomial of degree 5, 2^i goes straight into the exponent's bits.
// Upstream's approximations expand exp2 to exp first and cost four times as
// much, and attention computes one exp2 for every score.
//
//===----------------------------------------------------------------------===//

#include "mla/Conversion/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/IR/TypeUtilities.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

namespace mlir::mla {
#define GEN_PASS_DEF_MLACPUEXPANDEXP2
#include "mla/Conversion/Passes.h.inc"
} // namespace mlir::mla

using namespace mlir;

namespace {
struct ExpandExp2Op : OpRewritePattern<math::Exp2Op> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(math::Exp2Op op,
                                PatternRewriter &rewriter) const override {
    Type type = op.getType();
    if (!getElementTypeOrSelf(type).isF32())
      return failure();
    ImplicitLocOpBuilder b(op.getLoc(), rewriter);
    auto like = [&](Type element) -> Type {
      auto shaped = dyn_cast<ShapedType>(type);
      return shaped ? shaped.clone(element) : element;
    };
    Type ints = like(b.getI32Type());
    auto splat = [&](Type t, TypedAttr value) -> Value {
      if (auto shaped = dyn_cast<ShapedType>(t))
        value = DenseElementsAttr::get(shaped, Attribute(value));
      return arith::ConstantOp::create(b, value);
    };
    auto real = [&](float value) {
      return splat(type, b.getF32FloatAttr(value));
    };
    auto integer = [&](int32_t value) {
      return splat(ints, b.getI32IntegerAttr(value));
    };

    // Written so that NaN stays: it is not below the bound.
    Value low = real(-127.0f), high = real(128.0f);
    Value x = op.getOperand();
    for (auto [predicate, bound] :
         {std::pair(arith::CmpFPredicate::OLT, low),
          std::pair(arith::CmpFPredicate::OGT, high)}) {
      Value outside = arith::CmpFOp::create(b, predicate, x, bound);
      x = arith::SelectOp::create(b, outside, bound, x);
    }
    Value whole = math::RoundEvenOp::create(b, x);
    Value f = arith::SubFOp::create(b, x, whole);
    Value p = real(0.0013390863314270973f);
    for (float coefficient :
         {0.009676031768321991f, 0.055503569543361664f, 0.2402210682630539f,
          0.6931471824645996f, 1.0000001192092896f})
      p = math::FmaOp::create(b, p, f, real(coefficient));
    // An exponent field of 0 stands for -127 and makes the product 0.
    Value exponent = arith::AddIOp::create(
        b, arith::FPToSIOp::create(b, ints, whole), integer(127));
    Value bits = arith::ShLIOp::create(b, exponent, integer(23));
    Value power = arith::BitcastOp::create(b, type, bits);
    rewriter.replaceOp(op, arith::MulFOp::create(b, p, power));
    return success();
  }
};

struct ExpandExp2 : mla::impl::MLACPUExpandExp2Base<ExpandExp2> {
  void runOnOperation() override {
    RewritePatternSet patterns(&getContext());
    patterns.add<ExpandExp2Op>(&getContext());
    if (failed(applyPatternsGreedily(getOperation(), std::move(patterns))))
      signalPassFailure();
  }
};
} // namespace
