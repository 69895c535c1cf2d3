//===- CudaTest.cpp - The runtime on a fake CUDA driver ---------*- C++ -*-===//
//
// Part of the MLA project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "CudaTest.h"

/// Before main, and so before anything opens the driver.
static const int chosen = setenv("MLA_CUDA_DRIVER_LIBRARY", FAKE_CUDA, 1);

void CudaTest::SetUp() {
  ASSERT_EQ(chosen, 0);
  fake_cuda::reset();
  fake_cuda::setCurrent(-1);
  mlaRuntimeSetStream({nullptr, -1});
  (void)mlaRuntimeTakeError();
}

void CudaTest::TearDown() {
  EXPECT_EQ(fake_cuda::violations(), 0);
  for (MlaRuntimeKernel *kernel : kernels)
    mlaRuntimeFreeKernel(kernel);
}

std::string CudaTest::ptx(const std::string &entry) const {
  const testing::TestInfo *test =
      testing::UnitTest::GetInstance()->current_test_info();
  return std::string("// ") + test->test_suite_name() + "." + test->name() +
         "\n.target sm_90\n.entry " + entry + "\n";
}

MlaRuntimeKernel *CudaTest::load(const std::string &image, const char *entry,
                                 const char *arch, int64_t sharedBytes,
                                 int64_t slotBytes, int64_t parameterCount) {
  MlaRuntimeKernelOptions options = {sizeof(options), arch, sharedBytes,
                                     slotBytes, parameterCount};
  MlaRuntimeKernel *kernel = mlaRuntimeLoadKernel(image.data(), image.size(),
                                                  entry, &options, message);
  EXPECT_NE(kernel, nullptr) << message.str();
  kernels.push_back(kernel);
  return kernel;
}

MlaRuntimeLaunchConfig CudaTest::oneBlock() {
  return {sizeof(MlaRuntimeLaunchConfig), nullptr, {1, 1, 1}, {32, 1, 1}, 0, 0};
}

int CudaTest::launch(MlaRuntimeKernel *kernel, std::vector<void *> arguments,
                     const MlaRuntimeStream *stream) {
  config.stream = stream;
  return mlaRuntimeLaunch(kernel, &config, arguments.data(), arguments.size(),
                          message);
}
