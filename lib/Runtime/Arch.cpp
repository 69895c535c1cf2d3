//===- Arch.cpp - What a kernel image runs on -------------------*- C++ -*-===//
//
// Part of the MLA project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Arch.h"

#include <cstdlib>
#include <cstring>

using namespace mla::runtime;
using namespace mla::runtime::cuda;

Status Arch::parse(const char *text, Arch &arch) {
  const char *digits = nullptr;
  for (const char *prefix : {"sm_", "compute_"})
    if (std::strncmp(text, prefix, std::strlen(prefix)) == 0)
      digits = text + std::strlen(prefix);
  char *end = nullptr;
  long number = digits ? std::strtol(digits, &end, 10) : 0;
  bool valid = number >= 10 && number < 10000;
  if (valid && (*end == 'a' || *end == 'f'))
    arch.suffix = *end++;
  if (!valid || *end != 0)
    return Status::error("arch: expected a name like 'sm_90a', got '%s'", text);
  arch.number = static_cast<int>(number);
  return Status();
}

bool Arch::runsOn(int device, bool isPtx) const {
  if (number == 0)
    return true;
  if (suffix == 'a')
    return device == number;
  // Within a major version machine code runs on later minor ones; PTX without
  // a suffix on everything later.
  bool sameMajor = device / 10 == number / 10;
  return device >= number && (sameMajor || (isPtx && suffix == 0));
}
