//===- Compares.h - Comparisons of coordinates ------------------*- C++ -*-===//
//
// Part of the MLA project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A mask compares positions, 64-bit sums of something that all elements share
// and an element's row or column. Moved to one side, what is shared is computed
// once a thread, in 64 bits; clamped to 32 bits, since coordinates in a tile
// are small, it meets a constant of each element in one 32-bit comparison.
//
//===----------------------------------------------------------------------===//

#ifndef MLA_LIB_CONVERSION_WARPGROUPTONVVM_COMPARES_H
#define MLA_LIB_CONVERSION_WARPGROUPTONVVM_COMPARES_H

#include "Thread.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

namespace mlir::mla::wg {

/// rowFactor * row + columnFactor * column + the difference of two sums of
/// values from outside the body.
struct LinearForm {
  int64_t rowFactor = 0, columnFactor = 0;
  SmallVector<Value> plus, minus;
};

/// A comparison in a map's body, as `e <predicate> limit` where e is what the
/// element's own part of its coordinates adds.
class CoordinateCompare {
public:
  /// None unless both sides are linear in row and column.
  static std::optional<CoordinateCompare> get(arith::CmpIOp op, Block &body);

  /// Before the elements: the thread's limit.
  void buildLimit(ImplicitLocOpBuilder &b, const ThreadIds &ids);
  /// For an element whose own part of the position is `part`.
  Value build(ImplicitLocOpBuilder &b, Position part) const;

private:
  arith::CmpIPredicate predicate;
  LinearForm form; // left side less right side
  Value limit;     // i32
};

} // namespace mlir::mla::wg

#endif // MLA_LIB_CONVERSION_WARPGROUPTONVVM_COMPARES_H
