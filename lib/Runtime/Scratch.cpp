//===- Scratch.cpp - Buffers that threads keep between loops ----*- C++ -*-===//
//
// Part of the MLA project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Scratch.h"

#include <cstdlib>
#include <limits>
#include <sys/mman.h>

using namespace mla::runtime;

static constexpr size_t smallPage = size_t(4) << 10;
static constexpr size_t hugePage = size_t(2) << 20;
/// From this size on a buffer gets whole huge pages: a kernel's working set of
/// half a megabyte then costs one TLB entry and not 128.
static constexpr size_t hugeFrom = size_t(256) << 10;

static size_t roundUp(size_t bytes, size_t unit) {
  return (bytes + unit - 1) / unit * unit;
}

Scratch::~Scratch() { std::free(data); }

void *Scratch::get(size_t bytes) {
  if (bytes <= capacity)
    return data;
  // Old memory goes first: its contents are not needed, and the peak is lower.
  std::free(data);
  data = nullptr;
  capacity = 0;
  size_t alignment = bytes >= hugeFrom ? hugePage : smallPage;
  if (bytes > std::numeric_limits<size_t>::max() / 2)
    return nullptr;
  size_t size = roundUp(bytes, alignment);
  if (posix_memalign(&data, alignment, size) != 0) {
    data = nullptr;
    return nullptr;
  }
  // Advice: where huge pages are off, small ones serve.
  if (alignment == hugePage)
    (void)madvise(data, size, MADV_HUGEPAGE);
  capacity = size;
  return data;
}

void *mla::runtime::getThreadScratch(unsigned depth, int64_t bytes) {
  static thread_local Scratch buffers[maxLoopDepth];
  return buffers[depth].get(static_cast<size_t>(bytes));
}
