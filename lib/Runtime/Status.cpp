//===- Status.cpp - Success, or a message of any length ---------*- C++ -*-===//
//
// Part of the MLA project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Status.h"

#include "Error.h"
#include "mla-c/Runtime.h"

#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <cstring>

using namespace mla::runtime;

Status Status::error(const char *format, ...) {
  va_list arguments, again;
  va_start(arguments, format);
  va_copy(again, arguments);
  int length = std::vsnprintf(nullptr, 0, format, arguments);
  va_end(arguments);
  Status status;
  status.text.resize(length > 0 ? length : 0);
  std::vsnprintf(status.text.data(), status.text.size() + 1, format, again);
  va_end(again);
  return status;
}

int Status::publish(char **error) const {
  if (!failed())
    return 0;
  if (error)
    *error = strdup(text.c_str());
  else if (!hasError())
    setError("%s", text.c_str());
  return -1;
}

void mlaRuntimeFreeString(char *string) { std::free(string); }
