//===- Status.h - Success, or a message of any length -----------*- C++ -*-===//
//
// Part of the MLA project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef MLA_LIB_RUNTIME_STATUS_H
#define MLA_LIB_RUNTIME_STATUS_H

#include <string>

namespace mla::runtime {

/// What the device functions return. Success costs no allocation.
class [[nodiscard]] Status {
public:
  Status() = default;
  /// A failure with printf-style text.
  __attribute__((format(printf, 1, 2))) static Status error(const char *format,
                                                            ...);

  bool failed() const { return !text.empty(); }
  const std::string &message() const { return text; }

  /// The C API's form: 0, or -1 with a copy of the message in *error, or with
  /// the message pending (Error.h) where `error` is null.
  int publish(char **error) const;

private:
  std::string text;
};

} // namespace mla::runtime

#endif // MLA_LIB_RUNTIME_STATUS_H
