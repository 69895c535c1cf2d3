//===- RoleOps.cpp - Verification of roles, rings and copies ----*- C++ -*-===//
//
// Part of the MLA project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "VerifyCache.h"

#include "mla/Dialect/Warpgroup/IR/Layouts.h"
#include "mla/Dialect/Warpgroup/IR/Warpgroup.h"

using namespace mlir;
using namespace mlir::mla::wg;

//===----------------------------------------------------------------------===//
// Roles
//===----------------------------------------------------------------------===//

LogicalResult RolesOp::verify() {
  for (int64_t registers : {getProducerRegisters(), getConsumerRegisters()})
    if (registers < 24 || registers > 256 || registers % 8 != 0)
      return emitOpError()
             << "registers: expected a multiple of 8 from 24 to 256, got "
             << registers;
  // The register file of a multiprocessor, per thread of a warpgroup.
  int64_t all =
      getProducerRegisters() + getWarpgroups() * getConsumerRegisters();
  if (all > 512)
    return emitOpError() << "registers: expected at most 512 of a thread of "
                            "each warpgroup together, got "
                         << all;
  Operation *next = (*this)->getNextNode();
  if (next && !next->hasTrait<OpTrait::IsTerminator>())
    return emitOpError("expected to be the last op before the terminator: the "
                       "roles' threads do not meet again");
  return success();
}

//===----------------------------------------------------------------------===//
// Rings
//===----------------------------------------------------------------------===//

LogicalResult PutOp::verify() {
  RingType ring = getRing().getType();
  if (ring.holdsTiles())
    return emitOpError() << "'ring': expected a ring of scalars, got " << ring;
  if (!llvm::equal(ring.getElements(), getValues().getTypes()))
    return emitOpError() << "expected values of the ring's elements, " << ring
                         << ", got " << getValues().getTypes();
  return success();
}

LogicalResult TakeOp::verify() {
  ArrayRef<Type> elements = getRing().getType().getElements();
  if (!llvm::equal(elements, getValues().getTypes()))
    return emitOpError() << "expected values of the ring's elements, "
                         << getRing().getType() << ", got "
                         << getValues().getTypes();
  return success();
}

/// The tile that is an element of a ring.
template <typename Op> static FailureOr<TileType> getElementTile(Op op) {
  ArrayRef<Type> elements = op.getRing().getType().getElements();
  uint64_t element = op.getElement();
  if (element >= elements.size() || !isa<TileType>(elements[element]))
    return op.emitOpError() << "'element': expected the number of a tile of "
                            << op.getRing().getType() << ", got " << element;
  return cast<TileType>(elements[element]);
}

LogicalResult ClearRowsOp::verify() { return getElementTile(*this); }

//===----------------------------------------------------------------------===//
// Copies
//===----------------------------------------------------------------------===//

LogicalResult TensorMapOp::verify() {
  MemRefType source = getSource().getType();
  TensorMapType map = getMap().getType();
  if (source.getRank() != static_cast<int64_t>(map.getBox().size()) ||
      source.getElementType() != map.getElementType())
    return emitOpError() << "'source': expected a memref of the rank and "
                            "element type of "
                         << map << ", got " << source;
  if (!source.isLastDimUnitStride())
    return emitOpError()
           << "'source': expected a last dimension of stride 1, got " << source;
  return success();
}

LogicalResult CopyBoxOp::verify() {
  FailureOr<TileType> tile = getElementTile(*this);
  if (failed(tile))
    return failure();
  TensorMapType map = getMap().getType();
  if (getCoordinates().size() != map.getBox().size())
    return emitOpError() << "expected " << map.getBox().size()
                         << " coordinates, got " << getCoordinates().size();
  int64_t rows = 1;
  for (int64_t extent : map.getBox().drop_back())
    rows *= extent;
  int64_t column = getColumn();
  if (map.getElementType() != tile->getElementType() ||
      rows != tile->getShape()[0] || column % panelColumns != 0 ||
      column + map.getBox().back() > static_cast<int64_t>(llvm::alignTo(
                                         tile->getShape()[1], panelColumns)) ||
      map.getBox().back() > panelColumns)
    return emitOpError() << "expected a box that is a panel of " << *tile
                         << " at a multiple of " << panelColumns
                         << " columns, got " << map << " at " << column;
  return success();
}

LogicalResult CopyPagesOp::verify() {
  FailureOr<TileType> tile = getElementTile(*this);
  if (failed(tile))
    return failure();
  if (failed(verifyCache(*this, getCache().getType(), *tile, getColumn())))
    return failure();
  if (!getMap())
    return success();
  TensorMapType map = getMap().getType();
  ArrayRef<int64_t> box = map.getBox();
  int64_t rows = box.size() == 4 ? box[2] : 0;
  if (box.size() != 4 || box[0] != 1 || box[1] != 1 ||
      rows % linesPerPeriod != 0 || tile->getShape()[0] % rows != 0 ||
      box[3] > panelColumns ||
      (box[3] != panelColumns && tile->getShape()[1] % box[3] != 0))
    return emitOpError()
           << "'map': expected a box [1, 1, rows, one panel] whose rows are a "
              "multiple of "
           << linesPerPeriod << " that divides those of " << *tile << ", got "
           << map;
  return success();
}

//===----------------------------------------------------------------------===//
// Which item is next
//===----------------------------------------------------------------------===//

LogicalResult OrderOp::verify() {
  Block &body = getBody().front();
  if (body.getNumArguments() != 3 ||
      !llvm::all_of(body.getArgumentTypes(),
                    [](Type type) { return type.isIndex(); }))
    return emitOpError("expected a body with a sequence, a first query and a "
                       "number of queries, of index type");
  auto yield = dyn_cast<YieldOp>(body.getTerminator());
  if (!yield || !yield.getValue().getType().isIndex())
    return emitOpError("expected a body that yields an index");
  return success();
}
