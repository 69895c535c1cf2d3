//===- SmallFloat.h - Float formats narrower than f32 -----------*- C++ -*-===//
//
// Part of the MLA project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef MLA_TOOLS_MLA_RUN_SMALLFLOAT_H
#define MLA_TOOLS_MLA_RUN_SMALLFLOAT_H

#include <cmath>
#include <cstdint>
#include <limits>

namespace mlarun {

/// A binary format with a sign bit on top. Without infinities ("FN") the
/// largest exponent holds numbers too, and only all ones is NaN.
struct SmallFloat {
  int exponentBits, mantissaBits;
  bool hasInfinity;

  int bias() const { return (1 << (exponentBits - 1)) - 1; }
  uint32_t exponentMask() const { return (1u << exponentBits) - 1; }
  uint32_t mantissaMask() const { return (1u << mantissaBits) - 1; }
  uint32_t nan() const {
    uint32_t mantissa = hasInfinity ? 1u << (mantissaBits - 1) : mantissaMask();
    return exponentMask() << mantissaBits | mantissa;
  }

  double decode(uint32_t bits) const {
    double sign = bits >> (exponentBits + mantissaBits) & 1 ? -1 : 1;
    uint32_t exponent = bits >> mantissaBits & exponentMask();
    uint32_t mantissa = bits & mantissaMask();
    bool isSpecial = exponent == exponentMask() &&
                     (hasInfinity || mantissa == mantissaMask());
    if (isSpecial)
      return hasInfinity && mantissa == 0
                 ? sign * std::numeric_limits<double>::infinity()
                 : std::numeric_limits<double>::quiet_NaN();
    if (exponent == 0)
      return sign * std::ldexp(mantissa, 1 - bias() - mantissaBits);
    return sign *
           std::ldexp(mantissa + (1u << mantissaBits),
                      static_cast<int>(exponent) - bias() - mantissaBits);
  }

  /// Rounds to nearest even; beyond the largest number comes infinity, or NaN
  /// where the format has none.
  uint32_t encode(double value) const {
    uint32_t sign =
        std::signbit(value) ? 1u << (exponentBits + mantissaBits) : 0;
    if (std::isnan(value))
      return sign | nan();
    uint32_t overflow =
        sign | (hasInfinity ? exponentMask() << mantissaBits : nan());
    value = std::fabs(value);
    if (std::isinf(value))
      return overflow;
    if (value == 0)
      return sign;
    int exponent = std::ilogb(value);
    if (exponent < 1 - bias())
      exponent = 1 - bias(); // subnormal
    // A whole number of units of the last place; carries move into the exponent
    // by plain addition.
    double units = std::nearbyint(std::ldexp(value, mantissaBits - exponent));
    double bits = std::ldexp(exponent + bias() - 1, mantissaBits) + units;
    double limit =
        hasInfinity ? std::ldexp(exponentMask(), mantissaBits) : nan();
    return bits >= limit ? overflow : sign | static_cast<uint32_t>(bits);
  }
};

constexpr SmallFloat bf16{8, 7, true};
constexpr SmallFloat f16{5, 10, true};
constexpr SmallFloat f8E4M3FN{4, 3, false};

} // namespace mlarun

#endif // MLA_TOOLS_MLA_RUN_SMALLFLOAT_H
