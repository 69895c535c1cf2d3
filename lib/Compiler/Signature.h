//===- Signature.h - What an entry function takes ---------------*- C++ -*-===//
//
// Part of the MLA project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef MLA_LIB_COMPILER_SIGNATURE_H
#define MLA_LIB_COMPILER_SIGNATURE_H

#include "Module.h"

namespace mlir::mla {

/// An entry function's parameters, read before the pipeline runs. Afterwards
/// all that is left of a tensor type is a descriptor.
struct Signature {
  /// The function's own arguments.
  SmallVector<Argument> arguments;
  /// Its results that do not live in one of its arguments: the pipeline makes
  /// them arguments at the end.
  SmallVector<Argument> results;
};

/// Fails on types that cannot be passed, naming the argument or result.
llvm::Expected<Signature> getSignature(Module &module, func::FuncOp entry);

/// Checks the lowered module against the signature: one parameter for each
/// argument, nothing returned.
llvm::Error checkLoweredEntry(ModuleOp module, StringRef entry,
                              const Signature &signature);

} // namespace mlir::mla

#endif // MLA_LIB_COMPILER_SIGNATURE_H
