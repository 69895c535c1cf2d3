//===- BufferizableOpInterface.cpp - One-shot bufferization -*- C++ -*-===//
//
// Part of the MLA project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "mla/Dialect/MLA/Transforms/BufferizableOpInterface.h"

#include "mla/Dialect/MLA/IR/MLA.h"

#include "mlir/Dialect/Bufferization/IR/BufferizableOpInterface.h"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/Bufferization/IR/DstBufferizableOpInterfaceImpl.h"
#include "mlir/IR/DialectRegistry.h"
#include "mlir/IR/Operation.h"

using namespace mlir;
using namespace mlir::bufferization;

namespace {
/// Destination-style ops of the dialect: inputs are read, destinations are read
/// (rows past the last offset keep their content) and written in place.
template <typename OpTy>
struct DestinationStyleModel
    : DstBufferizableOpInterfaceExternalModel<DestinationStyleModel<OpTy>,
                                              OpTy> {
  bool bufferizesToMemoryRead(Operation *, OpOperand &,
                              const AnalysisState &) const {
    return true;
  }

  bool bufferizesToMemoryWrite(Operation *op, OpOperand &operand,
                               const AnalysisState &) const {
    return cast<DestinationStyleOpInterface>(op).isDpsInit(&operand);
  }

  LogicalResult bufferize(Operation *op, RewriterBase &rewriter,
                          const BufferizationOptions &options,
                          BufferizationState &state) const {
    auto dps = cast<DestinationStyleOpInterface>(op);
    if (dps.hasPureBufferSemantics())
      return success();
    SmallVector<Value> operands, buffers;
    for (OpOperand &operand : op->getOpOperands()) {
      if (!isa<TensorType>(operand.get().getType())) {
        operands.push_back(operand.get());
        continue;
      }
      FailureOr<Value> buffer =
          getBuffer(rewriter, operand.get(), options, state);
      if (failed(buffer))
        return failure();
      operands.push_back(*buffer);
      if (dps.isDpsInit(&operand))
        buffers.push_back(*buffer);
    }
    OpBuilder::InsertionGuard guard(rewriter);
    rewriter.setInsertionPoint(op);
    clone(rewriter, op, /*newResultTypes=*/TypeRange(), operands);
    replaceOpWithBufferizedValues(rewriter, op, buffers);
    return success();
  }
};

/// mla.locate only reads its offsets.
struct LocateModel
    : BufferizableOpInterface::ExternalModel<LocateModel, mla::LocateOp> {
  bool bufferizesToMemoryRead(Operation *, OpOperand &,
                              const AnalysisState &) const {
    return true;
  }
  bool bufferizesToMemoryWrite(Operation *, OpOperand &,
                               const AnalysisState &) const {
    return false;
  }
  AliasingValueList getAliasingValues(Operation *, OpOperand &,
                                      const AnalysisState &) const {
    return {};
  }
  LogicalResult bufferize(Operation *op, RewriterBase &rewriter,
                          const BufferizationOptions &options,
                          BufferizationState &state) const {
    auto locate = cast<mla::LocateOp>(op);
    if (!isa<TensorType>(locate.getOffsets().getType()))
      return success();
    FailureOr<Value> buffer =
        getBuffer(rewriter, locate.getOffsets(), options, state);
    if (failed(buffer))
      return failure();
    rewriter.modifyOpInPlace(
        op, [&] { locate.getOffsetsMutable().assign(*buffer); });
    return success();
  }
};
} // namespace

void mla::registerBufferizableOpInterfaceExternalModels(
    DialectRegistry &registry) {
  registry.addExtension(+[](MLIRContext *context, mla::MLADialect *) {
    context->loadDialect<BufferizationDialect>();
    PrefillOp::attachInterface<DestinationStyleModel<PrefillOp>>(*context);
    GatherPagesOp::attachInterface<DestinationStyleModel<GatherPagesOp>>(
        *context);
    LocateOp::attachInterface<LocateModel>(*context);
  });
}
