//===- FragmentsTest.cpp - Tiles in registers -----------------------------===//
//
// Part of the MLA project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "mla/Dialect/Warpgroup/IR/Layouts.h"

#include "gtest/gtest.h"

#include <set>

using namespace mlir::mla::wg;

namespace {

std::vector<FragmentLayout> makeLayouts() {
  std::vector<FragmentLayout> layouts;
  for (int64_t warpgroups : {1, 2, 3}) {
    for (int64_t columns : {8, 24, 64, 128, 256})
      layouts.push_back(FragmentLayout::getAccumulator(warpgroups, columns));
    for (int64_t bits : {8, 16, 32})
      for (int64_t steps : {1, 3, 8})
        layouts.push_back(
            FragmentLayout::getOperandA(warpgroups, steps * 256 / bits, bits));
  }
  return layouts;
}

/// The formulas of the PTX ISA, for fragments of m64nNk16: row and column of
/// element i of a thread of the warpgroup.
Position getAccumulatorFromISA(int64_t thread, int64_t i) {
  int64_t group = thread % 32 >> 2, inGroup = thread % 4, warp = thread / 32;
  return {16 * warp + group + (i % 4 < 2 ? 0 : 8),
          8 * (i / 4) + inGroup * 2 + (i & 1)};
}

/// Elements a0 to a7 of A, f16 or bf16.
Position getOperandA16FromISA(int64_t thread, int64_t i) {
  int64_t group = thread % 32 >> 2, inGroup = thread % 4, warp = thread / 32;
  bool upper = i == 0 || i == 1 || i == 4 || i == 5;
  return {16 * warp + group + (upper ? 0 : 8),
          inGroup * 2 + (i & 1) + (i < 4 ? 0 : 8)};
}

/// Elements a0 to a15 of A, e4m3 or e5m2.
Position getOperandA8FromISA(int64_t thread, int64_t i) {
  int64_t group = thread % 32 >> 2, inGroup = thread % 4, warp = thread / 32;
  bool upper = i < 4 || (i >= 8 && i < 12);
  return {16 * warp + group + (upper ? 0 : 8),
          inGroup * 4 + (i & 3) + (i < 8 ? 0 : 16)};
}

/// Elements a0 to a3 of A, tf32.
Position getOperandA32FromISA(int64_t thread, int64_t i) {
  int64_t group = thread % 32 >> 2, inGroup = thread % 4, warp = thread / 32;
  return {16 * warp + group + (i == 0 || i == 2 ? 0 : 8),
          inGroup + (i < 2 ? 0 : 4)};
}

TEST(Fragments, EveryElementHasOneHolder) {
  for (const FragmentLayout &layout : makeLayouts()) {
    std::set<std::pair<int64_t, int64_t>> seen;
    for (int64_t thread = 0; thread < layout.getThreads(); ++thread)
      for (int64_t i = 0; i < layout.getElementsPerThread(); ++i) {
        Position position = layout.getPosition({thread, i});
        ASSERT_GE(position.row, 0);
        ASSERT_LT(position.row, layout.getRows());
        ASSERT_GE(position.column, 0);
        ASSERT_LT(position.column, layout.getColumns());
        ASSERT_TRUE(layout.getHolder(position) == (Holder{thread, i}));
        seen.insert({position.row, position.column});
      }
    EXPECT_EQ(int64_t(seen.size()), layout.getRows() * layout.getColumns());
  }
}

TEST(Fragments, PositionsAreThoseOfTheISA) {
  FragmentLayout accumulator = FragmentLayout::getAccumulator(1, 256);
  FragmentLayout a16 = FragmentLayout::getOperandA(1, 16, 16);
  FragmentLayout a8 = FragmentLayout::getOperandA(1, 32, 8);
  FragmentLayout a32 = FragmentLayout::getOperandA(1, 8, 32);
  for (int64_t t = 0; t < threadsPerWarpgroup; ++t) {
    for (int64_t i = 0; i < 128; ++i)
      EXPECT_TRUE(accumulator.getPosition({t, i}) ==
                  getAccumulatorFromISA(t, i));
    for (int64_t i = 0; i < 8; ++i)
      EXPECT_TRUE(a16.getPosition({t, i}) == getOperandA16FromISA(t, i));
    for (int64_t i = 0; i < 16; ++i)
      EXPECT_TRUE(a8.getPosition({t, i}) == getOperandA8FromISA(t, i));
    for (int64_t i = 0; i < 4; ++i)
      EXPECT_TRUE(a32.getPosition({t, i}) == getOperandA32FromISA(t, i));
  }
}

TEST(Fragments, LaterStepsOfAFollowTheFirst) {
  FragmentLayout one = FragmentLayout::getOperandA(1, 16, 16);
  FragmentLayout eight = FragmentLayout::getOperandA(1, 128, 16);
  for (int64_t t : {0, 5, 127})
    for (int64_t i = 0; i < eight.getElementsPerThread(); ++i) {
      Position expected = one.getPosition({t, i % 8});
      expected.column += 16 * (i / 8);
      EXPECT_TRUE(eight.getPosition({t, i}) == expected);
    }
}

TEST(Fragments, WarpgroupsStackTheirRows) {
  FragmentLayout one = FragmentLayout::getAccumulator(1, 64);
  FragmentLayout two = FragmentLayout::getAccumulator(2, 64);
  for (int64_t t = 0; t < 256; ++t)
    for (int64_t i = 0; i < 32; ++i) {
      Position expected = one.getPosition({t % 128, i});
      expected.row += 64 * (t / 128);
      EXPECT_TRUE(two.getPosition({t, i}) == expected);
    }
}

TEST(Fragments, AccumulatorsFeedOperandA) {
  for (int64_t columns : {16, 64, 128, 256})
    for (int64_t warpgroups : {1, 2}) {
      FragmentLayout from = FragmentLayout::getAccumulator(warpgroups, columns);
      FragmentLayout to =
          FragmentLayout::getOperandA(warpgroups, columns, /*elementBits=*/16);
      EXPECT_TRUE(isSamePlacement(from, to));
      // The same by brute force.
      for (int64_t t = 0; t < from.getThreads(); ++t)
        for (int64_t i = 0; i < from.getElementsPerThread(); ++i)
          EXPECT_TRUE(from.getPosition({t, i}) == to.getPosition({t, i}));
    }
  FragmentLayout from = FragmentLayout::getAccumulator(1, 64);
  EXPECT_FALSE(isSamePlacement(from, FragmentLayout::getOperandA(1, 64, 8)));
  EXPECT_FALSE(isSamePlacement(from, FragmentLayout::getOperandA(1, 64, 32)));
  EXPECT_FALSE(isSamePlacement(from, FragmentLayout::getOperandA(1, 128, 16)));
  EXPECT_FALSE(isSamePlacement(from, FragmentLayout::getOperandA(2, 64, 16)));
}

TEST(Fragments, PositionIsASumOfTwoParts) {
  for (const FragmentLayout &layout : makeLayouts())
    for (int64_t t = 0; t < layout.getThreads(); t += 7)
      for (int64_t i = 0; i < layout.getElementsPerThread(); ++i) {
        Position position = layout.getPosition({t, i});
        Position thread = layout.getThreadPart(t);
        Position element = layout.getElementPart(i);
        EXPECT_EQ(position.row, thread.row + element.row);
        EXPECT_EQ(position.column, thread.column + element.column);
        EXPECT_EQ(element.row, 8 * layout.getRowOfThread(i));
      }
}

TEST(Fragments, KnownAccumulatorElements) {
  FragmentLayout layout = FragmentLayout::getAccumulator(2, 128);
  EXPECT_EQ(layout.getElementsPerThread(), 64);
  EXPECT_TRUE(layout.getPosition({0, 0}) == (Position{0, 0}));
  EXPECT_TRUE(layout.getPosition({0, 3}) == (Position{8, 1}));
  EXPECT_TRUE(layout.getPosition({37, 6}) == (Position{16 + 1 + 8, 8 + 2}));
  EXPECT_TRUE(layout.getPosition({255, 63}) == (Position{127, 127}));
  // Rows of the two halves, and columns less the thread's first, for the first
  // elements of any thread.
  int64_t rows[] = {0, 0, 1, 1, 0, 0, 1, 1, 0, 0, 1, 1};
  int64_t columns[] = {0, 1, 0, 1, 8, 9, 8, 9, 16, 17, 16, 17};
  for (int64_t i = 0; i < 12; ++i) {
    EXPECT_EQ(layout.getRowOfThread(i), rows[i]);
    EXPECT_EQ(layout.getElementPart(i).column, columns[i]);
  }
}

TEST(Fragments, RowsHaveAQuadEach) {
  for (int64_t warpgroups : {1, 2}) {
    RowLayout rows(warpgroups);
    FragmentLayout layout = FragmentLayout::getAccumulator(warpgroups, 64);
    std::vector<int64_t> holders(rows.getRows());
    for (int64_t t = 0; t < rows.getThreads(); ++t)
      for (int64_t i = 0; i < rows.getElementsPerThread(); ++i) {
        int64_t row = rows.getRow({t, i});
        ++holders[row];
        Holder first = rows.getFirstHolder(row);
        EXPECT_EQ(first.element, i);
        EXPECT_EQ(first.thread, t / 4 * 4);
      }
    for (int64_t count : holders)
      EXPECT_EQ(count, threadsPerQuad);
    // An element's row value is in its own thread.
    for (int64_t t = 0; t < layout.getThreads(); ++t)
      for (int64_t i = 0; i < layout.getElementsPerThread(); ++i)
        EXPECT_EQ(rows.getRow({t, layout.getRowOfThread(i)}),
                  layout.getPosition({t, i}).row);
  }
}

TEST(Fragments, ProblemsAreNamed) {
  EXPECT_FALSE(FragmentLayout::findAccumulatorProblem(1, 8));
  EXPECT_EQ(FragmentLayout::findAccumulatorProblem(0, 8).value_or(""),
            "expected at least one warpgroup, got 0");
  EXPECT_EQ(FragmentLayout::findAccumulatorProblem(1, 12).value_or(""),
            "expected a multiple of 8 columns, got 12");
  EXPECT_FALSE(FragmentLayout::findOperandAProblem(1, 32, 8));
  EXPECT_EQ(FragmentLayout::findOperandAProblem(1, 8, 16).value_or(""),
            "expected a multiple of 16 columns, got 8");
  EXPECT_EQ(FragmentLayout::findOperandAProblem(1, 0, 8).value_or(""),
            "expected a multiple of 32 columns, got 0");
  EXPECT_EQ(FragmentLayout::findOperandAProblem(-1, 16, 16).value_or(""),
            "expected at least one warpgroup, got -1");
  EXPECT_EQ(FragmentLayout::findOperandAProblem(1, 16, 64).value_or(""),
            "expected elements of 8, 16 or 32 bits, got 64");
}

TEST(Fragments, Print) {
  std::string text;
  llvm::raw_string_ostream os(text);
  FragmentLayout::getAccumulator(1, 16).print(os, 2);
  EXPECT_EQ(text, "fragment 64x16, 1 warpgroup(s), runs of 2: thread.element\n"
                  "   0:   0.0   0.1   1.0   1.1   2.0   2.1   3.0   3.1"
                  "   0.4   0.5   1.4   1.5   2.4   2.5   3.4   3.5\n"
                  "   1:   4.0   4.1   5.0   5.1   6.0   6.1   7.0   7.1"
                  "   4.4   4.5   5.4   5.5   6.4   6.5   7.4   7.5\n");
  text.clear();
  RowLayout(1).print(os, 9);
  EXPECT_EQ(text, "row vector of 64, 1 warpgroup(s): threads.element\n"
                  "   0: 0-3.0\n   1: 4-7.0\n   2: 8-11.0\n   3: 12-15.0\n"
                  "   4: 16-19.0\n   5: 20-23.0\n   6: 24-27.0\n"
                  "   7: 28-31.0\n   8: 0-3.1\n");
}

} // namespace
