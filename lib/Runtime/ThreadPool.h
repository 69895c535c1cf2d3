//===- ThreadPool.h - Persistent workers for parallel loops -----*- C++ -*-===//
//
// Part of the MLA project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A loop is a Job on its caller's stack. The caller lists it in the pool, works
// on it like everybody else, takes it off the list when no item is left, and
// waits for the workers that are still inside. The list is first come, first
// served: a worker joins the oldest job that wants one more, so loops started
// by several threads at once make progress together, each at least on its own
// thread.
//
// Nothing here throws or allocates on the way of a loop, apart from starting a
// worker.
//
//===----------------------------------------------------------------------===//

#ifndef MLA_LIB_RUNTIME_THREADPOOL_H
#define MLA_LIB_RUNTIME_THREADPOOL_H

#include "Error.h"
#include "mla-c/Runtime.h"

#include <atomic>
#include <cfenv>
#include <condition_variable>
#include <cstdint>
#include <mutex>

namespace mla::runtime {

/// One parallel loop.
struct Job {
  MlaRuntimeBody body;
  void *context;
  int64_t inner;
  int64_t total;
  int64_t scratchBytes;
  /// The caller's: items give the same bits on whichever thread they run.
  std::fenv_t environment;

  /// The next item. On a cache line of its own, since all threads write it.
  alignas(64) std::atomic<int64_t> next{0};

  // Everything below is guarded by the pool's mutex.
  alignas(64) Job *following = nullptr;
  /// Workers that may still join, and workers inside.
  int32_t wanted = 0;
  int32_t active = 0;
  std::condition_variable finished;
  /// What a worker has to report, for example of a nested loop.
  ErrorText error;

  /// Runs items on this thread until none is left.
  void work(void *scratch);
};

class ThreadPool {
public:
  /// The process's pool, made at first use and never destroyed: workers may be
  /// asleep in it while the process exits. A forked child gets a new one.
  static ThreadPool &get();

  /// Runs the job on this thread and on up to `workers` others.
  void run(Job &job, int32_t workers, void *scratch);

private:
  static void *workerMain(void *pool);
  void serve();
  /// Starts workers until there are `count`; fewer where the system refuses.
  void grow(int32_t count);
  Job *findJob();
  void remove(Job &job);

  std::mutex mutex;
  std::condition_variable wake;
  /// Jobs in the order in which they came.
  Job *first = nullptr;
  int32_t workerCount = 0;
  int32_t idle = 0;
};

} // namespace mla::runtime

#endif // MLA_LIB_RUNTIME_THREADPOOL_H
