//===- InitAll.cpp - Registers what the product adds to MLIR ----*- C++ -*-===//
//
// Part of the MLA project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "mla/InitAll.h"

#include "mla/Conversion/Passes.h"
#include "mla/Dialect/MLA/IR/MLA.h"
#include "mla/Dialect/MLA/Transforms/BufferizableOpInterface.h"
#include "mla/Dialect/MLA/Transforms/Passes.h"
#include "mla/Dialect/Warpgroup/IR/Warpgroup.h"
#include "mla/Dialect/Warpgroup/Transforms/Passes.h"
#include "mla/Pipelines/Passes.h"
#include "mla/Pipelines/Pipelines.h"

#include "mlir/IR/DialectRegistry.h"
#include "mlir/Target/LLVMIR/Dialect/Builtin/BuiltinToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/GPU/GPUToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/LLVMIR/LLVMToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/NVVM/NVVMToLLVMIRTranslation.h"

void mlir::mla::registerAllDialects(DialectRegistry &registry) {
  registry.insert<MLADialect, wg::WGDialect>();
  registerBufferizableOpInterfaceExternalModels(registry);
  // Kernels are translated to LLVM IR inside a pass.
  registerBuiltinDialectTranslation(registry);
  registerLLVMDialectTranslation(registry);
  registerGPUDialectTranslation(registry);
  registerNVVMDialectTranslation(registry);
}

void mlir::mla::registerAllPasses() {
  // The pass registry aborts on a second pipeline of the same name; a plugin
  // may be named twice on a command line.
  static const bool once = [] {
    registerMLATransformsPasses();
    wg::registerWarpgroupTransformsPasses();
    registerMLAConversionPasses();
    registerMLAPipelinesPasses();
    registerPipelines();
    return true;
  }();
  (void)once;
}
