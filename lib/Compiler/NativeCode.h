//===- NativeCode.h - From the LLVM dialect to machine code -----*- C++ -*-===//
//
// Part of the MLA project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A kernel in memory is an object file that was loaded: what runs just in time
// and what is written to disk comes out of the same steps.
//
//===----------------------------------------------------------------------===//

#ifndef MLA_LIB_COMPILER_NATIVECODE_H
#define MLA_LIB_COMPILER_NATIVECODE_H

#include "mlir/IR/BuiltinOps.h"
#include "mlir/Support/LLVM.h"
#include "llvm/ExecutionEngine/Orc/LLJIT.h"
#include "llvm/Support/Error.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Target/TargetMachine.h"

#include <memory>

namespace mlir::mla {

struct TargetInfo;

/// The machine that a target's name stands for.
llvm::Expected<std::unique_ptr<llvm::TargetMachine>>
createTargetMachine(const TargetInfo &target);

/// Fails, naming the features, if code for `machine` needs what this CPU lacks.
llvm::Error checkRunsHere(const llvm::TargetMachine &machine,
                          StringRef targetName);

/// Translates, optimises and emits an object file whose visible symbols are the
/// functions `_mlir_ciface_<name>`. If `packed` is not empty, it is `packed`
/// alone, a function `void(void **)` that calls `_mlir_ciface_<entry>` with
/// each pointer, or with the scalar that it points at where the parameter is
/// one.
llvm::Expected<std::unique_ptr<llvm::MemoryBuffer>>
emitObject(ModuleOp module, llvm::TargetMachine &machine, StringRef entry = {},
           StringRef packed = {});

/// Machine code in this process.
class LoadedCode {
public:
  using PackedFunction = void (*)(void **arguments);

  /// Links an object file against the runtime and this process, and finds the
  /// function `packed` in it.
  static llvm::Expected<std::unique_ptr<LoadedCode>>
  load(std::unique_ptr<llvm::MemoryBuffer> object, StringRef packed);

  void call(void **arguments) const { function(arguments); }

private:
  std::unique_ptr<llvm::orc::LLJIT> jit;
  PackedFunction function = nullptr;
};

} // namespace mlir::mla

#endif // MLA_LIB_COMPILER_NATIVECODE_H
