//===- Options.h - Structures that tell their size --------------*- C++ -*-===//
//
// Part of the MLA project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef MLA_LIB_RUNTIME_OPTIONS_H
#define MLA_LIB_RUNTIME_OPTIONS_H

#include "Status.h"

#include <algorithm>
#include <cstring>

namespace mla::runtime {

/// Copies a structure of the C API. A caller compiled against an older header
/// gives fewer fields: the others are 0. Null: all are.
template <typename T>
Status readOptions(const char *what, const T *given, T &options) {
  options = T();
  if (!given)
    return Status();
  if (given->size < sizeof(size_t) || given->size > (size_t(1) << 16))
    return Status::error("%s.size: expected %zu, got %zu", what, sizeof(T),
                         given->size);
  std::memcpy(&options, given, std::min(given->size, sizeof(T)));
  return Status();
}

} // namespace mla::runtime

#endif // MLA_LIB_RUNTIME_OPTIONS_H
