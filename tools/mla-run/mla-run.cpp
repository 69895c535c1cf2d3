//===- mla-run.cpp - Compiles a module and calls a function -----*- C++ -*-===//
//
// Part of the MLA project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A client of the C API like any other: no MLIR in here.
//
//===----------------------------------------------------------------------===//

#include "DeviceMemory.h"
#include "Npy.h"
#include "Options.h"
#include "Values.h"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <iostream>
#include <iterator>
#include <memory>
#include <unistd.h>

using namespace mlarun;

namespace {

enum ExitCode { Success = 0, Mismatch = 1, Failure = 2 };

/// A message of the C API's, freed with it.
class Message {
public:
  ~Message() { mlaFreeString(text); }
  char **operator&() { return &text; }
  std::string str() const { return text ? text : "no message"; }

private:
  char *text = nullptr;
};

using Clock = std::chrono::steady_clock;

double getMilliseconds(Clock::time_point since) {
  return std::chrono::duration<double, std::milli>(Clock::now() - since)
      .count();
}

/// One line on standard error that is rewritten in place on a terminal.
class Progress {
public:
  explicit Progress(bool always)
      : isTerminal(isatty(STDERR_FILENO)), isOn(always || isTerminal) {}
  ~Progress() { clear(); }

  void report(const std::string &text) {
    if (!isOn)
      return;
    std::fprintf(stderr, isTerminal ? "\r\033[K%s" : "%s\n", text.c_str());
    isShown = isTerminal;
    last = Clock::now();
  }
  /// True at most ten times a second: printing must not cost what it reports
  /// on.
  bool isDue() const { return isOn && getMilliseconds(last) > 100; }
  void clear() {
    if (isShown)
      std::fprintf(stderr, "\r\033[K");
    isShown = false;
  }

private:
  bool isTerminal, isOn, isShown = false;
  Clock::time_point last;
};

class Runner {
public:
  explicit Runner(const Options &options)
      : options(options), progress(options.progress) {}
  ~Runner() { mlaKernelDestroy(kernel); }

  int run();

private:
  int fail(const std::string &message) {
    progress.clear();
    std::fprintf(stderr, "mla-run: error: %s\n", message.c_str());
    return Failure;
  }

  bool readText();
  int dump();
  int emitObject();
  int compile();
  int printSignature();
  int bindArguments();
  int call();
  int writeResults();
  int checkResults();

  /// The number of the argument with a name, -1 after a message if there is
  /// none.
  int find(const std::string &name);
  std::string describe(size_t index) const;
  MlaCompileOptions getCompileOptions() const;

  const Options &options;
  Progress progress;
  std::string text;
  MlaKernel *kernel = nullptr;
  std::vector<MlaArgument> signature;
  std::vector<Array> arrays;
  double compileTime = 0;
};

} // namespace

bool Runner::readText() {
  if (options.file == "-") {
    text.assign(std::istreambuf_iterator<char>(std::cin), {});
    return true;
  }
  std::ifstream file(options.file, std::ios::binary);
  if (!file) {
    fail("cannot read " + options.file + ": " + std::strerror(errno));
    return false;
  }
  text.assign(std::istreambuf_iterator<char>(file), {});
  return true;
}

MlaCompileOptions Runner::getCompileOptions() const {
  MlaCompileOptions result;
  result.size = sizeof(result);
  result.target = options.target.c_str();
  result.entry = options.entry.empty() ? nullptr : options.entry.c_str();
  result.name = options.file == "-" ? "<stdin>" : options.file.c_str();
  return result;
}

int Runner::dump() {
  Message message;
  char *lowered = mlaLowerText(text.data(), text.size(), options.target.c_str(),
                               options.dumpAfter.c_str(), &message);
  if (!lowered)
    return fail(message.str());
  std::fputs(lowered, stdout);
  mlaFreeString(lowered);
  return Success;
}

int Runner::emitObject() {
  Message message;
  MlaCompileOptions compileOptions = getCompileOptions();
  if (mlaCompileToObject(text.data(), text.size(), &compileOptions,
                         options.emitObject.c_str(), &message) != 0)
    return fail(message.str());
  return Success;
}

int Runner::compile() {
  progress.report("compiling " + options.file);
  Clock::time_point start = Clock::now();
  Message message;
  MlaCompileOptions compileOptions = getCompileOptions();
  kernel = mlaCompile(text.data(), text.size(), &compileOptions, &message);
  if (!kernel)
    return fail(message.str());
  compileTime = getMilliseconds(start);
  progress.clear();
  for (size_t i = 0, e = mlaKernelArgumentCount(kernel); i < e; ++i)
    signature.push_back(mlaKernelArgument(kernel, i));
  return Success;
}

static Shape getShape(const MlaArgument &argument) {
  if (argument.rank <= 0)
    return {};
  return Shape(argument.shape, argument.shape + argument.rank);
}

/// "'q' (bf16 tensor of shape [?, 128, 192])"
std::string Runner::describe(size_t index) const {
  const MlaArgument &argument = signature[index];
  std::string result =
      std::string("'") + argument.name + "' (" + getTypeName(argument.dtype);
  if (argument.rank < 0)
    return result + " scalar)";
  return result + " tensor of shape " + formatShape(getShape(argument)) + ")";
}

int Runner::printSignature() {
  for (size_t i = 0; i < signature.size(); ++i)
    std::printf("argument %zu: %s%s\n", i, describe(i).c_str(),
                signature[i].written ? ", written" : "");
  return Success;
}

int Runner::find(const std::string &name) {
  for (size_t i = 0; i < signature.size(); ++i)
    if (name == signature[i].name)
      return static_cast<int>(i);
  std::string known;
  for (const MlaArgument &argument : signature)
    known += std::string(known.empty() ? "'" : ", '") + argument.name + "'";
  fail("expected the name of an argument, one of " + known + ", got '" + name +
       "'");
  return -1;
}

int Runner::bindArguments() {
  arrays.resize(signature.size());
  std::vector<bool> isGiven(signature.size());
  std::string error;
  for (const auto &[name, value] : options.arguments) {
    int index = find(name);
    if (index < 0)
      return Failure;
    if (isGiven[index])
      return fail("--arg " + name + " was given twice");
    isGiven[index] = true;
    Wanted wanted{signature[index].dtype, getShape(signature[index])};
    if (!parseValue(value, wanted, arrays[index], error))
      return fail("argument " + describe(index) + ": " + error);
  }
  // What is only written starts as zeros, in the shape that is expected of it.
  for (size_t i = 0; i < signature.size(); ++i) {
    if (isGiven[i])
      continue;
    Shape shape = getShape(signature[i]);
    bool isDynamic = std::count(shape.begin(), shape.end(), -1) > 0;
    if (isDynamic)
      for (const auto &[name, value] : options.expectations) {
        Array expected;
        if (name != signature[i].name)
          continue;
        if (!parseExpected(value, {signature[i].dtype, shape}, expected, error))
          return fail("argument " + describe(i) + ": " + error);
        shape = expected.shape;
        isDynamic = false;
      }
    if (!signature[i].written || isDynamic)
      return fail("argument " + describe(i) +
                  ": expected a value, as in --arg " + signature[i].name +
                  (signature[i].rank < 0 ? "=0" : "=file.npy or =zeros:2x3"));
    if (!makeArray(signature[i].dtype, shape, arrays[i], error))
      return fail("argument " + describe(i) + ": " + error);
  }
  return Success;
}

/// Compiled code may be faster, and is only then timed fairly, on arrays that
/// start at a cache line. The copy of an array that does.
static char *alignArray(Array &array, std::vector<char> &storage) {
  constexpr size_t alignment = 64;
  storage.resize(array.bytes.size() + alignment);
  auto address = reinterpret_cast<uintptr_t>(storage.data());
  char *data = storage.data() + (alignment - address % alignment) % alignment;
  std::copy(array.bytes.begin(), array.bytes.end(), data);
  return data;
}

int Runner::call() {
  size_t count = arrays.size();
  std::vector<std::vector<char>> storage(count);
  std::vector<MlaTensor> tensors(count);
  for (size_t i = 0; i < count; ++i) {
    Array &array = arrays[i];
    tensors[i].data =
        array.bytes.empty() ? nullptr : alignArray(array, storage[i]);
    tensors[i].dtype = array.dtype;
    tensors[i].rank = static_cast<int32_t>(array.shape.size());
    tensors[i].shape = array.shape.data();
    tensors[i].strides = nullptr; // row-major
  }
  // A GPU's kernels work on copies in its memory.
  DeviceMemory device;
  bool isGPU = options.target.rfind("sm_", 0) == 0;
  std::vector<void *> hostData;
  for (size_t i = 0; i < count; ++i) {
    hostData.push_back(tensors[i].data);
    std::string error;
    if (isGPU && signature[i].rank >= 0 &&
        !device.upload(tensors[i].data, arrays[i].bytes.size(), error))
      return fail("argument " + describe(i) + ": " + error);
  }
  MlaRunOptions runOptions = {};
  runOptions.size = sizeof(runOptions);
  runOptions.numThreads = options.threads;
  runOptions.device = isGPU ? 0 : -1;
  std::vector<double> times;
  for (int i = 0; i < options.repeat; ++i) {
    if (i == 0 || progress.isDue())
      progress.report("run " + std::to_string(i + 1) + " of " +
                      std::to_string(options.repeat));
    Clock::time_point start = Clock::now();
    Message message;
    if (mlaKernelRun(kernel, tensors.data(), count, &runOptions, &message) != 0)
      return fail(message.str());
    std::string error;
    if (isGPU && !device.synchronize(error))
      return fail(error);
    times.push_back(getMilliseconds(start));
  }
  progress.clear();
  for (size_t i = 0; i < count; ++i) {
    std::string error;
    if (isGPU && signature[i].written &&
        !device.copyBytes(hostData[i], tensors[i].data, arrays[i].bytes.size(),
                          error))
      return fail("argument " + describe(i) + ": " + error);
    if (hostData[i])
      std::memcpy(arrays[i].bytes.data(), hostData[i], arrays[i].bytes.size());
  }
  if (options.time) {
    double first = times.front();
    std::sort(times.begin(), times.end());
    std::printf("compile: %.1f ms\n", compileTime);
    std::printf("run: first %.3f ms, best %.3f ms, median %.3f ms of %zu\n",
                first, times.front(), times[times.size() / 2], times.size());
  }
  return Success;
}

int Runner::writeResults() {
  std::string error;
  for (const auto &[name, path] : options.outputs) {
    int index = find(name);
    if (index < 0)
      return Failure;
    if (!writeNpy(path, arrays[index], error))
      return fail("argument " + describe(index) + ": " + error);
  }
  for (const std::string &name : options.printed) {
    int index = find(name);
    if (index < 0)
      return Failure;
    std::printf("%s = %s\n", name.c_str(), formatArray(arrays[index]).c_str());
  }
  return Success;
}

int Runner::checkResults() {
  int result = Success;
  for (const auto &[name, value] : options.expectations) {
    int index = find(name);
    if (index < 0)
      return Failure;
    Array expected;
    std::string report;
    Wanted wanted{signature[index].dtype, arrays[index].shape};
    if (!parseExpected(value, wanted, expected, report))
      return fail("--expect " + name + ": " + report);
    bool isGood = compare(arrays[index], expected, options.tolerance, report);
    if (!isGood)
      result = Mismatch;
    std::printf("%s: %s: %s\n", name.c_str(), isGood ? "ok" : "mismatch",
                report.c_str());
  }
  return result;
}

int Runner::run() {
  if (!readText())
    return Failure;
  if (options.dump)
    return dump();
  if (!options.emitObject.empty())
    return emitObject();
  if (int status = compile())
    return status;
  if (options.signature)
    return printSignature();
  // Names are checked before a long run, not after it.
  for (const Assignments *list : {&options.outputs, &options.expectations})
    for (const auto &assignment : *list)
      if (find(assignment.first) < 0)
        return Failure;
  for (const std::string &name : options.printed)
    if (find(name) < 0)
      return Failure;
  for (int (Runner::*step)() : {&Runner::bindArguments, &Runner::call,
                                &Runner::writeResults, &Runner::checkResults})
    if (int status = (this->*step)())
      return status;
  return Success;
}

int main(int argc, char **argv) {
  Options options;
  std::string error;
  if (!parseOptions(argc, argv, options, error)) {
    std::fprintf(stderr, "mla-run: error: %s\n", error.c_str());
    return Failure;
  }
  if (options.help) {
    std::fputs(helpText, stdout);
    return Success;
  }
  if (options.version) {
    std::printf("mla-run %s, LLVM %s\n", mlaVersion(), mlaLLVMVersion());
    return Success;
  }
  return Runner(options).run();
}
