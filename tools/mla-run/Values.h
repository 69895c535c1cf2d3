//===- Values.h - Arrays from the command line ------------------*- C++ -*-===//
//
// Part of the MLA project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef MLA_TOOLS_MLA_RUN_VALUES_H
#define MLA_TOOLS_MLA_RUN_VALUES_H

#include "Array.h"

namespace mlarun {

/// What a value has to become: an element type, and a shape in which -1 stands
/// for any extent. A scalar has no dimensions.
struct Wanted {
  int32_t dtype;
  Shape shape;
};

/// Reads one of
///   file.npy           the array in a file
///   0.07, -1, nan      a number, for a scalar
///   [[1, 2], [3, 4]]   a list
///   KIND[:SHAPE]       zeros, ones, nan, iota or normal[:SEED] of a shape such
///                      as 16x128x128; static extents need no SHAPE
/// Types are converted as convertArray does. The shape is not checked against
/// the wanted one: running the kernel does that.
bool parseValue(const std::string &text, const Wanted &wanted, Array &array,
                std::string &error);

/// The same for numbers that a result of the type `wanted.dtype` is compared
/// with: floats keep all their digits.
bool parseExpected(const std::string &text, Wanted wanted, Array &array,
                   std::string &error);

} // namespace mlarun

#endif // MLA_TOOLS_MLA_RUN_VALUES_H
