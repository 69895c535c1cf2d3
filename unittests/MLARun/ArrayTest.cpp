//===- ArrayTest.cpp - Arrays and narrow float formats of mla-run ---------===//
//
// Part of the MLA project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Array.h"
#include "SmallFloat.h"

#include "gtest/gtest.h"

using namespace mlarun;

namespace {

TEST(SmallFloat, EncodesWhatItDecodes) {
  for (uint32_t bits = 0; bits < 65536; ++bits) {
    for (const SmallFloat &format : {bf16, f16}) {
      double value = format.decode(bits);
      if (std::isnan(value))
        EXPECT_TRUE(std::isnan(format.decode(format.encode(value))));
      else
        EXPECT_EQ(format.encode(value), bits);
    }
  }
  for (uint32_t bits = 0; bits < 256; ++bits)
    if ((bits & 0x7f) != 0x7f) {
      EXPECT_EQ(f8E4M3FN.encode(f8E4M3FN.decode(bits)), bits);
    }
}

TEST(SmallFloat, RoundsToNearestEven) {
  EXPECT_EQ(bf16.decode(bf16.encode(1 + 1 / 256.)), 1);
  EXPECT_EQ(bf16.decode(bf16.encode(1 + 3 / 256.)), 1 + 2 / 128.);
  EXPECT_EQ(bf16.decode(bf16.encode(1 + 1.01 / 256)), 1 + 1 / 128.);
  EXPECT_EQ(f16.decode(f16.encode(65519)), 65504);
  EXPECT_EQ(f16.decode(f16.encode(65520)), INFINITY);
  EXPECT_EQ(f16.decode(f16.encode(-1e9)), -INFINITY);
  EXPECT_EQ(f16.decode(f16.encode(std::ldexp(1, -24))), std::ldexp(1, -24));
  EXPECT_EQ(f16.decode(f16.encode(std::ldexp(1, -26))), 0);
  // The bit pattern of all ones is NaN, 448 is the largest number.
  EXPECT_EQ(f8E4M3FN.decode(f8E4M3FN.encode(448)), 448);
  EXPECT_TRUE(std::isnan(f8E4M3FN.decode(f8E4M3FN.encode(1000))));
}

TEST(Array, CountsElements) {
  EXPECT_EQ(getNumElements({}), 1);
  EXPECT_EQ(getNumElements({2, 3}), 6);
  EXPECT_EQ(getNumElements({int64_t(1) << 62, 4, 0}), -1);
  EXPECT_EQ(getNumElements({5, 0}), 0);
  EXPECT_EQ(getNumElements({-1, 2}), -1);
}

TEST(Array, ConvertsWithinAKind) {
  Array from, to;
  std::string error;
  ASSERT_TRUE(makeArray(MLA_DTYPE_F64, {2}, from, error));
  from.set(0, 1.0 / 3);
  ASSERT_TRUE(convertArray(from, MLA_DTYPE_F32, to, error));
  EXPECT_EQ(to.get(0), 1.0f / 3);
  EXPECT_FALSE(convertArray(from, MLA_DTYPE_I32, to, error));
  EXPECT_EQ(error, "expected i32, got f64");
}

TEST(Array, RefusesIntegersThatDoNotFit) {
  Array from, to;
  std::string error;
  ASSERT_TRUE(makeArray(MLA_DTYPE_I64, {2}, from, error));
  from.set(1, -1);
  EXPECT_TRUE(convertArray(from, MLA_DTYPE_I32, to, error));
  EXPECT_FALSE(convertArray(from, MLA_DTYPE_U32, to, error));
  EXPECT_EQ(error, "expected numbers that fit ui32, got -1 at flat index 1");
}

TEST(Array, Formats) {
  Array array;
  std::string error;
  ASSERT_TRUE(makeArray(MLA_DTYPE_BF16, {2, 2}, array, error));
  array.set(3, -0.5);
  EXPECT_EQ(formatArray(array), "[[0, 0], [0, -0.5]]");
  EXPECT_EQ(formatShape({-1, 4}), "[?, 4]");
}

} // namespace
