//===- Compare.cpp - A result against what was expected ---------*- C++ -*-===//
//
// Part of the MLA project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Compare.h"

#include <cmath>
#include <cstdio>
#include <limits>

using namespace mlarun;

/// How far `got` is off: 0 for equal values, NaNs among them; infinity where an
/// infinity or NaN meets anything else.
static double getError(double got, double expected) {
  if (got == expected || (std::isnan(got) && std::isnan(expected)))
    return 0;
  double error = std::fabs(got - expected);
  return std::isnan(error) ? std::numeric_limits<double>::infinity() : error;
}

/// The indices of an element of a row-major array.
static std::string formatPosition(int64_t index, const Shape &shape) {
  Shape position(shape.size());
  for (size_t i = shape.size(); i-- > 0;) {
    position[i] = index % shape[i];
    index /= shape[i];
  }
  return formatShape(position);
}

bool mlarun::compare(const Array &got, const Array &expected,
                     Tolerance tolerance, std::string &report) {
  if (got.shape != expected.shape) {
    report = "expected shape " + formatShape(expected.shape) + ", got " +
             formatShape(got.shape);
    return false;
  }
  // The worst element is the one furthest beyond its own tolerance.
  int64_t wrong = 0, worst = -1;
  double worstExcess = 0, worstError = 0, greatest = 0;
  int64_t greatestAt = 0;
  for (int64_t i = 0, e = got.size(); i < e; ++i) {
    double want = expected.get(i);
    double error = getError(got.get(i), want);
    if (error > greatest) {
      greatest = error;
      greatestAt = i;
    }
    double allowed = tolerance.absolute;
    if (std::isfinite(want))
      allowed += tolerance.relative * std::fabs(want);
    double excess = error - allowed;
    if (!(excess > 0))
      continue;
    ++wrong;
    if (worst < 0 || excess > worstExcess) {
      worst = i;
      worstExcess = excess;
      worstError = error;
    }
  }
  char text[512];
  if (wrong == 0) {
    std::snprintf(text, sizeof(text), "max abs error %.3g at %s", greatest,
                  got.size() ? formatPosition(greatestAt, got.shape).c_str()
                             : "no element");
    report = text;
    return true;
  }
  std::snprintf(text, sizeof(text),
                "%lld of %lld elements are off by more than %g + %g * "
                "|expected|; the worst is %s: expected %.9g, got %.9g, abs "
                "error %.3g",
                static_cast<long long>(wrong),
                static_cast<long long>(got.size()), tolerance.absolute,
                tolerance.relative, formatPosition(worst, got.shape).c_str(),
                expected.get(worst), got.get(worst), worstError);
  report = text;
  return false;
}
