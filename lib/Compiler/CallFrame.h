//===- CallFrame.h - A call's arguments as compiled code wants --*- C++ -*-===//
//
// Part of the MLA project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef MLA_LIB_COMPILER_CALLFRAME_H
#define MLA_LIB_COMPILER_CALLFRAME_H

#include "mla/Compiler/Compiler.h"

namespace mlir::mla {

/// The memref descriptors of one call, and the pointers that the packed entry
/// point takes: to a descriptor for a tensor, to the value for a scalar.
class CallFrame {
public:
  /// Checks each argument against what the kernel expects of it, and fills the
  /// frame. `arguments` and `tensors` must outlive it.
  llvm::Error bind(llvm::ArrayRef<Argument> arguments,
                   llvm::ArrayRef<MlaTensor> tensors);

  void **getPointers() { return pointers.data(); }

private:
  /// All descriptors, one after the other: allocated and aligned pointer,
  /// offset, extents, strides.
  llvm::SmallVector<int64_t, 160> words;
  llvm::SmallVector<void *, 16> pointers;
};

} // namespace mlir::mla

#endif // MLA_LIB_COMPILER_CALLFRAME_H
