//===- DelayCopies.cpp - Copies in the order of their use -------*- C++ -*-===//
//
// Part of the MLA project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
//     for j:  K(j); V(j)      becomes      for j:  K(j); if not first: V(j - 1)
//                                          if there was any:  V(last)
//
//===----------------------------------------------------------------------===//

#include "DelayCopies.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "mlir/IR/OperationSupport.h"

using namespace mlir;
using namespace mlir::mla;
using namespace mlir::mla::wg;

/// The ring that an op of the producer works on; null if none.
static Value getRing(Operation &op) {
  if (auto acquire = dyn_cast<AcquireOp>(op))
    return acquire.getRing();
  if (auto commit = dyn_cast<CommitOp>(op))
    return commit.getRing();
  if (auto box = dyn_cast<CopyBoxOp>(op))
    return box.getRing();
  if (auto pages = dyn_cast<CopyPagesOp>(op))
    return pages.getRing();
  return Value();
}

namespace {
struct Copies {
  scf::ForOp loop;
  SmallVector<Operation *> delayed;
  /// What they need of their iteration.
  SetVector<Value> inputs;
};
} // namespace

static Copies collect(scf::ForOp loop, const DenseSet<Value> &rings) {
  Copies copies{loop, {}, {}};
  for (Operation &op : *loop.getBody()) {
    Value ring = getRing(op);
    if (!ring || !rings.contains(ring))
      continue;
    copies.delayed.push_back(&op);
    for (Value operand : op.getOperands())
      if (loop->isAncestor(operand.getParentBlock()->getParentOp()))
        copies.inputs.insert(operand);
  }
  return copies;
}

static bool isSame(Copies &x, Copies &y) {
  if (x.delayed.size() != y.delayed.size() ||
      x.inputs.size() != y.inputs.size())
    return false;
  IRMapping mapping;
  for (auto [from, to] : llvm::zip(x.inputs, y.inputs)) {
    if (from.getType() != to.getType())
      return false;
    mapping.map(from, to);
  }
  for (auto [from, to] : llvm::zip(x.delayed, y.delayed))
    if (!OperationEquivalence::isEquivalentTo(
            from, to,
            [&](Value left, Value right) {
              return success(mapping.lookupOrDefault(left) == right);
            },
            [&](Value left, Value right) { mapping.map(left, right); },
            OperationEquivalence::IgnoreLocations))
      return false;
  return true;
}

static void buildDelayed(ImplicitLocOpBuilder &b, Copies &copies,
                         ValueRange inputs) {
  IRMapping mapping;
  mapping.map(copies.inputs.getArrayRef(), inputs);
  for (Operation *op : copies.delayed)
    b.clone(*op, mapping);
}

/// Loops one after the other that only count uses.
static void rotate(MutableArrayRef<Copies> chain) {
  scf::ForOp first = chain.front().loop, last = chain.back().loop;
  Value firstUse = first.getInitArgs()[0];
  ImplicitLocOpBuilder b(first.getLoc(), first);
  SmallVector<Value> inputs;
  for (Value input : chain.front().inputs)
    inputs.push_back(
        arith::ConstantOp::create(b, b.getZeroAttr(input.getType())));
  Value use = firstUse;
  for (Copies &copies : chain) {
    scf::ForOp loop = copies.loop;
    b.setInsertionPoint(loop);
    SmallVector<Value> inits{use};
    llvm::append_range(inits, inputs);
    auto copy = scf::ForOp::create(b, loop.getLowerBound(),
                                   loop.getUpperBound(), loop.getStep(), inits);
    b.setInsertionPointToEnd(copy.getBody());
    IRMapping mapping;
    mapping.map(loop.getInductionVar(), copy.getInductionVar());
    mapping.map(loop.getRegionIterArg(0), copy.getRegionIterArg(0));
    for (Operation &op : loop.getBody()->without_terminator())
      if (!llvm::is_contained(copies.delayed, &op))
        b.clone(op, mapping);
    Value hasPrevious = arith::CmpIOp::create(
        b, arith::CmpIPredicate::ne, copy.getRegionIterArg(0), firstUse);
    auto branch = scf::IfOp::create(b, hasPrevious);
    {
      OpBuilder::InsertionGuard guard(b);
      b.setInsertionPointToStart(branch.thenBlock());
      buildDelayed(b, chain.front(), copy.getRegionIterArgs().drop_front());
    }
    SmallVector<Value> yields{
        mapping.lookupOrDefault(loop.getYieldedValues()[0])};
    for (Value input : copies.inputs)
      yields.push_back(mapping.lookupOrDefault(input));
    scf::YieldOp::create(b, yields);
    use = copy.getResult(0);
    inputs.assign(copy.getResults().begin() + 1, copy.getResults().end());
  }
  b.setInsertionPoint(last);
  // The last copy waits for a slot: time in which the next item's number can
  // come.
  for (Operation *op = last; op; op = op->getNextNode())
    if (isa<ClaimOp>(op))
      b.setInsertionPointAfter(op);
  Value any = arith::CmpIOp::create(b, arith::CmpIPredicate::ne, use, firstUse);
  auto branch = scf::IfOp::create(b, any);
  last.getResult(0).replaceAllUsesWith(use);
  b.setInsertionPointToStart(branch.thenBlock());
  buildDelayed(b, chain.front(), inputs);
  for (Copies &copies : llvm::reverse(chain))
    copies.loop.erase();
}

void wg::delayCopies(RolesOp roles, const DenseSet<Value> &rings) {
  SmallVector<scf::ForOp> loops;
  roles.getProducer().walk([&](scf::ForOp loop) {
    if (loop.getNumRegionIterArgs() == 1 &&
        !collect(loop, rings).delayed.empty())
      loops.push_back(loop);
  });
  for (size_t begin = 0; begin < loops.size();) {
    SmallVector<Copies> chain{collect(loops[begin], rings)};
    size_t end = begin + 1;
    for (; end < loops.size(); ++end) {
      Copies next = collect(loops[end], rings);
      if (loops[end].getInitArgs()[0] != loops[end - 1].getResult(0) ||
          !loops[end - 1].getResult(0).hasOneUse() ||
          !isSame(chain.front(), next))
        break;
      chain.push_back(std::move(next));
    }
    rotate(chain);
    begin = end;
  }
}
