//===- Lower.cpp - The pipeline mla-lower and its targets -*- C++ -*-===//
//
// Part of the MLA project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "mla/Pipelines/Pipelines.h"

#include "mla/Conversion/Passes.h"
#include "mla/Dialect/MLA/Transforms/Passes.h"
#include "mla/Dialect/Warpgroup/Transforms/Passes.h"
#include "mla/Pipelines/Passes.h"

#include "mlir/Conversion/Passes.h"
#include "mlir/Dialect/Arith/Transforms/Passes.h"
#include "mlir/Dialect/Bufferization/Pipelines/Passes.h"
#include "mlir/Dialect/Bufferization/Transforms/Passes.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/Linalg/Passes.h"
#include "mlir/Dialect/MemRef/Transforms/Passes.h"
#include "mlir/Dialect/SCF/Transforms/Passes.h"
#include "mlir/Pass/PassRegistry.h"
#include "mlir/Transforms/Passes.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/TargetParser/Host.h"

using namespace mlir;
using namespace mlir::mla;

//===----------------------------------------------------------------------===//
// Targets
//===----------------------------------------------------------------------===//

ArrayRef<TargetInfo> mla::getTargets() {
  static const TargetInfo targets[] = {
      {"cpu", "", "", 0},
      {"cpu-avx2", "haswell", "", 8},
      {"cpu-avx512", "skylake-avx512", "-prefer-256-bit", 16},
      {"cpu-generic", "x86-64", "", 4},
      {"sm_90a", "sm_90a", "+ptx86", 0, /*isGPU=*/true},
  };
  return targets;
}

const TargetInfo *mla::lookupTarget(StringRef name) {
  const auto *found =
      llvm::find_if(getTargets(), [&](const TargetInfo &target) {
        return target.name == name;
      });
  return found == getTargets().end() ? nullptr : found;
}

int64_t mla::getVectorLanes(const TargetInfo &target) {
  if (target.vectorLanes)
    return target.vectorLanes;
  llvm::StringMap<bool> features = llvm::sys::getHostCPUFeatures();
  if (features.lookup("avx512f"))
    return 16;
  return features.lookup("avx2") ? 8 : 4;
}

//===----------------------------------------------------------------------===//
// Stages
//===----------------------------------------------------------------------===//

static void addCleanup(OpPassManager &pm) {
  pm.addPass(createCanonicalizerPass());
  pm.addPass(createCSEPass());
}

static void addSchedule(OpPassManager &pm, StringRef target) {
  pm.addPass(createMLASelectSchedule({target.str()}));
}

static void addTile(OpPassManager &pm, StringRef) {
  pm.addPass(createMLAToTile());
  addCleanup(pm);
  pm.addPass(createLoopInvariantCodeMotionPass());
}

static void addStrips(OpPassManager &pm, StringRef target) {
  // Level 1 may have come from outside: choose for its loops too.
  addSchedule(pm, target);
  pm.addPass(createMLACPUStrips());
  pm.addPass(createMLAExpandLocate());
  pm.addPass(createMLAExpandGather());
  // Each buffer of its own from here on: CSE merges empty tensors.
  pm.addPass(bufferization::createEmptyTensorToAllocTensorPass());
  addCleanup(pm);
}

static void addVector(OpPassManager &pm, StringRef) {
  pm.addNestedPass<func::FuncOp>(createMLACPUVectorize());
}

static void addMemref(OpPassManager &pm, StringRef) {
  pm.addPass(createMLACPUBufferize());
  addCleanup(pm);
  pm.addPass(createMLACPUThreads());
  bufferization::buildBufferDeallocationPipeline(pm);
  pm.addPass(createConvertBufferizationToMemRefPass());
  addCleanup(pm);
}

static void addLLVM(OpPassManager &pm, StringRef target) {
  bool avx2 = getVectorLanes(*lookupTarget(target)) >= 8;
  pm.addNestedPass<func::FuncOp>(createMLACPULowerVectors({avx2}));
  addCleanup(pm);
  pm.addNestedPass<func::FuncOp>(createConvertLinalgToLoopsPass());
  pm.addPass(createForallToForLoopPass());
  pm.addPass(createMLACPUExpandExp2());
  arith::ArithExpandOpsPassOptions expand;
  expand.includeBf16 = true;
  pm.addPass(arith::createArithExpandOpsPass(expand));
  pm.addPass(memref::createFoldMemRefAliasOpsPass());
  pm.addPass(memref::createExpandStridedMetadataPass());
  pm.addPass(createLowerAffinePass());
  addCleanup(pm);
  pm.addPass(createLoopInvariantCodeMotionPass());
  pm.addPass(createSCFToControlFlowPass());
  pm.addPass(createConvertVectorToLLVMPass());
  pm.addPass(createConvertMathToLLVMPass());
  pm.addPass(createConvertMathToLibmPass());
  pm.addPass(createConvertToLLVMPass());
  pm.addPass(createReconcileUnrealizedCastsPass());
  addCleanup(pm);
}

static void addTileForGPU(OpPassManager &pm, StringRef target) {
  pm.addPass(createMLAMemrefBoundary());
  addTile(pm, target);
}

static void addWarpgroup(OpPassManager &pm, StringRef target) {
  // Level 1 may have come from outside: choose for its loops too.
  addSchedule(pm, target);
  pm.addPass(createMLATileToWarpgroup());
  addCleanup(pm);
}

static void addSpecialized(OpPassManager &pm, StringRef) {
  pm.addPass(wg::createWGSpecialize());
  addCleanup(pm);
}

static void addPipelined(OpPassManager &pm, StringRef) {
  pm.addPass(wg::createWGDeferReductions());
  pm.addPass(wg::createWGPipeline());
  addCleanup(pm);
}

static void addKernel(OpPassManager &pm, StringRef) {
  pm.addPass(createMLAWarpgroupOutline());
  OpPassManager &kernels = pm.nest<gpu::GPUModuleOp>();
  addCleanup(kernels);
}

static void addRings(OpPassManager &pm, StringRef) {
  OpPassManager &kernels = pm.nest<gpu::GPUModuleOp>();
  kernels.addPass(createMLALowerRings());
  addCleanup(kernels);
}

static void addNVVM(OpPassManager &pm, StringRef) {
  OpPassManager &kernels = pm.nest<gpu::GPUModuleOp>();
  kernels.addPass(createMLAWarpgroupToNVVM());
  kernels.addPass(createMLAMathToNVVM());
  kernels.addPass(memref::createExpandStridedMetadataPass());
  kernels.addPass(createLowerAffinePass());
  addCleanup(kernels);
  kernels.addPass(createLoopInvariantCodeMotionPass());
  kernels.addPass(createSCFToControlFlowPass());
  kernels.addPass(createConvertVectorToLLVMPass());
  kernels.addPass(createConvertToLLVMPass());
  kernels.addPass(createConvertNVVMToLLVMPass());
  kernels.addPass(createReconcileUnrealizedCastsPass());
  addCleanup(kernels);
}

static void addBinary(OpPassManager &pm, StringRef target) {
  const TargetInfo *info = lookupTarget(target);
  pm.addPass(createMLANVVMToBinary({info->cpu.str(), info->features.str()}));
}

/// The host's side: ordinary code that calls the runtime.
static void addHost(OpPassManager &pm, StringRef) {
  pm.addPass(createMLALowerLaunch());
  pm.addPass(createConvertBufferizationToMemRefPass());
  pm.addPass(memref::createExpandStridedMetadataPass());
  pm.addPass(createLowerAffinePass());
  pm.addPass(createSCFToControlFlowPass());
  pm.addPass(createConvertToLLVMPass());
  pm.addPass(createReconcileUnrealizedCastsPass());
  addCleanup(pm);
}

namespace {
struct Stage {
  StringRef name;
  void (*add)(OpPassManager &, StringRef target);
};
} // namespace

static const Stage kCPUStages[] = {
    {"schedule", addSchedule}, {"tile", addTile},     {"strips", addStrips},
    {"vector", addVector},     {"memref", addMemref}, {"llvm", addLLVM}};

static const Stage kGPUStages[] = {
    {"schedule", addSchedule},   {"tile", addTileForGPU},
    {"warpgroup", addWarpgroup}, {"specialized", addSpecialized},
    {"pipelined", addPipelined}, {"kernel", addKernel},
    {"rings", addRings},         {"nvvm", addNVVM},
    {"binary", addBinary},       {"llvm", addHost}};

static ArrayRef<Stage> getStageList(const TargetInfo &target) {
  return target.isGPU ? ArrayRef(kGPUStages) : ArrayRef(kCPUStages);
}

SmallVector<StringRef> mla::getStages(const TargetInfo &target) {
  return llvm::map_to_vector(getStageList(target),
                             [](const Stage &stage) { return stage.name; });
}

LogicalResult mla::buildLowerPipeline(
    OpPassManager &pm, const LowerOptions &options,
    llvm::function_ref<void(const llvm::Twine &)> emitError) {
  const TargetInfo *target = lookupTarget(options.target);
  if (!target) {
    auto names = llvm::map_range(
        getTargets(), [](const TargetInfo &known) { return known.name; });
    emitError("unknown target '" + llvm::Twine(options.target.getValue()) +
              "'; known: " + llvm::join(names, ", "));
    return failure();
  }
  ArrayRef<Stage> stages = getStageList(*target);
  StringRef last = options.stopAfter.getValue();
  if (!last.empty() && !llvm::is_contained(getStages(*target), last)) {
    emitError("unknown stage '" + llvm::Twine(last) + "' for target '" +
              target->name +
              "'; known: " + llvm::join(getStages(*target), ", "));
    return failure();
  }
  for (const Stage &stage : stages) {
    stage.add(pm, target->name);
    if (stage.name == last)
      break;
  }
  return success();
}

void mla::registerPipelines() {
  std::string targets = llvm::join(
      llvm::map_range(getTargets(),
                      [](const TargetInfo &known) { return known.name; }),
      ", ");
  std::string stages = llvm::join(getStages(getTargets().front()), ", ");
  static const std::string description =
      "Lower mla.prefill for a target (" + targets +
      "), all the way or to the end of a stage (" + stages + ")";
  // Not PassPipelineRegistration: its builder cannot fail, and an unknown
  // target has to.
  registerPassPipeline(
      "mla-lower", description,
      [](OpPassManager &pm, StringRef text,
         function_ref<LogicalResult(const llvm::Twine &)> errorHandler) {
        LowerOptions options;
        if (failed(options.parseFromString(text)))
          return failure();
        return buildLowerPipeline(pm, options, [&](const llvm::Twine &message) {
          (void)errorHandler(message);
        });
      },
      [](function_ref<void(const detail::PassOptions &)> handler) {
        handler(LowerOptions());
      });
}
