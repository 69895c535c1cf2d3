//===- Options.h - The command line of mla-run ------------------*- C++ -*-===//
//
// Part of the MLA project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef MLA_TOOLS_MLA_RUN_OPTIONS_H
#define MLA_TOOLS_MLA_RUN_OPTIONS_H

#include "Compare.h"

#include <string>
#include <utility>
#include <vector>

namespace mlarun {

/// NAME=VALUE options, in the order in which they were given.
using Assignments = std::vector<std::pair<std::string, std::string>>;

struct Options {
  std::string file;
  std::string target = "cpu", entry;
  std::string dumpAfter, emitObject;
  Assignments arguments, outputs, expectations;
  std::vector<std::string> printed;
  Tolerance tolerance;
  int repeat = 1, threads = 0;
  bool dump = false, signature = false, time = false, progress = false;
  bool help = false, version = false;
};

/// False, with a message, on what it does not understand.
bool parseOptions(int argc, char **argv, Options &options, std::string &error);

extern const char *const helpText;

} // namespace mlarun

#endif // MLA_TOOLS_MLA_RUN_OPTIONS_H
