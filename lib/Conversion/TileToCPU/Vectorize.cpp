//===- Vectorize.cpp - Register blocks and vectors -*- C++ -*-===//
//
// Part of the MLA project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Every linalg op with a static last dimension is cut by loops until one step
// fits vector registers, and then vectorised:
//
//     contraction      block rows x all lanes, one step of the reduction; what
//                      initialises its accumulator is fused into the block
//     transposition    8 x 8
//     everything else  one row of at most `widest` elements
//
// Upstream functions only; the choice of sizes is all there is here.
//
//===----------------------------------------------------------------------===//

#include "mla/Conversion/Passes.h"
#include "mla/Dialect/MLA/IR/MLA.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Linalg/Transforms/Transforms.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/SCF/Transforms/TileUsingInterface.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Tensor/Transforms/Transforms.h"
#include "mlir/Dialect/UB/IR/UBOps.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/Dialect/Vector/Transforms/LoweringPatterns.h"
#include "mlir/Dialect/Vector/Transforms/VectorRewritePatterns.h"
#include "mlir/IR/Dominance.h"
#include "mlir/Transforms/CSE.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"
#include "mlir/Transforms/LoopInvariantCodeMotionUtils.h"

namespace mlir::mla {
#define GEN_PASS_DEF_MLACPUVECTORIZE
#include "mla/Conversion/Passes.h.inc"
} // namespace mlir::mla

using namespace mlir;
using namespace mlir::mla;

namespace {
class Vectorizer {
public:
  Vectorizer(MLIRContext *context, VectorScheduleAttr schedule)
      : rewriter(context), schedule(schedule) {}

  LogicalResult run(scf::ForallOp forall);

private:
  LogicalResult cutContraction(linalg::LinalgOp op,
                               const DenseSet<Operation *> &inits);
  LogicalResult cut(linalg::LinalgOp op);
  FailureOr<SmallVector<Operation *>> tile(linalg::LinalgOp op,
                                           ArrayRef<int64_t> sizes);
  FailureOr<SmallVector<Operation *>>
  tileWithInit(linalg::LinalgOp op, ArrayRef<int64_t> sizes,
               const DenseSet<Operation *> &inits);

  IRRewriter rewriter;
  VectorScheduleAttr schedule;
  /// Ops that fit registers.
  SmallVector<linalg::LinalgOp> small;
};
} // namespace

/// The greatest divisor of `extent` that is at most `limit`.
static int64_t getDivisor(int64_t extent, int64_t limit) {
  int64_t divisor = std::min(extent, limit);
  while (extent % divisor != 0)
    --divisor;
  return divisor;
}

FailureOr<SmallVector<Operation *>> Vectorizer::tile(linalg::LinalgOp op,
                                                     ArrayRef<int64_t> sizes) {
  rewriter.setInsertionPoint(op);
  scf::SCFTilingOptions options;
  options.setTileSizes(getAsIndexOpFoldResult(op->getContext(), sizes));
  FailureOr<scf::SCFTilingResult> result = scf::tileUsingSCF(
      rewriter, cast<TilingInterface>(op.getOperation()), options);
  if (failed(result))
    return failure();
  rewriter.replaceOp(op, result->replacements);
  return SmallVector<Operation *>(result->tiledOps);
}

/// Tiles a contraction and, into the same loops, `inits`.
FailureOr<SmallVector<Operation *>>
Vectorizer::tileWithInit(linalg::LinalgOp op, ArrayRef<int64_t> sizes,
                         const DenseSet<Operation *> &inits) {
  rewriter.setInsertionPoint(op);
  scf::SCFTilingOptions tiling;
  tiling.setTileSizes(getAsIndexOpFoldResult(op->getContext(), sizes));
  scf::SCFTileAndFuseOptions options;
  options.setTilingOptions(tiling);
  options.setFusionControlFn(
      [&](tensor::ExtractSliceOp, OpResult producer, bool isInit)
          -> std::optional<scf::SCFTileAndFuseOptions::ControlFnResult> {
        if (!isInit || !inits.contains(producer.getOwner()))
          return std::nullopt;
        return scf::SCFTileAndFuseOptions::ControlFnResult{};
      });
  FailureOr<scf::SCFTileAndFuseResult> result =
      scf::tileConsumerAndFuseProducersUsingSCF(
          rewriter, cast<TilingInterface>(op.getOperation()), options);
  if (failed(result))
    return failure();
  for (OpResult value : op->getResults())
    rewriter.replaceAllUsesWith(value, result->replacements.lookup(value));
  SmallVector<Operation *> dead(result->fusedProducers.begin(),
                                result->fusedProducers.end());
  rewriter.eraseOp(op);
  for (Operation *producer : dead)
    if (isOpTriviallyDead(producer))
      rewriter.eraseOp(producer);
  return llvm::to_vector(result->tiledAndFusedOps);
}

LogicalResult Vectorizer::cutContraction(linalg::LinalgOp op,
                                         const DenseSet<Operation *> &inits) {
  unsigned loops = op.getNumLoops();
  SmallVector<int64_t> ranges = op.getStaticLoopRanges();
  // All parallel loops but the last, the lanes, by rows of the block.
  SmallVector<unsigned> parallel, reduction;
  op.getParallelDims(parallel);
  op.getReductionDims(reduction);
  SmallVector<int64_t> rows(loops, 0), steps(loops, 0);
  int64_t block = schedule.getBlock();
  for (unsigned loop : llvm::reverse(ArrayRef(parallel).drop_back())) {
    rows[loop] = getDivisor(ranges[loop], block);
    block = 1;
  }
  for (unsigned loop : reduction)
    steps[loop] = 1;
  FailureOr<SmallVector<Operation *>> parts = tileWithInit(op, rows, inits);
  if (failed(parts))
    return failure();
  for (Operation *part : *parts) {
    auto linalgPart = cast<linalg::LinalgOp>(part);
    if (!linalg::isaContractionOpInterface(linalgPart)) {
      if (failed(cut(linalgPart)))
        return failure();
      continue;
    }
    FailureOr<SmallVector<Operation *>> inner = tile(linalgPart, steps);
    if (failed(inner))
      return failure();
    for (Operation *each : *inner)
      small.push_back(cast<linalg::LinalgOp>(each));
  }
  return success();
}

LogicalResult Vectorizer::cut(linalg::LinalgOp op) {
  constexpr int64_t widest = 16, square = 8;
  unsigned loops = op.getNumLoops();
  if (loops == 0)
    return success();
  SmallVector<int64_t> ranges = op.getStaticLoopRanges();
  SmallVector<int64_t> sizes(loops, 1);
  // The loops that run along the memory of the output and of some input.
  unsigned last = loops - 1;
  sizes[last] = ranges[last] == schedule.getStrip()
                    ? ranges[last]
                    : getDivisor(ranges[last], widest);
  for (OpOperand *input : op.getDpsInputOperands()) {
    AffineMap map = op.getMatchingIndexingMap(input);
    if (map.getNumResults() != loops || !map.isPermutation())
      continue;
    unsigned along = map.getDimPosition(loops - 1);
    if (along != last && !ShapedType::isDynamic(ranges[along])) {
      sizes[along] = getDivisor(ranges[along], square);
      sizes[last] = getDivisor(ranges[last], square);
    }
  }
  // Nothing to cut where it is one step already.
  if (llvm::equal(sizes, ranges)) {
    small.push_back(op);
    return success();
  }
  FailureOr<SmallVector<Operation *>> parts = tile(op, sizes);
  if (failed(parts))
    return failure();
  for (Operation *part : *parts)
    small.push_back(cast<linalg::LinalgOp>(part));
  return success();
}

LogicalResult Vectorizer::run(scf::ForallOp forall) {
  auto isVectorizable = [](linalg::LinalgOp op) {
    if (!op.hasPureTensorSemantics() || op.getNumLoops() == 0)
      return false;
    return !ShapedType::isDynamic(op.getStaticLoopRanges().back());
  };
  // Consumers first: a contraction takes the one that initialises it along.
  SmallVector<linalg::LinalgOp> contractions;
  forall.walk([&](linalg::LinalgOp op) {
    if (linalg::isaContractionOpInterface(op) && isVectorizable(op) &&
        !ShapedType::isDynamicShape(op.getStaticLoopRanges()))
      contractions.push_back(op);
  });
  DenseSet<Operation *> fused;
  for (linalg::LinalgOp op : llvm::reverse(contractions)) {
    if (fused.contains(op))
      continue;
    // What its accumulator starts from, used for nothing else: a fill, a
    // rescaling, another contraction.
    DenseSet<Operation *> inits;
    for (Value init = op.getDpsInits()[0]; init.hasOneUse();) {
      auto producer = init.getDefiningOp<linalg::LinalgOp>();
      if (!producer || producer.getNumDpsInits() != 1)
        break;
      inits.insert(producer);
      init = producer.getDpsInits()[0];
    }
    fused.insert(inits.begin(), inits.end());
    if (failed(cutContraction(op, inits)))
      return op.emitOpError("could not be cut into register blocks");
  }
  DenseSet<Operation *> done;
  for (linalg::LinalgOp op : small)
    done.insert(op);
  SmallVector<linalg::LinalgOp> others;
  forall.walk([&](linalg::LinalgOp op) {
    if (!done.contains(op) && isVectorizable(op))
      others.push_back(op);
  });
  for (linalg::LinalgOp op : others)
    if (failed(cut(op)))
      return op.emitOpError("could not be cut into vectors");

  for (linalg::LinalgOp op : small) {
    rewriter.setInsertionPoint(op);
    FailureOr<linalg::VectorizationResult> result =
        linalg::vectorize(rewriter, op);
    // Left as it is, it becomes scalar loops.
    if (succeeded(result))
      rewriter.replaceOp(op, result->replacements);
  }
  return success();
}

/// Folds slices into transfers, then moves what does not change out of the
/// loops; accumulators become loop-carried vectors.
static LogicalResult cleanUp(func::FuncOp function) {
  MLIRContext *context = function.getContext();
  RewritePatternSet patterns(context);
  vector::populateVectorReductionToContractPatterns(patterns);
  vector::populateVectorTransferPermutationMapLoweringPatterns(patterns);
  tensor::populateFoldTensorSubsetIntoVectorTransferPatterns(patterns);
  for (Dialect *dialect : context->getLoadedDialects())
    dialect->getCanonicalizationPatterns(patterns);
  for (RegisteredOperationName name : context->getRegisteredOperations())
    name.getCanonicalizationPatterns(patterns, context);
  if (failed(applyPatternsGreedily(function, std::move(patterns))))
    return failure();
  IRRewriter rewriter(context);
  DominanceInfo dominance(function);
  eliminateCommonSubExpressions(rewriter, dominance, function);
  // Not out of the loop over items: that would make vectors travel to threads.
  function.walk([&](scf::ForOp loop) { moveLoopInvariantCode(loop); });
  SmallVector<scf::ForOp> loops;
  function.walk([&](scf::ForOp loop) { loops.push_back(loop); });
  for (scf::ForOp loop : loops) // inner ones first
    (void)hoistLoopInvariantSubsets(rewriter, loop);
  return success();
}

namespace {
struct Vectorize : mla::impl::MLACPUVectorizeBase<Vectorize> {
  void runOnOperation() override {
    bool any = false;
    WalkResult walk = getOperation().walk([&](scf::ForallOp forall) {
      auto schedule = forall->getAttrOfType<VectorScheduleAttr>(
          VectorScheduleAttr::attributeName);
      if (!schedule)
        return WalkResult::advance();
      any = true;
      return succeeded(Vectorizer(&getContext(), schedule).run(forall))
                 ? WalkResult::advance()
                 : WalkResult::interrupt();
    });
    if (walk.wasInterrupted() || (any && failed(cleanUp(getOperation()))))
      signalPassFailure();
  }
};
} // namespace
