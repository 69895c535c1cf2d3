//===- Error.cpp - One pending error message a thread -----------*- C++ -*-===//
//
// Part of the MLA project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Error.h"

#include "mla-c/Runtime.h"

#include <cstdarg>
#include <cstdio>

using namespace mla::runtime;

static thread_local ErrorText pending;

void mla::runtime::setError(const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  std::vsnprintf(pending.text, ErrorText::size, format, arguments);
  va_end(arguments);
}

bool mla::runtime::hasError() { return pending.isSet(); }

void mla::runtime::moveErrorTo(ErrorText &error) {
  if (!pending.isSet())
    return;
  error = pending;
  pending = ErrorText();
}

const char *mlaRuntimeTakeError() {
  static thread_local ErrorText taken;
  if (!pending.isSet())
    return nullptr;
  moveErrorTo(taken);
  return taken.text;
}
