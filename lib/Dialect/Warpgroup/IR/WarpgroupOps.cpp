//===- WarpgroupOps.cpp - Verification of the ops -*- C++ -*-===//
//
// Part of the MLA project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "VerifyCache.h"

#include "mla/Dialect/Warpgroup/IR/Layouts.h"

#include "mlir/IR/OpImplementation.h"

using namespace mlir;
using namespace mlir::mla;
using namespace mlir::mla::wg;

/// The values of a wg.put have the types of the ring's elements.
static ParseResult parseRingElements(OpAsmParser &parser, Type &ring,
                                     SmallVectorImpl<Type> &values) {
  SMLoc loc = parser.getCurrentLocation();
  if (parser.parseType(ring))
    return failure();
  auto type = dyn_cast<RingType>(ring);
  if (!type)
    return parser.emitError(loc, "expected a ring, got ") << ring;
  llvm::append_range(values, type.getElements());
  return success();
}

static void printRingElements(OpAsmPrinter &printer, Operation *, Type ring,
                              TypeRange) {
  printer << ring;
}

#define GET_OP_CLASSES
#include "mla/Dialect/Warpgroup/IR/WarpgroupOps.cpp.inc"

//===----------------------------------------------------------------------===//
// Shared memory
//===----------------------------------------------------------------------===//

LogicalResult LoadOp::verify() {
  MemRefType source = getSource().getType();
  TileType tile = getTile().getType();
  if (source.getDimSize(1) != tile.getShape()[1])
    return emitOpError() << "'source': expected " << tile.getShape()[1]
                         << " columns as the tile, got " << source;
  if (source.getElementType() != tile.getElementType())
    return emitOpError() << "'source': expected elements of "
                         << tile.getElementType() << " as the tile, got "
                         << source;
  if (!source.isLastDimUnitStride())
    return emitOpError()
           << "'source': expected a last dimension of stride 1, got " << source;
  if (!getCount() && !source.isDynamicDim(0) &&
      source.getDimSize(0) != tile.getShape()[0])
    return emitOpError() << "'source': expected " << tile.getShape()[0]
                         << " rows as the tile, or a count, got " << source;
  return success();
}

LogicalResult mla::wg::verifyCache(Operation *op, MemRefType cache,
                                   TileType tile, int64_t column) {
  if (cache.getElementType() != tile.getElementType())
    return op->emitOpError()
           << "'cache': expected elements of " << tile.getElementType()
           << " as the tile, got " << cache;
  if (!cache.isLastDimUnitStride())
    return op->emitOpError()
           << "'cache': expected a last dimension of stride 1, got " << cache;
  if (column % 8 != 0)
    return op->emitOpError()
           << "'column': expected a multiple of 8, got " << column;
  int64_t end = column + tile.getShape()[1];
  if (cache.isDynamicDim(5) || cache.getDimSize(5) < end)
    return op->emitOpError() << "'cache': expected rows of at least " << end
                             << " columns, got " << cache;
  return success();
}

LogicalResult LoadPagesOp::verify() {
  return verifyCache(*this, getCache().getType(), getTile().getType(),
                     getColumn());
}

LogicalResult ColumnsOp::verify() {
  TileType from = getSource().getType(), to = getTile().getType();
  if (from.getElementType() != to.getElementType() ||
      from.getShape()[0] != to.getShape()[0])
    return emitOpError()
           << "expected a tile of the source's rows and elements, " << from
           << ", got " << to;
  if (getFirst() % panelColumns != 0)
    return emitOpError() << "'first': expected the first column of a panel of "
                         << panelColumns << ", got " << getFirst();
  int64_t end = getFirst() + to.getShape()[1];
  if (end > from.getShape()[1])
    return emitOpError() << "expected columns up to " << end
                         << " in the source, got " << from;
  return success();
}

//===----------------------------------------------------------------------===//
// Products
//===----------------------------------------------------------------------===//

/// Shape and element type of a left operand.
static FailureOr<std::pair<ArrayRef<int64_t>, Type>> getLeft(MmaOp op,
                                                             Type type) {
  if (auto tile = dyn_cast<TileType>(type))
    return std::pair(tile.getShape(), tile.getElementType());
  auto fragment = cast<FragmentType>(type);
  if (fragment.getKind() != FragmentKind::OperandA)
    return op.emitOpError() << "'a': expected a tile or an operand_a fragment, "
                               "got "
                            << fragment;
  return std::pair(fragment.getShape(), fragment.getElementType());
}

LogicalResult MmaOp::verify() {
  FragmentType result = getResult().getType().getFragment();
  if (getA().empty() || getA().size() != getB().size())
    return emitOpError() << "expected pairs of 'a' and 'b', got "
                         << getA().size() << " and " << getB().size();
  for (auto [left, right] : llvm::zip(getA(), getB())) {
    auto b = cast<TileType>(right.getType());
    auto pair = getLeft(*this, left.getType());
    if (failed(pair))
      return failure();
    auto [a, element] = *pair;
    if (element != b.getElementType())
      return emitOpError() << "'b': expected elements of " << element
                           << " as 'a', got " << b;
    int64_t sum = b.getShape()[getTransposed() ? 1 : 0];
    int64_t columns = b.getShape()[getTransposed() ? 0 : 1];
    if (a[1] != sum)
      return emitOpError() << "expected 'a' and 'b' to agree on the sum's "
                              "dimension, got "
                           << a[1] << " and " << sum;
    if (result.getKind() != FragmentKind::Accumulator ||
        !result.getElementType().isF32() || result.getShape()[0] != a[0] ||
        result.getShape()[1] != columns)
      return emitOpError() << "expected the result to be an f32 accumulator of "
                           << a[0] << "x" << columns << ", got " << result;
  }
  if (getAcc() && getAcc().getType() != result)
    return emitOpError() << "'acc': expected " << result << ", got "
                         << getAcc().getType();
  return success();
}

LogicalResult WaitOp::verify() {
  if (getProduct().getType().getFragment() != getFragment().getType())
    return emitOpError() << "expected " << getProduct().getType().getFragment()
                         << ", got " << getFragment().getType();
  return success();
}

//===----------------------------------------------------------------------===//
// Registers
//===----------------------------------------------------------------------===//

LogicalResult SplatOp::verify() {
  if (getFragment().getType().getElementType() != getValue().getType())
    return emitOpError() << "expected a fragment of " << getValue().getType()
                         << ", got " << getFragment().getType();
  return success();
}

LogicalResult MapOp::verify() {
  if (getInputs().empty())
    return emitOpError("expected an input");
  auto first = cast<FragmentType>(getInputs().front().getType());
  FragmentType result = getResult().getType();
  if (result.getShape() != first.getShape() ||
      result.getKind() != first.getKind())
    return emitOpError() << "expected a result of the first input's layout, "
                         << first << ", got " << result;
  Block &body = getBody().front();
  if (!isa<YieldOp>(body.getTerminator()))
    return emitOpError("expected a body that ends in wg.yield");
  if (body.getNumArguments() != getInputs().size() + 2)
    return emitOpError() << "expected " << getInputs().size() + 2
                         << " block arguments, got " << body.getNumArguments();
  for (auto [input, argument] :
       llvm::zip(getInputs(), body.getArguments().drop_back(2))) {
    auto type = cast<FragmentType>(input.getType());
    if (type.getShape()[0] != first.getShape()[0] ||
        (!type.isOfRows() && type.getShape() != first.getShape()))
      return emitOpError() << "expected inputs of one shape, or one value a "
                              "row, got "
                           << first << " and " << type;
    if (argument.getType() != type.getElementType())
      return emitOpError() << "expected a block argument of "
                           << type.getElementType() << ", got "
                           << argument.getType();
  }
  for (BlockArgument argument : body.getArguments().take_back(2))
    if (!argument.getType().isIndex())
      return emitOpError() << "expected row and column of index type, got "
                           << argument.getType();
  Type yielded = body.getTerminator()->getOperand(0).getType();
  if (yielded != result.getElementType())
    return emitOpError() << "expected to yield " << result.getElementType()
                         << ", got " << yielded;
  return success();
}

/// Whether a body makes one of two elements.
static LogicalResult verifyCombination(Operation *op, Region &region,
                                       Type element) {
  Block &body = region.front();
  if (!isa<YieldOp>(body.getTerminator()))
    return op->emitOpError("expected a body that ends in wg.yield");
  if (body.getNumArguments() != 2 || body.getArgument(0).getType() != element ||
      body.getArgument(1).getType() != element ||
      body.getTerminator()->getOperand(0).getType() != element)
    return op->emitOpError() << "expected a body that combines two " << element;
  return success();
}

LogicalResult ReduceOp::verify() {
  FragmentType input = getInput().getType(), result = getResult().getType();
  if (input.getKind() != FragmentKind::Accumulator)
    return emitOpError() << "'input': expected an accumulator, got " << input;
  if (!result.isOfRows() || result.getShape()[0] != input.getShape()[0] ||
      result.getElementType() != input.getElementType())
    return emitOpError() << "expected one " << input.getElementType()
                         << " a row of 'input', got " << result;
  return verifyCombination(*this, getBody(), input.getElementType());
}

LogicalResult CombineOp::verify() {
  FragmentType partial = getPartial().getType(), result = getResult().getType();
  if (partial.getKind() != FragmentKind::Partial)
    return emitOpError() << "'partial': expected a partial fragment, got "
                         << partial;
  if (result.getKind() != FragmentKind::Row ||
      result.getShape() != partial.getShape() ||
      result.getElementType() != partial.getElementType())
    return emitOpError() << "expected a row value for each of 'partial', got "
                         << result;
  return verifyCombination(*this, getBody(), partial.getElementType());
}

LogicalResult OperandAOp::verify() {
  FragmentType from = getSource().getType(), to = getFragment().getType();
  if (from.getKind() != FragmentKind::Accumulator ||
      to.getKind() != FragmentKind::OperandA ||
      from.getShape() != to.getShape() ||
      from.getElementType() != to.getElementType())
    return emitOpError() << "expected an accumulator and the same as an "
                            "operand_a, got "
                         << from << " and " << to;
  return success();
}

LogicalResult StoreOp::verify() {
  FragmentType fragment = getFragment().getType();
  MemRefType dest = getDest().getType();
  int64_t rank = fragment.getKind() == FragmentKind::Row ? 1 : 2;
  if (fragment.getKind() == FragmentKind::OperandA ||
      fragment.getKind() == FragmentKind::Partial)
    return emitOpError()
           << "'fragment': expected an accumulator or row values, "
              "got "
           << fragment;
  if (dest.getRank() != rank ||
      dest.getElementType() != fragment.getElementType() ||
      (rank == 2 && dest.getDimSize(1) != fragment.getShape()[1]))
    return emitOpError() << "'dest': expected rows of " << fragment << ", got "
                         << dest;
  // The copy of a fragment's columns goes by pairs.
  if (rank == 2 && !dest.isLastDimUnitStride())
    return emitOpError()
           << "'dest': expected a last dimension of stride 1, got " << dest;
  return success();
}
