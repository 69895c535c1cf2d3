//===- Values.cpp - Arrays from the command line ----------------*- C++ -*-===//
//
// Part of the MLA project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Values.h"

#include "Npy.h"

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <random>

using namespace mlarun;

static bool endsWith(const std::string &text, const std::string &end) {
  return text.size() >= end.size() &&
         text.compare(text.size() - end.size(), end.size(), end) == 0;
}

/// The type in which numbers of the command line are held until convertArray
/// checks them against the wanted one: the widest of its kind.
static int32_t getLiteralType(int32_t dtype) {
  return isFloat(dtype) ? MLA_DTYPE_F64 : MLA_DTYPE_I64;
}

/// A number at `p`, which moves past it. Integer types take integers only.
static bool parseNumber(const char *&p, int32_t dtype, double &value) {
  char *end = nullptr;
  errno = 0;
  if (isFloat(dtype))
    value = std::strtod(p, &end);
  else
    value = static_cast<double>(std::strtoll(p, &end, 0));
  if (end == p || (errno == ERANGE && !isFloat(dtype)))
    return false;
  p = end;
  return true;
}

/// A list at `p`. The first sublist at each depth decides the extent there.
static bool parseList(const char *&p, int32_t dtype, size_t depth, Shape &shape,
                      std::vector<double> &numbers) {
  auto skipSpace = [&] {
    while (*p == ' ')
      ++p;
  };
  skipSpace();
  if (*p != '[') {
    double value;
    if (shape.size() > depth || !parseNumber(p, dtype, value))
      return false;
    numbers.push_back(value);
    return true;
  }
  ++p;
  bool isFirst = shape.size() == depth;
  // A list where an earlier one had a number.
  if (isFirst && !numbers.empty())
    return false;
  if (isFirst)
    shape.push_back(0);
  int64_t count = 0;
  skipSpace();
  while (*p != ']') {
    if (count > 0 && *p++ != ',')
      return false;
    if (!parseList(p, dtype, depth + 1, shape, numbers))
      return false;
    ++count;
    skipSpace();
  }
  ++p;
  if (isFirst)
    shape[depth] = count;
  return shape[depth] == count;
}

/// "16x128x128" to a shape.
static bool parseShape(const std::string &text, Shape &shape) {
  const char *p = text.c_str();
  while (true) {
    if (*p < '0' || *p > '9')
      return false;
    char *end = nullptr;
    errno = 0;
    shape.push_back(std::strtoll(p, &end, 10));
    if (errno != 0)
      return false;
    p = end;
    if (*p == 0)
      return true;
    if (*p++ != 'x')
      return false;
  }
}

/// KIND[:SHAPE[:SEED]]
static bool generate(const std::string &text, const Wanted &wanted,
                     Array &array, std::string &error) {
  size_t first = text.find(':');
  std::string kind = text.substr(0, first);
  std::string rest = first == std::string::npos ? "" : text.substr(first + 1);
  size_t second = rest.find(':');
  std::string shapeText = rest.substr(0, second);
  Shape shape = wanted.shape;
  if (!shapeText.empty()) {
    shape.clear();
    if (!parseShape(shapeText, shape)) {
      error = "expected a shape such as 16x128x128, got '" + shapeText + "'";
      return false;
    }
  } else if (std::count(shape.begin(), shape.end(), -1)) {
    error = "expected a shape, as in " + kind +
            ":16x128x128, since extents of " + formatShape(shape) +
            " are dynamic";
    return false;
  }
  if (kind == "nan" && !isFloat(wanted.dtype)) {
    error = std::string("expected integers for ") + getTypeName(wanted.dtype) +
            ", got nan";
    return false;
  }
  if (!makeArray(wanted.dtype, shape, array, error))
    return false;
  if (kind == "zeros")
    return true;
  unsigned long seed = 0;
  if (second != std::string::npos)
    seed = std::strtoul(rest.c_str() + second + 1, nullptr, 10);
  std::mt19937_64 random(seed);
  std::normal_distribution<double> normal;
  for (int64_t i = 0, e = array.size(); i < e; ++i) {
    double value = 1;
    if (kind == "nan")
      value = std::numeric_limits<double>::quiet_NaN();
    else if (kind == "iota")
      value = static_cast<double>(i);
    else if (kind == "normal")
      value = normal(random);
    array.set(i, value);
  }
  return true;
}

bool mlarun::parseValue(const std::string &text, const Wanted &wanted,
                        Array &array, std::string &error) {
  Array literal;
  if (endsWith(text, ".npy")) {
    if (!readNpy(text, wanted.dtype, literal, error))
      return false;
    return convertArray(literal, wanted.dtype, array, error);
  }
  std::string kind = text.substr(0, text.find(':'));
  bool isScalar = wanted.shape.empty();
  for (const char *known : {"zeros", "ones", "nan", "iota", "normal"})
    if (kind == known && !isScalar)
      return generate(text, wanted, array, error);

  Shape shape;
  std::vector<double> numbers;
  const char *p = text.c_str();
  if ((!isScalar && text.compare(0, 1, "[") != 0) ||
      !parseList(p, wanted.dtype, 0, shape, numbers) || *p != 0) {
    error = isScalar ? std::string("expected ") +
                           (isFloat(wanted.dtype) ? "a number" : "an integer")
                     : "expected a .npy file, a list such as [1, 2], or zeros, "
                       "ones, nan, iota or normal";
    error += ", got '" + text + "'";
    return false;
  }
  if (!makeArray(getLiteralType(wanted.dtype), shape, literal, error))
    return false;
  for (size_t i = 0; i < numbers.size(); ++i)
    literal.set(static_cast<int64_t>(i), numbers[i]);
  return convertArray(literal, wanted.dtype, array, error);
}

bool mlarun::parseExpected(const std::string &text, Wanted wanted, Array &array,
                           std::string &error) {
  if (endsWith(text, ".npy"))
    return readNpy(text, wanted.dtype, array, error);
  wanted.dtype = getLiteralType(wanted.dtype);
  return parseValue(text, wanted, array, error);
}
