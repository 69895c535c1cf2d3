//===- Runtime.h - C API: what compiled kernels call --------------*- C -*-===//
//
// Part of the MLA project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// libMLARuntime: the part of the product that a compiled kernel needs when it
// runs. No LLVM is inside, so an object file made ahead of time links this
// library alone. First the thread pool of CPU kernels, then what GPU kernels
// need: devices, kernel images, tensor maps, launches.
//
// Every function may be called from any thread.
//
//===----------------------------------------------------------------------===//

#ifndef MLA_C_RUNTIME_H
#define MLA_C_RUNTIME_H

#include <stddef.h>
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

/// The error of this thread's loops, and of its device functions that were
/// given no place for a message, since the previous call, or NULL. The text is
/// valid until the thread's next error.
MLA_RUNTIME_API const char *mlaRuntimeTakeError(void);

//===----------------------------------------------------------------------===//
// Devices
//===----------------------------------------------------------------------===//
//
// The CUDA driver (libcuda.so.1, or the library that the environment variable
// MLA_CUDA_DRIVER_LIBRARY names) is opened by the first function that needs it.
//
// Errors: a function that can fail returns 0, or -1 with a message in *error
// that the caller frees with mlaRuntimeFreeString. `error` may be NULL, as in
// compiled code, which looks once at the end: the first such message of a
// thread is kept for mlaRuntimeTakeError, and until that is called the thread's
// launches with a NULL `error` do nothing but return -1. So a function of
// several steps launches nothing after a step that failed.
//
// Structures that start with `size` want their own sizeof there, so that fields
// can be added later.

/// Frees a message.
MLA_RUNTIME_API void mlaRuntimeFreeString(char *string);

/// The number of devices. 0 without a driver too: then *error says why, and
/// with a NULL `error` nothing does.
MLA_RUNTIME_API int32_t mlaRuntimeDeviceCount(char **error);

/// The device's compute capability as a number, for example 90; -1 on error.
MLA_RUNTIME_API int32_t mlaRuntimeDeviceArch(int32_t device, char **error);

typedef struct MlaRuntimeDevice {
  size_t size; // sizeof(MlaRuntimeDevice), set by the caller
  char name[128];
  int32_t arch;            // as mlaRuntimeDeviceArch
  int32_t multiprocessors; // blocks that run at once if each fills one
  int64_t sharedBytes;     // shared memory that one block may have
  int64_t l2Bytes;
  int64_t memoryBytes;
} MlaRuntimeDevice;

MLA_RUNTIME_API int mlaRuntimeDeviceInfo(int32_t device, MlaRuntimeDevice *info,
                                         char **error);

/// Where work goes: a CUstream (cudaStream_t) and its device. `handle` may be
/// one of CUDA's default streams (NULL, CU_STREAM_LEGACY,
/// CU_STREAM_PER_THREAD); it then belongs to `device`, or, if that is -1, to
/// the calling thread's current CUDA context, or to device 0 where there is
/// none. With any other handle the device is the stream's own; `device` must be
/// that or -1.
///
/// The calling thread's current context is the same after a call as before. A
/// device without a context gets its primary one, which frameworks use too.
typedef struct MlaRuntimeStream {
  void *handle;
  int32_t device;
} MlaRuntimeStream;

/// The stream that a NULL `stream` stands for on this thread from now on, and
/// the one to which compiled functions send their work. Initially {NULL, -1}.
MLA_RUNTIME_API void mlaRuntimeSetStream(MlaRuntimeStream stream);
MLA_RUNTIME_API MlaRuntimeStream mlaRuntimeGetStream(void);

//===----------------------------------------------------------------------===//
// Device memory, for programs that have no framework to hold it
//===----------------------------------------------------------------------===//

/// `bytes` bytes on the stream's device, aligned to 256; NULL if `bytes` is 0.
MLA_RUNTIME_API int mlaRuntimeAllocate(void **pointer, size_t bytes,
                                       const MlaRuntimeStream *stream,
                                       char **error);
MLA_RUNTIME_API int
mlaRuntimeFree(void *pointer, const MlaRuntimeStream *stream, char **error);
/// Copies between host and device, or inside either, after the stream's earlier
/// work, and waits.
MLA_RUNTIME_API int mlaRuntimeCopy(void *to, const void *from, size_t bytes,
                                   const MlaRuntimeStream *stream,
                                   char **error);
/// Waits for the stream's work and reports an error of it.
MLA_RUNTIME_API int mlaRuntimeSynchronize(const MlaRuntimeStream *stream,
                                          char **error);

//===----------------------------------------------------------------------===//
// Kernels
//===----------------------------------------------------------------------===//

/// An entry point of a kernel image.
typedef struct MlaRuntimeKernel MlaRuntimeKernel;

typedef struct MlaRuntimeKernelOptions {
  size_t size; // sizeof(MlaRuntimeKernelOptions)
  /// What the image was compiled for, for example "sm_90a": checked against the
  /// device. NULL: the driver's own check has to do.
  const char *arch;
  /// Dynamic shared memory of a block.
  int64_t sharedBytes;
  /// Bytes of the launch slot, or 0 for none. A slot is device memory that one
  /// launch has to itself, for counters and partial results. Its address,
  /// aligned to 256, is the kernel's last parameter; the runtime passes it. The
  /// kernel finds the slot's bytes zero and leaves them zero (the last block
  /// clears what it used: no memset between launches). Launches on one stream
  /// share a slot, one after the other; a captured launch owns its slot until
  /// the graph and all its executables are destroyed, so different graphs may
  /// run at once. (One captured graph instantiated twice is one set of slots:
  /// do not run the two at once.) With
  /// MLA_RUNTIME_LAUNCH_PROGRAMMATIC the slot is the kernel's own only after
  /// griddepcontrol.wait.
  int64_t slotBytes;
  /// How many parameters the kernel has, without the slot's; each launch is
  /// checked against it. 0: not checked.
  int64_t parameterCount;
} MlaRuntimeKernelOptions;

/// A kernel from an image, which is a cubin, a fat binary, or PTX text (with or
/// without a final NUL) and is copied. Needs no device. `options` may be NULL.
/// NULL on error.
MLA_RUNTIME_API MlaRuntimeKernel *
mlaRuntimeLoadKernel(const void *image, size_t imageSize, const char *entry,
                     const MlaRuntimeKernelOptions *options, char **error);

/// The kernel in *cell, which the first call (of any thread) fills; for
/// compiled code, whose cells are global variables, initially NULL.
MLA_RUNTIME_API MlaRuntimeKernel *
mlaRuntimeLoadKernelOnce(MlaRuntimeKernel **cell, const void *image,
                         size_t imageSize, const char *entry,
                         const MlaRuntimeKernelOptions *options, char **error);

/// Forgets the handle. Images stay on the devices on which they were loaded,
/// since captured graphs may need them, and are found again by their content.
MLA_RUNTIME_API void mlaRuntimeFreeKernel(MlaRuntimeKernel *kernel);

/// Loads the kernel on the stream's device (PTX is compiled then) and makes
/// slots, which the first launch would do otherwise.
MLA_RUNTIME_API int mlaRuntimePrepareKernel(MlaRuntimeKernel *kernel,
                                            const MlaRuntimeStream *stream,
                                            char **error);

enum {
  /// The kernel may start before the stream's previous kernel has finished
  /// (programmatic dependent launch); it waits with griddepcontrol.wait.
  MLA_RUNTIME_LAUNCH_PROGRAMMATIC = 1,
  /// At most as many blocks in grid[0] as the device holds at once, for a
  /// persistent kernel; grid[1] and grid[2] must be 1.
  MLA_RUNTIME_LAUNCH_RESIDENT = 2
};

typedef struct MlaRuntimeLaunchConfig {
  size_t size;                    // sizeof(MlaRuntimeLaunchConfig)
  const MlaRuntimeStream *stream; // NULL: mlaRuntimeGetStream()
  uint32_t grid[3];               // x, y, z; nothing is launched if one is 0
  uint32_t block[3];
  uint32_t flags; // of MLA_RUNTIME_LAUNCH_...
  uint32_t reserved;
} MlaRuntimeLaunchConfig;

/// Enqueues the kernel. `arguments` are the addresses of its `count` parameters
/// (without the slot's), read before the function returns. Copies nothing,
/// waits for nothing and, once the kernel is prepared, allocates nothing; the
/// stream may be capturing. On error nothing is enqueued.
///
/// Only where more streams and captured launches use slots than were made does
/// a launch make more, in a way that a capture permits and does not record.
MLA_RUNTIME_API int mlaRuntimeLaunch(MlaRuntimeKernel *kernel,
                                     const MlaRuntimeLaunchConfig *config,
                                     void *const *arguments, size_t count,
                                     char **error);

//===----------------------------------------------------------------------===//
// Tensor maps: what the tensor copy engine of sm_90 and later reads
//===----------------------------------------------------------------------===//

/// Numbered as MlaDType in mla-c/Compiler.h.
typedef enum MlaRuntimeDType {
  MLA_RUNTIME_DTYPE_BF16 = 0,
  MLA_RUNTIME_DTYPE_F16 = 1,
  MLA_RUNTIME_DTYPE_F32 = 2,
  MLA_RUNTIME_DTYPE_F64 = 3,
  MLA_RUNTIME_DTYPE_I32 = 4,
  MLA_RUNTIME_DTYPE_U32 = 5,
  MLA_RUNTIME_DTYPE_I64 = 6,
  MLA_RUNTIME_DTYPE_U64 = 7,
  MLA_RUNTIME_DTYPE_F8E4M3FN = 8
} MlaRuntimeDType;

/// A tensor in device memory and the box of it that one copy moves. Dimensions
/// are in the order of the tensor's shape, the contiguous one last. (CUDA's own
/// order, and that of the copy's coordinates, is the reverse.)
typedef struct MlaRuntimeTensorMapSpec {
  size_t size;      // sizeof(MlaRuntimeTensorMapSpec)
  const char *name; // the operand's, for messages; may be NULL
  void *data;       // a multiple of 16; may be NULL if there are no elements
  int32_t dtype;    // MlaRuntimeDType
  int32_t rank;     // 1 to 5
  const int64_t *shape;
  /// In elements; NULL: row-major without gaps. The last must be 1, the others
  /// multiples of 16 bytes; those of extents 0 and 1 are ignored.
  const int64_t *strides;
  /// Extents from 1 to 256; the last one a multiple of 16 bytes. Elements
  /// outside the tensor arrive as zeros.
  const int32_t *box;
  /// How the box lies in shared memory: 16-byte chunks permuted within spans of
  /// 128, 64 or 32 bytes, which the box's last extent must fit; 0: as it is.
  /// The box's rows start one span after the other, also where they are
  /// shorter; the barrier counts the box's own bytes.
  int32_t swizzle;
  /// Bytes of memory fetched into L2 at least: 0, 64, 128 or 256.
  int32_t l2Promotion;
  /// A stream of the device that will use the map; NULL: mlaRuntimeGetStream().
  const MlaRuntimeStream *stream;
} MlaRuntimeTensorMapSpec;

/// A kernel parameter: pass its address among the arguments of a launch.
typedef struct MlaRuntimeTensorMap {
#ifdef __cplusplus
  alignas(64)
#else
  _Alignas(64)
#endif
      unsigned char bytes[128];
} MlaRuntimeTensorMap;

/// Makes the tensor map, or finds it among the last thousand: a map depends on
/// nothing but the specification, so one that was made before is right whatever
/// the memory holds now. The stream may be capturing.
MLA_RUNTIME_API int
mlaRuntimeEncodeTensorMap(const MlaRuntimeTensorMapSpec *spec,
                          MlaRuntimeTensorMap *map, char **error);

#ifdef __cplusplus
}
#endif

#endif // MLA_C_RUNTIME_H
