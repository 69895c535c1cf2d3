//===- VisibleRange.cpp - What a predicate says about a box -----*- C++ -*-===//
//
// Part of the MLA project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "mla/Analysis/VisibleRange.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace mlir::mla;
using arith::CmpIPredicate;

namespace {
/// Bounds on a truth value over the box: `may` is false only if it is false
/// everywhere, `must` true only if it is true everywhere.
struct Truth {
  Value may, must;
};

class Evaluator {
public:
  Evaluator(OpBuilder &builder, Location loc, IntervalOf intervalOf)
      : b(loc, builder), intervalOf(intervalOf) {}

  std::optional<Truth> truth(Value value);
  std::optional<Interval> interval(Value value);

private:
  Value compare(CmpIPredicate predicate, Value x, Value y) {
    return arith::CmpIOp::create(b, predicate, x, y);
  }
  Value both(Value x, Value y) { return arith::AndIOp::create(b, x, y); }
  Value either(Value x, Value y) { return arith::OrIOp::create(b, x, y); }
  Value negate(Value x) {
    Value yes = arith::ConstantIntOp::create(b, 1, 1);
    return arith::XOrIOp::create(b, x, yes);
  }
  Value min(Value x, Value y) { return arith::MinSIOp::create(b, x, y); }
  Value max(Value x, Value y) { return arith::MaxSIOp::create(b, x, y); }
  Interval hull(Value x, Value y) { return {min(x, y), max(x, y)}; }

  std::optional<Truth> compareIntervals(CmpIPredicate predicate, Interval x,
                                        Interval y);

  ImplicitLocOpBuilder b;
  IntervalOf intervalOf;
};
} // namespace

std::optional<Interval> Evaluator::interval(Value value) {
  if (std::optional<Interval> known = intervalOf(value))
    return known;
  Operation *op = value.getDefiningOp();
  if (!op)
    return std::nullopt;
  // One operand's interval each, if all are known.
  auto two = [&]() -> std::optional<std::pair<Interval, Interval>> {
    std::optional<Interval> x = interval(op->getOperand(0));
    std::optional<Interval> y = interval(op->getOperand(1));
    if (!x || !y)
      return std::nullopt;
    return std::pair(*x, *y);
  };
  return llvm::TypeSwitch<Operation *, std::optional<Interval>>(op)
      .Case([&](arith::AddIOp) -> std::optional<Interval> {
        auto xy = two();
        if (!xy)
          return std::nullopt;
        auto [x, y] = *xy;
        return Interval{arith::AddIOp::create(b, x.low, y.low),
                        arith::AddIOp::create(b, x.high, y.high)};
      })
      .Case([&](arith::SubIOp) -> std::optional<Interval> {
        auto xy = two();
        if (!xy)
          return std::nullopt;
        auto [x, y] = *xy;
        return Interval{arith::SubIOp::create(b, x.low, y.high),
                        arith::SubIOp::create(b, x.high, y.low)};
      })
      .Case([&](arith::MulIOp) -> std::optional<Interval> {
        // By a single value: monotone, one way or the other.
        auto xy = two();
        if (!xy || xy->second.low != xy->second.high)
          return std::nullopt;
        auto [x, y] = *xy;
        return hull(arith::MulIOp::create(b, x.low, y.low),
                    arith::MulIOp::create(b, x.high, y.low));
      })
      .Case([&](arith::FloorDivSIOp) -> std::optional<Interval> {
        auto xy = two();
        if (!xy || xy->second.low != xy->second.high)
          return std::nullopt;
        auto [x, y] = *xy;
        return hull(arith::FloorDivSIOp::create(b, x.low, y.low),
                    arith::FloorDivSIOp::create(b, x.high, y.low));
      })
      .Case<arith::MinSIOp, arith::MaxSIOp>(
          [&](auto each) -> std::optional<Interval> {
            auto xy = two();
            if (!xy)
              return std::nullopt;
            auto [x, y] = *xy;
            using Op = decltype(each);
            return Interval{Op::create(b, x.low, y.low),
                            Op::create(b, x.high, y.high)};
          })
      .Case([&](arith::SelectOp select) -> std::optional<Interval> {
        std::optional<Interval> x = interval(select.getTrueValue());
        std::optional<Interval> y = interval(select.getFalseValue());
        if (!x || !y)
          return std::nullopt;
        return Interval{min(x->low, y->low), max(x->high, y->high)};
      })
      .Default([](Operation *) { return std::nullopt; });
}

std::optional<Truth> Evaluator::compareIntervals(CmpIPredicate predicate,
                                                 Interval x, Interval y) {
  switch (predicate) {
  case CmpIPredicate::slt:
    return Truth{compare(predicate, x.low, y.high),
                 compare(predicate, x.high, y.low)};
  case CmpIPredicate::sle:
    return Truth{compare(predicate, x.low, y.high),
                 compare(predicate, x.high, y.low)};
  case CmpIPredicate::sgt:
    return compareIntervals(CmpIPredicate::slt, y, x);
  case CmpIPredicate::sge:
    return compareIntervals(CmpIPredicate::sle, y, x);
  case CmpIPredicate::eq: {
    // They meet; and both are one and the same number.
    Value may = both(compare(CmpIPredicate::sle, x.low, y.high),
                     compare(CmpIPredicate::sle, y.low, x.high));
    Value must = both(compare(CmpIPredicate::eq, x.low, y.high),
                      compare(CmpIPredicate::eq, x.high, y.low));
    return Truth{may, must};
  }
  case CmpIPredicate::ne: {
    std::optional<Truth> equal = compareIntervals(CmpIPredicate::eq, x, y);
    return Truth{negate(equal->must), negate(equal->may)};
  }
  default:
    return std::nullopt; // unsigned comparisons
  }
}

std::optional<Truth> Evaluator::truth(Value value) {
  Operation *op = value.getDefiningOp();
  if (!op)
    return std::nullopt;
  if (matchPattern(value, m_Constant()))
    return Truth{value, value};
  if (auto compareOp = dyn_cast<arith::CmpIOp>(op)) {
    std::optional<Interval> x = interval(compareOp.getLhs());
    std::optional<Interval> y = interval(compareOp.getRhs());
    if (!x || !y)
      return std::nullopt;
    return compareIntervals(compareOp.getPredicate(), *x, *y);
  }
  if (isa<arith::AndIOp, arith::OrIOp>(op)) {
    std::optional<Truth> x = truth(op->getOperand(0));
    std::optional<Truth> y = truth(op->getOperand(1));
    if (isa<arith::AndIOp>(op)) {
      // What is not known bounds nothing: the other side alone may rule it out.
      Value no = arith::ConstantIntOp::create(b, 0, 1);
      if (!x || !y) {
        std::optional<Truth> known = x ? x : y;
        return known ? std::optional(Truth{known->may, no}) : std::nullopt;
      }
      return Truth{both(x->may, y->may), both(x->must, y->must)};
    }
    if (!x || !y)
      return std::nullopt;
    return Truth{either(x->may, y->may), either(x->must, y->must)};
  }
  if (isa<arith::XOrIOp>(op) && matchPattern(op->getOperand(1), m_One())) {
    std::optional<Truth> x = truth(op->getOperand(0));
    if (!x)
      return std::nullopt;
    return Truth{negate(x->must), negate(x->may)};
  }
  return std::nullopt;
}

Value mla::buildMayHold(OpBuilder &builder, Location loc, Value predicate,
                        IntervalOf intervalOf) {
  std::optional<Truth> truth =
      Evaluator(builder, loc, intervalOf).truth(predicate);
  return truth ? truth->may : Value();
}
