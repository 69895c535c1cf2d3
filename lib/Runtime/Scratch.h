//===- Scratch.h - Buffers that threads keep between loops ------*- C++ -*-===//
//
// Part of the MLA project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef MLA_LIB_RUNTIME_SCRATCH_H
#define MLA_LIB_RUNTIME_SCRATCH_H

#include <cstddef>
#include <cstdint>

namespace mla::runtime {

/// One block of memory that only ever grows. Contents are not kept when it
/// does.
class Scratch {
public:
  Scratch() = default;
  Scratch(const Scratch &) = delete;
  Scratch &operator=(const Scratch &) = delete;
  ~Scratch();

  /// At least `bytes` bytes, aligned to 4096; null when memory is exhausted.
  void *get(size_t bytes);

private:
  void *data = nullptr;
  size_t capacity = 0;
};

/// Loops with scratch nest no deeper; generated code needs one level.
constexpr unsigned maxLoopDepth = 4;

/// This thread's buffer for a loop that is nested `depth` < maxLoopDepth loops
/// deep: an inner loop must not overwrite the buffer of the item that started
/// it. Null without memory.
void *getThreadScratch(unsigned depth, int64_t bytes);

} // namespace mla::runtime

#endif // MLA_LIB_RUNTIME_SCRATCH_H
