//===- Compares.h - Comparisons of coordinates ------------------*- C++ -*-===//
//
// Part of the MLA project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A mask compares positions: 64-bit sums of a column and of something that all
// elements of a row share. Moved to one side, what is shared is computed once
// for each of a thread's two rows, in 64 bits; clamped to 32 bits, since
// columns of a tile are small, it meets a constant of each element in one
// 32-bit comparison.
//
//===----------------------------------------------------------------------===//

#ifndef MLA_LIB_CONVERSION_WARPGROUPTONVVM_COMPARES_H
#define MLA_LIB_CONVERSION_WARPGROUPTONVVM_COMPARES_H

#include "Thread.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

namespace mlir::mla::wg {

/// columnFactor * column + the difference of two sums of values that do not
/// depend on the column.
struct LinearForm {
  int64_t columnFactor = 0;
  SmallVector<Value> plus, minus;
};

/// A comparison in a map's body, as `e <predicate> limit` where e is what the
/// element's own part of its column adds.
class CoordinateCompare {
public:
  /// None unless both sides are linear in the column.
  static std::optional<CoordinateCompare> get(arith::CmpIOp op, Block &body);

  /// Before the elements: the limit of each of the thread's rows.
  void buildLimits(ImplicitLocOpBuilder &b, const ThreadIds &ids);
  /// For an element in the `half`-th row, whose own part of the column is
  /// `column`.
  Value build(ImplicitLocOpBuilder &b, int64_t half, int64_t column) const;

private:
  Block *body;
  arith::CmpIPredicate predicate;
  LinearForm form; // left side less right side
  Value limits[2]; // i32
};

} // namespace mlir::mla::wg

#endif // MLA_LIB_CONVERSION_WARPGROUPTONVVM_COMPARES_H
