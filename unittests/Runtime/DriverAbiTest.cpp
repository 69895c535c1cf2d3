//===- DriverAbiTest.cpp - Our declarations against CUDA's own --*- C++ -*-===//
//
// Part of the MLA project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

// Driver.h repeats a part of the driver's interface, so that nothing needs
// CUDA's headers. Where they are, the compiler compares.

#include "Driver.h"

#include "gtest/gtest.h"

#if __has_include(<cuda.h>)
#include <cuda.h>

#include <cstddef>
#include <type_traits>

namespace ours = mla::runtime::cuda;

#define SAME(a, b) static_assert(int(a) == int(b))
SAME(ours::success, CUDA_SUCCESS);
SAME(ours::errorOutOfMemory, CUDA_ERROR_OUT_OF_MEMORY);
SAME(ours::errorNoDevice, CUDA_ERROR_NO_DEVICE);
SAME(ours::errorUnsupportedPtxVersion, CUDA_ERROR_UNSUPPORTED_PTX_VERSION);
SAME(ours::errorNotFound, CUDA_ERROR_NOT_FOUND);
SAME(ours::device_attribute::maxGridX, CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_X);
SAME(ours::device_attribute::maxGridY, CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Y);
SAME(ours::device_attribute::maxGridZ, CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Z);
SAME(ours::device_attribute::multiprocessors,
     CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT);
SAME(ours::device_attribute::l2CacheSize, CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE);
SAME(ours::device_attribute::capabilityMajor,
     CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR);
SAME(ours::device_attribute::capabilityMinor,
     CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR);
SAME(ours::device_attribute::maxSharedBytesOptIn,
     CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN);
SAME(ours::function_attribute::maxThreadsPerBlock,
     CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK);
SAME(ours::function_attribute::sharedBytes,
     CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES);
SAME(ours::function_attribute::maxDynamicSharedBytes,
     CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES);
SAME(ours::jit_option::errorLog, CU_JIT_ERROR_LOG_BUFFER);
SAME(ours::jit_option::errorLogBytes, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES);
SAME(ours::streamNonBlocking, CU_STREAM_NON_BLOCKING);
SAME(ours::captureActive, CU_STREAM_CAPTURE_STATUS_ACTIVE);
SAME(ours::captureModeRelaxed, CU_STREAM_CAPTURE_MODE_RELAXED);
SAME(ours::userObjectNoDestructorSync, CU_USER_OBJECT_NO_DESTRUCTOR_SYNC);
SAME(ours::graphUserObjectMove, CU_GRAPH_USER_OBJECT_MOVE);
SAME(ours::tensor_map::U8, CU_TENSOR_MAP_DATA_TYPE_UINT8);
SAME(ours::tensor_map::U32, CU_TENSOR_MAP_DATA_TYPE_UINT32);
SAME(ours::tensor_map::I32, CU_TENSOR_MAP_DATA_TYPE_INT32);
SAME(ours::tensor_map::U64, CU_TENSOR_MAP_DATA_TYPE_UINT64);
SAME(ours::tensor_map::I64, CU_TENSOR_MAP_DATA_TYPE_INT64);
SAME(ours::tensor_map::F16, CU_TENSOR_MAP_DATA_TYPE_FLOAT16);
SAME(ours::tensor_map::F32, CU_TENSOR_MAP_DATA_TYPE_FLOAT32);
SAME(ours::tensor_map::F64, CU_TENSOR_MAP_DATA_TYPE_FLOAT64);
SAME(ours::tensor_map::BF16, CU_TENSOR_MAP_DATA_TYPE_BFLOAT16);
// The positions of values in TensorMap.cpp's lists.
SAME(1, CU_TENSOR_MAP_SWIZZLE_32B);
SAME(2, CU_TENSOR_MAP_SWIZZLE_64B);
SAME(3, CU_TENSOR_MAP_SWIZZLE_128B);
SAME(1, CU_TENSOR_MAP_L2_PROMOTION_L2_64B);
SAME(2, CU_TENSOR_MAP_L2_PROMOTION_L2_128B);
SAME(3, CU_TENSOR_MAP_L2_PROMOTION_L2_256B);
SAME(ours::LaunchAttribute::programmaticStreamSerialization,
     CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION);

static_assert(sizeof(ours::LaunchAttribute) == sizeof(CUlaunchAttribute));
SAME(offsetof(ours::LaunchAttribute, value),
     offsetof(CUlaunchAttribute, value));
static_assert(sizeof(ours::LaunchConfig) == sizeof(CUlaunchConfig));
SAME(offsetof(ours::LaunchConfig, block), offsetof(CUlaunchConfig, blockDimX));
SAME(offsetof(ours::LaunchConfig, sharedBytes),
     offsetof(CUlaunchConfig, sharedMemBytes));
SAME(offsetof(ours::LaunchConfig, stream), offsetof(CUlaunchConfig, hStream));
SAME(offsetof(ours::LaunchConfig, attributes), offsetof(CUlaunchConfig, attrs));
SAME(offsetof(ours::LaunchConfig, attributeCount),
     offsetof(CUlaunchConfig, numAttrs));

/// Whether two parameters are passed alike.
template <typename A, typename B>
constexpr bool passedAlike =
    sizeof(A) == sizeof(B) && std::is_pointer_v<A> == std::is_pointer_v<B>;

template <typename Ours, typename Theirs> constexpr bool sameSignature = false;
template <typename... A, typename... B>
constexpr bool sameSignature<int (*)(A...), CUresult (*)(B...)> = [] {
  if constexpr (sizeof...(A) == sizeof...(B))
    return (passedAlike<A, B> && ...);
  return false;
}();

// cuStreamGetCaptureInfo's second version is no longer in newer headers.
using CaptureInfo = CUresult (*)(CUstream, CUstreamCaptureStatus *,
                                 cuuint64_t *, CUgraph *, const CUgraphNode **,
                                 size_t *);
#define cuStreamGetCaptureInfo_v2 (*static_cast<CaptureInfo>(nullptr))
#define COMPARE(name, symbol, parameters)                                      \
  static_assert(                                                               \
      sameSignature<                                                           \
          decltype(ours::Driver::name),                                        \
          std::add_pointer_t<std::remove_reference_t<decltype(symbol)>>>,      \
      #symbol);
MLA_CUDA_FUNCTIONS(COMPARE)
#if CUDA_VERSION >= 12040
MLA_CUDA_OPTIONAL_FUNCTIONS(COMPARE)
#endif

TEST(DriverAbi, IsThatOfTheHeader) {}
#else
TEST(DriverAbi, IsThatOfTheHeader) { GTEST_SKIP() << "no cuda.h here"; }
#endif
