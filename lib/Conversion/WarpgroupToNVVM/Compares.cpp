//===- Compares.cpp - Comparisons of coordinates ----------------*- C++ -*-===//
//
// Part of the MLA project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Compares.h"

#include "mlir/IR/IRMapping.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

using namespace mlir;
using namespace mlir::mla;
using namespace mlir::mla::wg;

/// More than any column of a tile, less than 32 bits hold.
static constexpr int64_t kClamp = 1 << 30;

static Value getRow(Block &body) {
  return body.getArguments().drop_back().back();
}
static Value getColumn(Block &body) { return body.getArguments().back(); }

/// Whether a value is the same for all elements of a row, and computed without
/// side effects.
static bool isOfRow(Value value, Block &body) {
  if (value.getParentBlock() != &body || value == getRow(body))
    return true;
  Operation *op = value.getDefiningOp();
  return op && isPure(op) && op->getNumRegions() == 0 &&
         llvm::all_of(op->getOperands(),
                      [&](Value operand) { return isOfRow(operand, body); });
}

/// Adds `value`, or subtracts it, to a sum; false if it is not linear.
static bool accumulate(Value value, bool negative, Block &body,
                       LinearCompare &sum) {
  if (value == getColumn(body)) {
    sum.columnFactor += negative ? -1 : 1;
    return true;
  }
  if (isOfRow(value, body)) {
    (negative ? sum.minus : sum.plus).push_back(value);
    return true;
  }
  Operation *op = value.getDefiningOp();
  if (auto add = dyn_cast_or_null<arith::AddIOp>(op))
    return accumulate(add.getLhs(), negative, body, sum) &&
           accumulate(add.getRhs(), negative, body, sum);
  if (auto difference = dyn_cast_or_null<arith::SubIOp>(op))
    return accumulate(difference.getLhs(), negative, body, sum) &&
           accumulate(difference.getRhs(), !negative, body, sum);
  return false;
}

/// Collects the comparisons of a condition; false if it is anything else.
static bool collect(Value condition, Block &body,
                    SmallVectorImpl<LinearCompare> &compares) {
  using P = arith::CmpIPredicate;
  if (condition.getParentBlock() != &body)
    return false;
  Operation *op = condition.getDefiningOp();
  if (auto both = dyn_cast_or_null<arith::AndIOp>(op))
    return collect(both.getLhs(), body, compares) &&
           collect(both.getRhs(), body, compares);
  auto compare = dyn_cast_or_null<arith::CmpIOp>(op);
  if (!compare || !compare.getLhs().getType().isIndex())
    return false;
  LinearCompare linear{compare.getPredicate(), 0, {}, {}};
  switch (linear.predicate) {
  case P::eq:
  case P::slt:
  case P::sle:
  case P::sgt:
  case P::sge:
    break;
  default:
    return false;
  }
  if (!accumulate(compare.getLhs(), /*negative=*/false, body, linear) ||
      !accumulate(compare.getRhs(), /*negative=*/true, body, linear) ||
      std::abs(linear.columnFactor) > 1)
    return false;
  compares.push_back(std::move(linear));
  return true;
}

std::optional<ColumnRange> ColumnRange::get(Value condition, Block &body) {
  ColumnRange range;
  range.body = &body;
  if (!collect(condition, body, range.compares))
    return std::nullopt;
  return range;
}

/// A value of the body for one row.
static Value buildOfRow(ImplicitLocOpBuilder &b, Value value, Block &body,
                        IRMapping &mapping) {
  if (value.getParentBlock() != &body || mapping.contains(value))
    return mapping.lookupOrDefault(value);
  Operation *op = value.getDefiningOp();
  for (Value operand : op->getOperands())
    buildOfRow(b, operand, body, mapping);
  b.clone(*op, mapping);
  return mapping.lookup(value);
}

namespace {
/// Bounds of a column, of which each narrows the range.
class Limits {
public:
  Limits(ImplicitLocOpBuilder &b, Value &lower, Value &upper)
      : b(b), lower(lower), upper(upper) {}

  /// factor * column <predicate> value.
  void add(arith::CmpIPredicate predicate, int64_t factor, Value value) {
    using P = arith::CmpIPredicate;
    if (predicate == P::eq) {
      add(P::sle, factor, value);
      add(P::sge, factor, value);
      return;
    }
    bool isStrict = predicate == P::slt || predicate == P::sgt;
    bool isUpper = predicate == P::slt || predicate == P::sle;
    if (isStrict)
      value = arith::AddIOp::create(b, value, constant(isUpper ? -1 : 1));
    if (!factor) {
      // All columns or none.
      Value holds = arith::CmpIOp::create(b, isUpper ? P::sge : P::sle, value,
                                          constant(0));
      addUpper(arith::SelectOp::create(b, holds, constant(kClamp),
                                       constant(-kClamp)));
      return;
    }
    if (factor < 0) {
      value = arith::SubIOp::create(b, constant(0), value);
      isUpper = !isUpper;
    }
    isUpper ? addUpper(value) : addLower(value);
  }

private:
  Value constant(int64_t value) {
    return arith::ConstantIntOp::create(b, value, 32);
  }
  void addUpper(Value value) {
    upper = upper ? arith::MinSIOp::create(b, upper, value).getResult() : value;
  }
  void addLower(Value value) {
    lower = lower ? arith::MaxSIOp::create(b, lower, value).getResult() : value;
  }

  ImplicitLocOpBuilder &b;
  Value &lower, &upper;
};
} // namespace

void ColumnRange::buildLimits(ImplicitLocOpBuilder &b, const ThreadIds &ids) {
  auto narrow = [&](Value value) {
    return arith::IndexCastOp::create(b, b.getI32Type(), value).getResult();
  };
  for (int64_t half : {0, 1}) {
    IRMapping mapping;
    mapping.map(getRow(*body), add(b, ids.row, 8 * half));
    Limits limits(b, lower[half], upper[half]);
    for (const LinearCompare &compare : compares) {
      // factor * column <predicate> minus - plus
      Value shared = index(b, 0);
      for (Value value : compare.minus)
        shared = arith::AddIOp::create(b, shared,
                                       buildOfRow(b, value, *body, mapping));
      for (Value value : compare.plus)
        shared = arith::SubIOp::create(b, shared,
                                       buildOfRow(b, value, *body, mapping));
      shared = arith::MinSIOp::create(
          b, arith::MaxSIOp::create(b, shared, index(b, -kClamp)),
          index(b, kClamp));
      limits.add(compare.predicate, compare.columnFactor, narrow(shared));
    }
    Value first = narrow(ids.column);
    for (Value *limit : {&lower[half], &upper[half]})
      if (*limit)
        *limit = arith::SubIOp::create(b, *limit, first);
  }
}

Value ColumnRange::build(ImplicitLocOpBuilder &b, int64_t half,
                         int64_t column) const {
  using P = arith::CmpIPredicate;
  Value own = arith::ConstantIntOp::create(b, column, 32);
  Value all;
  auto add = [&](P predicate, Value limit) {
    if (!limit)
      return;
    Value holds = arith::CmpIOp::create(b, predicate, own, limit);
    all = all ? arith::AndIOp::create(b, all, holds).getResult() : holds;
  };
  add(P::sge, lower[half]);
  add(P::sle, upper[half]);
  return all;
}
