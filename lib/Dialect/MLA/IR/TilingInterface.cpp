//===- TilingInterface.cpp - Tiling of mla.prefill and mla.gather_pages -*- C++
//-*-===//
//
// Part of the MLA project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "mla/Dialect/MLA/IR/MLA.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"

using namespace mlir;
using namespace mlir::mla;

static SmallVector<OpFoldResult> getSizes(OpBuilder &builder, Location loc,
                                          Value value) {
  return isa<MemRefType>(value.getType())
             ? memref::getMixedSizes(builder, loc, value)
             : tensor::getMixedSizes(builder, loc, value);
}

static Operation *slice(OpBuilder &builder, Location loc, Value value,
                        ArrayRef<OpFoldResult> offsets,
                        ArrayRef<OpFoldResult> sizes) {
  SmallVector<OpFoldResult> strides(offsets.size(), builder.getIndexAttr(1));
  if (isa<MemRefType>(value.getType()))
    return memref::SubViewOp::create(builder, loc, value, offsets, sizes,
                                     strides);
  return tensor::ExtractSliceOp::create(builder, loc, value, offsets, sizes,
                                        strides);
}

/// The tiled op's results are those of its sliced destinations.
static SmallVector<Type> getDestinationTypes(DestinationStyleOpInterface op,
                                             ValueRange operands) {
  SmallVector<Type> types;
  if (!op->getNumResults())
    return types;
  for (OpOperand &init : op.getDpsInitsMutable())
    types.push_back(operands[init.getOperandNumber()].getType());
  return types;
}

//===----------------------------------------------------------------------===//
// mla.prefill: heads are independent
//===----------------------------------------------------------------------===//

SmallVector<utils::IteratorType> PrefillOp::getLoopIteratorTypes() {
  return {utils::IteratorType::parallel};
}

SmallVector<Range> PrefillOp::getIterationDomain(OpBuilder &builder) {
  OpFoldResult heads = getSizes(builder, getLoc(), getQ())[1];
  return {{builder.getIndexAttr(0), heads, builder.getIndexAttr(1)}};
}

FailureOr<TilingResult>
PrefillOp::getTiledImplementation(OpBuilder &builder,
                                  ArrayRef<OpFoldResult> offsets,
                                  ArrayRef<OpFoldResult> sizes) {
  TilingResult result;
  SmallVector<Value> operands(getOperands());
  // Dimension 1 of these is the head; all others are shared between heads.
  for (Value value : {getQ(), getK(), getV(), getOutput(), getLse()}) {
    if (!value)
      continue;
    SmallVector<OpFoldResult> extents = getSizes(builder, getLoc(), value);
    SmallVector<OpFoldResult> starts(extents.size(), builder.getIndexAttr(0));
    starts[1] = offsets[0];
    extents[1] = sizes[0];
    Operation *part = slice(builder, getLoc(), value, starts, extents);
    result.generatedSlices.push_back(part);
    for (auto [index, operand] : llvm::enumerate(getOperands()))
      if (operand == value)
        operands[index] = part->getResult(0);
  }
  result.tiledOps.push_back(mlir::clone(
      builder, *this, getDestinationTypes(*this, operands), operands));
  llvm::append_range(result.tiledValues, result.tiledOps.front()->getResults());
  return result;
}

LogicalResult PrefillOp::getResultTilePosition(
    OpBuilder &builder, unsigned resultNumber, ArrayRef<OpFoldResult> offsets,
    ArrayRef<OpFoldResult> sizes, SmallVector<OpFoldResult> &resultOffsets,
    SmallVector<OpFoldResult> &resultSizes) {
  resultSizes = getSizes(builder, getLoc(), getDpsInits()[resultNumber]);
  resultOffsets.assign(resultSizes.size(), builder.getIndexAttr(0));
  resultOffsets[1] = offsets[0];
  resultSizes[1] = sizes[0];
  return success();
}

FailureOr<TilingResult>
PrefillOp::generateResultTileValue(OpBuilder &builder, unsigned resultNumber,
                                   ArrayRef<OpFoldResult> offsets,
                                   ArrayRef<OpFoldResult> sizes) {
  // Only whole rows and whole values: heads are the one tiled dimension.
  SmallVector<OpFoldResult> extents =
      getSizes(builder, getLoc(), getDpsInits()[resultNumber]);
  for (auto [dim, extent] : llvm::enumerate(extents))
    if (dim != 1 && (!isZeroInteger(offsets[dim]) ||
                     !isEqualConstantIntOrValue(sizes[dim], extent)))
      return failure();
  FailureOr<TilingResult> tiled =
      getTiledImplementation(builder, offsets[1], sizes[1]);
  if (failed(tiled))
    return failure();
  Value value = tiled->tiledValues[resultNumber];
  tiled->tiledValues = {value};
  return tiled;
}

//===----------------------------------------------------------------------===//
// mla.gather_pages: rows and columns are independent
//===----------------------------------------------------------------------===//

SmallVector<utils::IteratorType> GatherPagesOp::getLoopIteratorTypes() {
  return {utils::IteratorType::parallel, utils::IteratorType::parallel};
}

SmallVector<Range> GatherPagesOp::getIterationDomain(OpBuilder &builder) {
  SmallVector<Range> domain;
  for (OpFoldResult size : getSizes(builder, getLoc(), getDest()))
    domain.push_back({builder.getIndexAttr(0), size, builder.getIndexAttr(1)});
  return domain;
}

FailureOr<TilingResult>
GatherPagesOp::getTiledImplementation(OpBuilder &builder,
                                      ArrayRef<OpFoldResult> offsets,
                                      ArrayRef<OpFoldResult> sizes) {
  // The first column is an attribute: it can only move by a constant.
  std::optional<int64_t> column = getConstantIntValue(offsets[1]);
  if (!column)
    return failure();
  Location loc = getLoc();
  Operation *part = slice(builder, loc, getDest(), offsets, sizes);
  AffineExpr a = builder.getAffineSymbolExpr(0);
  AffineExpr b = builder.getAffineSymbolExpr(1);
  Value position = affine::makeComposedAffineApply(builder, loc, a + b,
                                                   {getPosition(), offsets[0]});
  Value left = affine::makeComposedAffineApply(builder, loc, a - b,
                                               {getCount(), offsets[0]});
  Value zero = arith::ConstantIndexOp::create(builder, loc, 0);
  Value count = arith::MaxSIOp::create(builder, loc, left, zero);
  SmallVector<Value> operands(getOperands());
  for (auto [from, to] :
       {std::pair(getDestMutable().getOperandNumber(),
                  Value(part->getResult(0))),
        std::pair(getPositionMutable().getOperandNumber(), position),
        std::pair(getCountMutable().getOperandNumber(), count)})
    operands[from] = to;
  auto tiled = cast<GatherPagesOp>(mlir::clone(
      builder, *this, getDestinationTypes(*this, operands), operands));
  tiled.setColumn(getColumn() + *column);
  return TilingResult{{tiled}, SmallVector<Value>(tiled->getResults()), {part}};
}

LogicalResult GatherPagesOp::getResultTilePosition(
    OpBuilder &, unsigned, ArrayRef<OpFoldResult> offsets,
    ArrayRef<OpFoldResult> sizes, SmallVector<OpFoldResult> &resultOffsets,
    SmallVector<OpFoldResult> &resultSizes) {
  resultOffsets.assign(offsets.begin(), offsets.end());
  resultSizes.assign(sizes.begin(), sizes.end());
  return success();
}

FailureOr<TilingResult>
GatherPagesOp::generateResultTileValue(OpBuilder &builder, unsigned,
                                       ArrayRef<OpFoldResult> offsets,
                                       ArrayRef<OpFoldResult> sizes) {
  return getTiledImplementation(builder, offsets, sizes);
}
