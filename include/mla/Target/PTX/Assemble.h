//===- Assemble.h - PTX to machine code with ptxas --------------*- C++ -*-===//
//
// Part of the MLA project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// ptxas exits with status 0 when it had to serialise matrix instructions or to
// spill registers, and only says so among its messages. A kernel is then right
// and slow. So we run it ourselves, and read what it says.
//
//===----------------------------------------------------------------------===//

#ifndef MLA_TARGET_PTX_ASSEMBLE_H
#define MLA_TARGET_PTX_ASSEMBLE_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include "llvm/Support/raw_ostream.h"

#include <cstdint>
#include <string>
#include <vector>

namespace mlir::mla::ptx {

/// What ptxas reports of one kernel, or of one function that was not inlined
/// (which has no registers or shared memory of its own).
struct KernelFacts {
  std::string name;
  bool isEntry = false;
  int64_t registers = 0;
  int64_t barriers = 0;
  /// Bytes of shared memory that the PTX declares; what a launch adds is not
  /// known here.
  int64_t sharedBytes = 0;
  int64_t stackBytes = 0;
  int64_t spillStoreBytes = 0;
  int64_t spillLoadBytes = 0;
};

/// A message that is not a fact.
struct Message {
  enum class Kind : uint8_t {
    /// An advisory about how instructions had to be arranged: (C7510) and its
    /// neighbours.
    Advisory,
    Warning,
    Error,
    Other
  };
  Kind kind;
  /// "C7510", where ptxas gives one.
  std::string code;
  std::string text;
  /// A line of the PTX, where ptxas gives one.
  int64_t line = 0;
};

struct PtxasReport {
  std::vector<KernelFacts> kernels;
  std::vector<Message> messages;

  /// Whatever makes a kernel slower than its source says, a sentence each:
  /// advisories, warnings, spills, local memory.
  std::vector<std::string> getProblems() const;

  /// A line for each kernel, then one for each problem.
  void print(llvm::raw_ostream &os) const;
};

/// Reads the output of ptxas -v.
PtxasReport parsePtxasOutput(llvm::StringRef output);

struct AssembleOptions {
  std::string chip = "sm_90a";
  int optLevel = 3;
  /// Where to look last: a folder that has ptxas in it or in its bin/, such as
  /// that of the Python package nvidia-cuda-nvcc.
  std::vector<std::string> folders;
  /// What to call the PTX in messages.
  std::string name = "<ptx>";
  std::vector<std::string> arguments;
};

struct Assembled {
  std::string cubin;
  PtxasReport report;
  /// All that ptxas printed.
  std::string output;
};

/// The path of ptxas: $MLA_PTXAS if that is set, else the first on PATH, in
/// $CUDA_HOME/bin, in `folders`. The error says where it looked.
llvm::Expected<std::string> findPtxas(llvm::ArrayRef<std::string> folders = {});

/// What code that was assembled now would depend on: the path of ptxas and what
/// `ptxas --version` says, or "no ptxas". Errors: it cannot be run.
llvm::Expected<std::string> describePtxas();

/// Assembles PTX. Errors: no ptxas, it cannot be run, or it refuses the PTX;
/// then its output is in the error.
llvm::Expected<Assembled> assemble(llvm::StringRef ptx,
                                   const AssembleOptions &options = {});

} // namespace mlir::mla::ptx

#endif // MLA_TARGET_PTX_ASSEMBLE_H
