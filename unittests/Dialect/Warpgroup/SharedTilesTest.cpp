//===- SharedTilesTest.cpp - Swizzled tiles in shared memory --------------===//
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

constexpr Swizzle swizzles[] = {Swizzle::None, Swizzle::Bytes32,
                                Swizzle::Bytes64, Swizzle::Bytes128};

std::vector<SharedTile> makeTiles() {
  std::vector<SharedTile> tiles;
  for (Swizzle swizzle : swizzles)
    for (int64_t bits : {8, 16, 32})
      for (int64_t rows : {1, 8, 13, 64})
        for (int64_t chunks : {1, 2, 6, 8, 20})
          tiles.push_back({rows, chunks * 128 / bits, bits, swizzle});
  return tiles;
}

/// What the hardware does to an address, from the width of the swizzle alone:
/// the bits from 7 up that it has bits for are xored three places lower.
int64_t swizzleAddress(int64_t address, Swizzle swizzle) {
  int64_t bits = 0;
  while (16 << bits < getWidth(swizzle))
    ++bits;
  int64_t selected = address & ((int64_t(1) << bits) - 1) << 7;
  return address ^ selected >> 3;
}

TEST(SharedTiles, SwizzleIsAFunctionOfTheAddress) {
  for (const SharedTile &tile : makeTiles())
    for (int64_t row = 0; row < tile.getRows(); ++row)
      for (int64_t column = 0; column < tile.getColumns(); ++column) {
        int64_t width = getWidth(tile.getSwizzle());
        int64_t byte = column * tile.getElementBits() / 8;
        int64_t linear =
            byte / width * tile.getPanelStride() + row * width + byte % width;
        // At any aligned start.
        for (int64_t start : {0, 1024, 7 * 1024})
          ASSERT_EQ(start + tile.getOffset({row, column}),
                    swizzleAddress(start + linear, tile.getSwizzle()));
      }
}

TEST(SharedTiles, EveryElementHasItsOwnPlace) {
  for (const SharedTile &tile : makeTiles()) {
    std::set<int64_t> seen;
    for (int64_t row = 0; row < tile.getRows(); ++row)
      for (int64_t column = 0; column < tile.getColumns(); ++column) {
        int64_t offset = tile.getOffset({row, column});
        ASSERT_GE(offset, 0);
        ASSERT_LE(offset + tile.getElementBits() / 8, tile.getSizeInBytes());
        auto position = tile.getPosition(offset);
        ASSERT_TRUE(position && *position == (Position{row, column}));
        seen.insert(offset);
      }
    EXPECT_EQ(int64_t(seen.size()), tile.getRows() * tile.getColumns());
    // All else is padding.
    int64_t step = tile.getElementBits() / 8;
    for (int64_t offset = 0; offset < tile.getSizeInBytes(); offset += step)
      EXPECT_EQ(tile.getPosition(offset).has_value(), seen.count(offset) == 1);
  }
}

TEST(SharedTiles, EightLinesOfAChunkColumnTouchAllBanks) {
  // What the swizzle is for: read down a column of chunks without conflict.
  SharedTile tile(64, 64, 16, Swizzle::Bytes128);
  for (int64_t line = 0; line < 64; line += 8)
    for (int64_t column = 0; column < 64; column += 8) {
      std::set<int64_t> banks;
      for (int64_t i = 0; i < 8; ++i)
        banks.insert(tile.getOffset({line + i, column}) % 128);
      EXPECT_EQ(banks.size(), 8u);
    }
}

TEST(SharedTiles, SizesOfTheTilesOfPrefill) {
  // Queries and keys of 128 + 64 dims, values of 128, 128 rows each.
  SharedTile query(128, 192, 16, Swizzle::Bytes128);
  EXPECT_EQ(query.getPanels(), 3);
  EXPECT_EQ(query.getPanelColumns(), 64);
  EXPECT_EQ(query.getPanelStride(), 16384);
  EXPECT_EQ(query.getSizeInBytes(), 48 * 1024);
  EXPECT_EQ(query.getAlignment(), 1024);
  EXPECT_EQ(query.getRowOffset(64), 64 * 128);
  EXPECT_EQ(query.getColumnOffset(128), 2 * 16384);
  SharedTile value(128, 128, 16, Swizzle::Bytes128);
  EXPECT_EQ(value.getSizeInBytes(), 32 * 1024);
}

TEST(SharedTiles, PartialPanelsAndRows) {
  SharedTile tile(13, 96, 16, Swizzle::Bytes128);
  EXPECT_EQ(tile.getPanels(), 2);
  EXPECT_EQ(tile.getColumnsInPanel(0), 64);
  EXPECT_EQ(tile.getColumnsInPanel(1), 32);
  EXPECT_EQ(tile.getPanelStride(), 16 * 128);
  EXPECT_EQ(tile.getSizeInBytes(), 2 * 16 * 128);
  EXPECT_FALSE(tile.getPosition(13 * 128));           // a row too many
  EXPECT_FALSE(tile.getPosition(2048 + 64));          // a column too many
  EXPECT_TRUE(tile.getPosition(2048 + 4 * 128 + 64)); // swizzled into
  EXPECT_FALSE(tile.getPosition(2048 + 4 * 128 + 0)); // and out of
}

TEST(SharedTiles, WidthsAndAlignment) {
  int64_t widths[] = {16, 32, 64, 128};
  int64_t periods[] = {128, 256, 512, 1024};
  for (int i = 0; i < 4; ++i) {
    EXPECT_EQ(getWidth(swizzles[i]), widths[i]);
    EXPECT_EQ(getPeriod(swizzles[i]), periods[i]);
    SharedTile tile(16, 64, 16, swizzles[i]);
    EXPECT_EQ(tile.getAlignment(), periods[i]);
    EXPECT_EQ(tile.getSizeInBytes(), 16 * 64 * 2);
    EXPECT_EQ(tile.getPanelStride() % periods[i], 0);
  }
}

TEST(SharedTiles, KnownOffsets) {
  SharedTile wide(128, 192, 16, Swizzle::Bytes128);
  EXPECT_EQ(wide.getOffset({0, 0}), 0);
  EXPECT_EQ(wide.getOffset({1, 0}), 128 + 16);
  EXPECT_EQ(wide.getOffset({7, 8}), 7 * 128 + 6 * 16);
  EXPECT_EQ(wide.getOffset({8, 9}), 8 * 128 + 1 * 16 + 2);
  EXPECT_EQ(wide.getOffset({2, 64}), 16384 + 2 * 128 + 2 * 16);
  SharedTile middle(8, 32, 16, Swizzle::Bytes64);
  EXPECT_EQ(middle.getOffset({1, 0}), 64);
  EXPECT_EQ(middle.getOffset({2, 0}), 2 * 64 + 16);
  EXPECT_EQ(middle.getOffset({7, 24}), 7 * 64 + 0);
  SharedTile narrow(8, 16, 16, Swizzle::Bytes32);
  EXPECT_EQ(narrow.getOffset({3, 8}), 3 * 32 + 16);
  EXPECT_EQ(narrow.getOffset({4, 8}), 4 * 32);
  SharedTile plain(16, 16, 16, Swizzle::None);
  EXPECT_EQ(plain.getOffset({5, 8}), 256 + 5 * 16);
}

TEST(SharedTiles, ProblemsAreNamed) {
  EXPECT_FALSE(SharedTile::findProblem(1, 8, 16));
  EXPECT_EQ(SharedTile::findProblem(0, 8, 16).value_or(""),
            "expected at least one row, got 0");
  EXPECT_EQ(SharedTile::findProblem(8, 12, 16).value_or(""),
            "expected rows of a multiple of 16 bytes, 8 columns, got 12");
  EXPECT_EQ(SharedTile::findProblem(8, 8, 4).value_or(""),
            "expected elements of 8, 16 or 32 bits, got 4");
}

TEST(SharedTiles, Print) {
  std::string text;
  llvm::raw_string_ostream os(text);
  SharedTile(16, 96, 16, Swizzle::Bytes128).print(os);
  SharedTile(16, 32, 16, Swizzle::Bytes64).print(os);
  SharedTile(2, 16, 8, Swizzle::None).print(os);
  EXPECT_EQ(
      text,
      "tile 16x96 of 16-bit elements, 128-byte swizzle: 2 panel(s) of 64 "
      "columns, stride 2048; 4096 bytes, aligned to 1024\n"
      "  line 0: 0 1 2 3 4 5 6 7\n"
      "  line 1: 1 0 3 2 5 4 7 6\n"
      "  line 2: 2 3 0 1 6 7 4 5\n"
      "  line 3: 3 2 1 0 7 6 5 4\n"
      "  line 4: 4 5 6 7 0 1 2 3\n"
      "  line 5: 5 4 7 6 1 0 3 2\n"
      "  line 6: 6 7 4 5 2 3 0 1\n"
      "  line 7: 7 6 5 4 3 2 1 0\n"
      "tile 16x32 of 16-bit elements, 64-byte swizzle: 1 panel(s) of 32 "
      "columns, stride 1024; 1024 bytes, aligned to 512\n"
      "  line 0: 0 1 2 3\n"
      "  line 1: 0 1 2 3\n"
      "  line 2: 1 0 3 2\n"
      "  line 3: 1 0 3 2\n"
      "  line 4: 2 3 0 1\n"
      "  line 5: 2 3 0 1\n"
      "  line 6: 3 2 1 0\n"
      "  line 7: 3 2 1 0\n"
      "tile 2x16 of 8-bit elements, no swizzle: 1 panel(s) of 16 columns, "
      "stride 128; 128 bytes, aligned to 128\n"
      "  line 0: 0\n"
      "  line 1: 0\n");
}

} // namespace
