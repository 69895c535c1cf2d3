//===- Runtime.h - C API: what compiled kernels call --------------*- C -*-===//
//
// Part of the MLA project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// libMLARuntime: the part of the product that a compiled kernel needs when it
// runs. No LLVM is inside, so an object file made ahead of time links this
// library alone.
//
//===----------------------------------------------------------------------===//

#ifndef MLA_C_RUNTIME_H
#define MLA_C_RUNTIME_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define MLA_RUNTIME_API __attribute__((visibility("default")))

/// One item of a parallel loop. `scratch` belongs to the item while it runs;
/// its contents are unspecified when the item starts.
typedef void (*MlaRuntimeBody)(void *context, int64_t i, int64_t j,
                               void *scratch);

/// Runs `body` for every (i, j) with 0 <= i < outer and 0 <= j < inner and
/// returns when all have finished. Items are handed out one at a time, (0, 0),
/// (0, 1), ... first, to whichever thread is free: put the longest ones first.
///
/// The calling thread takes part. `scratch` is one buffer of at least
/// `scratchBytes` bytes for each thread, aligned to 4096 bytes and kept from
/// call to call; it is NULL if `scratchBytes` is 0.
///
/// May be called by several threads at once: they share the workers. A call
/// from inside a body runs on the thread that makes it. Floating-point control
/// state (rounding, flush to zero) is the caller's in every item.
///
/// Without memory for the caller's scratch no item runs, and
/// mlaRuntimeTakeError tells; fewer threads take part if only they lack it.
MLA_RUNTIME_API void mlaRuntimeParallelFor(int64_t outer, int64_t inner,
                                           int64_t scratchBytes,
                                           MlaRuntimeBody body, void *context);

/// The number of threads, the caller included, that loops started by this
/// thread use from now on. 0 or less: the default, which is the environment
/// variable MLA_NUM_THREADS where it holds a positive number (read once), else
/// the number of CPUs the process may run on.
MLA_RUNTIME_API void mlaRuntimeSetNumThreads(int32_t count);

/// What mlaRuntimeSetNumThreads set on this thread: 0 for the default.
MLA_RUNTIME_API int32_t mlaRuntimeGetNumThreads(void);

/// The number of threads that a loop started by this thread would use now.
MLA_RUNTIME_API int32_t mlaRuntimeEffectiveNumThreads(void);

/// The last error of this thread's loops since the previous call, or NULL. The
/// text is valid until the thread's next error.
MLA_RUNTIME_API const char *mlaRuntimeTakeError(void);

#ifdef __cplusplus
}
#endif

#endif // MLA_C_RUNTIME_H
