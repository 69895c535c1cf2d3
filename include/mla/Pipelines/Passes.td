//===- Passes.td - The pass that knows targets -*- tablegen -*-===//
//
// Part of the MLA project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef MLA_PIPELINES_PASSES
#define MLA_PIPELINES_PASSES

include "mlir/Pass/PassBase.td"

def MLASelectSchedule : Pass<"mla-select-schedule"> {
  let summary = "choose the tile sizes of every mla.prefill for a target";
  let description = [{
    Writes `schedule` on each `mla.prefill` that has none, and
    `mla.vector_schedule` on each `scf.forall` for CPU targets. The only place where
    sizes are chosen; a schedule written by hand stays as it is.
  }];
  let options = [
    Option<"target", "target", "std::string", "\"cpu\"", "target to choose for">
  ];
  let dependentDialects = ["::mlir::mla::MLADialect"];
}

#endif // MLA_PIPELINES_PASSES
