//===- Compare.h - A result against what was expected -----------*- C++ -*-===//
//
// Part of the MLA project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef MLA_TOOLS_MLA_RUN_COMPARE_H
#define MLA_TOOLS_MLA_RUN_COMPARE_H

#include "Array.h"

namespace mlarun {

/// An element is right if |got - expected| <= absolute + relative * |expected|.
/// Infinities have to be equal, and NaN has to meet NaN.
struct Tolerance {
  double absolute = 0, relative = 0;
};

/// Whether all elements are right. `report` is a line for people either way:
/// the largest error and where it is.
bool compare(const Array &got, const Array &expected, Tolerance tolerance,
             std::string &report);

} // namespace mlarun

#endif // MLA_TOOLS_MLA_RUN_COMPARE_H
