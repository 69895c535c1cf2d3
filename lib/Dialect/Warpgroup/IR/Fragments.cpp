//===- Fragments.cpp - Tiles in registers -----------------------*- C++ -*-===//
//
// Part of the MLA project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "mla/Dialect/Warpgroup/IR/Layouts.h"

#include "llvm/Support/Format.h"

#include <algorithm>

using namespace mlir::mla::wg;

/// Bits of a row of A that one step of a product reads.
static constexpr int64_t bitsPerStep = 256;
/// Columns of an accumulator that a quad covers before it starts again.
static constexpr int64_t accumulatorRun = 2;

//===----------------------------------------------------------------------===//
// FragmentLayout
//===----------------------------------------------------------------------===//

int64_t mlir::mla::wg::getFirstRow(int64_t thread) {
  return thread / threadsPerWarp * rowsPerWarp +
         thread % threadsPerWarp / threadsPerQuad;
}

std::optional<std::string>
FragmentLayout::findAccumulatorProblem(int64_t warpgroups, int64_t columns) {
  if (warpgroups < 1)
    return "expected at least one warpgroup, got " + std::to_string(warpgroups);
  if (columns < 1 || columns % (threadsPerQuad * accumulatorRun))
    return "expected a multiple of 8 columns, got " + std::to_string(columns);
  return std::nullopt;
}

std::optional<std::string>
FragmentLayout::findOperandAProblem(int64_t warpgroups, int64_t columns,
                                    int64_t elementBits) {
  if (warpgroups < 1)
    return "expected at least one warpgroup, got " + std::to_string(warpgroups);
  if (elementBits != 8 && elementBits != 16 && elementBits != 32)
    return "expected elements of 8, 16 or 32 bits, got " +
           std::to_string(elementBits);
  int64_t step = bitsPerStep / elementBits;
  if (columns < 1 || columns % step)
    return "expected a multiple of " + std::to_string(step) + " columns, got " +
           std::to_string(columns);
  return std::nullopt;
}

FragmentLayout FragmentLayout::getAccumulator(int64_t warpgroups,
                                              int64_t columns) {
  assert(!findAccumulatorProblem(warpgroups, columns) &&
         "to be checked before");
  return {warpgroups, columns, accumulatorRun};
}

FragmentLayout FragmentLayout::getOperandA(int64_t warpgroups, int64_t columns,
                                           int64_t elementBits) {
  assert(!findOperandAProblem(warpgroups, columns, elementBits) &&
         "to be checked before");
  return {warpgroups, columns, /*run=*/32 / elementBits};
}

Position FragmentLayout::getThreadPart(int64_t thread) const {
  return {getFirstRow(thread), thread % threadsPerQuad * run};
}

Position FragmentLayout::getElementPart(int64_t element) const {
  // A quad covers 4 runs of a row; a thread has a run of each of its two rows,
  // then goes on with the next 4 runs.
  int64_t lap = element / (2 * run);
  return {8 * getRowOfThread(element),
          lap * threadsPerQuad * run + element % run};
}

Position FragmentLayout::getPosition(Holder holder) const {
  Position thread = getThreadPart(holder.thread);
  Position element = getElementPart(holder.element);
  return {thread.row + element.row, thread.column + element.column};
}

Holder FragmentLayout::getHolder(Position position) const {
  auto [row, column] = position;
  int64_t warp = row / rowsPerWarp;
  int64_t rowInWarp = row % rowsPerWarp;
  int64_t quad = rowInWarp % 8;
  int64_t lap = column / (threadsPerQuad * run);
  int64_t threadInQuad = column / run % threadsPerQuad;
  return {warp * threadsPerWarp + quad * threadsPerQuad + threadInQuad,
          (2 * lap + rowInWarp / 8) * run + column % run};
}

bool mlir::mla::wg::isSamePlacement(const FragmentLayout &from,
                                    const FragmentLayout &to) {
  if (from.getWarpgroups() != to.getWarpgroups() ||
      from.getColumns() != to.getColumns())
    return false;
  // Thread and element parts add up, so they can be compared apart.
  for (int64_t thread = 0; thread < from.getThreads(); ++thread)
    if (!(from.getThreadPart(thread) == to.getThreadPart(thread)))
      return false;
  for (int64_t element = 0; element < from.getElementsPerThread(); ++element)
    if (!(from.getElementPart(element) == to.getElementPart(element)))
      return false;
  return true;
}

void FragmentLayout::print(llvm::raw_ostream &os, int64_t rows) const {
  os << "fragment " << getRows() << "x" << columns << ", " << warpgroups
     << " warpgroup(s), runs of " << run << ": thread.element\n";
  for (int64_t row = 0; row < std::min(rows, getRows()); ++row) {
    os << llvm::format_decimal(row, 4) << ":";
    for (int64_t column = 0; column < columns; ++column) {
      Holder holder = getHolder({row, column});
      os << llvm::format_decimal(holder.thread, 4) << "."
         << std::to_string(holder.element);
    }
    os << "\n";
  }
}

//===----------------------------------------------------------------------===//
// RowLayout
//===----------------------------------------------------------------------===//

Holder RowLayout::getFirstHolder(int64_t row) const {
  int64_t rowInWarp = row % rowsPerWarp;
  return {row / rowsPerWarp * threadsPerWarp + rowInWarp % 8 * threadsPerQuad,
          rowInWarp / 8};
}

void RowLayout::print(llvm::raw_ostream &os, int64_t rows) const {
  os << "row vector of " << getRows() << ", " << warpgroups
     << " warpgroup(s): threads.element\n";
  for (int64_t row = 0; row < std::min(rows, getRows()); ++row) {
    Holder first = getFirstHolder(row);
    os << llvm::format_decimal(row, 4) << ": " << first.thread << "-"
       << first.thread + threadsPerQuad - 1 << "." << first.element << "\n";
  }
}
