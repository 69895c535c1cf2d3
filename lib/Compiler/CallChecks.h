//===- CallChecks.h - What an op demands of a call's arguments --*- C++ -*-===//
//
// Part of the MLA project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Some rules of an op can only be checked when its operands are there: extents
// that are dynamic in the type but have to agree, and the values of scalars.
// Where such an operand is an argument of the entry function the rule becomes
// plain data here, and every call checks it before anything runs.
//
//===----------------------------------------------------------------------===//

#ifndef MLA_LIB_COMPILER_CALLCHECKS_H
#define MLA_LIB_COMPILER_CALLCHECKS_H

#include "mla/Compiler/Compiler.h"

#include <optional>

namespace mlir::func {
class FuncOp;
} // namespace mlir::func

namespace mlir::mla {

/// An extent of an argument, or one known from an operand's type.
struct Extent {
  /// Index of the argument; -1: `constant` is the extent.
  int argument = -1;
  unsigned dimension = 0;
  int64_t constant = 0;

  int64_t get(llvm::ArrayRef<MlaTensor> tensors) const {
    return argument < 0 ? constant : tensors[argument].shape[dimension];
  }
};

struct CallChecks {
  /// Extents that give one size of the problem, such as the sequences.
  struct Size {
    struct Member {
      Extent extent;
      /// The extent is the size plus this, or up to `slack` more.
      int64_t plus = 0, slack = 0;
    };
    const char *what;
    llvm::SmallVector<Member> members;
  };
  struct Minimum {
    Extent extent;
    int64_t minimum;
    const char *what;
  };
  /// An integer argument that indexes into an extent.
  struct Index {
    int argument;
    Extent extent;
    const char *what;
  };

  llvm::SmallVector<Size> sizes;
  llvm::SmallVector<Minimum> minima;
  llvm::SmallVector<Index> indices;
  /// Arguments that are floats, finite and > 0.
  llvm::SmallVector<int> finitePositive;
  /// Arguments that are integers > 0.
  llvm::SmallVector<int> positive;

  /// Checks a call whose arguments have the right types. The message names the
  /// argument, what was expected and what was given.
  llvm::Error check(llvm::ArrayRef<Argument> arguments,
                    llvm::ArrayRef<MlaTensor> tensors) const;
};

/// The rules of all ops of the entry function, before the pipeline runs.
CallChecks collectCallChecks(func::FuncOp entry);

/// "argument 3 ('v')", the way in which messages name one.
std::string nameArgument(size_t index, llvm::ArrayRef<Argument> arguments);

} // namespace mlir::mla

#endif // MLA_LIB_COMPILER_CALLCHECKS_H
