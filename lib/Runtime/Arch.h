//===- Arch.h - What a kernel image runs on ---------------------*- C++ -*-===//
//
// Part of the MLA project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef MLA_LIB_RUNTIME_ARCH_H
#define MLA_LIB_RUNTIME_ARCH_H

#include "Status.h"

namespace mla::runtime::cuda {

/// An architecture as ptxas names it: sm_80, sm_90a, sm_100f.
struct Arch {
  /// 10 * major + minor; 0: unknown.
  int number = 0;
  /// 'a': this very capability; 'f': later ones of the family; 0: none.
  char suffix = 0;

  static Status parse(const char *text, Arch &arch);

  /// Whether machine code (or PTX, which the driver compiles for its device)
  /// for this architecture runs on a device.
  bool runsOn(int device, bool isPtx) const;
};

} // namespace mla::runtime::cuda

#endif // MLA_LIB_RUNTIME_ARCH_H
