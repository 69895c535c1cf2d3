//===- MemrefBoundary.cpp - Functions on memrefs -*- C++ -*-===//
//
// Part of the MLA project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "mla/Conversion/Boundary.h"
#include "mla/Conversion/Passes.h"

#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Interfaces/DestinationStyleOpInterface.h"

namespace mlir::mla {
#define GEN_PASS_DEF_MLAMEMREFBOUNDARY
#include "mla/Conversion/Passes.h.inc"
} // namespace mlir::mla

using namespace mlir;

/// The argument that a result is written into, or null.
static BlockArgument findDestination(Value value) {
  while (!isa<BlockArgument>(value)) {
    auto result = cast<OpResult>(value);
    Operation *op = result.getOwner();
    if (auto forall = dyn_cast<scf::ForallOp>(op))
      value = forall.getTiedOpOperand(result)->get();
    else if (auto dps = dyn_cast<DestinationStyleOpInterface>(op))
      value = dps.getTiedOpOperand(result)->get();
    else if (isa<CastOpInterface>(op) && op->getNumOperands() == 1)
      value = op->getOperand(0);
    else
      return {};
  }
  return cast<BlockArgument>(value);
}

static LogicalResult rewrite(func::FuncOp function) {
  if (function.isExternal())
    return success();
  Block &entry = function.getBody().front();
  auto isTensor = [](Type type) { return isa<TensorType>(type); };
  if (llvm::none_of(function.getArgumentTypes(), isTensor) &&
      llvm::none_of(function.getResultTypes(), isTensor))
    return success();
  if (!function.getBody().hasOneBlock())
    return function.emitOpError("expected one block");

  // Results first, while arguments still are tensors.
  auto terminator = cast<func::ReturnOp>(entry.getTerminator());
  SmallVector<std::pair<Value, BlockArgument>> written;
  SmallVector<Value> kept;
  for (auto [index, value] : llvm::enumerate(terminator.getOperands())) {
    if (!isTensor(value.getType())) {
      kept.push_back(value);
      continue;
    }
    BlockArgument destination = findDestination(value);
    if (!destination || destination.getOwner() != &entry)
      return terminator.emitOpError()
             << "result " << index
             << ": expected a value that is written into an argument of '"
             << function.getName() << "', got a new tensor";
    written.emplace_back(value, destination);
  }
  OpBuilder b(&entry, entry.begin());
  for (BlockArgument argument : entry.getArguments()) {
    auto type = dyn_cast<RankedTensorType>(argument.getType());
    if (!type)
      continue;
    bool isWritten = llvm::any_of(
        written, [&](auto &pair) { return pair.second == argument; });
    argument.setType(mla::getBoundaryType(type));
    auto view = bufferization::ToTensorOp::create(
        b, argument.getLoc(), type, argument, /*restrict=*/true, isWritten);
    argument.replaceAllUsesExcept(view, view);
  }
  b.setInsertionPoint(terminator);
  for (auto [value, destination] : written) {
    auto materialize = bufferization::MaterializeInDestinationOp::create(
        b, terminator.getLoc(), value, destination);
    materialize.setRestrict(true);
    materialize.setWritable(true);
  }
  terminator.getOperandsMutable().assign(kept);
  function.setType(FunctionType::get(function.getContext(),
                                     entry.getArgumentTypes(),
                                     ValueRange(kept).getTypes()));
  return success();
}

namespace {
struct MemrefBoundary : mla::impl::MLAMemrefBoundaryBase<MemrefBoundary> {
  void runOnOperation() override {
    for (auto function : getOperation().getOps<func::FuncOp>())
      if (failed(rewrite(function)))
        return signalPassFailure();
  }
};
} // namespace
