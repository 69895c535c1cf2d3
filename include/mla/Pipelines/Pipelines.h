//===- Pipelines.h - From mla.prefill to a target, by name ------*- C++ -*-===//
//
// Part of the MLA project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef MLA_PIPELINES_PIPELINES_H
#define MLA_PIPELINES_PIPELINES_H

#include "mlir/Pass/PassManager.h"
#include "mlir/Pass/PassOptions.h"
#include "llvm/ADT/ArrayRef.h"

namespace mlir::mla {

/// What a name after `target=` stands for.
struct TargetInfo {
  llvm::StringRef name;
  /// LLVM CPU name and features ("+avx2,+fma"); empty: the host's own.
  llvm::StringRef cpu, features;
  /// Width of a vector register in f32 lanes; 0: ask the host.
  int64_t vectorLanes;
  /// A GPU; `cpu` is its PTX architecture then.
  bool isGPU = false;
};

/// All targets, in the order in which --help lists them.
llvm::ArrayRef<TargetInfo> getTargets();
/// Null if there is no such target.
const TargetInfo *lookupTarget(llvm::StringRef name);
/// The host's f32 lanes where the target leaves them open.
int64_t getVectorLanes(const TargetInfo &target);

/// Names that `stop-after=` accepts for a target, in pipeline order.
llvm::SmallVector<llvm::StringRef> getStages(const TargetInfo &target);

struct LowerOptions : public PassPipelineOptions<LowerOptions> {
  Option<std::string> target{*this, "target",
                             llvm::cl::desc("target to lower for"),
                             llvm::cl::init("cpu")};
  Option<std::string> stopAfter{
      *this, "stop-after",
      llvm::cl::desc("last stage to run (default: all of them)"),
      llvm::cl::init("")};
};

/// Appends the stages that turn a module with mla.prefill ops, or with what an
/// earlier stage made of them, into the LLVM dialect for `options.target`.
/// Fails, with a message that lists the known names, on an unknown target or
/// stage.
LogicalResult
buildLowerPipeline(OpPassManager &pm, const LowerOptions &options,
                   llvm::function_ref<void(const llvm::Twine &)> emitError);

/// Registers the pipeline `mla-lower`.
void registerPipelines();

} // namespace mlir::mla

#endif // MLA_PIPELINES_PIPELINES_H
