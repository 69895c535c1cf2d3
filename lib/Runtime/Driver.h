//===- Driver.h - The CUDA driver, opened at run time -----------*- C++ -*-===//
//
// Part of the MLA project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The part of the driver's binary interface that is used here, declared anew:
// the library then builds without CUDA's headers and loads without its driver.
// Names and numbers are those of the driver API's documentation; a unit test
// compares them with cuda.h where there is one.
//
//===----------------------------------------------------------------------===//

#ifndef MLA_LIB_RUNTIME_DRIVER_H
#define MLA_LIB_RUNTIME_DRIVER_H

#include "Status.h"

#include <cstddef>
#include <cstdint>

namespace mla::runtime::cuda {

/// CUresult. The named ones are those that are told apart here.
using Result = int;
constexpr Result success = 0;
constexpr Result errorOutOfMemory = 2;
constexpr Result errorNoDevice = 100;
constexpr Result errorUnsupportedPtxVersion = 222;
constexpr Result errorNotFound = 500;

using Device = int;
using DevicePointer = unsigned long long;
using Context = struct ContextHandle *;
using Module = struct ModuleHandle *;
using Function = struct FunctionHandle *;
using Stream = struct StreamHandle *;
using Graph = struct GraphHandle *;
using GraphNode = struct GraphNodeHandle *;
using UserObject = struct UserObjectHandle *;
using HostFunction = void (*)(void *);

namespace device_attribute {
constexpr int maxGridX = 5;
constexpr int maxGridY = 6;
constexpr int maxGridZ = 7;
constexpr int multiprocessors = 16;
constexpr int l2CacheSize = 38;
constexpr int capabilityMajor = 75;
constexpr int capabilityMinor = 76;
constexpr int maxSharedBytesOptIn = 97;
} // namespace device_attribute

namespace function_attribute {
constexpr int maxThreadsPerBlock = 0;
constexpr int sharedBytes = 1;
constexpr int maxDynamicSharedBytes = 8;
} // namespace function_attribute

namespace jit_option {
constexpr int errorLog = 5;
constexpr int errorLogBytes = 6;
} // namespace jit_option

constexpr unsigned streamNonBlocking = 1;
constexpr int captureActive = 1;
constexpr int captureModeRelaxed = 2;
constexpr unsigned userObjectNoDestructorSync = 1;
constexpr unsigned graphUserObjectMove = 1;

/// CUlaunchAttribute; its value is a union of 64 bytes.
struct LaunchAttribute {
  static constexpr int programmaticStreamSerialization = 6;
  int id;
  char padding[4];
  union {
    char bytes[64];
    int number;
  } value;
};

/// CUlaunchConfig.
struct LaunchConfig {
  unsigned grid[3];
  unsigned block[3];
  unsigned sharedBytes;
  Stream stream;
  LaunchAttribute *attributes;
  unsigned attributeCount;
};

namespace tensor_map {
/// CUtensorMapDataType.
enum DataType : int {
  U8 = 0,
  U32 = 2,
  I32 = 3,
  U64 = 4,
  I64 = 5,
  F16 = 6,
  F32 = 7,
  F64 = 8,
  BF16 = 9
};
} // namespace tensor_map

// X(name here, exported name, parameters): the functions that are used. All of
// them are in every driver of CUDA 12, the first that knows sm_90a.
#define MLA_CUDA_FUNCTIONS(X)                                                  \
  X(init, cuInit, (unsigned flags))                                            \
  X(driverGetVersion, cuDriverGetVersion, (int *version))                      \
  X(getErrorName, cuGetErrorName, (Result result, const char **text))          \
  X(getErrorString, cuGetErrorString, (Result result, const char **text))      \
  X(deviceGetCount, cuDeviceGetCount, (int *count))                            \
  X(deviceGet, cuDeviceGet, (Device * device, int ordinal))                    \
  X(deviceGetName, cuDeviceGetName, (char *name, int length, Device device))   \
  X(deviceGetAttribute, cuDeviceGetAttribute,                                  \
    (int *value, int attribute, Device device))                                \
  X(deviceTotalMem, cuDeviceTotalMem_v2, (size_t *bytes, Device device))       \
  X(devicePrimaryContextRetain, cuDevicePrimaryCtxRetain,                      \
    (Context * context, Device device))                                        \
  X(contextGetCurrent, cuCtxGetCurrent, (Context * context))                   \
  X(contextPush, cuCtxPushCurrent_v2, (Context context))                       \
  X(contextPop, cuCtxPopCurrent_v2, (Context * context))                       \
  X(contextGetDevice, cuCtxGetDevice, (Device * device))                       \
  X(contextGetId, cuCtxGetId, (Context context, unsigned long long *id))       \
  X(moduleLoadData, cuModuleLoadDataEx,                                        \
    (Module * module, const void *image, unsigned count, int *options,         \
     void **values))                                                           \
  X(moduleGetFunction, cuModuleGetFunction,                                    \
    (Function * function, Module module, const char *name))                    \
  X(functionGetAttribute, cuFuncGetAttribute,                                  \
    (int *value, int attribute, Function function))                            \
  X(functionSetAttribute, cuFuncSetAttribute,                                  \
    (Function function, int attribute, int value))                             \
  X(maxActiveBlocks, cuOccupancyMaxActiveBlocksPerMultiprocessor,              \
    (int *blocks, Function function, int blockSize, size_t sharedBytes))       \
  X(launchKernel, cuLaunchKernelEx,                                            \
    (const LaunchConfig *config, Function function, void **parameters,         \
     void **extra))                                                            \
  X(tensorMapEncodeTiled, cuTensorMapEncodeTiled,                              \
    (void *map, int dataType, uint32_t rank, void *address,                    \
     const uint64_t *extents, const uint64_t *strides, const uint32_t *box,    \
     const uint32_t *elementStrides, int interleave, int swizzle,              \
     int l2Promotion, int fill))                                               \
  X(streamCreate, cuStreamCreate, (Stream * stream, unsigned flags))           \
  X(streamSynchronize, cuStreamSynchronize, (Stream stream))                   \
  X(streamGetContext, cuStreamGetCtx, (Stream stream, Context * context))      \
  X(streamGetId, cuStreamGetId, (Stream stream, unsigned long long *id))       \
  X(streamGetCaptureInfo, cuStreamGetCaptureInfo_v2,                           \
    (Stream stream, int *status, uint64_t *id, Graph *graph,                   \
     const GraphNode **dependencies, size_t *count))                           \
  X(exchangeCaptureMode, cuThreadExchangeStreamCaptureMode, (int *mode))       \
  X(memoryAllocate, cuMemAlloc_v2, (DevicePointer * pointer, size_t bytes))    \
  X(memoryFree, cuMemFree_v2, (DevicePointer pointer))                         \
  X(memorySet, cuMemsetD8Async,                                                \
    (DevicePointer pointer, unsigned char value, size_t bytes, Stream stream)) \
  X(memoryCopy, cuMemcpyAsync,                                                 \
    (DevicePointer to, DevicePointer from, size_t bytes, Stream stream))       \
  X(userObjectCreate, cuUserObjectCreate,                                      \
    (UserObject * object, void *pointer, HostFunction destroy,                 \
     unsigned references, unsigned flags))                                     \
  X(userObjectRelease, cuUserObjectRelease,                                    \
    (UserObject object, unsigned references))                                  \
  X(graphRetainUserObject, cuGraphRetainUserObject,                            \
    (Graph graph, UserObject object, unsigned references, unsigned flags))

// Functions that may be absent (null then): this one came with CUDA 12.4.
#define MLA_CUDA_OPTIONAL_FUNCTIONS(X)                                         \
  X(functionGetParameterInfo, cuFuncGetParamInfo,                              \
    (Function function, size_t index, size_t *offset, size_t *size))

struct Driver {
#define MLA_CUDA_DECLARE(name, symbol, parameters) Result(*name) parameters;
  MLA_CUDA_FUNCTIONS(MLA_CUDA_DECLARE)
  MLA_CUDA_OPTIONAL_FUNCTIONS(MLA_CUDA_DECLARE)
#undef MLA_CUDA_DECLARE

  /// The process's driver, opened and initialised by the first call. What went
  /// wrong then is the answer to every call.
  static Status get(const Driver *&driver);

  /// Success, or "<what>: CUDA_ERROR_... (CUDA's own explanation)".
  Status check(Result result, const char *what) const;
};

/// Returns the failure of a call, by its name in Driver, from the function
/// around it.
#define MLA_CUDA_TRY(driver, name, ...)                                        \
  if (::mla::runtime::cuda::Result result = (driver).name(__VA_ARGS__))        \
  return (driver).check(result, ::mla::runtime::cuda::symbolOf_##name)

#define MLA_CUDA_NAME(name, symbol, parameters)                                \
  inline constexpr const char *symbolOf_##name = #symbol;
MLA_CUDA_FUNCTIONS(MLA_CUDA_NAME)
MLA_CUDA_OPTIONAL_FUNCTIONS(MLA_CUDA_NAME)
#undef MLA_CUDA_NAME

} // namespace mla::runtime::cuda

#endif // MLA_LIB_RUNTIME_DRIVER_H
