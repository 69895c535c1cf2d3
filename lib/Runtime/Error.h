//===- Error.h - One pending error message a thread -------------*- C++ -*-===//
//
// Part of the MLA project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef MLA_LIB_RUNTIME_ERROR_H
#define MLA_LIB_RUNTIME_ERROR_H

namespace mla::runtime {

/// A fixed buffer: reporting that memory ran out must not need any.
struct ErrorText {
  static constexpr int size = 1024;
  char text[size] = {0};
  bool isSet() const { return text[0] != 0; }
};

/// Makes printf-style text this thread's pending error.
__attribute__((format(printf, 1, 2))) void setError(const char *format, ...);

/// Whether this thread has a pending error.
bool hasError();

/// Moves this thread's pending error, if any, into `error`.
void moveErrorTo(ErrorText &error);

} // namespace mla::runtime

#endif // MLA_LIB_RUNTIME_ERROR_H
