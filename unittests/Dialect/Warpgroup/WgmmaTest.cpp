//===- WgmmaTest.cpp - What the warpgroup's matrix instruction takes ------===//
//
// Part of the MLA project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "mla/Dialect/Warpgroup/IR/Wgmma.h"

#include "gtest/gtest.h"

using namespace mlir::mla::wg;

namespace {

constexpr Swizzle swizzles[] = {Swizzle::None, Swizzle::Bytes32,
                                Swizzle::Bytes64, Swizzle::Bytes128};

//===----------------------------------------------------------------------===//
// The instruction
//===----------------------------------------------------------------------===//

TEST(Wgmma, Columns) {
  for (int64_t n = -8; n <= 300; ++n) {
    WgmmaInstruction instruction;
    instruction.n = n;
    EXPECT_EQ(!instruction.findProblem(), n >= 8 && n <= 256 && n % 8 == 0)
        << n;
  }
}

TEST(Wgmma, StepIs256BitsOfK) {
  int64_t k[] = {16, 16, 8, 32, 32};
  for (int type = 0; type < 5; ++type) {
    WgmmaInstruction instruction;
    instruction.a = OperandType(type);
    EXPECT_EQ(instruction.getK(), k[type]);
  }
}

TEST(Wgmma, ProblemsAreNamed) {
  using Operand = OperandType;
  auto find = [](Operand a, Operand b, AccumulatorType accumulator,
                 Major aMajor = Major::K, Major bMajor = Major::K) {
    WgmmaInstruction instruction{64, a, b, accumulator, aMajor, bMajor};
    return instruction.findProblem().value_or("");
  };
  auto f16 = AccumulatorType::F16, f32 = AccumulatorType::F32;
  EXPECT_EQ(find(Operand::F16, Operand::F16, f16), "");
  EXPECT_EQ(find(Operand::F16, Operand::F16, f32, Major::MN, Major::MN), "");
  EXPECT_EQ(find(Operand::E4M3, Operand::E5M2, f16), "");
  EXPECT_EQ(find(Operand::TF32, Operand::TF32, f32), "");
  EXPECT_EQ(
      find(Operand::F16, Operand::BF16, f32),
      "expected A and B of one type, or both of 8 bits, got f16 and bf16");
  EXPECT_EQ(
      find(Operand::E4M3, Operand::F16, f32),
      "expected A and B of one type, or both of 8 bits, got e4m3 and f16");
  EXPECT_EQ(find(Operand::BF16, Operand::BF16, f16),
            "bf16 accumulates in f32 only");
  EXPECT_EQ(find(Operand::TF32, Operand::TF32, f16),
            "tf32 accumulates in f32 only");
  EXPECT_EQ(find(Operand::E4M3, Operand::E4M3, f32, Major::K, Major::MN),
            "only 16-bit types can be MN-major, got e4m3");
  EXPECT_EQ(WgmmaInstruction{12}.findProblem().value_or(""),
            "expected n to be a multiple of 8 up to 256, got 12");
}

//===----------------------------------------------------------------------===//
// Descriptors
//===----------------------------------------------------------------------===//

TEST(Descriptors, FieldsAreWhereTheISAHasThem) {
  MatrixDescriptor descriptor = {};
  EXPECT_EQ(descriptor.encode(), 0u);
  descriptor.startAddress = 0x3fff;
  EXPECT_EQ(descriptor.encode(), 0x3fffull);
  descriptor = {};
  descriptor.leadingByteOffset = 0x3fff;
  EXPECT_EQ(descriptor.encode(), 0x3fff0000ull);
  descriptor = {};
  descriptor.strideByteOffset = 0x3fff;
  EXPECT_EQ(descriptor.encode(), 0x3fff00000000ull);
  descriptor = {};
  descriptor.baseOffset = 7;
  EXPECT_EQ(descriptor.encode(), 0xe000000000000ull);
  descriptor = {};
  descriptor.swizzle = 3;
  EXPECT_EQ(descriptor.encode(), 0xc000000000000000ull);
}

TEST(Descriptors, DecodeUndoesEncode) {
  for (uint64_t bits : {0x4000004000010000ull, 0xc00e3fff3fff3fffull, 0x1ull})
    EXPECT_EQ(MatrixDescriptor::decode(bits).encode(), bits);
}

/// Computed by hand: start >> 4, leading >> 4 << 16, stride >> 4 << 32, code
/// << 62.
TEST(Descriptors, Constants) {
  // Queries and keys: stride 1024, swizzle code 1; leading is ignored.
  SharedTile keys(128, 192, 16, Swizzle::Bytes128);
  EXPECT_EQ(MatrixDescriptor::get(keys, Major::K).encode(),
            0x4000004000010000ull);
  EXPECT_EQ(MatrixDescriptor::get(keys, Major::K, 0xc000).encode(),
            0x4000004000010c00ull);
  // Values: leading 16384 from panel to panel.
  SharedTile values(128, 128, 16, Swizzle::Bytes128);
  EXPECT_EQ(MatrixDescriptor::get(values, Major::MN).encode(),
            0x4000004004000000ull);
  // 64-byte swizzle: eight lines are 512 bytes, a panel of 64 rows 4096.
  SharedTile half(64, 64, 16, Swizzle::Bytes64);
  EXPECT_EQ(MatrixDescriptor::get(half, Major::K).encode(),
            0x8000002000010000ull);
  EXPECT_EQ(MatrixDescriptor::get(half, Major::MN).encode(),
            0x8000002001000000ull);
  // 32-byte swizzle: 256 and 2048.
  SharedTile quarter(64, 64, 16, Swizzle::Bytes32);
  EXPECT_EQ(MatrixDescriptor::get(quarter, Major::MN).encode(),
            0xc000001000800000ull);
  // None: eight lines are 128 bytes, a panel of 64 rows 1024, and the two
  // offsets change places with the major dimension.
  SharedTile plain(64, 64, 16, Swizzle::None);
  EXPECT_EQ(MatrixDescriptor::get(plain, Major::K).encode(),
            0x0000000800400000ull);
  EXPECT_EQ(MatrixDescriptor::get(plain, Major::MN).encode(),
            0x0000004000080000ull);
}

TEST(Descriptors, AddressesInAClusterAreMasked) {
  SharedTile keys(128, 192, 16, Swizzle::Bytes128);
  EXPECT_EQ(MatrixDescriptor::get(keys, Major::K, 0x01000000 + 0x8000).encode(),
            MatrixDescriptor::get(keys, Major::K, 0x8000).encode());
}

TEST(Descriptors, StepsOfPrefill) {
  // Queries and keys: two units a step within a panel of four steps, then the
  // next panel.
  SharedTile keys(128, 192, 16, Swizzle::Bytes128);
  llvm::SmallVector<int64_t> expected;
  for (int64_t i = 0; i < 12; ++i)
    expected.push_back(i / 4 * (16384 >> 4) + i % 4 * 2);
  EXPECT_EQ(getStepOffsets(keys, Major::K), expected);
  // Values: 16 keys are 2048 bytes.
  SharedTile values(128, 128, 16, Swizzle::Bytes128);
  EXPECT_EQ(getStepOffsets(values, Major::MN),
            (llvm::SmallVector<int64_t>{0, 128, 256, 384, 512, 640, 768, 896}));
}

TEST(Descriptors, StepsOverTilesSideBySide) {
  // One tile of three panels is a tile of two and one of one behind it.
  SharedTile all(128, 192, 16, Swizzle::Bytes128);
  SharedTile nope(128, 128, 16, Swizzle::Bytes128);
  SharedTile rope(128, 64, 16, Swizzle::Bytes128);
  auto offsets = getStepOffsets(nope, Major::K);
  offsets.append(getStepOffsets(rope, Major::K, nope.getSizeInBytes()));
  EXPECT_EQ(offsets, getStepOffsets(all, Major::K));
}

/// How the hardware finds element (mn, k) of an operand of 16-bit elements,
/// written down from the ISA's canonical layouts, in terms of a descriptor
/// only. k < 16: one step.
int64_t findElement(uint64_t bits, Major major, int64_t mn, int64_t k) {
  int64_t start = (bits & 0x3fff) * 16;
  int64_t leading = (bits >> 16 & 0x3fff) * 16;
  int64_t stride = (bits >> 32 & 0x3fff) * 16;
  int64_t code = bits >> 62;
  int64_t chunks = code == 0 ? 1 : 16 >> code; // in a line: 1, 8, 4, 2
  int64_t address;
  if (major == Major::K && code != 0)
    address = start + mn / 8 * stride + mn % 8 * chunks * 16 + k * 2;
  else if (major == Major::K)
    address =
        start + mn / 8 * stride + mn % 8 * 16 + k / 8 * leading + k % 8 * 2;
  else if (code != 0)
    address = start + mn / (8 * chunks) * leading + mn % (8 * chunks) * 2 +
              k / 8 * stride + k % 8 * chunks * 16;
  else
    address =
        start + mn / 8 * stride + mn % 8 * 2 + k / 8 * leading + k % 8 * 16;
  return address ^ (address >> 3 & (chunks - 1) << 4);
}

TEST(Descriptors, StepsReachTheElementsOfTheTile) {
  for (Swizzle swizzle : swizzles)
    for (Major major : {Major::K, Major::MN})
      for (int64_t rows : {16, 64, 128})
        for (int64_t columns : {16, 48, 64, 192}) {
          SharedTile tile(rows, columns, 16, swizzle);
          ASSERT_FALSE(findOperandProblem(tile, major));
          uint64_t descriptor =
              MatrixDescriptor::get(tile, major, 0x4000).encode();
          auto offsets = getStepOffsets(tile, major);
          int64_t ks = major == Major::K ? columns : rows;
          int64_t mns = major == Major::K ? rows : columns;
          ASSERT_EQ(int64_t(offsets.size()), ks / 16);
          for (int64_t k = 0; k < ks; ++k)
            for (int64_t mn = 0; mn < mns; ++mn) {
              Position position =
                  major == Major::K ? Position{mn, k} : Position{k, mn};
              ASSERT_EQ(
                  findElement(descriptor + offsets[k / 16], major, mn, k % 16),
                  0x4000 + tile.getOffset(position));
            }
        }
}

TEST(Descriptors, PartsOfATile) {
  // The second warpgroup's 64 query rows, and the second panel of values.
  SharedTile queries(128, 192, 16, Swizzle::Bytes128);
  uint64_t descriptor =
      MatrixDescriptor::get(queries, Major::K, queries.getRowOffset(64))
          .encode();
  EXPECT_EQ(findElement(descriptor, Major::K, 3, 5),
            queries.getOffset({64 + 3, 5}));
  SharedTile values(128, 128, 16, Swizzle::Bytes128);
  descriptor =
      MatrixDescriptor::get(values, Major::MN, values.getColumnOffset(64))
          .encode();
  EXPECT_EQ(findElement(descriptor, Major::MN, 3, 5),
            values.getOffset({5, 64 + 3}));
}

TEST(Descriptors, ProblemsAreNamed) {
  auto find = [](int64_t rows, int64_t columns, int64_t bits, Major major) {
    return findOperandProblem({rows, columns, bits, Swizzle::Bytes128}, major)
        .value_or("");
  };
  EXPECT_EQ(find(64, 32, 8, Major::K), "");
  EXPECT_EQ(find(64, 8, 16, Major::K),
            "expected k to be a multiple of 16, got 8");
  EXPECT_EQ(find(24, 64, 16, Major::MN),
            "expected k to be a multiple of 16, got 24");
  EXPECT_EQ(find(12, 64, 16, Major::K),
            "expected the dimension beside k to be a multiple of 8, got 12");
  EXPECT_EQ(find(64, 64, 32, Major::MN),
            "expected 16-bit elements where k runs down the rows, got 32 bits");
  EXPECT_EQ(find(1024, 128, 16, Major::K),
            "expected less than 256 KB, got 262144 bytes");
}

TEST(Descriptors, Print) {
  std::string text;
  llvm::raw_string_ostream os(text);
  SharedTile values(128, 128, 16, Swizzle::Bytes128);
  MatrixDescriptor::get(values, Major::MN, 0x400).print(os);
  WgmmaInstruction instruction;
  instruction.n = 128;
  instruction.bMajor = Major::MN;
  instruction.print(os);
  EXPECT_EQ(text, "descriptor 0x4000004004000040: start 1024, leading 16384, "
                  "stride 1024, base 0, swizzle 128 bytes\n"
                  "m64n128k16 f32 += bf16 (K) * bf16 (MN)");
}

} // namespace
