//===- KernelAttrs.h - What a launch has to know of a kernel ----*- C++ -*-===//
//
// Part of the MLA project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Attributes of a kernel that travel with its code to the launch.
//
//===----------------------------------------------------------------------===//

#ifndef MLA_CONVERSION_KERNELATTRS_H
#define MLA_CONVERSION_KERNELATTRS_H

#include "llvm/ADT/StringRef.h"

#include <cstdint>

namespace mlir::mla {
/// Bytes of dynamic shared memory of a block.
inline constexpr llvm::StringLiteral kSharedBytes = "mla.shared_bytes";
/// Bytes of device memory that a launch has to itself; absent: none. Their
/// address is the kernel's last parameter.
inline constexpr llvm::StringLiteral kSlotBytes = "mla.slot_bytes";
/// The symbol of a kernel's dynamic shared memory.
inline constexpr llvm::StringLiteral kSharedName = "mla_shared";
/// What of shared memory a block of sm_90 may have.
inline constexpr int64_t kMaxSharedBytes = 232448;
} // namespace mlir::mla

#endif // MLA_CONVERSION_KERNELATTRS_H
