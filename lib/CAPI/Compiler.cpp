//===- Compiler.cpp - The C API of the compiler -----------------*- C++ -*-===//
//
// Part of the MLA project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "mla-c/Compiler.h"
#include "mla-c/Runtime.h"

#include "mla/Compiler/Compiler.h"
#include "mla/Version.h"

#include "llvm/Config/llvm-config.h"

#include <cstddef>
#include <cstdlib>
#include <cstring>

using namespace mlir::mla;

struct MlaKernel {
  std::unique_ptr<Kernel> kernel;
};

/// A copy that mlaFreeString frees; null without memory.
static char *copyString(llvm::StringRef text) {
  auto *copy = static_cast<char *>(std::malloc(text.size() + 1));
  if (!copy)
    return nullptr;
  std::memcpy(copy, text.data(), text.size());
  copy[text.size()] = 0;
  return copy;
}

/// Hands a failure's message, if there is one, to the caller: -1, else 0.
static int report(llvm::Error error, char **message) {
  if (!error)
    return 0;
  std::string text = llvm::toString(std::move(error));
  if (message)
    *message = copyString(text);
  return -1;
}

/// The caller's options may be older and shorter than ours: a field counts only
/// if it lies within `size`.
template <typename Options, typename Field>
static Field getField(const Options *options, Field Options::*field,
                      Field otherwise) {
  if (!options)
    return otherwise;
  const auto *begin = reinterpret_cast<const char *>(options);
  const auto *end = reinterpret_cast<const char *>(&(options->*field) + 1);
  return static_cast<size_t>(end - begin) <= options->size ? options->*field
                                                           : otherwise;
}

template <typename Options>
static llvm::Error checkSize(const Options *options, const char *type) {
  if (!options || options->size >= sizeof(size_t))
    return llvm::Error::success();
  return llvm::createStringError("options: expected sizeof(%s) in the field "
                                 "'size', got %zu",
                                 type, options->size);
}

static llvm::Expected<CompileRequest>
createRequest(const char *text, size_t length,
              const MlaCompileOptions *options) {
  if (!text)
    return llvm::createStringError(
        "text: expected a module, got a null pointer");
  if (llvm::Error error = checkSize(options, "MlaCompileOptions"))
    return error;
  CompileRequest request;
  request.text = llvm::StringRef(text, length);
  const char *none = nullptr;
  if (const char *target = getField(options, &MlaCompileOptions::target, none))
    request.target = target;
  if (const char *entry = getField(options, &MlaCompileOptions::entry, none))
    request.entry = entry;
  if (const char *name = getField(options, &MlaCompileOptions::name, none))
    request.name = name;
  return request;
}

//===----------------------------------------------------------------------===//
// Versions and strings
//===----------------------------------------------------------------------===//

int32_t mlaApiVersion() { return MLA_C_API_VERSION; }
const char *mlaVersion() { return MLA_VERSION_STRING; }
const char *mlaLLVMVersion() { return LLVM_VERSION_STRING; }
void mlaFreeString(char *string) { std::free(string); }

//===----------------------------------------------------------------------===//
// Kernels
//===----------------------------------------------------------------------===//

MlaKernel *mlaCompile(const char *text, size_t length,
                      const MlaCompileOptions *options, char **error) {
  auto request = createRequest(text, length, options);
  if (!request) {
    report(request.takeError(), error);
    return nullptr;
  }
  auto kernel = Kernel::compile(*request);
  if (!kernel) {
    report(kernel.takeError(), error);
    return nullptr;
  }
  return new MlaKernel{std::move(*kernel)};
}

void mlaKernelDestroy(MlaKernel *kernel) { delete kernel; }

size_t mlaKernelArgumentCount(const MlaKernel *kernel) {
  return kernel->kernel->getArguments().size();
}

MlaArgument mlaKernelArgument(const MlaKernel *kernel, size_t index) {
  const Argument &argument = kernel->kernel->getArguments()[index];
  MlaArgument result;
  result.name = argument.name.c_str();
  result.dtype = argument.dtype;
  result.rank =
      argument.isScalar ? -1 : static_cast<int32_t>(argument.shape.size());
  result.shape = argument.shape.data();
  result.written = argument.written;
  return result;
}

int mlaKernelRun(MlaKernel *kernel, const MlaTensor *arguments, size_t count,
                 const MlaRunOptions *options, char **error) {
  if (!kernel)
    return report(llvm::createStringError(
                      "kernel: expected a kernel, got a null pointer"),
                  error);
  if (!arguments && count > 0)
    return report(llvm::createStringError(
                      "arguments: expected an array, got a null pointer"),
                  error);
  if (llvm::Error sizeError = checkSize(options, "MlaRunOptions"))
    return report(std::move(sizeError), error);
  int32_t numThreads = getField(options, &MlaRunOptions::numThreads, 0);
  MlaRuntimeStream previous = mlaRuntimeGetStream();
  if (options && options->size >= sizeof(MlaRunOptions))
    mlaRuntimeSetStream({options->stream, options->device});
  llvm::Error failure = kernel->kernel->run({arguments, count}, numThreads);
  mlaRuntimeSetStream(previous);
  return report(std::move(failure), error);
}

//===----------------------------------------------------------------------===//
// Text and object files
//===----------------------------------------------------------------------===//

char *mlaLowerText(const char *text, size_t length, const char *target,
                   const char *stopAfter, char **error) {
  auto request = createRequest(text, length, nullptr);
  if (!request) {
    report(request.takeError(), error);
    return nullptr;
  }
  if (target)
    request->target = target;
  auto lowered = lowerText(*request, stopAfter ? stopAfter : "");
  if (!lowered) {
    report(lowered.takeError(), error);
    return nullptr;
  }
  return copyString(*lowered);
}

int mlaCompileToObject(const char *text, size_t length,
                       const MlaCompileOptions *options, const char *path,
                       char **error) {
  if (!path)
    return report(llvm::createStringError(
                      "path: expected a file name, got a null pointer"),
                  error);
  auto request = createRequest(text, length, options);
  if (!request)
    return report(request.takeError(), error);
  return report(compileToObject(*request, path), error);
}
