//===- Compares.h - Comparisons of coordinates ------------------*- C++ -*-===//
//
// Part of the MLA project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A mask compares positions: 64-bit sums of a column and of something that all
// elements of a row share. Moved to one side, what is shared is a limit that
// is computed once for each of a thread's two rows, in 64 bits; clamped to 32
// bits, since columns of a tile are small, it meets a constant of each element
// in one 32-bit comparison. Where several have to hold, the columns that a row
// keeps are still one range: two limits, however many comparisons there are.
//
//===----------------------------------------------------------------------===//

#ifndef MLA_LIB_CONVERSION_WARPGROUPTONVVM_COMPARES_H
#define MLA_LIB_CONVERSION_WARPGROUPTONVVM_COMPARES_H

#include "Thread.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

namespace mlir::mla::wg {

/// A comparison of `columnFactor * column + sum of plus - sum of minus` with 0,
/// where nothing that is summed up depends on the column.
struct LinearCompare {
  arith::CmpIPredicate predicate; // signed
  int64_t columnFactor = 0;       // -1, 0 or 1
  SmallVector<Value> plus, minus;
};

/// A condition in a map's body that holds in one range of columns of each row.
class ColumnRange {
public:
  /// None unless the value is a comparison that is linear in the column, or
  /// several, all of which have to hold.
  static std::optional<ColumnRange> get(Value condition, Block &body);

  /// Before the elements: the limits of each of the thread's rows.
  void buildLimits(ImplicitLocOpBuilder &b, const ThreadIds &ids);
  /// For an element in the `half`-th row, whose own part of the column is
  /// `column`.
  Value build(ImplicitLocOpBuilder &b, int64_t half, int64_t column) const;

private:
  Block *body;
  SmallVector<LinearCompare> compares;
  /// First and last column, less the thread's own first: i32, null if there is
  /// no such limit.
  Value lower[2], upper[2];
};

} // namespace mlir::mla::wg

#endif // MLA_LIB_CONVERSION_WARPGROUPTONVVM_COMPARES_H
