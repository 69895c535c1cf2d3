//===- FloatBuiltins.h - Conversions that code generation calls -*- C++ -*-===//
//
// Part of the MLA project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef MLA_LIB_COMPILER_FLOATBUILTINS_H
#define MLA_LIB_COMPILER_FLOATBUILTINS_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"

#include <cstdint>
#include <utility>

namespace mlir::mla {

/// Functions of the compiler's run-time library by which LLVM converts f16 and
/// bf16 on CPUs without the instructions, for code in this process: that
/// library need not be in it, and older ones lack bf16.
llvm::ArrayRef<std::pair<llvm::StringRef, void *>> getFloatBuiltins();

// The conversions themselves, on the bits.
float extendF16(uint16_t bits);
uint16_t truncateToF16(float value);
uint16_t truncateToF16(double value);
uint16_t truncateToBF16(float value);
uint16_t truncateToBF16(double value);

} // namespace mlir::mla

#endif // MLA_LIB_COMPILER_FLOATBUILTINS_H
