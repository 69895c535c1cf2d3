//===- FloatBuiltinsTest.cpp - f16 and bf16 conversions -------------------===//
//
// Part of the MLA project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "FloatBuiltins.h"

#include "llvm/ADT/APFloat.h"
#include "llvm/ADT/bit.h"

#include "gtest/gtest.h"

#include <cmath>

using namespace mlir::mla;

namespace {

/// LLVM's own arithmetic as the oracle.
template <typename T>
uint16_t truncate(T value, const llvm::fltSemantics &semantics) {
  llvm::APFloat number(value);
  bool losesInfo;
  number.convert(semantics, llvm::APFloat::rmNearestTiesToEven, &losesInfo);
  return static_cast<uint16_t>(number.bitcastToAPInt().getZExtValue());
}

void checkTruncation(float value) {
  ASSERT_EQ(truncateToF16(value), truncate(value, llvm::APFloat::IEEEhalf()))
      << value;
  ASSERT_EQ(truncateToBF16(value), truncate(value, llvm::APFloat::BFloat()))
      << value;
}

void checkTruncation(double value) {
  ASSERT_EQ(truncateToF16(value), truncate(value, llvm::APFloat::IEEEhalf()))
      << value;
  ASSERT_EQ(truncateToBF16(value), truncate(value, llvm::APFloat::BFloat()))
      << value;
}

TEST(FloatBuiltins, ExtendEveryF16) {
  for (uint32_t bits = 0; bits < 65536; ++bits) {
    llvm::APFloat number(llvm::APFloat::IEEEhalf(), llvm::APInt(16, bits));
    bool losesInfo;
    number.convert(llvm::APFloat::IEEEsingle(),
                   llvm::APFloat::rmNearestTiesToEven, &losesInfo);
    float extended = extendF16(static_cast<uint16_t>(bits));
    if (number.isNaN())
      EXPECT_TRUE(std::isnan(extended));
    else
      EXPECT_EQ(llvm::bit_cast<uint32_t>(extended),
                number.bitcastToAPInt().getZExtValue());
  }
}

TEST(FloatBuiltins, TruncateNearEveryTie) {
  // Every f16 and every bf16, the points half way to the next one, and their
  // neighbours.
  for (uint32_t bits = 0; bits < 65536; ++bits)
    for (float value : {extendF16(static_cast<uint16_t>(bits)),
                        llvm::bit_cast<float>(bits << 16)}) {
      if (std::isnan(value))
        continue;
      uint32_t pattern = llvm::bit_cast<uint32_t>(value);
      for (uint32_t tie : {0u, 0x1000u, 0x8000u})
        for (int32_t step : {-1, 0, 1}) {
          float near = llvm::bit_cast<float>(pattern + tie + step);
          if (std::isnan(near))
            continue;
          checkTruncation(near);
          // A double that a float only meets by rounding.
          double exact = near;
          checkTruncation(exact);
          checkTruncation(std::nextafter(exact, 1e300));
          checkTruncation(std::nextafter(exact, -1e300));
        }
    }
}

TEST(FloatBuiltins, KeepNaN) {
  for (float nan : {NAN, -NAN, llvm::bit_cast<float>(0x7f800001)}) {
    EXPECT_TRUE(std::isnan(extendF16(truncateToF16(nan))));
    EXPECT_TRUE(
        std::isnan(llvm::bit_cast<float>(uint32_t(truncateToBF16(nan)) << 16)));
    EXPECT_TRUE(std::isnan(extendF16(truncateToF16(double(nan)))));
  }
}

} // namespace
