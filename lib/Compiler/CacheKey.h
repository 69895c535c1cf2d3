//===- CacheKey.h - What decides which code a module becomes ----*- C++ -*-===//
//
// Part of the MLA project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef MLA_LIB_COMPILER_CACHEKEY_H
#define MLA_LIB_COMPILER_CACHEKEY_H

#include "mla/Compiler/Compiler.h"

#include <optional>

namespace llvm {
class TargetMachine;
} // namespace llvm

namespace mlir::mla {

/// A hash, as 64 hexadecimal digits, of all that the object file of `entry`
/// depends on: the module's bytes, the entry's name, the target with its CPU
/// and features, and the compilers: this very build of ours (by the linker's
/// build id, so that one that was built anew starts anew), of LLVM and of MLIR,
/// and for a GPU the path and the version of ptxas, or that there is none.
///
/// None if that cannot be told: a library has no build id, or ptxas does not
/// run.
std::optional<std::string> getCacheKey(const CompileRequest &request,
                                       llvm::StringRef entry,
                                       const llvm::TargetMachine &machine);

} // namespace mlir::mla

#endif // MLA_LIB_COMPILER_CACHEKEY_H
