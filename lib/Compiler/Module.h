//===- Module.h - A module on its way through the pipeline ------*- C++ -*-===//
//
// Part of the MLA project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef MLA_LIB_COMPILER_MODULE_H
#define MLA_LIB_COMPILER_MODULE_H

#include "mla/Compiler/Compiler.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/IR/OwningOpRef.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/Support/SourceMgr.h"
#include "llvm/Support/raw_ostream.h"

namespace mlir::mla {

/// One module with a context of its own, and everything that was said about it.
class Module {
public:
  /// Parses and verifies.
  static llvm::Expected<std::unique_ptr<Module>>
  parse(const CompileRequest &request);

  ModuleOp get() { return *module; }

  /// The function called `name`, or the only public one if `name` is empty.
  llvm::Expected<func::FuncOp> findEntry(StringRef name);

  /// The name that the text gives to an argument, or "argN".
  std::string getArgumentName(BlockArgument argument) const;

  /// Runs the pipeline for a target up to a stage (empty: all of it).
  llvm::Error lower(StringRef target, StringRef stopAfter = {});

private:
  explicit Module(const CompileRequest &request);

  /// The diagnostics so far; `otherwise` if there are none.
  llvm::Error takeError(const Twine &otherwise);

  MLIRContext context;
  llvm::SourceMgr sourceMgr;
  std::string diagnostics;
  llvm::raw_string_ostream stream{diagnostics};
  SourceMgrDiagnosticHandler handler;
  OwningOpRef<ModuleOp> module;
  /// Names by function; filled from the text.
  llvm::StringMap<SmallVector<std::string>> argumentNames;
};

} // namespace mlir::mla

#endif // MLA_LIB_COMPILER_MODULE_H
