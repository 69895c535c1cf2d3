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

/// Adds `value`, or subtracts it, to a form; false if it is not linear.
static bool accumulate(Value value, bool negative, Block &body,
                       LinearForm &form) {
  if (value == getColumn(body)) {
    form.columnFactor += negative ? -1 : 1;
    return true;
  }
  if (isOfRow(value, body)) {
    (negative ? form.minus : form.plus).push_back(value);
    return true;
  }
  Operation *op = value.getDefiningOp();
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
  compare.body = &body;
  compare.predicate = op.getPredicate();
  if (!op.getLhs().getType().isIndex() || !isSigned(compare.predicate) ||
      !accumulate(op.getLhs(), /*negative=*/false, body, compare.form) ||
      !accumulate(op.getRhs(), /*negative=*/true, body, compare.form))
    return std::nullopt;
  return compare;
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

void CoordinateCompare::buildLimits(ImplicitLocOpBuilder &b,
                                    const ThreadIds &ids) {
  auto narrow = [&](Value value) {
    return arith::IndexCastOp::create(b, b.getI32Type(), value).getResult();
  };
  for (int64_t half : {0, 1}) {
    IRMapping mapping;
    mapping.map(getRow(*body), add(b, ids.row, 8 * half));
    // e + factor * thread's column + plus - minus <predicate> 0
    Value shared = index(b, 0);
    for (Value value : form.minus)
      shared = arith::AddIOp::create(b, shared,
                                     buildOfRow(b, value, *body, mapping));
    for (Value value : form.plus)
      shared = arith::SubIOp::create(b, shared,
                                     buildOfRow(b, value, *body, mapping));
    shared = arith::MinSIOp::create(
        b, arith::MaxSIOp::create(b, shared, index(b, -kClamp)),
        index(b, kClamp));
    limits[half] = narrow(shared);
    if (form.columnFactor)
      limits[half] = arith::SubIOp::create(
          b, limits[half],
          arith::MulIOp::create(
              b, narrow(ids.column),
              arith::ConstantIntOp::create(b, form.columnFactor, 32)));
  }
}

Value CoordinateCompare::build(ImplicitLocOpBuilder &b, int64_t half,
                               int64_t column) const {
  return arith::CmpIOp::create(
      b, predicate,
      arith::ConstantIntOp::create(b, form.columnFactor * column, 32),
      limits[half]);
}
