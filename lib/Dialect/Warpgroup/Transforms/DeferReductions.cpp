//===- DeferReductions.cpp - Sums kept in parts -----------------*- C++ -*-===//
//
// Part of the MLA project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
//     for ... iter_args(l = 0):  l = sum of columns(p) + l * c
//
// is linear in l, so each thread of a quad may sum up the columns that it
// holds; c is the same in all of them. Their parts are added after the loop.
//
//===----------------------------------------------------------------------===//

#include "mla/Dialect/Warpgroup/IR/Warpgroup.h"
#include "mla/Dialect/Warpgroup/Transforms/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "mlir/IR/Matchers.h"

namespace mlir::mla::wg {
#define GEN_PASS_DEF_WGDEFERREDUCTIONS
#include "mla/Dialect/Warpgroup/Transforms/Passes.h.inc"
} // namespace mlir::mla::wg

using namespace mlir;
using namespace mlir::mla;
using namespace mlir::mla::wg;

/// The only op of a body, if that is all there is and it is an `Op` of the
/// body's first two arguments.
template <typename Op> static bool isBody(Region &body) {
  Block &block = body.front();
  auto op = dyn_cast<Op>(block.front());
  if (!op || op->getNextNode() != block.getTerminator() ||
      block.getTerminator()->getOperand(0) != op->getResult(0))
    return false;
  Value x = block.getArgument(0), y = block.getArgument(1);
  return (op.getLhs() == x && op.getRhs() == y) ||
         (op.getLhs() == y && op.getRhs() == x);
}

namespace {
/// How a loop carries a sum: l -> scale -> reduce -> yield, and nobody else
/// looks at it.
struct CarriedSum {
  scf::ForOp loop;
  unsigned number;
  MapOp scale;
  ReduceOp reduce;
};
} // namespace

static std::optional<CarriedSum> match(scf::ForOp loop, unsigned number) {
  BlockArgument carried = loop.getRegionIterArg(number);
  auto type = dyn_cast<FragmentType>(carried.getType());
  if (!type || type.getKind() != FragmentKind::Row || !carried.hasOneUse())
    return std::nullopt;
  auto scale = dyn_cast<MapOp>(*carried.user_begin());
  if (!scale || scale.getInputs().size() != 2 ||
      scale.getResult().getType() != type ||
      !isBody<arith::MulFOp>(scale.getBody()) || !scale.getResult().hasOneUse())
    return std::nullopt;
  auto reduce = dyn_cast<ReduceOp>(*scale.getResult().user_begin());
  if (!reduce || reduce.getInit() != scale.getResult() ||
      !isBody<arith::AddFOp>(reduce.getBody()) ||
      !reduce.getResult().hasOneUse() ||
      loop.getYieldedValues()[number] != reduce.getResult())
    return std::nullopt;
  return CarriedSum{loop, number, scale, reduce};
}

static bool isZero(Value fragment) {
  auto splat = fragment.getDefiningOp<SplatOp>();
  return splat && matchPattern(splat.getValue(), m_AnyZeroFloat());
}

/// Makes the fragments of a chain partial, from its loops to its end.
static void defer(MutableArrayRef<CarriedSum> chain) {
  auto row = cast<FragmentType>(chain.front().reduce.getResult().getType());
  auto partial = FragmentType::get(row.getContext(), row.getShape(),
                                   row.getElementType(), FragmentKind::Partial);
  auto zero = chain.front()
                  .loop.getInitArgs()[chain.front().number]
                  .getDefiningOp<SplatOp>();
  OpBuilder builder(zero);
  Value start =
      SplatOp::create(builder, zero.getLoc(), partial, zero.getValue());
  for (CarriedSum &sum : chain) {
    scf::ForOp loop = sum.loop;
    loop.getInitArgsMutable()[sum.number].assign(start);
    loop.getRegionIterArg(sum.number).setType(partial);
    // The carried value gives the map's layout.
    MapOp scale = sum.scale;
    if (scale.getInputs()[0] != loop.getRegionIterArg(sum.number)) {
      Value factor = scale.getInputs()[0];
      scale.getInputsMutable()[0].assign(scale.getInputs()[1]);
      scale.getInputsMutable()[1].assign(factor);
    }
    scale.getResult().setType(partial);
    ReduceOp reduce = sum.reduce;
    reduce.getResult().setType(partial);
    loop.getResult(sum.number).setType(partial);
    start = loop.getResult(sum.number);
  }
  // Whoever is not one of the loops wants the sum.
  CarriedSum last = chain.back();
  ImplicitLocOpBuilder b(last.loop.getLoc(), last.loop->getContext());
  b.setInsertionPointAfter(last.loop);
  auto combine = CombineOp::create(b, row, start);
  IRMapping mapping;
  last.reduce.getBody().cloneInto(&combine.getBody(), mapping);
  start.replaceAllUsesExcept(combine.getResult(), combine);
}

namespace {
struct DeferReductions : wg::impl::WGDeferReductionsBase<DeferReductions> {
  void runOnOperation() override {
    SmallVector<scf::ForOp> loops;
    getOperation()->walk([&](scf::ForOp loop) { loops.push_back(loop); });
    for (scf::ForOp first : loops)
      for (unsigned i = 0; i < first.getNumRegionIterArgs(); ++i)
        if (isZero(first.getInitArgs()[i]))
          tryChain(first, i);
  }

  /// Follows a sum from loop to loop while nobody else reads it.
  static void tryChain(scf::ForOp loop, unsigned number) {
    SmallVector<CarriedSum> chain;
    while (std::optional<CarriedSum> sum = match(loop, number)) {
      chain.push_back(*sum);
      Value result = loop.getResult(number);
      auto next = result.hasOneUse()
                      ? dyn_cast<scf::ForOp>(*result.user_begin())
                      : scf::ForOp();
      if (!next)
        break;
      number =
          result.use_begin()->getOperandNumber() - next.getNumControlOperands();
      loop = next;
    }
    if (!chain.empty())
      defer(chain);
  }
};
} // namespace
