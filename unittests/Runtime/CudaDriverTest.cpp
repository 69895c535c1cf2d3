//===- CudaDriverTest.cpp - Opening the driver; devices and memory *- C++
//-*-===//
//
// Part of the MLA project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "CudaTest.h"

#include <cstddef>
#include <cstdio>
#include <cstring>
#include <dlfcn.h>

namespace {

// The driver is opened once a process, so each way to fail gets a process.
[[noreturn]] void exitWithCount(const char *library, const char *init) {
  setenv("MLA_CUDA_DRIVER_LIBRARY", library, 1);
  if (init)
    setenv("FAKE_CUDA_INIT", init, 1);
  Message message;
  int32_t count = mlaRuntimeDeviceCount(message);
  std::fprintf(stderr, "%s\n", message.str().c_str());
  // Asking without a place for the answer is no error that stays.
  if (mlaRuntimeDeviceCount(nullptr) != 0 || mlaRuntimeTakeError())
    std::exit(100);
  // What needs a device says the same.
  MlaRuntimeKernel *kernel =
      mlaRuntimeLoadKernel(".target sm_90", 13, "k", nullptr, nullptr);
  Message again;
  if (mlaRuntimePrepareKernel(kernel, nullptr, again) != -1 ||
      again.str() != "kernel 'k': " + message.str())
    std::exit(101);
  mlaRuntimeFreeKernel(kernel);
  std::exit(count);
}

TEST(CudaDriverDeathTest, IsMissing) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(exitWithCount("/nowhere/libcuda.so", nullptr),
              testing::ExitedWithCode(0),
              "no CUDA driver: MLA_CUDA_DRIVER_LIBRARY: /nowhere/libcuda.so: "
              "cannot open shared object file");
  if (void *real = dlopen("libcuda.so.1", RTLD_LAZY)) {
    dlclose(real);
    GTEST_SKIP() << "this machine has a driver";
  }
  EXPECT_EXIT(exitWithCount("", nullptr), testing::ExitedWithCode(0),
              "no CUDA driver: libcuda.so.1: cannot open");
}

TEST(CudaDriverDeathTest, IsTooOld) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(exitWithCount(FAKE_CUDA_OLD, nullptr), testing::ExitedWithCode(0),
              "FakeCudaOld.so' has no function 'cuTensorMapEncodeTiled': a "
              "driver of CUDA 12.0 or later is needed");
}

TEST(CudaDriverDeathTest, DoesNotStart) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(exitWithCount(FAKE_CUDA, "100"), testing::ExitedWithCode(0),
              "no CUDA device: cuInit: CUDA_ERROR_NO_DEVICE \\(no CUDA-capable "
              "device is detected\\)");
  EXPECT_EXIT(exitWithCount(FAKE_CUDA, "3"), testing::ExitedWithCode(0),
              "cuInit: CUDA_ERROR_NOT_INITIALIZED");
  EXPECT_EXIT(exitWithCount(FAKE_CUDA, "12345"), testing::ExitedWithCode(0),
              "cuInit: CUDA error 12345");
}

using CudaDevice = CudaTest;

TEST_F(CudaDevice, IsDescribed) {
  EXPECT_EQ(mlaRuntimeDeviceCount(nullptr), fake_cuda::deviceCount);
  EXPECT_EQ(mlaRuntimeDeviceArch(0, nullptr), 90);
  EXPECT_EQ(mlaRuntimeDeviceArch(2, nullptr), 80);
  MlaRuntimeDevice info = {};
  info.size = sizeof(info);
  ASSERT_EQ(mlaRuntimeDeviceInfo(1, &info, message), 0) << message.str();
  EXPECT_STREQ(info.name, "Fake 1");
  EXPECT_EQ(info.arch, 90);
  EXPECT_EQ(info.multiprocessors, 132);
  EXPECT_EQ(info.sharedBytes, 232448);
  EXPECT_EQ(info.l2Bytes, 50 << 20);
  EXPECT_EQ(info.memoryBytes, int64_t(80) << 30);
  EXPECT_EQ(info.size, sizeof(info));
}

TEST_F(CudaDevice, IsDescribedToOlderCallers) {
  MlaRuntimeDevice info;
  std::memset(&info, 0x55, sizeof(info));
  info.size = offsetof(MlaRuntimeDevice, multiprocessors);
  ASSERT_EQ(mlaRuntimeDeviceInfo(0, &info, message), 0) << message.str();
  EXPECT_EQ(info.arch, 90);
  EXPECT_EQ(info.multiprocessors, 0x55555555);
}

TEST_F(CudaDevice, HasANumber) {
  EXPECT_EQ(mlaRuntimeDeviceArch(3, message), -1);
  EXPECT_EQ(message.str(), "device: expected a number from 0 to 2, got 3");
  EXPECT_EQ(mlaRuntimeDeviceArch(-1, message), -1);
  EXPECT_EQ(mlaRuntimeDeviceInfo(0, nullptr, message), -1);
  EXPECT_EQ(message.str(),
            "info: expected a structure with its size, got null");
}

using CudaMemory = CudaTest;

TEST_F(CudaMemory, ComesAndGoes) {
  MlaRuntimeStream stream = {nullptr, 1};
  size_t before = fake_cuda::allocated();
  void *memory = nullptr;
  ASSERT_EQ(mlaRuntimeAllocate(&memory, 1000, &stream, message), 0);
  EXPECT_EQ(fake_cuda::allocated(), before + 1000);
  int values[] = {1, 2, 3}, back[3];
  EXPECT_EQ(mlaRuntimeCopy(memory, values, sizeof(values), &stream, message),
            0);
  EXPECT_EQ(mlaRuntimeCopy(back, memory, sizeof(back), &stream, message), 0);
  EXPECT_EQ(back[2], 3);
  EXPECT_EQ(mlaRuntimeSynchronize(&stream, message), 0);
  EXPECT_EQ(fake_cuda::count("cuStreamSynchronize"), 3);
  EXPECT_EQ(mlaRuntimeFree(memory, &stream, message), 0);
  EXPECT_EQ(fake_cuda::allocated(), before);
  EXPECT_EQ(fake_cuda::getCurrent(), nullptr);
}

TEST_F(CudaMemory, MayBeNone) {
  void *memory = &memory;
  EXPECT_EQ(mlaRuntimeAllocate(&memory, 0, nullptr, message), 0);
  EXPECT_EQ(memory, nullptr);
  EXPECT_EQ(mlaRuntimeFree(nullptr, nullptr, message), 0);
  EXPECT_EQ(mlaRuntimeCopy(nullptr, nullptr, 0, nullptr, message), 0);
}

TEST_F(CudaMemory, RunsOut) {
  void *memory = &memory;
  fake_cuda::fail("cuMemAlloc_v2", 2);
  EXPECT_EQ(mlaRuntimeAllocate(&memory, 64, nullptr, message), -1);
  EXPECT_EQ(memory, nullptr);
  EXPECT_EQ(message.str(), "device 0 (Fake 0) has no 64 bytes left: "
                           "cuMemAlloc_v2: CUDA_ERROR_OUT_OF_MEMORY (out of "
                           "memory)");
}

TEST_F(CudaMemory, ReportsTheDriver) {
  int value = 0;
  fake_cuda::fail("cuMemcpyAsync", 1);
  EXPECT_EQ(mlaRuntimeCopy(&value, &value, 4, nullptr, message), -1);
  EXPECT_EQ(message.str(),
            "cuMemcpyAsync: CUDA_ERROR_INVALID_VALUE (invalid argument)");
  fake_cuda::fail("cuStreamSynchronize", 700);
  EXPECT_EQ(mlaRuntimeSynchronize(nullptr, message), -1);
  EXPECT_EQ(message.str(), "cuStreamSynchronize: CUDA_ERROR_ILLEGAL_ADDRESS "
                           "(an illegal memory access was encountered)");
  EXPECT_EQ(mlaRuntimeFree(&value, nullptr, message), -1);
  EXPECT_EQ(message.str(),
            "cuMemFree_v2: CUDA_ERROR_INVALID_VALUE (invalid argument)");
}

} // namespace
