//===- Passes.td - Passes on the mla dialect alone -*- tablegen -*-===//
//
// Part of the MLA project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef MLA_DIALECT_MLA_TRANSFORMS_PASSES
#define MLA_DIALECT_MLA_TRANSFORMS_PASSES

include "mlir/Pass/PassBase.td"

def MLAExpandLocate : Pass<"mla-expand-locate"> {
  let summary = "lower mla.locate to a binary search over prefix sums";
  let description = [{
    The number of tiles before each sequence is summed up once for all locates
    with the same offsets and tile inside one `scf.forall`, before that loop;
    each locate becomes a binary search over these sums. Finding an item then
    costs log2(B) steps however many sequences and heads there are.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::scf::SCFDialect",
                           "::mlir::tensor::TensorDialect"];
}

def MLAExpandGather : Pass<"mla-expand-gather"> {
  let summary = "lower mla.gather_pages to a loop over rows";
  let description = [{
    Each row becomes page arithmetic, a slice of the cache, and a linalg op that
    copies or extends it; the rows past `count` are filled with zero. Upstream
    ops only.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::linalg::LinalgDialect",
                           "::mlir::scf::SCFDialect", "::mlir::tensor::TensorDialect"];
}

#endif // MLA_DIALECT_MLA_TRANSFORMS_PASSES
