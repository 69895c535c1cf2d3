//===- Strips.cpp - Queries side by side in vector lanes -*- C++ -*-===//
//
// Part of the MLA project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "StripRewriter.h"

#include "mla/Conversion/Passes.h"
#include "mla/Dialect/MLA/IR/MLA.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

namespace mlir::mla {
#define GEN_PASS_DEF_MLACPUSTRIPS
#include "mla/Conversion/Passes.h.inc"
} // namespace mlir::mla

using namespace mlir;
using namespace mlir::mla;

/// Makes each insertion a copy into the destination, which bufferizes in place
/// and can be vectorised.
static void copyIntoDestinations(scf::ForallOp forall) {
  ImplicitLocOpBuilder b(forall.getLoc(), forall);
  scf::InParallelOp terminator = forall.getTerminator();
  for (Operation &op : terminator.getYieldingOps()) {
    auto insert = dyn_cast<tensor::ParallelInsertSliceOp>(op);
    if (!insert)
      continue;
    b.setInsertionPoint(terminator);
    Value destination = tensor::ExtractSliceOp::create(
        b, insert.getSourceType(), insert.getDest(), insert.getMixedOffsets(),
        insert.getMixedSizes(), insert.getMixedStrides());
    insert.getSourceMutable().assign(
        linalg::CopyOp::create(b, insert.getSource(), destination)
            .getResult(0));
  }
}

/// Where tiles keep their queries in rows, loops still have to carry them in
/// place: the new value is copied over the old one.
static void carryInPlace(scf::ForallOp forall) {
  forall.walk([&](scf::ForOp loop) {
    auto yield = cast<scf::YieldOp>(loop.getBody()->getTerminator());
    ImplicitLocOpBuilder b(loop.getLoc(), yield);
    for (auto [argument, operand] :
         llvm::zip(loop.getRegionIterArgs(), yield->getOpOperands()))
      if (isa<RankedTensorType>(argument.getType()))
        operand.set(
            linalg::CopyOp::create(b, operand.get(), argument).getResult(0));
  });
}

/// Marks a loop over work items that this pass has seen.
static constexpr StringLiteral kDone = "mla.strips_done";

namespace {
struct Strips : mla::impl::MLACPUStripsBase<Strips> {
  void runOnOperation() override {
    SmallVector<scf::ForallOp> loops;
    getOperation()->walk([&](scf::ForallOp loop) { loops.push_back(loop); });
    for (scf::ForallOp loop : loops) {
      auto schedule = loop->getAttrOfType<VectorScheduleAttr>(
          VectorScheduleAttr::attributeName);
      if (!schedule || loop->hasAttr(kDone))
        continue;
      // Printed after this pass and read again, it is not cut once more.
      loop->setAttr(kDone, UnitAttr::get(&getContext()));
      std::string reason;
      FailureOr<QueryDims> dims = QueryDims::compute(loop, reason);
      if (succeeded(dims) && dims->getQueries() % schedule.getStrip() != 0) {
        reason = "the number of queries is not a multiple of the strip";
        dims = failure();
      }
      if (succeeded(dims)) {
        StripRewriter(loop, *dims, schedule.getStrip()).run();
      } else {
        emitRemark(loop.getLoc())
            << "queries stay in rows, which is slower: " << reason;
        carryInPlace(loop);
      }
      copyIntoDestinations(loop);
    }
  }
};
} // namespace
