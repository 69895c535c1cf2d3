//===- CallChecks.cpp - Checks of a call's extents and scalars --*- C++ -*-===//
//
// Part of the MLA project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "CallChecks.h"

#include "llvm/ADT/Twine.h"

#include <cmath>
#include <cstring>

using namespace mlir::mla;
using llvm::ArrayRef;
using llvm::Twine;

std::string mlir::mla::nameArgument(size_t index,
                                    ArrayRef<Argument> arguments) {
  return ("argument " + Twine(index) + " ('" + arguments[index].name + "')")
      .str();
}

template <typename T> static T load(const void *data) {
  T value;
  std::memcpy(&value, data, sizeof(T));
  return value;
}

/// An integer scalar; values that int64_t does not have become its greatest.
static int64_t loadInteger(const MlaTensor &tensor) {
  switch (tensor.dtype) {
  case MLA_DTYPE_I32:
    return load<int32_t>(tensor.data);
  case MLA_DTYPE_U32:
    return load<uint32_t>(tensor.data);
  case MLA_DTYPE_U64:
    return std::min<uint64_t>(load<uint64_t>(tensor.data), INT64_MAX);
  default:
    return load<int64_t>(tensor.data);
  }
}

static llvm::Error checkSize(const CallChecks::Size &size,
                             ArrayRef<Argument> arguments,
                             ArrayRef<MlaTensor> tensors) {
  // The first member decides, the others are measured against it.
  const auto &first = size.members.front();
  int64_t value = first.extent.get(tensors) - first.plus;
  for (const auto &member : llvm::drop_begin(size.members)) {
    int64_t given = member.extent.get(tensors) - member.plus;
    if (given >= value && given <= value + member.slack)
      continue;
    // Blame an argument; a constant has no name.
    const auto &blamed = member.extent.argument >= 0 ? member : first;
    const auto &other = member.extent.argument >= 0 ? first : member;
    if (blamed.extent.argument < 0)
      continue;
    int64_t otherExtent = other.extent.get(tensors);
    std::string source = other.extent.argument < 0
                             ? std::string("the function")
                             : nameArgument(other.extent.argument, arguments) +
                                   " with extent " +
                                   Twine(other.extent.dimension).str() + " = " +
                                   Twine(otherExtent).str();
    return llvm::createStringError(
        nameArgument(blamed.extent.argument, arguments) + ": expected extent " +
        Twine(blamed.extent.dimension) + " = " +
        Twine(otherExtent - other.plus + blamed.plus) + " (" + size.what +
        ", as in " + source + "), got " + Twine(blamed.extent.get(tensors)));
  }
  return llvm::Error::success();
}

llvm::Error CallChecks::check(ArrayRef<Argument> arguments,
                              ArrayRef<MlaTensor> tensors) const {
  auto fail = [&](int argument, const Twine &message) {
    return llvm::createStringError(nameArgument(argument, arguments) +
                                   ": expected " + message);
  };
  for (const Minimum &minimum : minima) {
    int64_t extent = minimum.extent.get(tensors);
    if (minimum.extent.argument >= 0 && extent < minimum.minimum)
      return fail(minimum.extent.argument,
                  "extent " + Twine(minimum.extent.dimension) +
                      " >= " + Twine(minimum.minimum) + " (" + minimum.what +
                      "), got " + Twine(extent));
  }
  for (const Size &size : sizes)
    if (llvm::Error error = checkSize(size, arguments, tensors))
      return error;
  for (const Index &index : indices) {
    int64_t value = loadInteger(tensors[index.argument]);
    int64_t end = index.extent.get(tensors);
    if (value < 0 || value >= end)
      return fail(index.argument, Twine(index.what) + " in [0, " + Twine(end) +
                                      "), got " + Twine(value));
  }
  for (int argument : finitePositive) {
    float value = load<float>(tensors[argument].data);
    if (!std::isfinite(value) || value <= 0)
      return fail(argument,
                  "a finite number > 0, got " + Twine(std::to_string(value)));
  }
  for (int argument : positive) {
    int64_t value = loadInteger(tensors[argument]);
    if (value <= 0)
      return fail(argument, "a number > 0, got " + Twine(value));
  }
  return llvm::Error::success();
}
