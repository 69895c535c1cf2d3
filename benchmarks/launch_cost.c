/* Part of the MLA project, under the Apache License v2.0 with LLVM Exceptions.
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * A CUDA driver that is the real one but for launches, which it times, and a
 * loop without an interpreter. The program names it in MLA_CUDA_DRIVER_LIBRARY.
 * It is linked with libcuda, in which the runtime finds all other functions.
 */

#define _GNU_SOURCE
#include <dlfcn.h>
#include <stddef.h>
#include <time.h>

static _Thread_local double launchNanoseconds;
static _Thread_local long launches;

static double now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return time.tv_sec * 1e9 + time.tv_nsec;
}

int cuLaunchKernelEx(const void *config, void *function, void **parameters,
                     void **extra) {
  static int (*real)(const void *, void *, void **, void **);
  if (!real)
    *(void **)&real =
        dlsym(dlopen("libcuda.so.1", RTLD_NOW), "cuLaunchKernelEx");
  double start = now();
  int result = real(config, function, parameters, extra);
  launchNanoseconds += now() - start;
  ++launches;
  return result;
}

/* Nanoseconds that this thread's launches took since it asked before, and in
 * `count` how many there were. */
double takeLaunches(long *count) {
  double result = launchNanoseconds;
  *count = launches;
  launchNanoseconds = 0;
  launches = 0;
  return result;
}

/* Nanoseconds of `repeat` calls of mlaKernelRun, or -1 if one fails. */
double timeRuns(int (*run)(void *, const void *, size_t, const void *, char **),
                void *kernel, const void *arguments, size_t count,
                const void *options, char **error, long repeat) {
  double start = now();
  for (long i = 0; i < repeat; ++i)
    if (run(kernel, arguments, count, options, error))
      return -1;
  return now() - start;
}
