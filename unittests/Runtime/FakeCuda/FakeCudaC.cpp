//===- FakeCudaC.cpp - The fake driver for tests in other languages -------===//
//
// Part of the MLA project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What python/tests/fake_cuda.py calls, by its C names.
//
//===----------------------------------------------------------------------===//

#include "FakeCuda.h"

#include <algorithm>
#include <cstring>
#include <sstream>

using namespace fake_cuda;

// NOLINTBEGIN(readability-identifier-naming): C names.
#define FAKE_C extern "C" FAKE_CUDA_API

FAKE_C void fakeCudaReset() { reset(); }

FAKE_C void fakeCudaFail(const char *function, int result) {
  fail(function, result);
}

FAKE_C int fakeCudaCount(const char *function) { return count(function); }

FAKE_C int fakeCudaViolations() { return violations(); }

FAKE_C void *fakeCudaCreateStream(int device) { return createStream(device); }

FAKE_C void fakeCudaBeginCapture(void *stream) { beginCapture(stream); }

FAKE_C void *fakeCudaEndCapture(void *stream) { return endCapture(stream); }

FAKE_C void fakeCudaDestroyGraph(void *graph) { destroyGraph(graph); }

static std::string describe(const Launch &launch) {
  std::ostringstream os;
  os << launch.function << ' ' << launch.device << ' '
     << reinterpret_cast<uintptr_t>(launch.stream) << ' ' << launch.captured;
  for (unsigned extent : launch.grid)
    os << ' ' << extent;
  for (unsigned extent : launch.block)
    os << ' ' << extent;
  os << ' ' << launch.sharedBytes << ' ';
  for (unsigned char byte : launch.bytes)
    os << "0123456789abcdef"[byte >> 4] << "0123456789abcdef"[byte & 15];
  return os.str();
}

/// A line for each launch: the function's name, the device, the stream's
/// address, whether it was captured, the grid, the block, its shared bytes, and
/// the arguments' bytes in hexadecimal. Writes at most `size` bytes, the final
/// NUL included, and returns how many there are.
FAKE_C size_t fakeCudaDescribeLaunches(char *text, size_t size) {
  std::string lines;
  for (const Launch &launch : launches())
    lines += describe(launch) + '\n';
  if (size > 0) {
    size_t length = std::min(lines.size(), size - 1);
    std::memcpy(text, lines.data(), length);
    text[length] = 0;
  }
  return lines.size() + 1;
}
// NOLINTEND(readability-identifier-naming)
