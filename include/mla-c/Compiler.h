//===- Compiler.h - C API: MLIR text in, callable kernel out ------*- C -*-===//
//
// Part of the MLA project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Context-free: no MLIR type appears here. A caller hands in the text of a
// module and gets a kernel, asks it for its arguments, and runs it on tensors
// that the caller owns.
//
// Threads: every function may be called from any thread; one kernel may run on
// several threads at once. Errors: a function that can fail takes `char
// **error` (may be NULL) and stores a message there, which the caller frees
// with mlaFreeString. Nothing is launched and nothing is written when it fails.
//
//===----------------------------------------------------------------------===//

#ifndef MLA_C_COMPILER_H
#define MLA_C_COMPILER_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define MLA_C_API __attribute__((visibility("default")))

/// Version of this interface; grows when a function or field is added.
#define MLA_C_API_VERSION 1

/// MLA_C_API_VERSION of the loaded library.
MLA_C_API int32_t mlaApiVersion(void);
/// Version of the product, for example "0.1.0". Not to be freed.
MLA_C_API const char *mlaVersion(void);
/// The LLVM release inside, for example "22.1.8". Not to be freed.
MLA_C_API const char *mlaLLVMVersion(void);
/// Frees a string that another function of this header returned.
MLA_C_API void mlaFreeString(char *string);

typedef enum MlaDType {
  MLA_DTYPE_BF16 = 0,
  MLA_DTYPE_F16 = 1,
  MLA_DTYPE_F32 = 2,
  MLA_DTYPE_F64 = 3,
  MLA_DTYPE_I32 = 4,
  MLA_DTYPE_U32 = 5,
  MLA_DTYPE_I64 = 6,
  MLA_DTYPE_U64 = 7, // also `index`
  MLA_DTYPE_F8E4M3FN = 8
} MlaDType;

/// One argument of a call: a tensor, or a scalar (rank 0: shape and strides may
/// be NULL). Strides count elements, not bytes; NULL stands for row-major order
/// without gaps. `data` may be NULL if the tensor has no elements.
typedef struct MlaTensor {
  void *data;
  int32_t dtype; // MlaDType
  int32_t rank;
  const int64_t *shape;
  const int64_t *strides;
} MlaTensor;

typedef struct MlaKernel MlaKernel;

typedef struct MlaCompileOptions {
  /// sizeof(MlaCompileOptions), so that fields can be added later.
  size_t size;
  /// "cpu" (this machine), "cpu-avx2", "cpu-avx512", "cpu-generic", "sm_90a".
  /// NULL: "cpu".
  const char *target;
  /// The function to call. NULL: the module's only public function.
  const char *entry;
  /// What diagnostics call the text, for example its file's path. NULL:
  /// "<module>".
  const char *name;
} MlaCompileOptions;

/// Compiles the module `text` (MLIR assembly or bytecode, `length` bytes), or
/// finds what an earlier call, also of another process, left in the disk cache
/// (environment variables MLA_CACHE_DIR and MLA_CACHE_SIZE; see docs/CAPI.md).
/// `options` may be NULL. Returns NULL on error; the message holds all
/// diagnostics with their locations.
MLA_C_API MlaKernel *mlaCompile(const char *text, size_t length,
                                const MlaCompileOptions *options, char **error);
MLA_C_API void mlaKernelDestroy(MlaKernel *kernel);

/// What the kernel expects as one argument. Static extents are >= 0, dynamic
/// ones -1. `name` is the argument's name in the module's text (without %), or
/// "argN". Valid as long as the kernel.
typedef struct MlaArgument {
  const char *name;
  int32_t dtype; // MlaDType
  int32_t rank;  // -1: a scalar of the function's signature (pass rank 0)
  const int64_t *shape;
  int32_t written; // 1: the kernel may write it
} MlaArgument;

MLA_C_API size_t mlaKernelArgumentCount(const MlaKernel *kernel);
MLA_C_API MlaArgument mlaKernelArgument(const MlaKernel *kernel, size_t index);

typedef struct MlaRunOptions {
  size_t size; // sizeof(MlaRunOptions)
  /// CPU threads; 0: MLA_NUM_THREADS if set, else all cores of the process.
  int32_t numThreads;
  /// GPU kernels: the device of `stream`, or -1: the stream's own (see
  /// MlaRuntimeStream in mla-c/Runtime.h).
  int32_t device;
  /// GPU kernels: the CUstream (cudaStream_t) to enqueue on; NULL: the default.
  void *stream;
} MlaRunOptions;

/// Runs the kernel. On a CPU it has finished when this returns; on a GPU, where
/// `data` are device pointers, it has been enqueued. Checks count, dtype, rank,
/// static extents, unit last stride and pointers of every argument first.
/// Returns 0, or -1 with a message that names the argument, what was expected
/// and what came.
MLA_C_API int mlaKernelRun(MlaKernel *kernel, const MlaTensor *arguments,
                           size_t count, const MlaRunOptions *options,
                           char **error);

/// Text of the module after a stage ("tile", "vector", "llvm", ...: see
/// mla-opt --help); NULL on error. Free with mlaFreeString.
MLA_C_API char *mlaLowerText(const char *text, size_t length,
                             const char *target, const char *stopAfter,
                             char **error);

/// Writes an object file of the module for `options->target`, a CPU or a GPU,
/// in which the functions `_mlir_ciface_<name>` of its public functions, or of
/// `options->entry` alone, can be called; it needs libMLARuntime. How they are
/// called is described in docs/CAPI.md. Returns 0 or -1.
MLA_C_API int mlaCompileToObject(const char *text, size_t length,
                                 const MlaCompileOptions *options,
                                 const char *path, char **error);

#ifdef __cplusplus
}
#endif

#endif // MLA_C_COMPILER_H
