//===- NumThreads.cpp - How many threads a loop uses ------------*- C++ -*-===//
//
// Part of the MLA project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "mla-c/Runtime.h"

#include <algorithm>
#include <cstdlib>
#include <sched.h>
#include <unistd.h>

/// No machine we know has more; a typing error must not start a million
/// threads.
static constexpr int32_t maxThreads = 4096;

static thread_local int32_t requested = 0;

/// MLA_NUM_THREADS, or 0 where it is unset or no positive number. Read once:
/// getenv races with a program that changes its environment.
static int32_t fromEnvironment() {
  static const int32_t count = [] {
    const char *text = std::getenv("MLA_NUM_THREADS");
    if (!text || !*text)
      return 0;
    char *end = nullptr;
    long value = std::strtol(text, &end, 10);
    if (*end != 0 || value <= 0)
      return 0;
    return static_cast<int32_t>(std::min<long>(value, maxThreads));
  }();
  return count;
}

/// CPUs this process may run on. The set grows until the kernel's own fits.
static int32_t fromAffinity() {
  for (int cpus = 1024; cpus <= (1 << 20); cpus *= 4) {
    cpu_set_t *set = CPU_ALLOC(cpus);
    if (!set)
      break;
    size_t bytes = CPU_ALLOC_SIZE(cpus);
    int count = 0;
    if (sched_getaffinity(0, bytes, set) == 0)
      count = CPU_COUNT_S(bytes, set);
    CPU_FREE(set);
    if (count > 0)
      return std::min(count, maxThreads);
  }
  return static_cast<int32_t>(
      std::clamp<long>(sysconf(_SC_NPROCESSORS_ONLN), 1, maxThreads));
}

void mlaRuntimeSetNumThreads(int32_t count) {
  requested = std::clamp(count, 0, maxThreads);
}

int32_t mlaRuntimeGetNumThreads() { return requested; }

int32_t mlaRuntimeEffectiveNumThreads() {
  if (requested > 0)
    return requested;
  if (int32_t count = fromEnvironment())
    return count;
  return fromAffinity();
}
