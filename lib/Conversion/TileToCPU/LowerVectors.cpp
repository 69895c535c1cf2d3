//===- LowerVectors.cpp - Vectors to what a CPU has -*- C++ -*-===//
//
// Part of the MLA project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Several greedy runs on purpose: broadcasts and canonicalisation, or alias
// folding and transfers, undo each other's work in one run and never end.
//
//===----------------------------------------------------------------------===//

#include "mla/Conversion/Passes.h"

#include "mlir/Conversion/VectorToSCF/VectorToSCF.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/MemRef/Transforms/Transforms.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/SCF/Utils/Utils.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/Dialect/Vector/Transforms/LoweringPatterns.h"
#include "mlir/Dialect/Vector/Transforms/VectorRewritePatterns.h"
#include "mlir/Dialect/X86Vector/Transforms.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

namespace mlir::mla {
#define GEN_PASS_DEF_MLACPULOWERVECTORS
#include "mla/Conversion/Passes.h.inc"
} // namespace mlir::mla

using namespace mlir;

/// Steps of a reduction per iteration: enough to hide the loop's own work.
static constexpr uint64_t kUnroll = 8;

static void addCanonicalization(RewritePatternSet &patterns) {
  MLIRContext *context = patterns.getContext();
  for (Dialect *dialect : context->getLoadedDialects())
    dialect->getCanonicalizationPatterns(patterns);
  for (RegisteredOperationName name : context->getRegisteredOperations())
    name.getCanonicalizationPatterns(patterns, context);
}

namespace {
struct LowerVectors : mla::impl::MLACPULowerVectorsBase<LowerVectors> {
  using MLACPULowerVectorsBase::MLACPULowerVectorsBase;

  void runOnOperation() override {
    func::FuncOp function = getOperation();
    // Reductions of contractions are innermost loops by now.
    SetVector<scf::ForOp> loops;
    function.walk([&](vector::ContractionOp op) {
      // A reduction of one step has no loop.
      auto loop = dyn_cast<scf::ForOp>(op->getParentOp());
      if (loop && !loop.getInits().empty())
        loops.insert(loop);
    });
    for (scf::ForOp loop : loops)
      (void)loopUnrollByFactor(loop, kUnroll);

    const std::function<void(RewritePatternSet &)> runs[] = {
        [](RewritePatternSet &p) {
          vector::populateVectorTransferPermutationMapLoweringPatterns(p);
          vector::populateVectorContractLoweringPatterns(
              p, vector::VectorContractLowering::OuterProduct);
        },
        [](RewritePatternSet &p) {
          vector::populateVectorMultiReductionLoweringPatterns(
              p, vector::VectorMultiReductionLowering::InnerParallel);
        },
        [](RewritePatternSet &p) {
          vector::populateVectorOuterProductLoweringPatterns(p);
          vector::populateVectorBroadcastLoweringPatterns(p);
        },
        [this](RewritePatternSet &p) {
          vector::populateVectorTransposeLoweringPatterns(
              p, vector::VectorTransposeLowering::Shuffle1D);
          if (avx2)
            x86vector::avx2::populateSpecializedTransposeLoweringPatterns(
                p,
                x86vector::avx2::LoweringOptions().setTransposeOptions(
                    x86vector::avx2::TransposeLoweringOptions()
                        .lower4x8xf32()
                        .lower8x8xf32()),
                /*benefit=*/10);
          addCanonicalization(p);
        },
        [](RewritePatternSet &p) {
          VectorTransferToSCFOptions options;
          options.enableFullUnroll();
          populateVectorToSCFConversionPatterns(p, options);
        },
        [](RewritePatternSet &p) {
          vector::populateVectorTransferLoweringPatterns(p,
                                                         /*maxTransferRank=*/1);
        },
        [](RewritePatternSet &p) {
          vector::populateVectorShapeCastLoweringPatterns(p);
        },
        [](RewritePatternSet &p) {
          memref::populateFoldMemRefAliasOpPatterns(p);
          addCanonicalization(p);
        }};
    for (const auto &populate : runs) {
      RewritePatternSet patterns(&getContext());
      populate(patterns);
      if (failed(applyPatternsGreedily(function, std::move(patterns))))
        return signalPassFailure();
    }
  }
};
} // namespace
