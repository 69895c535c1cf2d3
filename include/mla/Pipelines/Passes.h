//===- Passes.h - The pass that knows targets -*- C++ -*-===//
//
// Part of the MLA project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef MLA_PIPELINES_PASSES_H
#define MLA_PIPELINES_PASSES_H

#include "mlir/Pass/Pass.h"

namespace mlir::mla {
#define GEN_PASS_DECL
#include "mla/Pipelines/Passes.h.inc"

#define GEN_PASS_REGISTRATION
#include "mla/Pipelines/Passes.h.inc"
} // namespace mlir::mla

#endif // MLA_PIPELINES_PASSES_H
