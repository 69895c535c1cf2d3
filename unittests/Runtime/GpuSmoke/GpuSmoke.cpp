//===- GpuSmoke.cpp - The runtime on a real GPU -----------------*- C++ -*-===//
//
// Part of the MLA project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Runs small kernels, which the driver compiles from PTX, on the machine's
// GPUs of sm_90 and later. The last line is "N passed, N failed"; without such
// a GPU it says why and that nothing ran, which is no failure. --no-errors
// leaves out the calls that have to fail, which compute-sanitizer would report.
//
//===----------------------------------------------------------------------===//

#include "Harness.h"
#include "Kernels.h"

static int passed = 0;
static int failed = 0;

void check(bool holds, const char *what, const std::string &details) {
  ++(holds ? passed : failed);
  if (!holds)
    std::printf("FAILED: %s%s%s\n", what, details.empty() ? "" : ": ",
                details.c_str());
}

static void checkAdd(int32_t device) {
  MlaRuntimeStream stream = {nullptr, device};
  constexpr uint32_t count = 1000;
  Buffer<float> a(count, &stream), b(count, &stream), sum(count, &stream);
  for (uint32_t i = 0; i < count; ++i) {
    a.host[i] = static_cast<float>(i);
    b.host[i] = 0.5f * static_cast<float>(i);
  }
  a.toDevice();
  b.toDevice();
  MlaRuntimeKernel *kernel = load(kernels::add, "add", 0, 0, 4);
  uint32_t n = count;
  Message message;
  int result = launch(kernel, 8, 128, {&a.data, &b.data, &sum.data, &n},
                      &stream, 0, message);
  check(result == 0, "add is launched", message.str());
  sum.toHost();
  bool right = true;
  for (uint32_t i = 0; i < count; ++i)
    right &= sum.host[i] == a.host[i] + b.host[i];
  check(right, "add gives the sum");
  mlaRuntimeFreeKernel(kernel);
}

static void checkErrors() {
  Message message;
  auto fails = [&](int result, const char *expected) {
    check(result != 0 && message.str().find(expected) != std::string::npos,
          expected, message.str());
  };
  std::string cubin("\177ELF no more");
  cubin.resize(4096);
  MlaRuntimeKernelOptions old = {sizeof(old), "sm_80", 0, 0, 0};
  MlaRuntimeKernel *kernel =
      mlaRuntimeLoadKernel(cubin.data(), cubin.size(), "add", &old, message);
  fails(mlaRuntimePrepareKernel(kernel, nullptr, message),
        "it was compiled for sm_80, device 0");
  mlaRuntimeFreeKernel(kernel);
  kernel =
      mlaRuntimeLoadKernel(cubin.data(), cubin.size(), "add", nullptr, message);
  fails(mlaRuntimePrepareKernel(kernel, nullptr, message), "CUDA_ERROR_");
  mlaRuntimeFreeKernel(kernel);
  std::string wrong = ".version 8.0\n.target sm_90\n.address_size 64\nwrong\n";
  kernel =
      mlaRuntimeLoadKernel(wrong.data(), wrong.size(), "add", nullptr, message);
  fails(mlaRuntimePrepareKernel(kernel, nullptr, message), "line 4");
  mlaRuntimeFreeKernel(kernel);
  kernel = load(kernels::add, "sub");
  fails(mlaRuntimePrepareKernel(kernel, nullptr, message), "no such entry");
  mlaRuntimeFreeKernel(kernel);
  kernel = load(kernels::add, "add", 1 << 20);
  fails(mlaRuntimePrepareKernel(kernel, nullptr, message), "shared memory");
  mlaRuntimeFreeKernel(kernel);
  kernel = load(kernels::add, "add", 0, 0, 5);
  fails(mlaRuntimePrepareKernel(kernel, nullptr, message),
        "fewer than 5 parameters");
  mlaRuntimeFreeKernel(kernel);
  kernel = load(kernels::add, "add", 0, 0, 4);
  uint32_t n = 1;
  fails(launch(kernel, 1, 1, {&n}, nullptr, 0, message), "expected 4, got 1");
  fails(launch(kernel, 1, 2048, {&n}, nullptr, 0, message), "threads");
  mlaRuntimeFreeKernel(kernel);
  void *memory = nullptr;
  fails(mlaRuntimeAllocate(&memory, size_t(1) << 50, nullptr, message),
        "CUDA_ERROR_OUT_OF_MEMORY (out of memory)");
}

void checkDevices() {
  for (int32_t device = 0; device < mlaRuntimeDeviceCount(nullptr); ++device) {
    Message message;
    MlaRuntimeDevice info = {};
    info.size = sizeof(info);
    need(mlaRuntimeDeviceInfo(device, &info, message), message);
    std::printf("device %d: %s, sm_%d, %d multiprocessors, %lld KB of shared "
                "memory, %lld MB of L2, %lld GB\n",
                device, info.name, info.arch, info.multiprocessors,
                static_cast<long long>(info.sharedBytes >> 10),
                static_cast<long long>(info.l2Bytes >> 20),
                static_cast<long long>(info.memoryBytes >> 30));
    check(info.arch == mlaRuntimeDeviceArch(device, nullptr), "arch");
    if (info.arch >= 90)
      checkAdd(device);
  }
}

int main(int argc, char **argv) {
  bool errors = argc < 2 || std::string(argv[1]) != "--no-errors";
  Message message;
  int32_t arch = -1;
  if (mlaRuntimeDeviceCount(message) > 0)
    arch = mlaRuntimeDeviceArch(0, message);
  if (arch < 90) {
    std::printf("no GPU of sm_90 or later: %s\n0 passed, 0 failed\n",
                arch < 0 ? message.str().c_str() : "device 0 is older");
    return 0;
  }
  checkDevices();
  if (errors)
    checkErrors();
  checkBoxes();
  checkSlots();
  checkGraphs();
  measureLaunches();
  need(mlaRuntimeSynchronize(nullptr, message), message);
  std::printf("%d passed, %d failed\n", passed, failed);
  return failed != 0;
}
