//===- QueryDims.cpp - Which dimension of a tile counts queries -*- C++ -*-===//
//
// Part of the MLA project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "QueryDims.h"

#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace mlir::mla;

bool mla::keepsDimension(tensor::ExtractSliceOp op, int64_t dim) {
  // No rank reduction, so that dimensions keep their numbers.
  RankedTensorType source = op.getSourceType(), result = op.getType();
  return source.getRank() == result.getRank() && op.hasUnitStride() &&
         !source.isDynamicDim(dim) && op.getStaticOffsets()[dim] == 0 &&
         op.getStaticSizes()[dim] == source.getDimSize(dim);
}

LogicalResult QueryDims::tag(Value value, int64_t dim) {
  auto type = dyn_cast<RankedTensorType>(value.getType());
  if (!type || type.getDimSize(dim) != queries)
    return failure();
  auto [entry, inserted] = dims.try_emplace(value, dim);
  changed |= inserted;
  return success(entry->second == dim);
}

std::optional<unsigned> QueryDims::lookupLoop(linalg::LinalgOp op) const {
  for (OpOperand &operand : op->getOpOperands()) {
    std::optional<int64_t> dim = lookup(operand.get());
    if (!dim)
      continue;
    auto expr = dyn_cast<AffineDimExpr>(
        op.getMatchingIndexingMap(&operand).getResult(*dim));
    if (expr)
      return expr.getPosition();
  }
  return std::nullopt;
}

LogicalResult QueryDims::propagate(Operation *op) {
  if (auto slice = dyn_cast<tensor::ExtractSliceOp>(op)) {
    for (auto [from, to] : {std::pair<Value, Value>(slice.getSource(), slice),
                            {slice, slice.getSource()}})
      if (std::optional<int64_t> dim = lookup(from);
          dim && slice.getSourceType().getRank() == slice.getType().getRank() &&
          keepsDimension(slice, *dim) && failed(tag(to, *dim)))
        return failure();
    return success();
  }
  auto linalgOp = dyn_cast<linalg::LinalgOp>(op);
  if (!linalgOp)
    return success();
  // A result's dimension is its destination's.
  for (OpResult result : op->getResults())
    if (std::optional<int64_t> dim = lookup(result))
      if (failed(tag(linalgOp.getTiedOpOperand(result)->get(), *dim)))
        return failure();
  std::optional<unsigned> loop = lookupLoop(linalgOp);
  if (!loop)
    return success();
  for (OpOperand &operand : op->getOpOperands()) {
    if (!isa<RankedTensorType>(operand.get().getType()))
      continue;
    AffineMap map = linalgOp.getMatchingIndexingMap(&operand);
    // Only dimensions that are a loop each can be cut into strips.
    if (!map.isProjectedPermutation())
      return failure();
    std::optional<unsigned> dim =
        map.getResultPosition(getAffineDimExpr(*loop, op->getContext()));
    if (dim && failed(tag(operand.get(), *dim)))
      return failure();
    if (!dim && isTagged(operand.get()))
      return failure(); // two query dimensions in one op
    if (dim && linalgOp.isDpsInit(&operand) &&
        failed(tag(linalgOp.getTiedOpResult(&operand), *dim)))
      return failure();
  }
  return success();
}

FailureOr<QueryDims> QueryDims::compute(scf::ForallOp forall,
                                        std::string &reason) {
  QueryDims result;
  auto fail = [&](const Twine &why) -> FailureOr<QueryDims> {
    reason = why.str();
    return failure();
  };
  for (auto loop : forall.getBody()->getOps<scf::ForOp>()) {
    auto tensors =
        llvm::make_filter_range(loop.getRegionIterArgs(), [](Value value) {
          return isa<RankedTensorType>(value.getType());
        });
    if (tensors.empty())
      continue;
    result.keyLoops.push_back(loop);
    for (Value tile : tensors) {
      auto type = cast<RankedTensorType>(tile.getType());
      if (!type.hasStaticShape() || type.getRank() == 0)
        return fail("a key loop carries a tile that is not static");
      if (!result.queries)
        result.queries = type.getDimSize(0);
      if (type.getDimSize(0) != result.queries)
        return fail("carried tiles disagree on the number of queries");
    }
  }
  if (result.keyLoops.empty())
    return fail("there is no loop that carries tiles");

  for (scf::ForOp loop : result.keyLoops)
    for (auto [init, argument, yielded, value] :
         llvm::zip(loop.getInitArgs(), loop.getRegionIterArgs(),
                   loop.getYieldedValues(), loop.getResults()))
      if (isa<RankedTensorType>(argument.getType()))
        for (Value each :
             {Value(init), Value(argument), Value(yielded), Value(value)})
          if (failed(result.tag(each, 0)))
            return fail("carried tiles disagree on the query dimension");
  do {
    result.changed = false;
    WalkResult walk = forall.walk([&](Operation *op) {
      return succeeded(result.propagate(op)) ? WalkResult::advance()
                                             : WalkResult::interrupt();
    });
    if (walk.wasInterrupted())
      return fail("an op uses tiles of queries in more than one way");
  } while (result.changed);
  if (std::string obstacle = result.findObstacle(forall); !obstacle.empty())
    return fail(obstacle);
  return result;
}

/// A tile of rows that can be packed where it enters or leaves.
static bool isPackable(Value value, int64_t dim) {
  auto type = cast<RankedTensorType>(value.getType());
  return dim == 0 && type.getRank() == 2 &&
         isa<FloatType>(type.getElementType());
}

std::string QueryDims::findObstacle(scf::ForallOp forall) const {
  auto isConstant = [](Value value) {
    return isa_and_present<tensor::EmptyOp, linalg::FillOp>(
        value.getDefiningOp());
  };
  auto isKeyLoop = [&](Operation *op) {
    auto loop = dyn_cast_if_present<scf::ForOp>(op);
    return loop && llvm::is_contained(keyLoops, loop);
  };
  // An op that is rewritten for strips.
  auto isRewritten = [&](Operation *op) {
    if (auto slice = dyn_cast<tensor::ExtractSliceOp>(op)) {
      std::optional<int64_t> dim = lookup(slice.getSource());
      return dim && isTagged(slice.getResult()) && keepsDimension(slice, *dim);
    }
    auto linalgOp = dyn_cast<linalg::LinalgOp>(op);
    if (!linalgOp || !isTagged(op))
      return false;
    std::optional<unsigned> loop = lookupLoop(linalgOp);
    return isa<linalg::FillOp>(op) ||
           (loop && linalgOp.getIteratorTypesArray()[*loop] ==
                        utils::IteratorType::parallel);
  };
  for (auto [value, dim] : dims) {
    if (isConstant(value) || isa<BlockArgument>(value))
      continue;
    Operation *op = value.getDefiningOp();
    if (isKeyLoop(op) || isRewritten(op))
      continue;
    // It enters; so it has to be made where all strips can be packed.
    if (op->getBlock() != forall.getBody() || !isPackable(value, dim))
      return ("'" + op->getName().getStringRef() +
              "' makes a tile of queries in a way that strips cannot")
          .str();
  }
  std::string reason;
  forall.walk([&](Operation *op) {
    bool inItem = op->getBlock() == forall.getBody();
    bool inKeyLoop = isKeyLoop(op->getParentOp());
    for (Value operand : op->getOperands()) {
      std::optional<int64_t> dim = lookup(operand);
      if (!dim || isKeyLoop(op) || (inItem && isRewritten(op)) ||
          (inKeyLoop && (isRewritten(op) || isa<scf::YieldOp>(op))))
        continue;
      // It leaves, after the key loops.
      bool leaves = inItem || isa<tensor::ParallelInsertSliceOp>(op);
      if (leaves && *dim == 0 &&
          cast<RankedTensorType>(operand.getType()).getRank() <= 2)
        continue;
      reason = ("'" + op->getName().getStringRef() +
                "' reads a tile of queries in a way that strips cannot")
                   .str();
      return WalkResult::interrupt();
    }
    return WalkResult::advance();
  });
  return reason;
}
