//===- Passes.h - Passes between levels -*- C++ -*-===//
//
// Part of the MLA project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef MLA_CONVERSION_PASSES_H
#define MLA_CONVERSION_PASSES_H

#include "mlir/Pass/Pass.h"

namespace mlir {
class ModuleOp;
namespace func {
class FuncOp;
} // namespace func

namespace gpu {
class GPUModuleOp;
} // namespace gpu

namespace mla {
#define GEN_PASS_DECL
#include "mla/Conversion/Passes.h.inc"

#define GEN_PASS_REGISTRATION
#include "mla/Conversion/Passes.h.inc"
} // namespace mla
} // namespace mlir

#endif // MLA_CONVERSION_PASSES_H
