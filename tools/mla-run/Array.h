//===- Array.h - An array in memory and its element types -------*- C++ -*-===//
//
// Part of the MLA project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef MLA_TOOLS_MLA_RUN_ARRAY_H
#define MLA_TOOLS_MLA_RUN_ARRAY_H

#include "mla-c/Compiler.h"

#include <string>
#include <vector>

namespace mlarun {

using Shape = std::vector<int64_t>;

/// A row-major array that owns its memory.
struct Array {
  int32_t dtype = MLA_DTYPE_F32; // MlaDType
  Shape shape;
  std::vector<char> bytes;

  int64_t size() const;
  /// Elements as numbers. The integer types up to 2^53 and all float types are
  /// exact in a double.
  double get(int64_t index) const;
  /// Rounds to nearest even where the type is narrower.
  void set(int64_t index, double value);
};

/// Number of elements; -1 if an extent is negative or the number overflows.
int64_t getNumElements(const Shape &shape);
int getByteSize(int32_t dtype);
/// MLIR's spelling, such as "bf16".
const char *getTypeName(int32_t dtype);
bool isFloat(int32_t dtype);

/// Zeros. False, with a message, if the shape is not possible.
bool makeArray(int32_t dtype, const Shape &shape, Array &array,
               std::string &error);

/// The same numbers in another type. Integers have to fit and do not become
/// floats or the reverse; floats are rounded to nearest.
bool convertArray(const Array &from, int32_t dtype, Array &to,
                  std::string &error);

/// "[2, 3]", with ? for -1.
std::string formatShape(const Shape &shape);
/// The elements as nested lists.
std::string formatArray(const Array &array);

} // namespace mlarun

#endif // MLA_TOOLS_MLA_RUN_ARRAY_H
