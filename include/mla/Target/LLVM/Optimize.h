//===- Optimize.h - LLVM's optimisations ------------------------*- C++ -*-===//
//
// Part of the MLA project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef MLA_TARGET_LLVM_OPTIMIZE_H
#define MLA_TARGET_LLVM_OPTIMIZE_H

namespace llvm {
class Module;
class TargetMachine;
} // namespace llvm

namespace mlir::mla {

/// Runs LLVM's default pipeline of level 3 for a machine. `packScalars`: scalar
/// operations side by side become vector operations (SLP), which is good for
/// the host sides of calls and bad for a kernel whose registers are counted.
void optimize(llvm::Module &module, llvm::TargetMachine &machine,
              bool packScalars);

} // namespace mlir::mla

#endif // MLA_TARGET_LLVM_OPTIMIZE_H
