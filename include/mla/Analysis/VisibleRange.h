//===- VisibleRange.h - What a predicate says about a box -------*- C++ -*-===//
//
// Part of the MLA project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A mask's predicate is integer arithmetic on positions. For a box of queries
// and keys, interval arithmetic over the same ops tells at run time whether it
// can hold anywhere in the box: any mask, also one written by hand at level 1,
// gets its sparsity this way, with no list of blocks in memory.
//
//===----------------------------------------------------------------------===//

#ifndef MLA_ANALYSIS_VISIBLERANGE_H
#define MLA_ANALYSIS_VISIBLERANGE_H

#include "mlir/IR/Builders.h"

namespace mlir::mla {

/// All integers from `low` to `high`, both index values.
struct Interval {
  Value low, high;
};

/// The values that a value of the predicate takes in the box, or none if that
/// is to be found from the op that computes it.
using IntervalOf = llvm::function_ref<std::optional<Interval>(Value)>;

/// Builds an i1 that is true if `predicate` can be true somewhere in the box;
/// where it is false the predicate is false everywhere. Null if nothing can be
/// said. New ops go to the builder's insertion point.
Value buildMayHold(OpBuilder &builder, Location loc, Value predicate,
                   IntervalOf intervalOf);

} // namespace mlir::mla

#endif // MLA_ANALYSIS_VISIBLERANGE_H
