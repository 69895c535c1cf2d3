//===- Passes.h - Passes on the mla dialect alone -*- C++ -*-===//
//
// Part of the MLA project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef MLA_DIALECT_MLA_TRANSFORMS_PASSES_H
#define MLA_DIALECT_MLA_TRANSFORMS_PASSES_H

#include "mlir/Pass/Pass.h"

namespace mlir::mla {
#define GEN_PASS_DECL
#include "mla/Dialect/MLA/Transforms/Passes.h.inc"

#define GEN_PASS_REGISTRATION
#include "mla/Dialect/MLA/Transforms/Passes.h.inc"
} // namespace mlir::mla

#endif // MLA_DIALECT_MLA_TRANSFORMS_PASSES_H
