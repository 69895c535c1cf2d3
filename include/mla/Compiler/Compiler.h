//===- Compiler.h - MLIR text in, callable kernel out -----------*- C++ -*-===//
//
// Part of the MLA project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What the C API is made of, for C++ callers that want llvm::Expected in place
// of `char **`. Tensors and element types are the C API's own.
//
//===----------------------------------------------------------------------===//

#ifndef MLA_COMPILER_COMPILER_H
#define MLA_COMPILER_COMPILER_H

#include "mla-c/Compiler.h"

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

#include <memory>
#include <string>

namespace mlir::mla {

/// What to compile, and for whom.
struct CompileRequest {
  /// A module: MLIR assembly or bytecode.
  llvm::StringRef text;
  /// What diagnostics call the text.
  llvm::StringRef name = "<module>";
  /// A name out of getTargets().
  llvm::StringRef target = "cpu";
  /// The function to call; empty: the module's only public one.
  llvm::StringRef entry = {};
};

/// What a kernel expects as one argument.
struct Argument {
  /// As in the module's text, without %; "argN" where the text is bytecode.
  std::string name;
  MlaDType dtype;
  /// A scalar of the function's signature; `shape` is then empty.
  bool isScalar = false;
  /// Static extents, -1 for dynamic ones.
  llvm::SmallVector<int64_t, 6> shape;
  /// Strides that the compiled code relies on, in elements; -1: any.
  llvm::SmallVector<int64_t, 6> strides;
  /// The code relies on row-major order without gaps, at dynamic extents too.
  bool contiguous = false;
  /// Elements between the descriptor's base pointer and the first element.
  int64_t offset = 0;
  /// The kernel may write it.
  bool written = false;
};

/// MLIR's spelling of an element type; "unknown type" for other numbers.
llvm::StringRef getTypeName(int32_t dtype);

/// A compiled function of a module, in memory and ready to be called.
class Kernel {
public:
  /// Errors hold all diagnostics with their locations.
  static llvm::Expected<std::unique_ptr<Kernel>>
  compile(const CompileRequest &request);
  ~Kernel();

  llvm::ArrayRef<Argument> getArguments() const;

  /// Checks the arguments, runs and waits. `numThreads` as in MlaRunOptions.
  /// Safe to call from several threads at once.
  llvm::Error run(llvm::ArrayRef<MlaTensor> arguments,
                  int32_t numThreads = 0) const;

private:
  struct Impl;
  explicit Kernel(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl;
};

/// The text of the module after the stage `stopAfter`; after all if it is
/// empty.
llvm::Expected<std::string> lowerText(const CompileRequest &request,
                                      llvm::StringRef stopAfter);

/// Writes an object file in which `_mlir_ciface_<entry>` can be called. Without
/// an entry, all public functions of the module can.
llvm::Error compileToObject(const CompileRequest &request,
                            llvm::StringRef path);

} // namespace mlir::mla

#endif // MLA_COMPILER_COMPILER_H
