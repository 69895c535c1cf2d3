//===- SharedTiles.cpp - Swizzled tiles in shared memory --------*- C++ -*-===//
//
// Part of the MLA project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "mla/Dialect/Warpgroup/IR/Layouts.h"

#include "llvm/Support/ErrorHandling.h"
#include "llvm/Support/MathExtras.h"

#include <algorithm>

using namespace mlir::mla::wg;

int64_t mlir::mla::wg::getWidth(Swizzle swizzle) {
  switch (swizzle) {
  case Swizzle::None:
    return 16;
  case Swizzle::Bytes32:
    return 32;
  case Swizzle::Bytes64:
    return 64;
  case Swizzle::Bytes128:
    return 128;
  }
  llvm_unreachable("all cases are above");
}

ChunkPattern mlir::mla::wg::getChunkPattern(Swizzle swizzle) {
  // The hardware xors address bits from 7 up into bits from 4 up, as many as
  // number the chunks of a line. Bit 7 counts lines of 128 bytes, pairs of
  // lines of 64 bytes, fours of lines of 32 bytes.
  switch (swizzle) {
  case Swizzle::None:
    return {/*shift=*/0, /*mask=*/0};
  case Swizzle::Bytes32:
    return {/*shift=*/2, /*mask=*/1};
  case Swizzle::Bytes64:
    return {/*shift=*/1, /*mask=*/3};
  case Swizzle::Bytes128:
    return {/*shift=*/0, /*mask=*/7};
  }
  llvm_unreachable("all cases are above");
}

static int64_t swizzleChunk(Swizzle swizzle, int64_t line, int64_t chunk) {
  ChunkPattern pattern = getChunkPattern(swizzle);
  return chunk ^ (line >> pattern.shift & pattern.mask);
}

SharedTile::SharedTile(int64_t rows, int64_t columns, int64_t elementBits,
                       Swizzle swizzle)
    : rows(rows), columns(columns), elementBits(elementBits), swizzle(swizzle) {
  assert(!findProblem(rows, columns, elementBits) && "to be checked before");
}

std::optional<std::string>
SharedTile::findProblem(int64_t rows, int64_t columns, int64_t elementBits) {
  if (elementBits != 8 && elementBits != 16 && elementBits != 32)
    return "expected elements of 8, 16 or 32 bits, got " +
           std::to_string(elementBits);
  if (rows < 1)
    return "expected at least one row, got " + std::to_string(rows);
  // The copy engine moves 16 bytes at least, and so does a thread.
  int64_t chunkColumns = bytesPerChunk * 8 / elementBits;
  if (columns < 1 || columns % chunkColumns)
    return "expected rows of a multiple of 16 bytes, " +
           std::to_string(chunkColumns) + " columns, got " +
           std::to_string(columns);
  return std::nullopt;
}

int64_t SharedTile::getPanels() const {
  return llvm::divideCeil(columns, getPanelColumns());
}

int64_t SharedTile::getColumnsInPanel(int64_t panel) const {
  return std::min(getPanelColumns(), columns - panel * getPanelColumns());
}

int64_t SharedTile::getPanelStride() const {
  return llvm::alignTo(rows, linesPerPeriod) * getWidth(swizzle);
}

int64_t SharedTile::getOffset(Position position) const {
  int64_t panel = position.column / getPanelColumns();
  int64_t byte = position.column % getPanelColumns() * elementBits / 8;
  int64_t place = swizzleChunk(swizzle, position.row, byte / bytesPerChunk);
  return panel * getPanelStride() + position.row * getWidth(swizzle) +
         place * bytesPerChunk + byte % bytesPerChunk;
}

std::optional<Position> SharedTile::getPosition(int64_t offset) const {
  assert(offset >= 0 && offset < getSizeInBytes() &&
         offset * 8 % elementBits == 0 && "no element can start there");
  int64_t width = getWidth(swizzle);
  int64_t panel = offset / getPanelStride();
  int64_t row = offset % getPanelStride() / width;
  int64_t place = offset % width / bytesPerChunk;
  // The permutation is its own inverse.
  int64_t byte = swizzleChunk(swizzle, row, place) * bytesPerChunk +
                 offset % bytesPerChunk;
  int64_t columnInPanel = byte * 8 / elementBits;
  if (row >= rows || columnInPanel >= getColumnsInPanel(panel))
    return std::nullopt;
  return Position{row, panel * getPanelColumns() + columnInPanel};
}

int64_t SharedTile::getRowOffset(int64_t row) const {
  assert(row % linesPerPeriod == 0 && "the pattern would start elsewhere");
  return row * getWidth(swizzle);
}

int64_t SharedTile::getColumnOffset(int64_t column) const {
  assert(column % getPanelColumns() == 0 && "a part starts with a panel");
  return column / getPanelColumns() * getPanelStride();
}

void SharedTile::print(llvm::raw_ostream &os) const {
  os << "tile " << rows << "x" << columns << " of " << elementBits
     << "-bit elements, ";
  if (swizzle == Swizzle::None)
    os << "no swizzle";
  else
    os << getWidth(swizzle) << "-byte swizzle";
  os << ": " << getPanels() << " panel(s) of " << getPanelColumns()
     << " columns, stride " << getPanelStride() << "; " << getSizeInBytes()
     << " bytes, aligned to " << getAlignment() << "\n";
  for (int64_t line = 0; line < std::min(rows, linesPerPeriod); ++line) {
    os << "  line " << line << ":";
    for (int64_t place = 0; place < getWidth(swizzle) / bytesPerChunk; ++place)
      os << " " << swizzleChunk(swizzle, line, place);
    os << "\n";
  }
}
