//===- Passes.h - Passes on the wg dialect alone -*- C++ -*-===//
//
// Part of the MLA project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef MLA_DIALECT_WARPGROUP_TRANSFORMS_PASSES_H
#define MLA_DIALECT_WARPGROUP_TRANSFORMS_PASSES_H

#include "mlir/Pass/Pass.h"

namespace mlir::mla::wg {
#define GEN_PASS_DECL
#include "mla/Dialect/Warpgroup/Transforms/Passes.h.inc"

#define GEN_PASS_REGISTRATION
#include "mla/Dialect/Warpgroup/Transforms/Passes.h.inc"
} // namespace mlir::mla::wg

#endif // MLA_DIALECT_WARPGROUP_TRANSFORMS_PASSES_H
