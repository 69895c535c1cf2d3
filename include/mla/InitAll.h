//===- InitAll.h - Registers what the product adds to MLIR ------*- C++ -*-===//
//
// Part of the MLA project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef MLA_INITALL_H
#define MLA_INITALL_H

namespace mlir {
class DialectRegistry;

namespace mla {

/// Adds the product's dialects and their external interface models. Upstream
/// dialects that they build on come along as dependent dialects.
void registerAllDialects(DialectRegistry &registry);

/// Registers all passes and named pipelines of the product. Safe to call again.
void registerAllPasses();

} // namespace mla
} // namespace mlir

#endif // MLA_INITALL_H
