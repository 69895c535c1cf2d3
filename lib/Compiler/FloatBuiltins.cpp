//===- FloatBuiltins.cpp - Conversions that code generation calls ---------===//
//
// Part of the MLA project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "FloatBuiltins.h"

#include "llvm/ADT/bit.h"

#include <cmath>

#ifdef __x86_64__
#include <emmintrin.h>
#endif

using namespace mlir::mla;

float mlir::mla::extendF16(uint16_t bits) {
  uint32_t sign = static_cast<uint32_t>(bits & 0x8000) << 16;
  uint32_t exponent = bits >> 10 & 31;
  uint32_t mantissa = bits & 1023;
  if (exponent == 0) {
    float magnitude = std::ldexp(static_cast<float>(mantissa), -24);
    return llvm::bit_cast<float>(sign | llvm::bit_cast<uint32_t>(magnitude));
  }
  // Exponents are 15 and 127 apart; the greatest one stays that.
  uint32_t wide = exponent == 31 ? 255 : exponent + 112;
  return llvm::bit_cast<float>(sign | wide << 23 | mantissa << 13);
}

uint16_t mlir::mla::truncateToF16(float value) {
  uint32_t bits = llvm::bit_cast<uint32_t>(value);
  uint16_t sign = bits >> 16 & 0x8000;
  bits &= 0x7fffffff;
  if (bits > 0x7f800000) // NaN: quiet, with what fits of its payload
    return sign | 0x7e00 | (bits >> 13 & 0x1ff);
  if (bits >= 0x477ff000) // 65520 and up round to infinity
    return sign | 0x7c00;
  if (bits < 0x38800000) // below 2^-14: a multiple of 2^-24
    return sign | static_cast<uint16_t>(std::nearbyint(
                      std::ldexp(llvm::bit_cast<float>(bits), 24)));
  bits -= 112u << 23;
  return sign | static_cast<uint16_t>((bits + 0xfff + (bits >> 13 & 1)) >> 13);
}

uint16_t mlir::mla::truncateToBF16(float value) {
  uint32_t bits = llvm::bit_cast<uint32_t>(value);
  if (std::isnan(value))
    return static_cast<uint16_t>(bits >> 16 | 0x40);
  return static_cast<uint16_t>((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
}

/// Rounds to odd, so that rounding once more to a narrower type gives what
/// rounding the double once would.
static float truncateToOdd(double value) {
  auto rounded = static_cast<float>(value);
  if (std::isnan(value) || static_cast<double>(rounded) == value)
    return rounded;
  uint32_t bits = llvm::bit_cast<uint32_t>(rounded);
  if (std::fabs(static_cast<double>(rounded)) > std::fabs(value))
    --bits; // towards zero
  return llvm::bit_cast<float>(bits | 1);
}

uint16_t mlir::mla::truncateToF16(double value) {
  return truncateToF16(truncateToOdd(value));
}
uint16_t mlir::mla::truncateToBF16(double value) {
  return truncateToBF16(truncateToOdd(value));
}

#ifdef __x86_64__

// f16 and bf16 travel in the low bits of a vector register. A whole vector as
// type gives the same calling convention and needs no support for either.
static float extendhfsf2(__m128i value) {
  return extendF16(static_cast<uint16_t>(_mm_cvtsi128_si32(value)));
}
static double extendhfdf2(__m128i value) { return extendhfsf2(value); }
static __m128i truncsfhf2(float value) {
  return _mm_cvtsi32_si128(truncateToF16(value));
}
static __m128i truncdfhf2(double value) {
  return _mm_cvtsi32_si128(truncateToF16(value));
}
static __m128i truncsfbf2(float value) {
  return _mm_cvtsi32_si128(truncateToBF16(value));
}
static __m128i truncdfbf2(double value) {
  return _mm_cvtsi32_si128(truncateToBF16(value));
}

llvm::ArrayRef<std::pair<llvm::StringRef, void *>>
mlir::mla::getFloatBuiltins() {
  static const std::pair<llvm::StringRef, void *> builtins[] = {
      {"__extendhfsf2", reinterpret_cast<void *>(extendhfsf2)},
      {"__extendhfdf2", reinterpret_cast<void *>(extendhfdf2)},
      {"__truncsfhf2", reinterpret_cast<void *>(truncsfhf2)},
      {"__truncdfhf2", reinterpret_cast<void *>(truncdfhf2)},
      {"__truncsfbf2", reinterpret_cast<void *>(truncsfbf2)},
      {"__truncdfbf2", reinterpret_cast<void *>(truncdfbf2)},
  };
  return builtins;
}

#else

llvm::ArrayRef<std::pair<llvm::StringRef, void *>>
mlir::mla::getFloatBuiltins() {
  return {};
}

#endif
