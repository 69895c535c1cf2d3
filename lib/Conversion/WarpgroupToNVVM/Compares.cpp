//===- Compares.cpp - Comparisons of coordinates ----------------*- C++ -*-===//
//
// Part of the MLA project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Compares.h"

using namespace mlir;
using namespace mlir::mla;
using namespace mlir::mla::wg;

/// More than any sum of coordinates in a tile, less than 32 bits hold.
static constexpr int64_t kClamp = 1 << 30;

/// Adds `value`, or subtracts it, to a form; false if it is not linear.
static bool accumulate(Value value, bool negative, Block &body,
                       LinearForm &form) {
  Value row = body.getArguments().drop_back().back();
  Value column = body.getArguments().back();
  int64_t sign = negative ? -1 : 1;
  if (value == row) {
    form.rowFactor += sign;
    return true;
  }
  if (value == column) {
    form.columnFactor += sign;
    return true;
  }
  Operation *op = value.getDefiningOp();
  if (value.getParentBlock() != &body) {
    (negative ? form.minus : form.plus).push_back(value);
    return true;
  }
  if (auto sum = dyn_cast_or_null<arith::AddIOp>(op))
    return accumulate(sum.getLhs(), negative, body, form) &&
           accumulate(sum.getRhs(), negative, body, form);
  if (auto difference = dyn_cast_or_null<arith::SubIOp>(op))
    return accumulate(difference.getLhs(), negative, body, form) &&
           accumulate(difference.getRhs(), !negative, body, form);
  return false;
}

static bool isSigned(arith::CmpIPredicate predicate) {
  using P = arith::CmpIPredicate;
  return predicate != P::ult && predicate != P::ule && predicate != P::ugt &&
         predicate != P::uge;
}

std::optional<CoordinateCompare> CoordinateCompare::get(arith::CmpIOp op,
                                                        Block &body) {
  CoordinateCompare compare;
  compare.predicate = op.getPredicate();
  if (!op.getLhs().getType().isIndex() || !isSigned(compare.predicate) ||
      !accumulate(op.getLhs(), /*negative=*/false, body, compare.form) ||
      !accumulate(op.getRhs(), /*negative=*/true, body, compare.form))
    return std::nullopt;
  return compare;
}

void CoordinateCompare::buildLimit(ImplicitLocOpBuilder &b,
                                   const ThreadIds &ids) {
  // e + thread part + plus - minus <predicate> 0
  Value shared = index(b, 0);
  for (Value value : form.minus)
    shared = arith::AddIOp::create(b, shared, value);
  for (Value value : form.plus)
    shared = arith::SubIOp::create(b, shared, value);
  shared = arith::MinSIOp::create(
      b, arith::MaxSIOp::create(b, shared, index(b, -kClamp)),
      index(b, kClamp));
  auto narrow = [&](Value value) {
    return arith::IndexCastOp::create(b, b.getI32Type(), value).getResult();
  };
  limit = narrow(shared);
  for (auto [coordinate, factor] :
       {std::pair(ids.row, form.rowFactor), {ids.column, form.columnFactor}})
    if (factor)
      limit = arith::SubIOp::create(
          b, limit,
          arith::MulIOp::create(b, narrow(coordinate),
                                arith::ConstantIntOp::create(b, factor, 32)));
}

Value CoordinateCompare::build(ImplicitLocOpBuilder &b, Position part) const {
  int64_t own = form.rowFactor * part.row + form.columnFactor * part.column;
  return arith::CmpIOp::create(b, predicate,
                               arith::ConstantIntOp::create(b, own, 32), limit);
}
