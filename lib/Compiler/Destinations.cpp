//===- Destinations.cpp - Which arguments a function writes -----*- C++ -*-===//
//
// Part of the MLA project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Destinations.h"

#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Interfaces/CallInterfaces.h"
#include "mlir/Interfaces/DestinationStyleOpInterface.h"
#include "mlir/Interfaces/LoopLikeInterface.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "mlir/Interfaces/ViewLikeInterface.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace mlir::mla;

/// Values still to be looked at; each is looked at once.
using Worklist = llvm::SmallSetVector<Value, 8>;

/// The callee's argument that a call's operand becomes, or null.
static Value getCalleeArgument(OpOperand &use) {
  auto call = dyn_cast<func::CallOp>(use.getOwner());
  if (!call)
    return {};
  auto callee = SymbolTable::lookupNearestSymbolFrom<func::FuncOp>(
      call, call.getCalleeAttr());
  if (!callee || callee.isExternal())
    return {};
  return callee.getArgument(use.getOperandNumber());
}

/// Looks at one use of a tensor: true if it is a destination, else the values
/// that may share its memory go to the list.
static bool tensorUseWrites(OpOperand &use, Worklist &values) {
  Operation *op = use.getOwner();
  if (isa<func::CallOp>(op)) {
    Value argument = getCalleeArgument(use);
    if (!argument)
      return true;
    values.insert(argument);
    return false;
  }
  if (auto loop = dyn_cast<LoopLikeOpInterface>(op)) {
    // The outputs of a forall are there to be written.
    if (auto forall = dyn_cast<scf::ForallOp>(op))
      return llvm::is_contained(forall.getOutputs(), use.get());
    if (BlockArgument carried = loop.getTiedLoopRegionIterArg(&use))
      values.insert(carried);
    return false;
  }
  if (auto destinationStyle = dyn_cast<DestinationStyleOpInterface>(op))
    return destinationStyle.isDpsInit(&use);
  if (isa<tensor::CastOp, tensor::ExtractSliceOp, tensor::CollapseShapeOp,
          tensor::ExpandShapeOp, tensor::ReshapeOp>(op))
    values.insert(op->getResult(0));
  return false;
}

/// The same for a memref, where an op that is not understood counts as a write.
static bool memrefUseWrites(OpOperand &use, Worklist &values) {
  Operation *op = use.getOwner();
  if (Value argument = getCalleeArgument(use)) {
    values.insert(argument);
    return false;
  }
  if (isa<ViewLikeOpInterface>(op)) {
    for (Value result : op->getResults())
      if (isa<MemRefType>(result.getType()))
        values.insert(result);
    return false;
  }
  auto interface = dyn_cast<MemoryEffectOpInterface>(op);
  if (!interface)
    return true;
  SmallVector<MemoryEffects::EffectInstance> effects;
  interface.getEffects(effects);
  return llvm::any_of(effects, [&](MemoryEffects::EffectInstance &effect) {
    return isa<MemoryEffects::Write>(effect.getEffect()) &&
           (!effect.getValue() || effect.getValue() == use.get());
  });
}

bool mla::mayBeWritten(BlockArgument argument) {
  Worklist values;
  values.insert(argument);
  // The list grows while it is walked.
  for (size_t i = 0; i < values.size(); ++i) {
    bool isTensor = isa<TensorType>(values[i].getType());
    for (OpOperand &use : values[i].getUses())
      if (isTensor ? tensorUseWrites(use, values)
                   : memrefUseWrites(use, values))
        return true;
  }
  return false;
}

/// The value whose memory `value` takes over, or null.
static Value getDestination(Value value) {
  auto result = dyn_cast<OpResult>(value);
  if (!result)
    return {};
  Operation *op = result.getOwner();
  // The interface below knows of no results of a forall.
  if (auto forall = dyn_cast<scf::ForallOp>(op))
    return forall.getTiedOpOperand(result)->get();
  if (auto loop = dyn_cast<LoopLikeOpInterface>(op)) {
    OpOperand *init = loop.getTiedLoopInit(result);
    return init ? init->get() : Value();
  }
  if (auto destinationStyle = dyn_cast<DestinationStyleOpInterface>(op)) {
    OpOperand *init = destinationStyle.getTiedOpOperand(result);
    return init ? init->get() : Value();
  }
  if (auto cast = dyn_cast<tensor::CastOp>(op))
    return cast.getSource();
  return {};
}

bool mla::livesInArgument(func::FuncOp function, unsigned index) {
  Value value = function.front().getTerminator()->getOperand(index);
  while (Value destination = getDestination(value))
    value = destination;
  auto argument = dyn_cast<BlockArgument>(value);
  return argument && argument.getOwner() == &function.front();
}
