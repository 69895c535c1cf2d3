//===- WarpgroupTypes.cpp - The dialect and its types -*- C++ -*-===//
//
// Part of the MLA project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "mla/Dialect/Warpgroup/IR/Warpgroup.h"

#include "mla/Dialect/Warpgroup/IR/Layouts.h"

#include "mlir/IR/DialectImplementation.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace mlir::mla::wg;

#include "mla/Dialect/Warpgroup/IR/WarpgroupDialect.cpp.inc"
#include "mla/Dialect/Warpgroup/IR/WarpgroupEnums.cpp.inc"

#define GET_TYPEDEF_CLASSES
#include "mla/Dialect/Warpgroup/IR/WarpgroupTypes.cpp.inc"

void WGDialect::initialize() {
  addTypes<
#define GET_TYPEDEF_LIST
#include "mla/Dialect/Warpgroup/IR/WarpgroupTypes.cpp.inc"
      >();
  addOperations<
#define GET_OP_LIST
#include "mla/Dialect/Warpgroup/IR/WarpgroupOps.cpp.inc"
      >();
}

/// "128x64xbf16"
static ParseResult parseShaped(AsmParser &parser, SmallVector<int64_t> &shape,
                               Type &elementType) {
  return failure(parser.parseDimensionList(shape, /*allowDynamic=*/false) ||
                 parser.parseType(elementType));
}

static void printShaped(AsmPrinter &printer, ArrayRef<int64_t> shape,
                        Type elementType) {
  printer.printDimensionList(shape);
  printer << 'x' << elementType;
}

/// A type whose parameters are a shape and an element type, nothing else.
template <typename T> static Type parseShapedType(AsmParser &parser) {
  SmallVector<int64_t> shape;
  Type element;
  SMLoc loc = parser.getCurrentLocation();
  if (parser.parseLess() || parseShaped(parser, shape, element) ||
      parser.parseGreater())
    return {};
  return parser.getChecked<T>(loc, parser.getContext(), shape, element);
}

static void printShapedType(AsmPrinter &printer, ArrayRef<int64_t> shape,
                            Type elementType) {
  printer << '<';
  printShaped(printer, shape, elementType);
  printer << '>';
}

//===----------------------------------------------------------------------===//
// !wg.tile
//===----------------------------------------------------------------------===//

Type TileType::parse(AsmParser &parser) {
  return parseShapedType<TileType>(parser);
}

void TileType::print(AsmPrinter &printer) const {
  printShapedType(printer, getShape(), getElementType());
}

LogicalResult TileType::verify(function_ref<InFlightDiagnostic()> emitError,
                               ArrayRef<int64_t> shape, Type elementType) {
  if (shape.size() != 2 || shape[0] <= 0 || shape[1] <= 0)
    return emitError() << "tile: expected two positive extents, got [" << shape
                       << "]";
  if (!elementType.isBF16() && !elementType.isF16())
    return emitError() << "tile: expected elements of bf16 or f16, got "
                       << elementType;
  if (shape[0] % 8 != 0)
    return emitError() << "tile: expected a multiple of 8 rows, got "
                       << shape[0];
  if (shape[1] % 16 != 0)
    return emitError() << "tile: expected a multiple of 16 columns, got "
                       << shape[1];
  return success();
}

//===----------------------------------------------------------------------===//
// !wg.fragment
//===----------------------------------------------------------------------===//

Type FragmentType::parse(AsmParser &parser) {
  SmallVector<int64_t> shape;
  Type element;
  StringRef keyword;
  SMLoc loc = parser.getCurrentLocation();
  if (parser.parseLess() || parseShaped(parser, shape, element) ||
      parser.parseComma() || parser.parseKeyword(&keyword))
    return {};
  std::optional<FragmentKind> kind = symbolizeFragmentKind(keyword);
  if (!kind) {
    parser.emitError(loc,
                     "expected accumulator, operand_a, row or partial, got '")
        << keyword << "'";
    return {};
  }
  if (parser.parseGreater())
    return {};
  return parser.getChecked<FragmentType>(loc, parser.getContext(), shape,
                                         element, *kind);
}

void FragmentType::print(AsmPrinter &printer) const {
  printer << '<';
  printShaped(printer, getShape(), getElementType());
  printer << ", " << stringifyFragmentKind(getKind()) << '>';
}

LogicalResult FragmentType::verify(function_ref<InFlightDiagnostic()> emitError,
                                   ArrayRef<int64_t> shape, Type elementType,
                                   FragmentKind kind) {
  bool isOfRows = kind == FragmentKind::Row || kind == FragmentKind::Partial;
  size_t rank = isOfRows ? 1 : 2;
  if (shape.size() != rank)
    return emitError() << stringifyFragmentKind(kind) << ": expected rank "
                       << rank << ", got " << shape.size();
  if (shape[0] <= 0 || shape[0] % rowsPerWarpgroup != 0)
    return emitError() << "fragment: expected a multiple of "
                       << rowsPerWarpgroup << " rows, got " << shape[0];
  if (!elementType.isF32() && !elementType.isBF16() && !elementType.isF16())
    return emitError() << "fragment: expected bf16, f16 or f32, got "
                       << elementType;
  if (isOfRows)
    return success();
  int64_t warpgroups = shape[0] / rowsPerWarpgroup;
  std::optional<std::string> problem =
      kind == FragmentKind::Accumulator
          ? FragmentLayout::findAccumulatorProblem(warpgroups, shape[1])
          : FragmentLayout::findOperandAProblem(
                warpgroups, shape[1], elementType.getIntOrFloatBitWidth());
  if (problem)
    return emitError() << stringifyFragmentKind(kind) << ": " << *problem;
  return success();
}

bool FragmentType::isOfRows() const {
  return getKind() == FragmentKind::Row || getKind() == FragmentKind::Partial;
}

int64_t FragmentType::getWarpgroups() const {
  return getShape()[0] / rowsPerWarpgroup;
}

int64_t FragmentType::getElementsPerThread() const {
  if (isOfRows())
    return RowLayout(getWarpgroups()).getElementsPerThread();
  return getShape()[1] / 2;
}

//===----------------------------------------------------------------------===//
// !wg.ring
//===----------------------------------------------------------------------===//

Type RingType::parse(AsmParser &parser) {
  SmallVector<int64_t> slots;
  SmallVector<Type> elements;
  SMLoc loc = parser.getCurrentLocation();
  // "2 x " reads like a dimension list of one extent.
  if (parser.parseLess() ||
      parser.parseDimensionList(slots, /*allowDynamic=*/false) ||
      parser.parseTypeList(elements) || parser.parseGreater())
    return {};
  if (slots.size() != 1) {
    parser.emitError(loc, "expected a number of slots and 'x'");
    return {};
  }
  return parser.getChecked<RingType>(loc, parser.getContext(), slots.front(),
                                     elements);
}

void RingType::print(AsmPrinter &printer) const {
  printer << '<' << getSlots() << " x ";
  llvm::interleaveComma(getElements(), printer);
  printer << '>';
}

LogicalResult RingType::verify(function_ref<InFlightDiagnostic()> emitError,
                               int64_t slots, ArrayRef<Type> elements) {
  if (slots <= 0)
    return emitError() << "ring: expected at least one slot, got " << slots;
  if (elements.empty())
    return emitError() << "ring: expected an element";
  bool tiles = isa<TileType>(elements.front());
  for (Type type : elements)
    if (tiles ? !isa<TileType>(type) : !type.isIntOrIndexOrFloat())
      return emitError() << "ring: expected tiles alone or scalars alone, got "
                         << type;
  return success();
}

bool RingType::holdsTiles() const {
  return isa<TileType>(getElements().front());
}

//===----------------------------------------------------------------------===//
// !wg.tensor_map
//===----------------------------------------------------------------------===//

Type TensorMapType::parse(AsmParser &parser) {
  return parseShapedType<TensorMapType>(parser);
}

void TensorMapType::print(AsmPrinter &printer) const {
  printShapedType(printer, getBox(), getElementType());
}

LogicalResult
TensorMapType::verify(function_ref<InFlightDiagnostic()> emitError,
                      ArrayRef<int64_t> box, Type elementType) {
  if (box.empty() || box.size() > 5)
    return emitError() << "tensor map: expected 1 to 5 dimensions, got "
                       << box.size();
  if (!elementType.isBF16() && !elementType.isF16())
    return emitError() << "tensor map: expected elements of bf16 or f16, got "
                       << elementType;
  for (int64_t extent : box)
    if (extent < 1 || extent > 256)
      return emitError() << "tensor map: expected extents from 1 to 256, got "
                         << extent;
  if (box.back() % 8 != 0)
    return emitError()
           << "tensor map: expected a last extent of a multiple of 8, got "
           << box.back();
  return success();
}
