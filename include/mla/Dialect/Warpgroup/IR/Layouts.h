//===- Layouts.h - Where the elements of a tile are -------------*- C++ -*-===//
//
// Part of the MLA project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A tile value lives either in the registers of a few warpgroups, as a
// fragment, or in shared memory, as a swizzled tile. Both are functions from
// (row, column) to a place and back. They are plain integer arithmetic, so that
// types, lowerings and tests share one definition, and no lowering holds a
// constant of its own.
//
// Fragments
// ---------
// A warpgroup is 128 threads in four warps. Its matrix instruction makes 64
// rows of a product and leaves them in the threads' registers. Warp w has rows
// 16 w to 16 w + 15. The four threads of a quad (t / 4 equal) share two rows,
// eight apart, and take turns along them, two columns at a time. The first rows
// of an accumulator, with "thread.element" for each column:
//
//     row 0    0.0  0.1  1.0  1.1  2.0  2.1  3.0  3.1  0.4  0.5  1.4 ...
//     row 1    4.0  4.1  5.0  5.1  6.0  6.1  7.0  7.1  4.4  4.5  5.4 ...
//     ...
//     row 8    0.2  0.3  1.2  1.3  2.2  2.3  3.2  3.3  0.6  0.7  1.6 ...
//
// So element 4 c + 2 i + x of a thread is in the i-th of its two rows and in
// column 8 c + 2 (t % 4) + x. Several warpgroups stack their 64 rows.
//
// A position is a sum of two parts, one of the thread and one of the element:
//
//     row    = [64 (t / 128) + 16 (t / 32 % 4) + t % 32 / 4] + [8 i]
//     column = [2 (t % 4)]                                   + [8 c + x]
//
// Lowerings depend on that: the first bracket is computed once at run time, the
// second is a constant of each unrolled copy of an elementwise body.
//
// The left operand A of a product may come from registers. Its layout has the
// same form; a thread takes as many neighbouring columns as fit a 32-bit
// register (its `run`: 2 for 16-bit types, 4 for 8-bit ones, 1 for tf32). An
// accumulator's run is 2 whatever its width. Hence the fact that attention on
// this hardware rests on: probabilities computed from an accumulator, rounded
// to 16 bits and packed in pairs, already are an operand A, without any
// exchange between threads. isSamePlacement() is that statement as a function.
//
// A reduction along rows leaves one value a row, which all four threads of the
// row's quad hold: RowLayout.
//
// Shared tiles
// ------------
// A tile is cut into panels as wide as the swizzle, 128 bytes say. A panel is
// `rows` lines of that width, and panels follow each other:
//
//     columns 0-63    64-127    128-191       of 16-bit elements, 128 bytes
//       +---------+  +---------+  +---------+
//       | panel 0 |  | panel 1 |  | panel 2 |   each rows x 128 bytes
//       +---------+  +---------+  +---------+
//
// Read down a column of 16-byte chunks, eight lines would all fall into the
// same banks. So within a line the chunks are permuted: the chunk number is
// xored with the line number, modulo the chunks in a line. In terms of
// addresses, for 128 bytes: bits 4-6 ^= bits 7-9. Narrower swizzles use the
// same address bits from 7 up, fewer of them: bits 4-5 ^= bits 7-8 (64 bytes,
// two lines share a value), bit 4 ^= bit 7 (32 bytes, four lines do).
//
//     line 0   0 1 2 3 4 5 6 7        128 bytes: the chunk stored at
//     line 1   1 0 3 2 5 4 7 6        each place of the first lines
//     line 2   2 3 0 1 6 7 4 5
//
// The pattern is a function of address bits, not of the tile: a tile has to
// start at a multiple of the pattern's period, eight lines. A tile without
// swizzle has panels of one chunk, 16 bytes: that is the only unswizzled form
// which the matrix instruction reads. The copy engine (TMA) fills all four
// forms, one box per panel.
//
// A last panel that the columns fill only partly still takes a whole panel, and
// lines are padded to a multiple of eight.
//
//===----------------------------------------------------------------------===//

#ifndef MLA_DIALECT_WARPGROUP_IR_LAYOUTS_H
#define MLA_DIALECT_WARPGROUP_IR_LAYOUTS_H

#include "llvm/Support/raw_ostream.h"

#include <cassert>
#include <cstdint>
#include <optional>
#include <string>

namespace mlir::mla::wg {

inline constexpr int64_t threadsPerQuad = 4;
inline constexpr int64_t threadsPerWarp = 32;
inline constexpr int64_t threadsPerWarpgroup = 128;
inline constexpr int64_t rowsPerWarp = 16;
inline constexpr int64_t rowsPerWarpgroup = 64;

/// A place in a tile.
struct Position {
  int64_t row, column;

  bool operator==(const Position &other) const {
    return row == other.row && column == other.column;
  }
};

/// A place in registers: a thread, counted from the first of the fragment's
/// warpgroups, and an index into the elements that it holds.
struct Holder {
  int64_t thread, element;

  bool operator==(const Holder &other) const {
    return thread == other.thread && element == other.element;
  }
};

//===----------------------------------------------------------------------===//
// Fragments
//===----------------------------------------------------------------------===//

/// The first row of the two that a thread holds; the other is 8 below.
int64_t getFirstRow(int64_t thread);

/// A tile of 64 rows per warpgroup in registers; see the top of the file.
class FragmentLayout {
public:
  /// The result of a product. Columns: a multiple of 8.
  static FragmentLayout getAccumulator(int64_t warpgroups, int64_t columns);

  /// The left operand of a product, of 8-, 16- or 32-bit elements. Columns: a
  /// multiple of one step of the product, which is 256 bits.
  static FragmentLayout getOperandA(int64_t warpgroups, int64_t columns,
                                    int64_t elementBits);

  /// What is wrong with the arguments of the two functions above, if anything.
  static std::optional<std::string> findAccumulatorProblem(int64_t warpgroups,
                                                           int64_t columns);
  static std::optional<std::string>
  findOperandAProblem(int64_t warpgroups, int64_t columns, int64_t elementBits);

  int64_t getRows() const { return warpgroups * rowsPerWarpgroup; }
  int64_t getColumns() const { return columns; }
  int64_t getWarpgroups() const { return warpgroups; }
  int64_t getThreads() const { return warpgroups * threadsPerWarpgroup; }
  int64_t getElementsPerThread() const { return columns / 2; }
  /// How many neighbouring columns a thread holds.
  int64_t getRun() const { return run; }

  /// The element's place in the tile, and its two parts.
  Position getPosition(Holder holder) const;
  Position getThreadPart(int64_t thread) const;
  Position getElementPart(int64_t element) const;
  /// Which of the thread's two rows an element is in, 0 or 1.
  int64_t getRowOfThread(int64_t element) const { return element / run % 2; }

  Holder getHolder(Position position) const;

  /// The holders of the first `rows` rows as a table, "thread.element".
  void print(llvm::raw_ostream &os, int64_t rows = rowsPerWarp) const;

private:
  FragmentLayout(int64_t warpgroups, int64_t columns, int64_t run)
      : warpgroups(warpgroups), columns(columns), run(run) {}

  int64_t warpgroups, columns, run;
};

/// Whether a fragment of one layout is one of the other as it is: each element
/// in the same thread, in the same order. True for an accumulator and an
/// operand A of 16-bit elements: the four registers of step k are then the
/// packed pairs of elements 8 k to 8 k + 7, the lower column in the low half.
bool isSamePlacement(const FragmentLayout &from, const FragmentLayout &to);

/// One value for each row of a fragment. A thread holds two, elements 0 and 1;
/// the threads of a quad hold the same two.
class RowLayout {
public:
  explicit RowLayout(int64_t warpgroups) : warpgroups(warpgroups) {
    assert(warpgroups > 0 && "a fragment has threads");
  }

  int64_t getRows() const { return warpgroups * rowsPerWarpgroup; }
  int64_t getThreads() const { return warpgroups * threadsPerWarpgroup; }
  int64_t getElementsPerThread() const { return 2; }

  int64_t getRow(Holder holder) const {
    return getFirstRow(holder.thread) + 8 * holder.element;
  }
  /// The first of the four threads that hold a row, which are neighbours.
  Holder getFirstHolder(int64_t row) const;

  /// "row: first thread to last thread.element", a line for each row.
  void print(llvm::raw_ostream &os, int64_t rows = rowsPerWarp) const;

private:
  int64_t warpgroups;
};

//===----------------------------------------------------------------------===//
// Shared tiles
//===----------------------------------------------------------------------===//

inline constexpr int64_t bytesPerChunk = 16;
/// Lines after which each swizzle repeats.
inline constexpr int64_t linesPerPeriod = 8;

enum class Swizzle : uint8_t { None, Bytes32, Bytes64, Bytes128 };

/// The width of a panel: 16, 32, 64 or 128 bytes.
int64_t getWidth(Swizzle swizzle);
/// Columns of 16-bit elements in a panel of 128 bytes.
inline constexpr int64_t panelColumns = 64;

/// The period of the pattern, and thereby the alignment of a tile.
inline int64_t getPeriod(Swizzle swizzle) {
  return linesPerPeriod * getWidth(swizzle);
}

/// Line l stores chunk c at place c ^ ((l >> shift) & mask).
struct ChunkPattern {
  int64_t shift, mask;
};
ChunkPattern getChunkPattern(Swizzle swizzle);

/// A tile of `rows` x `columns` elements in shared memory.
class SharedTile {
public:
  SharedTile(int64_t rows, int64_t columns, int64_t elementBits,
             Swizzle swizzle);

  /// What is wrong with the constructor's arguments, if anything.
  static std::optional<std::string> findProblem(int64_t rows, int64_t columns,
                                                int64_t elementBits);

  int64_t getRows() const { return rows; }
  int64_t getColumns() const { return columns; }
  int64_t getElementBits() const { return elementBits; }
  Swizzle getSwizzle() const { return swizzle; }

  int64_t getPanels() const;
  int64_t getPanelColumns() const {
    return getWidth(swizzle) * 8 / elementBits;
  }
  /// How many columns of a panel belong to the tile; fewer than
  /// getPanelColumns() only in the last one.
  int64_t getColumnsInPanel(int64_t panel) const;
  /// Bytes from one panel to the next.
  int64_t getPanelStride() const;
  int64_t getSizeInBytes() const { return getPanels() * getPanelStride(); }
  int64_t getAlignment() const { return getPeriod(swizzle); }

  /// Bytes from the tile's start to an element.
  int64_t getOffset(Position position) const;
  /// The element that starts at an offset, or none if that is padding.
  std::optional<Position> getPosition(int64_t offset) const;

  /// Bytes from the start to the part that begins at a row, a multiple of 8, or
  /// at a column, a multiple of the panel's. A part is addressed like a tile
  /// with the same panel stride.
  int64_t getRowOffset(int64_t row) const;
  int64_t getColumnOffset(int64_t column) const;

  /// The sizes, and for the lines of one period which chunk is at each place.
  void print(llvm::raw_ostream &os) const;

private:
  int64_t rows, columns, elementBits;
  Swizzle swizzle;
};

} // namespace mlir::mla::wg

#endif // MLA_DIALECT_WARPGROUP_IR_LAYOUTS_H
