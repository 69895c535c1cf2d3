//===- FakeCuda.h - A CUDA driver of memory alone, for tests ----*- C++ -*-===//
//
// Part of the MLA project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A shared library with the driver's functions that the runtime calls. It has
// devices, contexts, streams and memory (the host's), loads "images" that are
// lists of entries, and records launches instead of running them. It keeps the
// driver's rules that are easy to break: what a capture forbids, which context
// is current. Any function can be told to fail.
//
// An image is PTX (it has the word .target) or a cubin (it starts with the
// magic number of ELF), and a line for each entry: its name and the sizes of
// its parameters.
//
//     .entry add 8 8 8 4
//
// PTX that a compiler wrote declares its entries in the same place. An image
// with the word `wrong` does not load, and the log says why.
//
// Tests in other languages use the functions of FakeCudaC.cpp.
//
//===----------------------------------------------------------------------===//

#ifndef MLA_UNITTESTS_RUNTIME_FAKECUDA_H
#define MLA_UNITTESTS_RUNTIME_FAKECUDA_H

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace fake_cuda {

#define FAKE_CUDA_API __attribute__((visibility("default")))

struct Launch {
  std::string function;
  int device;
  void *stream;
  unsigned grid[3];
  unsigned block[3];
  unsigned sharedBytes;
  bool programmatic;
  bool captured;
  /// The first eight bytes of each argument.
  std::vector<uint64_t> arguments;
  /// All bytes of all arguments.
  std::vector<unsigned char> bytes;
};

/// Devices 0 and 1 are of 90, device 2 of 80.
constexpr int deviceCount = 3;

/// Forgets failures, calls and launches. Contexts and modules stay, as the
/// runtime goes on using them.
FAKE_CUDA_API void reset();

/// Lets calls of `function` number `skip` to `skip + times - 1` from now on
/// return `result` and do nothing.
FAKE_CUDA_API void fail(const std::string &function, int result, int skip = 0,
                        int times = 1);
/// How often a function was called, failures included.
FAKE_CUDA_API int count(const std::string &function);
FAKE_CUDA_API std::vector<Launch> launches();
/// Calls that a capture under way forbids.
FAKE_CUDA_API int violations();
/// Bytes of device memory that are allocated.
FAKE_CUDA_API size_t allocated();

/// The calling thread's current context is one of `device` (-1: none).
FAKE_CUDA_API void setCurrent(int device);
FAKE_CUDA_API void *getCurrent();
/// A context of the device beside its primary one, made current.
FAKE_CUDA_API void *createContext(int device);
FAKE_CUDA_API void *createStream(int device);
/// A new stream at the address of an old one, as drivers do it.
FAKE_CUDA_API void reuseStream(void *stream);

FAKE_CUDA_API void beginCapture(void *stream);
/// Returns the graph.
FAKE_CUDA_API void *endCapture(void *stream);
/// Runs the destructors of the graph's user objects.
FAKE_CUDA_API void destroyGraph(void *graph);

} // namespace fake_cuda

#endif // MLA_UNITTESTS_RUNTIME_FAKECUDA_H
