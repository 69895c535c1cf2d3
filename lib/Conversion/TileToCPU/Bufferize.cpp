//===- Bufferize.cpp - Tensors to memrefs, with strided boundaries -*- C++
//-*-===//
//
// Part of the MLA project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "mla/Conversion/Boundary.h"
#include "mla/Conversion/Passes.h"

#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/Bufferization/Transforms/OneShotAnalysis.h"
#include "mlir/Dialect/Bufferization/Transforms/OneShotModuleBufferize.h"
#include "mlir/Dialect/Bufferization/Transforms/Passes.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

namespace mlir::mla {
#define GEN_PASS_DEF_MLACPUBUFFERIZE
#include "mla/Conversion/Passes.h.inc"
} // namespace mlir::mla

using namespace mlir;

static LogicalResult createCopy(OpBuilder &builder, Location loc, Value from,
                                Value to) {
  linalg::CopyOp::create(builder, loc, from, to);
  return success();
}

/// Upstream leaves the results of public functions alone, since their callers
/// are not known. Ours are: the C API and tools call them without results.
static LogicalResult dropResults(ModuleOp module) {
  SmallVector<func::FuncOp> functions;
  for (auto function : module.getOps<func::FuncOp>())
    if (function.isPublic() && !function.isExternal())
      functions.push_back(function);
  for (func::FuncOp function : functions)
    function.setPrivate();
  LogicalResult result = bufferization::dropEquivalentBufferResults(module);
  for (func::FuncOp function : functions)
    function.setPublic();
  return result;
}

namespace {
struct Bufferize : mla::impl::MLACPUBufferizeBase<Bufferize> {
  void runOnOperation() override {
    bufferization::OneShotBufferizationOptions options;
    options.bufferizeFunctionBoundaries = true;
    options.functionArgTypeConverterFn =
        [](bufferization::TensorLikeType type, Attribute memorySpace,
           func::FuncOp, const bufferization::BufferizationOptions &) {
          return cast<bufferization::BufferLikeType>(
              mla::getBoundaryType(cast<TensorType>(type), memorySpace));
        };
    options.memCpyFn = createCopy;
    bufferization::BufferizationState state;
    ModuleOp module = getOperation();
    bufferization::BufferResultsToOutParamsOpts outParams;
    outParams.memCpyFn = createCopy;
    outParams.modifyPublicFunctions = true;
    // Tiles that keep their queries in rows may be carried in new buffers.
    options.allowReturnAllocsFromLoops = true;
    // Loops that carry a buffer unchanged hide that a result is an argument.
    RewritePatternSet loops(&getContext());
    scf::ForOp::getCanonicalizationPatterns(loops, &getContext());
    if (failed(
            bufferization::runOneShotModuleBufferize(module, options, state)) ||
        failed(applyPatternsGreedily(module, std::move(loops))) ||
        failed(dropResults(module)) ||
        failed(
            bufferization::promoteBufferResultsToOutParams(module, outParams)))
      signalPassFailure();
  }
};
} // namespace
