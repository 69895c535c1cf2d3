//===- ThreadPool.cpp - Persistent workers for parallel loops ---*- C++ -*-===//
//
// Part of the MLA project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ThreadPool.h"

#include "Scratch.h"

#include <algorithm>
#include <csignal>
#include <new>
#include <pthread.h>

using namespace mla::runtime;

static std::atomic<ThreadPool *> thePool{nullptr};

/// How many loops this thread is inside.
static thread_local unsigned depth = 0;

void Job::work(void *scratch) {
  ++depth;
  for (;;) {
    int64_t item = next.fetch_add(1, std::memory_order_relaxed);
    if (item >= total)
      break;
    body(context, item / inner, item % inner, scratch);
  }
  --depth;
}

ThreadPool &ThreadPool::get() {
  static const int registered = pthread_atfork(
      nullptr, nullptr,
      // The child has none of the workers, and the mutex may be held by a
      // thread that does not exist there: leave the old pool behind.
      [] { thePool.store(nullptr, std::memory_order_relaxed); });
  (void)registered;
  ThreadPool *pool = thePool.load(std::memory_order_acquire);
  if (pool)
    return *pool;
  auto *made = new ThreadPool;
  if (thePool.compare_exchange_strong(pool, made, std::memory_order_acq_rel))
    return *made;
  delete made;
  return *pool;
}

void ThreadPool::run(Job &job, int32_t workers, void *scratch) {
  std::fegetenv(&job.environment);
  {
    std::lock_guard<std::mutex> lock(mutex);
    grow(workers);
    job.wanted = workers;
    Job **end = &first;
    while (*end)
      end = &(*end)->following;
    *end = &job;
    // A wake-up is a system call; ask only for threads that can answer.
    for (int32_t i = std::min(workers, idle); i > 0; --i)
      wake.notify_one();
  }
  job.work(scratch);
  std::unique_lock<std::mutex> lock(mutex);
  remove(job);
  job.finished.wait(lock, [&] { return job.active == 0; });
  lock.unlock();
  if (job.error.isSet())
    setError("%s", job.error.text);
}

void ThreadPool::grow(int32_t count) {
  if (workerCount >= count)
    return;
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
  // Signals are for the program's own threads.
  sigset_t all, previous;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &previous);
  for (; workerCount < count; ++workerCount) {
    pthread_t thread;
    if (pthread_create(&thread, &attributes, workerMain, this) != 0)
      break;
    (void)pthread_setname_np(thread, "mla-worker");
  }
  pthread_sigmask(SIG_SETMASK, &previous, nullptr);
  pthread_attr_destroy(&attributes);
}

void *ThreadPool::workerMain(void *pool) {
  static_cast<ThreadPool *>(pool)->serve();
  return nullptr;
}

void ThreadPool::serve() {
  std::unique_lock<std::mutex> lock(mutex);
  for (;;) {
    Job *job = findJob();
    if (!job) {
      ++idle;
      wake.wait(lock);
      --idle;
      continue;
    }
    --job->wanted;
    ++job->active;
    lock.unlock();

    // A worker without memory stays away; the caller has its own scratch.
    void *scratch = nullptr;
    bool ready = job->scratchBytes == 0;
    if (!ready)
      ready = (scratch = getThreadScratch(0, job->scratchBytes));
    if (ready) {
      std::fesetenv(&job->environment);
      job->work(scratch);
    }
    ErrorText error;
    moveErrorTo(error);

    lock.lock();
    if (error.isSet())
      job->error = error;
    // The job may be gone as soon as the mutex is free: notify before that.
    if (--job->active == 0)
      job->finished.notify_one();
  }
}

Job *ThreadPool::findJob() {
  for (Job *job = first; job; job = job->following)
    if (job->wanted > 0 &&
        job->next.load(std::memory_order_relaxed) < job->total)
      return job;
  return nullptr;
}

void ThreadPool::remove(Job &job) {
  Job **link = &first;
  while (*link != &job)
    link = &(*link)->following;
  *link = job.following;
}

//===----------------------------------------------------------------------===//
// The C ABI
//===----------------------------------------------------------------------===//

void mlaRuntimeParallelFor(int64_t outer, int64_t inner, int64_t scratchBytes,
                           MlaRuntimeBody body, void *context) {
  if (outer <= 0 || inner <= 0)
    return;
  int64_t total;
  // Every thread overshoots the total by one; leave room for that.
  if (__builtin_mul_overflow(outer, inner, &total) || total > INT64_MAX / 2) {
    setError("a parallel loop of %lld x %lld items is too large",
             static_cast<long long>(outer), static_cast<long long>(inner));
    return;
  }
  scratchBytes = std::max<int64_t>(scratchBytes, 0);
  if (scratchBytes > 0 && depth >= maxLoopDepth) {
    setError("parallel loops with scratch are nested more than %u deep",
             maxLoopDepth);
    return;
  }
  void *scratch = nullptr;
  if (scratchBytes > 0 && !(scratch = getThreadScratch(depth, scratchBytes))) {
    setError("out of memory: a thread needs %lld bytes of scratch",
             static_cast<long long>(scratchBytes));
    return;
  }

  Job job;
  job.body = body;
  job.context = context;
  job.inner = inner;
  job.total = total;
  job.scratchBytes = scratchBytes;
  int32_t workers = 0;
  if (depth == 0 && total > 1)
    workers = static_cast<int32_t>(
        std::min<int64_t>(mlaRuntimeEffectiveNumThreads(), total) - 1);
  if (workers == 0)
    job.work(scratch);
  else
    ThreadPool::get().run(job, workers, scratch);
}
