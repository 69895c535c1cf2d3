//===- MathToNVVM.cpp - Functions of the special function unit -*- C++ -*-===//
//
// Part of the MLA project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "mla/Conversion/Passes.h"
#include "mla/Target/PTX/Printer.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Transforms/Passes.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

#include <cmath>

namespace mlir::mla {
#define GEN_PASS_DEF_MLAMATHTONVVM
#include "mla/Conversion/Passes.h.inc"
} // namespace mlir::mla

using namespace mlir;
using namespace mlir::mla;

static Value callIntrinsic(PatternRewriter &rewriter, Location loc,
                           StringRef name, Value operand) {
  return LLVM::CallIntrinsicOp::create(rewriter, loc, operand.getType(),
                                       rewriter.getStringAttr(name),
                                       ValueRange{operand})
      .getResult(0);
}

namespace {
struct LowerExp2 : OpRewritePattern<math::Exp2Op> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(math::Exp2Op op,
                                PatternRewriter &rewriter) const override {
    if (!op.getType().isF32())
      return failure();
    rewriter.replaceOp(op, callIntrinsic(rewriter, op.getLoc(),
                                         "llvm.nvvm.ex2.approx.ftz.f",
                                         op.getOperand()));
    return success();
  }
};

/// One instruction, of relative error 2^-11: what kernels with a soft cap use.
struct LowerTanh : OpRewritePattern<math::TanhOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(math::TanhOp op,
                                PatternRewriter &rewriter) const override {
    if (!op.getType().isF32())
      return failure();
    ptx::InlineAsm code = ptx::printTanh();
    rewriter.replaceOpWithNewOp<LLVM::InlineAsmOp>(
        op, op.getType(), op.getOperand(), code.text, code.constraints,
        /*has_side_effects=*/false, /*is_align_stack=*/false,
        LLVM::tailcallkind::TailCallKind::None,
        LLVM::AsmDialectAttr::get(getContext(), LLVM::AsmDialect::AD_ATT),
        /*operand_attrs=*/ArrayAttr());
    return success();
  }
};

/// exp(x) = 2^(x log2 e).
struct LowerExp : OpRewritePattern<math::ExpOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(math::ExpOp op,
                                PatternRewriter &rewriter) const override {
    if (!op.getType().isF32())
      return failure();
    Value log2e = arith::ConstantOp::create(
        rewriter, op.getLoc(),
        rewriter.getF32FloatAttr(static_cast<float>(M_LOG2E)));
    Value scaled =
        arith::MulFOp::create(rewriter, op.getLoc(), op.getOperand(), log2e);
    rewriter.replaceOpWithNewOp<math::Exp2Op>(op, scaled);
    return success();
  }
};

/// 1 / x in one instruction.
struct LowerReciprocal : OpRewritePattern<arith::DivFOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(arith::DivFOp op,
                                PatternRewriter &rewriter) const override {
    if (!op.getType().isF32() || !matchPattern(op.getLhs(), m_OneFloat()))
      return failure();
    rewriter.replaceOpWithNewOp<NVVM::RcpApproxFtzF32Op>(op, op.getType(),
                                                         op.getRhs());
    return success();
  }
};

struct LowerLog : OpRewritePattern<math::LogOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(math::LogOp op,
                                PatternRewriter &rewriter) const override {
    if (!op.getType().isF32())
      return failure();
    Value log2 = callIntrinsic(rewriter, op.getLoc(), "llvm.nvvm.lg2.approx.f",
                               op.getOperand());
    Value ln2 = arith::ConstantOp::create(
        rewriter, op.getLoc(),
        rewriter.getF32FloatAttr(static_cast<float>(M_LN2)));
    rewriter.replaceOpWithNewOp<arith::MulFOp>(op, log2, ln2);
    return success();
  }
};

struct MathToNVVM : mla::impl::MLAMathToNVVMBase<MathToNVVM> {
  void runOnOperation() override {
    RewritePatternSet patterns(&getContext());
    patterns.add<LowerExp2, LowerExp, LowerTanh, LowerReciprocal, LowerLog>(
        &getContext());
    // Not all that arith-expand does: maximumf is one instruction.
    arith::populateCeilFloorDivExpandOpsPatterns(patterns);
    if (failed(applyPatternsGreedily(getOperation(), std::move(patterns))))
      signalPassFailure();
  }
};
} // namespace
