//===- Array.cpp - An array in memory and its element types -----*- C++ -*-===//
//
// Part of the MLA project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Array.h"

#include "SmallFloat.h"

#include <cstdio>
#include <cstring>

using namespace mlarun;

int64_t mlarun::getNumElements(const Shape &shape) {
  int64_t count = 1;
  bool empty = false;
  for (int64_t extent : shape) {
    if (extent < 0)
      return -1;
    empty |= extent == 0;
    if (extent > 0 && __builtin_mul_overflow(count, extent, &count))
      return -1;
  }
  return empty ? 0 : count;
}

int mlarun::getByteSize(int32_t dtype) {
  switch (dtype) {
  case MLA_DTYPE_F8E4M3FN:
    return 1;
  case MLA_DTYPE_BF16:
  case MLA_DTYPE_F16:
    return 2;
  case MLA_DTYPE_F32:
  case MLA_DTYPE_I32:
  case MLA_DTYPE_U32:
    return 4;
  default:
    return 8;
  }
}

const char *mlarun::getTypeName(int32_t dtype) {
  static const char *const names[] = {"bf16", "f16", "f32",  "f64",     "i32",
                                      "ui32", "i64", "ui64", "f8E4M3FN"};
  return dtype >= 0 && dtype <= MLA_DTYPE_F8E4M3FN ? names[dtype] : "unknown";
}

bool mlarun::isFloat(int32_t dtype) {
  return dtype <= MLA_DTYPE_F64 || dtype == MLA_DTYPE_F8E4M3FN;
}

int64_t Array::size() const { return getNumElements(shape); }

template <typename T> static T load(const char *data) {
  T value;
  std::memcpy(&value, data, sizeof(T));
  return value;
}

template <typename T> static void store(char *data, T value) {
  std::memcpy(data, &value, sizeof(T));
}

double Array::get(int64_t index) const {
  const char *data = bytes.data() + index * getByteSize(dtype);
  switch (dtype) {
  case MLA_DTYPE_BF16:
    return bf16.decode(load<uint16_t>(data));
  case MLA_DTYPE_F16:
    return f16.decode(load<uint16_t>(data));
  case MLA_DTYPE_F8E4M3FN:
    return f8E4M3FN.decode(load<uint8_t>(data));
  case MLA_DTYPE_F32:
    return load<float>(data);
  case MLA_DTYPE_F64:
    return load<double>(data);
  case MLA_DTYPE_I32:
    return load<int32_t>(data);
  case MLA_DTYPE_U32:
    return load<uint32_t>(data);
  case MLA_DTYPE_I64:
    return static_cast<double>(load<int64_t>(data));
  default:
    return static_cast<double>(load<uint64_t>(data));
  }
}

void Array::set(int64_t index, double value) {
  char *data = bytes.data() + index * getByteSize(dtype);
  switch (dtype) {
  case MLA_DTYPE_BF16:
    return store(data, static_cast<uint16_t>(bf16.encode(value)));
  case MLA_DTYPE_F16:
    return store(data, static_cast<uint16_t>(f16.encode(value)));
  case MLA_DTYPE_F8E4M3FN:
    return store(data, static_cast<uint8_t>(f8E4M3FN.encode(value)));
  case MLA_DTYPE_F32:
    return store(data, static_cast<float>(value));
  case MLA_DTYPE_F64:
    return store(data, value);
  case MLA_DTYPE_I32:
    return store(data, static_cast<int32_t>(value));
  case MLA_DTYPE_U32:
    return store(data, static_cast<uint32_t>(value));
  case MLA_DTYPE_I64:
    return store(data, static_cast<int64_t>(value));
  default:
    return store(data, static_cast<uint64_t>(value));
  }
}

bool mlarun::makeArray(int32_t dtype, const Shape &shape, Array &array,
                       std::string &error) {
  int64_t count = getNumElements(shape);
  // 2^46 bytes is more than any machine has; the allocation below must not
  // throw.
  if (count < 0 || count > int64_t(1) << 43) {
    error = "no array can have the shape " + formatShape(shape);
    return false;
  }
  array.dtype = dtype;
  array.shape = shape;
  array.bytes.assign(count * getByteSize(dtype), 0);
  return true;
}

/// The range of an integer type, as doubles: [lowest, end).
static void getRange(int32_t dtype, double &lowest, double &end) {
  bool isUnsigned = dtype == MLA_DTYPE_U32 || dtype == MLA_DTYPE_U64;
  int bits = 8 * getByteSize(dtype);
  lowest = isUnsigned ? 0 : -std::ldexp(1, bits - 1);
  end = std::ldexp(1, isUnsigned ? bits : bits - 1);
}

bool mlarun::convertArray(const Array &from, int32_t dtype, Array &to,
                          std::string &error) {
  if (from.dtype == dtype) {
    to = from;
    return true;
  }
  if (isFloat(from.dtype) != isFloat(dtype)) {
    error = std::string("expected ") + getTypeName(dtype) + ", got " +
            getTypeName(from.dtype);
    return false;
  }
  if (!makeArray(dtype, from.shape, to, error))
    return false;
  for (int64_t i = 0, e = from.size(); i < e; ++i) {
    double value = from.get(i);
    if (!isFloat(dtype)) {
      double lowest, end;
      getRange(dtype, lowest, end);
      if (value < lowest || value >= end) {
        error = std::string("expected numbers that fit ") + getTypeName(dtype) +
                ", got " + std::to_string(static_cast<long long>(value)) +
                " at flat index " + std::to_string(i);
        return false;
      }
    }
    to.set(i, value);
  }
  return true;
}

std::string mlarun::formatShape(const Shape &shape) {
  std::string text = "[";
  for (size_t i = 0; i < shape.size(); ++i) {
    text += i ? ", " : "";
    text += shape[i] == -1 ? "?" : std::to_string(shape[i]);
  }
  return text + "]";
}

static void format(const Array &array, size_t dimension, int64_t &index,
                   std::string &text) {
  if (dimension == array.shape.size()) {
    char number[64];
    std::snprintf(number, sizeof(number), "%.7g", array.get(index++));
    text += number;
    return;
  }
  text += '[';
  for (int64_t i = 0; i < array.shape[dimension]; ++i) {
    text += i ? ", " : "";
    format(array, dimension + 1, index, text);
  }
  text += ']';
}

std::string mlarun::formatArray(const Array &array) {
  std::string text;
  int64_t index = 0;
  format(array, 0, index, text);
  return text;
}
