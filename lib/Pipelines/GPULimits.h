//===- GPULimits.h - What of mla.prefill a GPU runs -------------*- C++ -*-===//
//
// Part of the MLA project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef MLA_LIB_PIPELINES_GPULIMITS_H
#define MLA_LIB_PIPELINES_GPULIMITS_H

#include "mla/Dialect/MLA/IR/MLA.h"

namespace mlir::mla {

/// Emits an error that names the operand, or the field of the schedule, if
/// Hopper's matrix unit and copies do not take it. Lowering would refuse it
/// too, as a tile of level 1 that nobody wrote.
LogicalResult checkRunsOnGPU(PrefillOp op);

} // namespace mlir::mla

#endif // MLA_LIB_PIPELINES_GPULIMITS_H
