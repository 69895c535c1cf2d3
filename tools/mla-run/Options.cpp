//===- Options.cpp - The command line of mla-run ----------------*- C++ -*-===//
//
// Part of the MLA project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Options.h"

#include <cerrno>
#include <climits>
#include <cmath>
#include <cstdlib>

using namespace mlarun;

const char *const mlarun::helpText =
    R"(usage: mla-run FILE [options]

Compiles a module (MLIR assembly or bytecode, - for standard input), calls one of
its functions, and writes or checks what comes out.

  mla-run prefill.mlir --arg q=q.npy --arg scale=0.07 --arg layer_idx=0 ... \
      --arg output=zeros:16x128x128 --expect output=expected.npy --tolerance 2e-2

what to run
  --entry NAME         the function; not needed if only one is public
  --target NAME        cpu (this machine, the default), cpu-avx2, cpu-avx512,
                       cpu-generic; sm_90a (on device 0)
  --arg NAME=VALUE     the argument %NAME of the function, or argN by number. VALUE:
                         file.npy           row-major; bf16 as '<u2' or '|V2'
                         0.07  -1           a number, for a scalar
                         [[1, 2], [3, 4]]   a list
                         zeros:16x128x128   also ones, nan, iota (0, 1, 2, ...)
                                            and normal:SHAPE[:SEED]; no shape
                                            is needed if all extents are static
                       Floats are rounded to the argument's type.
  --threads N          threads to use; default MLA_NUM_THREADS, else all cores

An argument that the function writes need not be given: it starts as zeros if its
extents are static or --expect tells them.

what to do with the results
  --out NAME=FILE.npy  writes an argument after the call; bf16 as '|V2'
  --print NAME         prints one
  --expect NAME=VALUE  compares one with VALUE, written as for --arg; floats of
                       any width can be expected of any other
  --tolerance T        how far off it may be:
                       |got - expected| <= T + T * |expected|; default 0
  --tolerance A,R      |got - expected| <= A + R * |expected|
                       NaN only equals NaN, and an infinity only itself.

what to see
  --signature          prints the arguments of the function and stops
  --dump-after STAGE   prints the module after a stage of the pipeline (schedule,
                       tile, ..., llvm; mla-opt --help lists them) and stops
  --emit-object FILE   writes an object file for the target, a GPU too, and stops;
                       it needs libMLARuntime, and _mlir_ciface_<function> is
                       called (docs/CAPI.md)
  --time               prints how long compiling and running took; compiling
                       anew with MLA_CACHE_DIR=off in the environment
  --repeat N           calls N times, on the same memory
  --progress           reports progress on standard error even if that is no
                       terminal
  --version, --help

exit status: 0, or 1 if an expectation is not met, or 2 on an error.
)";

static bool parseInt(const std::string &text, int minimum, int &value) {
  char *end = nullptr;
  errno = 0;
  long number = std::strtol(text.c_str(), &end, 10);
  if (end == text.c_str() || *end || errno || number < minimum ||
      number > INT_MAX)
    return false;
  value = static_cast<int>(number);
  return true;
}

static bool parseTolerance(const std::string &text, Tolerance &tolerance) {
  char *end = nullptr;
  tolerance.absolute = tolerance.relative = std::strtod(text.c_str(), &end);
  if (end == text.c_str())
    return false;
  if (*end == ',') {
    const char *second = end + 1;
    tolerance.relative = std::strtod(second, &end);
    if (end == second)
      return false;
  }
  return *end == 0 && tolerance.absolute >= 0 && tolerance.relative >= 0;
}

static bool parseAssignment(const std::string &text, Assignments &list) {
  size_t equals = text.find('=');
  if (equals == std::string::npos || equals == 0)
    return false;
  std::string name = text.substr(0, equals);
  if (name[0] == '%')
    name.erase(0, 1);
  list.push_back({name, text.substr(equals + 1)});
  return true;
}

/// Options that stand alone; false if `name` is none of them.
static bool setFlag(const std::string &name, Options &options) {
  if (name == "--signature")
    return options.signature = true;
  if (name == "--time")
    return options.time = true;
  if (name == "--progress")
    return options.progress = true;
  if (name == "--version")
    return options.version = true;
  if (name == "--help" || name == "-h")
    return options.help = true;
  return false;
}

/// Stores an option's value. `expected` says what it should look like; null if
/// there is no such option.
static bool setValue(const std::string &name, const std::string &value,
                     Options &options, const char *&expected) {
  expected = "a value";
  if (name == "--entry")
    return !(options.entry = value).empty();
  if (name == "--target")
    return !(options.target = value).empty();
  if (name == "--dump-after")
    return options.dump = !(options.dumpAfter = value).empty();
  if (name == "--emit-object")
    return !(options.emitObject = value).empty();
  if (name == "--print") {
    options.printed.push_back(value);
    return !value.empty();
  }
  expected = "NAME=VALUE";
  if (name == "--arg")
    return parseAssignment(value, options.arguments);
  if (name == "--expect")
    return parseAssignment(value, options.expectations);
  expected = "NAME=FILE.npy";
  if (name == "--out")
    return parseAssignment(value, options.outputs);
  expected = "a number >= 0, or two with a comma between them";
  if (name == "--tolerance")
    return parseTolerance(value, options.tolerance);
  expected = "an integer > 0";
  if (name == "--repeat")
    return parseInt(value, 1, options.repeat);
  expected = "an integer >= 0";
  if (name == "--threads")
    return parseInt(value, 0, options.threads);
  expected = nullptr;
  return false;
}

bool mlarun::parseOptions(int argc, char **argv, Options &options,
                          std::string &error) {
  for (int i = 1; i < argc; ++i) {
    std::string name = argv[i];
    if (name.size() < 2 || name[0] != '-') {
      if (!options.file.empty()) {
        error =
            "expected one file, got '" + options.file + "' and '" + name + "'";
        return false;
      }
      options.file = name;
      continue;
    }
    if (setFlag(name, options))
      continue;
    // Both `--option value` and `--option=value`.
    std::string value;
    size_t equals = name.find('=');
    bool hasValue = equals != std::string::npos;
    if (hasValue) {
      value = name.substr(equals + 1);
      name.resize(equals);
    } else if (i + 1 < argc) {
      value = argv[i + 1];
    }
    const char *expected = nullptr;
    bool isGood = setValue(name, value, options, expected);
    if (!expected) {
      error = "unknown option '" + name + "'; see mla-run --help";
      return false;
    }
    if (!isGood) {
      error = name + ": expected " + expected +
              (hasValue || i + 1 < argc ? ", got '" + value + "'" : "");
      return false;
    }
    if (!hasValue)
      ++i;
  }
  if (!options.help && !options.version && options.file.empty()) {
    error = "expected a file; see mla-run --help";
    return false;
  }
  return true;
}
