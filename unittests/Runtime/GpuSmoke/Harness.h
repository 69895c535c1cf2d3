//===- Harness.h - Checks, and what they need of CUDA -----------*- C++ -*-===//
//
// Part of the MLA project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef MLA_UNITTESTS_RUNTIME_GPUSMOKE_HARNESS_H
#define MLA_UNITTESTS_RUNTIME_GPUSMOKE_HARNESS_H

#include "mla-c/Runtime.h"

#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

/// Counts a check and says which failed.
void check(bool holds, const char *what, const std::string &details = "");

/// A message of the runtime's, freed at the end.
class Message {
public:
  Message() = default;
  Message(const Message &) = delete;
  Message &operator=(const Message &) = delete;
  ~Message() { mlaRuntimeFreeString(text); }
  operator char **() {
    mlaRuntimeFreeString(text);
    text = nullptr;
    return &text;
  }
  std::string str() const { return text ? text : ""; }

private:
  char *text = nullptr;
};

/// For what has to work so that anything can be checked.
inline void need(int result, const Message &message) {
  if (result == 0)
    return;
  std::printf("GpuSmoke: %s\n", message.str().c_str());
  std::exit(1);
}

/// Device memory with a copy on the host.
template <typename T> class Buffer {
public:
  explicit Buffer(std::vector<T> values,
                  const MlaRuntimeStream *stream = nullptr)
      : host(std::move(values)), stream(stream) {
    Message message;
    need(mlaRuntimeAllocate(&data, bytes(), stream, message), message);
    toDevice();
  }
  explicit Buffer(size_t count, const MlaRuntimeStream *stream = nullptr)
      : Buffer(std::vector<T>(count), stream) {}
  Buffer(const Buffer &) = delete;
  Buffer &operator=(const Buffer &) = delete;
  ~Buffer() { (void)mlaRuntimeFree(data, stream, nullptr); }

  size_t bytes() const { return host.size() * sizeof(T); }
  void toDevice() {
    Message message;
    need(mlaRuntimeCopy(data, host.data(), bytes(), stream, message), message);
  }
  std::vector<T> &toHost() {
    Message message;
    need(mlaRuntimeCopy(host.data(), data, bytes(), stream, message), message);
    return host;
  }

  std::vector<T> host;
  void *data = nullptr;

private:
  const MlaRuntimeStream *stream;
};

inline MlaRuntimeKernel *load(const char *ptx, const char *entry,
                              int64_t sharedBytes = 0, int64_t slotBytes = 0,
                              int64_t parameterCount = 0) {
  MlaRuntimeKernelOptions options = {sizeof(options), "sm_90", sharedBytes,
                                     slotBytes, parameterCount};
  Message message;
  // The size counts the final NUL, which the runtime is to accept.
  MlaRuntimeKernel *kernel = mlaRuntimeLoadKernel(
      ptx, std::char_traits<char>::length(ptx) + 1, entry, &options, message);
  need(kernel ? 0 : -1, message);
  return kernel;
}

inline int launch(MlaRuntimeKernel *kernel, uint32_t grid, uint32_t block,
                  std::vector<void *> arguments, const MlaRuntimeStream *stream,
                  uint32_t flags, char **error) {
  MlaRuntimeLaunchConfig config = {sizeof(config), stream, {grid, 1, 1},
                                   {block, 1, 1},  flags,  0};
  return mlaRuntimeLaunch(kernel, &config, arguments.data(), arguments.size(),
                          error);
}

// The groups of checks.
void checkDevices();
void checkBoxes();
void checkSlots();
void checkGraphs();
void measureLaunches();

#endif // MLA_UNITTESTS_RUNTIME_GPUSMOKE_HARNESS_H
