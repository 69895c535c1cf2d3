//===- CallFrame.cpp - Checks and packs a call's arguments ------*- C++ -*-===//
//
// Part of the MLA project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "CallFrame.h"

#include "CallChecks.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/Twine.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir::mla;
using llvm::ArrayRef;
using llvm::Twine;

llvm::StringRef mlir::mla::getTypeName(int32_t dtype) {
  switch (dtype) {
  case MLA_DTYPE_BF16:
    return "bf16";
  case MLA_DTYPE_F16:
    return "f16";
  case MLA_DTYPE_F32:
    return "f32";
  case MLA_DTYPE_F64:
    return "f64";
  case MLA_DTYPE_I32:
    return "i32";
  case MLA_DTYPE_U32:
    return "ui32";
  case MLA_DTYPE_I64:
    return "i64";
  case MLA_DTYPE_U64:
    return "ui64";
  case MLA_DTYPE_F8E4M3FN:
    return "f8E4M3FN";
  }
  return "unknown type";
}

static uint64_t getByteSize(int32_t dtype) {
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

/// "[?, 128, 128]"
static std::string formatList(ArrayRef<int64_t> numbers, bool isPattern) {
  std::string text;
  llvm::raw_string_ostream os(text);
  os << '[';
  llvm::interleaveComma(numbers, os, [&](int64_t number) {
    if (isPattern && number == -1)
      os << '?';
    else
      os << number;
  });
  os << ']';
  return text;
}

static std::string formatType(int32_t dtype, bool isScalar,
                              ArrayRef<int64_t> shape, bool isPattern) {
  if (isScalar)
    return (getTypeName(dtype) + " scalar").str();
  return (getTypeName(dtype) + " tensor of shape " +
          formatList(shape, isPattern))
      .str();
}

namespace {

/// One tensor of a call and what the kernel expects of it.
class Binder {
public:
  Binder(size_t index, ArrayRef<Argument> arguments, const MlaTensor &tensor)
      : index(index), arguments(arguments), argument(arguments[index]),
        tensor(tensor), shape(tensor.shape, std::max(tensor.rank, 0)) {}

  llvm::Error checkType();
  llvm::Error checkData();
  /// The strides with those that do not matter replaced by what the compiled
  /// code may rely on.
  llvm::Error getStrides(llvm::SmallVectorImpl<int64_t> &strides);

private:
  llvm::Error fail(const Twine &expected, const Twine &given) {
    return llvm::createStringError(nameArgument(index, arguments) +
                                   ": expected " + expected + ", got " + given);
  }

  size_t index;
  ArrayRef<Argument> arguments;
  const Argument &argument;
  const MlaTensor &tensor;
  ArrayRef<int64_t> shape;
};

} // namespace

llvm::Error Binder::checkType() {
  // The text of what is expected is made when it is needed: calls are frequent.
  bool isShaped = tensor.rank == 0 || (tensor.rank > 0 && tensor.shape);
  bool matches = isShaped && tensor.dtype == argument.dtype &&
                 static_cast<size_t>(tensor.rank) == argument.shape.size();
  for (size_t i = 0; matches && i < shape.size(); ++i)
    matches =
        argument.shape[i] < 0 ? shape[i] >= 0 : shape[i] == argument.shape[i];
  if (matches)
    return llvm::Error::success();
  std::string expected = formatType(argument.dtype, argument.isScalar,
                                    argument.shape, /*isPattern=*/true);
  if (tensor.rank < 0)
    return fail(expected, "rank " + Twine(tensor.rank));
  if (!isShaped)
    return fail(expected,
                "rank " + Twine(tensor.rank) + " with a null pointer as shape");
  return fail(expected, formatType(tensor.dtype, tensor.rank == 0, shape,
                                   /*isPattern=*/false));
}

llvm::Error Binder::checkData() {
  if (!tensor.data) {
    if (!argument.isScalar && llvm::is_contained(shape, 0))
      return llvm::Error::success();
    return fail("data", "a null pointer");
  }
  // Scalars are copied from wherever they are.
  uint64_t size = getByteSize(argument.dtype);
  uint64_t address = reinterpret_cast<uintptr_t>(tensor.data);
  if (!argument.isScalar && address % size != 0)
    return fail("an address that is a multiple of " + Twine(size),
                "0x" + Twine::utohexstr(address));
  return llvm::Error::success();
}

llvm::Error Binder::getStrides(llvm::SmallVectorImpl<int64_t> &strides) {
  // What row-major order without gaps gives: the default, and the value for
  // dimensions in which nothing ever moves.
  strides.resize(shape.size());
  int64_t next = 1;
  for (size_t i = shape.size(); i-- > 0;) {
    strides[i] = next;
    next *= std::max<int64_t>(shape[i], 1);
  }
  llvm::SmallVector<int64_t, 6> given(strides.begin(), strides.end());
  if (tensor.strides)
    given.assign(tensor.strides, tensor.strides + shape.size());
  bool isEmpty = llvm::is_contained(shape, 0);
  for (size_t i = 0; i < shape.size(); ++i) {
    int64_t required = argument.contiguous ? strides[i] : argument.strides[i];
    if (isEmpty || shape[i] <= 1) {
      strides[i] = required < 0 ? strides[i] : required;
      continue;
    }
    if (required >= 0 && given[i] != required)
      return fail("stride " + Twine(required) + " in dimension " + Twine(i),
                  "strides " + formatList(given, /*isPattern=*/false));
    if (argument.written && given[i] == 0)
      return fail("elements that do not overlap, since it is written",
                  "strides " + formatList(given, /*isPattern=*/false));
    strides[i] = given[i];
  }
  return llvm::Error::success();
}

llvm::Error CallFrame::bind(ArrayRef<Argument> arguments,
                            ArrayRef<MlaTensor> tensors) {
  if (tensors.size() != arguments.size())
    return llvm::createStringError("expected " + Twine(arguments.size()) +
                                   " arguments, got " + Twine(tensors.size()));
  // Pointers into `words` stay valid: it is not resized afterwards.
  size_t size = 0;
  for (const Argument &argument : arguments)
    size += 3 + 2 * argument.shape.size();
  words.resize(size);
  int64_t *word = words.data();
  for (auto [index, tensor] : llvm::enumerate(tensors)) {
    const Argument &argument = arguments[index];
    Binder binder(index, arguments, tensor);
    if (llvm::Error error = binder.checkType())
      return error;
    if (llvm::Error error = binder.checkData())
      return error;
    if (argument.isScalar) {
      pointers.push_back(tensor.data);
      continue;
    }
    llvm::SmallVector<int64_t, 6> strides;
    if (llvm::Error error = binder.getStrides(strides))
      return error;
    pointers.push_back(word);
    int64_t base =
        static_cast<int64_t>(reinterpret_cast<uintptr_t>(tensor.data) -
                             argument.offset * getByteSize(argument.dtype));
    *word++ = base;
    *word++ = base;
    *word++ = argument.offset;
    word = std::copy_n(tensor.shape, strides.size(), word);
    word = std::copy_n(strides.begin(), strides.size(), word);
  }
  return llvm::Error::success();
}
