//===- CudaKernelTest.cpp - Images, entries and launches --------*- C++ -*-===//
//
// Part of the MLA project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "CudaTest.h"

#include <thread>

namespace {

//===----------------------------------------------------------------------===//
// Loading
//===----------------------------------------------------------------------===//

using CudaImage = CudaTest;

TEST_F(CudaImage, IsLoadedOnceForEachDevice) {
  std::string image = ptx("k 4\n.entry second 4");
  MlaRuntimeKernel *kernel = load(image);
  EXPECT_EQ(fake_cuda::count("cuModuleLoadDataEx"), 0);
  int value = 0;
  for (int device : {0, 1, 0, 1}) {
    MlaRuntimeStream stream = {nullptr, device};
    EXPECT_EQ(launch(kernel, {&value}, &stream), 0) << message.str();
  }
  EXPECT_EQ(fake_cuda::count("cuModuleLoadDataEx"), 2);
  EXPECT_EQ(fake_cuda::count("cuModuleGetFunction"), 2);

  // Another handle, another entry: the same image, also after the first handle
  // is gone.
  mlaRuntimeFreeKernel(
      mlaRuntimeLoadKernel(image.data(), image.size(), "k", nullptr, message));
  EXPECT_EQ(launch(load(image), {&value}), 0);
  EXPECT_EQ(launch(load(image, "second"), {&value}), 0);
  EXPECT_EQ(fake_cuda::count("cuModuleLoadDataEx"), 2);
  EXPECT_EQ(fake_cuda::count("cuModuleGetFunction"), 4);
  EXPECT_EQ(fake_cuda::launches().back().function, "second");

  // Another content.
  EXPECT_EQ(launch(load(image + " "), {&value}), 0);
  EXPECT_EQ(fake_cuda::count("cuModuleLoadDataEx"), 3);
}

TEST_F(CudaImage, IsLoadedForEachContext) {
  MlaRuntimeKernel *kernel = load(ptx("k"));
  EXPECT_EQ(launch(kernel, {}), 0);
  // A program's own context, which takes the place of the primary one.
  void *context = fake_cuda::createContext(0);
  EXPECT_EQ(launch(kernel, {}), 0);
  MlaRuntimeStream stream = {nullptr, 0};
  EXPECT_EQ(launch(kernel, {}, &stream), 0);
  EXPECT_EQ(fake_cuda::getCurrent(), context);
  EXPECT_EQ(fake_cuda::count("cuModuleLoadDataEx"), 2);
}

TEST_F(CudaImage, MayEndWithNuls) {
  std::string image = ptx("k");
  EXPECT_EQ(launch(load(image), {}), 0);
  EXPECT_EQ(launch(load(image + std::string(2, '\0')), {}), 0);
  EXPECT_EQ(fake_cuda::count("cuModuleLoadDataEx"), 1);
}

TEST_F(CudaImage, IsCopied) {
  std::string image = ptx("k");
  MlaRuntimeKernel *kernel = load(image);
  image.assign(image.size(), 'x');
  EXPECT_EQ(launch(kernel, {}), 0) << message.str();
}

TEST_F(CudaImage, HasToBeOne) {
  auto fails = [&](const void *image, size_t size, const char *entry,
                   const MlaRuntimeKernelOptions *options) {
    EXPECT_EQ(mlaRuntimeLoadKernel(image, size, entry, options, message),
              nullptr);
    return message.str();
  };
  EXPECT_EQ(fails(nullptr, 10, "k", nullptr),
            "image: expected a cubin or PTX text, got 0 bytes");
  EXPECT_EQ(fails("ab", 2, "k", nullptr),
            "image: expected a cubin or PTX text, got 2 bytes");
  EXPECT_EQ(fails("hello, world", 12, "k", nullptr),
            "image: expected a cubin or PTX text, got 12 bytes that are "
            "neither");
  EXPECT_EQ(fails(".target\0.entry", 14, "k", nullptr),
            "image: expected a cubin or PTX text, got 14 bytes that are "
            "neither");
  EXPECT_EQ(fails(".target", 7, "", nullptr),
            "entry: expected a kernel's name, got none");
  EXPECT_EQ(fails(".target", 7, nullptr, nullptr),
            "entry: expected a kernel's name, got none");
  MlaRuntimeKernelOptions options = {};
  EXPECT_EQ(fails(".target", 7, "k", &options),
            "options.size: expected 40, got 0");
  options = {sizeof(options), nullptr, -1, 0, 0};
  EXPECT_EQ(fails(".target", 7, "k", &options),
            "sharedBytes: expected a number from 0 to 2147483647, got -1");
  options = {sizeof(options), nullptr, 0, int64_t(1) << 40, 0};
  EXPECT_EQ(fails(".target", 7, "k", &options),
            "slotBytes: expected a number from 0 to 2147483647, got "
            "1099511627776");
  options = {sizeof(options), nullptr, 0, 0, 257};
  EXPECT_EQ(fails(".target", 7, "k", &options),
            "parameterCount: expected a number from 0 to 256, got 257");
  for (const char *arch : {"", "gfx90", "sm_", "sm_9", "sm_90b", "sm_90aa"}) {
    options = {sizeof(options), arch, 0, 0, 0};
    EXPECT_EQ(fails(".target", 7, "k", &options),
              std::string("arch: expected a name like 'sm_90a', got '") + arch +
                  "'");
  }
}

TEST_F(CudaImage, DoesNotCompile) {
  MlaRuntimeKernel *kernel = load(ptx("k\nwrong"));
  EXPECT_EQ(launch(kernel, {}), -1);
  EXPECT_EQ(message.str(),
            "kernel 'k': cuModuleLoadDataEx: CUDA_ERROR_INVALID_PTX (a PTX JIT "
            "compilation failed): ptxas application ptx input, line 7: wrong");
  EXPECT_EQ(fake_cuda::count("cuLaunchKernelEx"), 0);
  // An error is not remembered.
  EXPECT_EQ(launch(kernel, {}), -1);
  EXPECT_EQ(fake_cuda::count("cuModuleLoadDataEx"), 2);
}

TEST_F(CudaImage, IsNewerThanTheDriver) {
  MlaRuntimeKernel *kernel = load(ptx("k"));
  fake_cuda::fail("cuModuleLoadDataEx", 222);
  EXPECT_EQ(launch(kernel, {}), -1);
  EXPECT_EQ(message.str(),
            "kernel 'k': cuModuleLoadDataEx: "
            "CUDA_ERROR_UNSUPPORTED_PTX_VERSION (the provided PTX was compiled "
            "with an unsupported toolchain.): the driver, of CUDA 12.4, is "
            "older than the PTX");
  EXPECT_EQ(launch(kernel, {}), 0);
}

TEST_F(CudaImage, IsForAnotherArchitecture) {
  std::string cubin = "\177ELF" + ptx("k");
  // Devices 0 and 1 are of 90, device 2 of 80.
  struct {
    const std::string image;
    const char *arch;
    bool runsOn90, runsOn80;
  } cases[] = {
      {cubin, "sm_90a", true, false},    {cubin, "sm_90", true, false},
      {cubin, "sm_80", false, true},     {cubin, "sm_100a", false, false},
      {ptx("k"), "sm_80", true, true},   {ptx("k"), "compute_90", true, false},
      {ptx("k"), "sm_80a", false, true}, {ptx("k"), "sm_86", true, false},
      {ptx("k"), "sm_90f", true, false}, {ptx("k"), nullptr, true, true}};
  for (const auto &c : cases)
    for (int device : {0, 2}) {
      MlaRuntimeStream stream = {nullptr, device};
      bool runs = device == 0 ? c.runsOn90 : c.runsOn80;
      MlaRuntimeKernel *kernel = load(c.image, "k", c.arch);
      EXPECT_EQ(mlaRuntimePrepareKernel(kernel, &stream, message),
                runs ? 0 : -1)
          << c.arch << " on device " << device;
      EXPECT_EQ(launch(kernel, {}, &stream), runs ? 0 : -1);
    }
  MlaRuntimeStream stream = {nullptr, 2};
  EXPECT_EQ(launch(load(cubin, "k", "sm_90a"), {}, &stream), -1);
  EXPECT_EQ(message.str(), "kernel 'k': it was compiled for sm_90a, device 2 "
                           "(Fake 2) is sm_80");
}

using CudaKernel = CudaTest;

TEST_F(CudaKernel, IsNotInTheImage) {
  EXPECT_EQ(launch(load(ptx("k"), "other"), {}), -1);
  EXPECT_EQ(message.str(), "kernel 'other': the image has no such entry");
}

TEST_F(CudaKernel, NeedsMoreSharedMemoryThanThereIs) {
  // The fake's functions have 16 bytes of static shared memory.
  MlaRuntimeKernel *kernel = load(ptx("k"), "k", nullptr, 232448 - 16);
  EXPECT_EQ(launch(kernel, {}), 0) << message.str();
  EXPECT_EQ(fake_cuda::launches().back().sharedBytes, 232432u);
  EXPECT_EQ(launch(load(ptx("k"), "k", nullptr, 232448), {}), -1);
  EXPECT_EQ(message.str(), "kernel 'k': a block needs 232464 bytes of shared "
                           "memory, device 0 (Fake 0) has 232448");
}

TEST_F(CudaKernel, HasFewerParameters) {
  int value = 0;
  EXPECT_EQ(launch(load(ptx("k 4 4"), "k", nullptr, 0, 0, 3),
                   {&value, &value, &value}),
            -1);
  EXPECT_EQ(message.str(),
            "kernel 'k': the image's entry has fewer than 3 parameters");
  // The slot counts as well.
  EXPECT_EQ(
      launch(load(ptx("k 4 4"), "k", nullptr, 0, 64, 2), {&value, &value}), -1);
  EXPECT_EQ(message.str(),
            "kernel 'k': the image's entry has fewer than 3 parameters");
  EXPECT_EQ(launch(load(ptx("k 4 8"), "k", nullptr, 0, 64, 1), {&value}), 0);
}

TEST_F(CudaKernel, IsLoadedIntoACellOnce) {
  std::string image = ptx("k");
  MlaRuntimeKernel *cell = nullptr;
  std::vector<MlaRuntimeKernel *> found(8);
  std::vector<std::thread> threads;
  for (MlaRuntimeKernel *&kernel : found)
    threads.emplace_back([&] {
      kernel = mlaRuntimeLoadKernelOnce(&cell, image.data(), image.size(), "k",
                                        nullptr, nullptr);
    });
  for (std::thread &thread : threads)
    thread.join();
  for (MlaRuntimeKernel *kernel : found)
    EXPECT_EQ(kernel, cell);
  EXPECT_EQ(launch(cell, {}), 0);
  mlaRuntimeFreeKernel(cell);

  cell = nullptr;
  EXPECT_EQ(mlaRuntimeLoadKernelOnce(&cell, "", 0, "k", nullptr, message),
            nullptr);
  EXPECT_EQ(cell, nullptr);
}

//===----------------------------------------------------------------------===//
// Launching
//===----------------------------------------------------------------------===//

using CudaLaunch = CudaTest;

TEST_F(CudaLaunch, PassesEverythingOn) {
  MlaRuntimeKernel *kernel = load(ptx("k 8 4"), "k", "sm_90", 100000);
  MlaRuntimeStream stream = {fake_cuda::createStream(1), -1};
  uint64_t first = 0x1122334455667788;
  uint32_t second = 7;
  config.grid[0] = 5;
  config.grid[1] = 6;
  config.grid[2] = 7;
  config.block[0] = 64;
  config.block[1] = 4;
  config.block[2] = 2;
  ASSERT_EQ(launch(kernel, {&first, &second}, &stream), 0) << message.str();
  fake_cuda::Launch launch = fake_cuda::launches().at(0);
  EXPECT_EQ(launch.function, "k");
  EXPECT_EQ(launch.device, 1);
  EXPECT_EQ(launch.stream, stream.handle);
  for (unsigned i = 0; i < 3; ++i) {
    EXPECT_EQ(launch.grid[i], 5 + i);
    EXPECT_EQ(launch.block[i], config.block[i]);
  }
  EXPECT_EQ(launch.sharedBytes, 100000u);
  EXPECT_FALSE(launch.programmatic);
  EXPECT_EQ(launch.arguments, (std::vector<uint64_t>{first, second}));

  config.flags = MLA_RUNTIME_LAUNCH_PROGRAMMATIC;
  ASSERT_EQ(CudaTest::launch(kernel, {&first, &second}, &stream), 0);
  EXPECT_TRUE(fake_cuda::launches().at(1).programmatic);
}

TEST_F(CudaLaunch, FillsTheDeviceAtMost) {
  MlaRuntimeKernel *kernel = load(ptx("k"));
  config.flags = MLA_RUNTIME_LAUNCH_RESIDENT;
  // The fake holds 2048 threads a multiprocessor, and has 132 or 108 of them.
  struct {
    uint32_t grid, block;
    int device;
    uint32_t expected;
  } cases[] = {{1000000, 384, 0, 5 * 132},
               {1000000, 1024, 0, 2 * 132},
               {100, 1024, 0, 100},
               {1000000, 1024, 2, 2 * 108},
               {1000000, 1024, 0, 2 * 132}};
  for (const auto &c : cases) {
    MlaRuntimeStream stream = {nullptr, c.device};
    config.grid[0] = c.grid;
    config.block[0] = c.block;
    ASSERT_EQ(launch(kernel, {}, &stream), 0) << message.str();
    EXPECT_EQ(fake_cuda::launches().back().grid[0], c.expected);
  }
  // Asked once for each block size, as long as it stays.
  for (int i = 0; i < 5; ++i)
    EXPECT_EQ(launch(kernel, {}), 0);
  EXPECT_EQ(fake_cuda::count("cuOccupancyMaxActiveBlocksPerMultiprocessor"), 3);
  config.grid[1] = 2;
  EXPECT_EQ(launch(kernel, {}), -1);
  EXPECT_EQ(message.str(), "kernel 'k': grid: expected one dimension with "
                           "MLA_RUNTIME_LAUNCH_RESIDENT, got 1000000 x 2 x 1");
}

TEST_F(CudaLaunch, MayBeOfNothing) {
  MlaRuntimeKernel *kernel = load(ptx("k"));
  for (int i = 0; i < 3; ++i) {
    config = oneBlock();
    config.grid[i] = 0;
    EXPECT_EQ(launch(kernel, {}), 0);
  }
  EXPECT_EQ(fake_cuda::count("cuLaunchKernelEx"), 0);
}

TEST_F(CudaLaunch, RefusesBadArguments) {
  MlaRuntimeKernel *kernel = load(ptx("k 4 4"), "k", nullptr, 0, 0, 2);
  int value = 0;
  auto fails = [&](std::vector<void *> arguments) {
    EXPECT_EQ(launch(kernel, std::move(arguments)), -1);
    config = oneBlock();
    return message.str();
  };
  EXPECT_EQ(fails({&value}), "kernel 'k': arguments: expected 2, got 1");
  EXPECT_EQ(fails({&value, &value, &value}),
            "kernel 'k': arguments: expected 2, got 3");
  EXPECT_EQ(fails({&value, nullptr}),
            "kernel 'k': argument 1: expected an address, got null");
  EXPECT_EQ(fails(std::vector<void *>(257, &value)),
            "kernel 'k': arguments: expected up to 256 addresses, got 257");
  config.block[0] = 1025;
  EXPECT_EQ(fails({&value, &value}),
            "kernel 'k': block: expected 1 to 1024 threads, got 1025 x 1 x 1");
  config.block[1] = 0;
  EXPECT_EQ(fails({&value, &value}),
            "kernel 'k': block: expected 1 to 1024 threads, got 32 x 0 x 1");
  for (uint32_t &extent : config.block)
    extent = 1u << 22;
  EXPECT_EQ(fails({&value, &value}),
            "kernel 'k': block: expected 1 to 1024 threads, got 4194304 x "
            "4194304 x 4194304");
  config.grid[0] = 1u << 31;
  EXPECT_EQ(fails({&value, &value}),
            "kernel 'k': grid: expected at most 2147483647 blocks in "
            "dimension 0, got 2147483648");
  config.grid[2] = 65536;
  EXPECT_EQ(fails({&value, &value}),
            "kernel 'k': grid: expected at most 65535 blocks in dimension 2, "
            "got 65536");
  config.flags = 8;
  EXPECT_EQ(fails({&value, &value}),
            "kernel 'k': flags: expected a combination of 0x3, got 0x8");
  config.size = 0;
  EXPECT_EQ(fails({&value, &value}),
            "kernel 'k': config.size: expected 48, got 0");
  EXPECT_EQ(mlaRuntimeLaunch(kernel, nullptr, nullptr, 0, message), -1);
  EXPECT_EQ(message.str(),
            "kernel 'k': config: expected a structure, got null");
  EXPECT_EQ(mlaRuntimeLaunch(kernel, &config, nullptr, 1, message), -1);
  EXPECT_EQ(message.str(), "kernel 'k': arguments: expected up to 256 "
                           "addresses, got 1 at address null");
  EXPECT_EQ(mlaRuntimeLaunch(nullptr, &config, nullptr, 0, message), -1);
  EXPECT_EQ(message.str(), "kernel: expected a kernel, got null");
  EXPECT_EQ(mlaRuntimePrepareKernel(nullptr, nullptr, message), -1);
  EXPECT_EQ(message.str(), "kernel: expected a kernel, got null");
  EXPECT_EQ(fake_cuda::count("cuLaunchKernelEx"), 0);
}

TEST_F(CudaLaunch, ReportsEachCallThatFails) {
  // Every call on the way of a first launch, made to fail in turn.
  const char *functions[] = {
      "cuCtxGetCurrent",    "cuCtxPushCurrent_v2", "cuStreamGetCtx",
      "cuCtxGetId",         "cuModuleLoadDataEx",  "cuModuleGetFunction",
      "cuFuncGetAttribute", "cuFuncSetAttribute",  "cuStreamGetCaptureInfo_v2",
      "cuStreamGetId",      "cuLaunchKernelEx"};
  void *handle = fake_cuda::createStream(0);
  for (const char *function : functions) {
    MlaRuntimeStream stream = {handle, 0};
    std::string image = ptx(std::string("k\n// ") + function);
    MlaRuntimeKernel *kernel = load(image, "k", nullptr, 0, 0);
    fake_cuda::reset();
    fake_cuda::fail(function, 700);
    // With a slot only where that is what fails.
    if (std::string(function).find("cuStreamGet") == 0 &&
        std::string(function) != "cuStreamGetCtx")
      kernel =
          load(ptx(std::string("k 8\n// ") + function), "k", nullptr, 0, 64);
    EXPECT_EQ(launch(kernel, {}, &stream), -1) << function;
    EXPECT_EQ(message.str(),
              std::string("kernel 'k': ") + function +
                  ": CUDA_ERROR_ILLEGAL_ADDRESS (an illegal memory access was "
                  "encountered)");
    EXPECT_EQ(fake_cuda::launches().size(), 0u) << function;
    EXPECT_EQ(fake_cuda::getCurrent(), nullptr) << function;
    EXPECT_EQ(launch(kernel, {}, &stream), 0)
        << function << ": " << message.str();
    EXPECT_EQ(fake_cuda::launches().size(), 1u);
  }
}

TEST_F(CudaLaunch, DoesNotAllocateOrWait) {
  MlaRuntimeKernel *kernel = load(ptx("k 8"), "k", nullptr, 0, 64);
  MlaRuntimeStream stream = {fake_cuda::createStream(0), 0};
  ASSERT_EQ(mlaRuntimePrepareKernel(kernel, &stream, message), 0);
  fake_cuda::reset();
  for (int i = 0; i < 10; ++i)
    EXPECT_EQ(launch(kernel, {}, &stream), 0);
  for (const char *function :
       {"cuMemAlloc_v2", "cuMemsetD8Async", "cuStreamSynchronize",
        "cuModuleLoadDataEx", "cuStreamCreate", "cuModuleGetFunction"})
    EXPECT_EQ(fake_cuda::count(function), 0) << function;
  EXPECT_EQ(fake_cuda::launches().size(), 10u);
}

TEST_F(CudaLaunch, MayBeTheFirstUnderCapture) {
  MlaRuntimeKernel *kernel = load(ptx("k 8"), "k", nullptr, 0, 777);
  MlaRuntimeStream stream = {fake_cuda::createStream(0), 0};
  fake_cuda::beginCapture(stream.handle);
  EXPECT_EQ(launch(kernel, {}, &stream), 0) << message.str();
  fake_cuda::destroyGraph(fake_cuda::endCapture(stream.handle));
  EXPECT_TRUE(fake_cuda::launches().at(0).captured);
  EXPECT_EQ(fake_cuda::count("cuModuleLoadDataEx"), 1);
}

TEST_F(CudaLaunch, RunsOnManyThreads) {
  MlaRuntimeKernel *kernel = load(ptx("k 4 8"), "k", "sm_90", 0, 64);
  constexpr int threadCount = 8, launches = 200;
  void *streams[] = {fake_cuda::createStream(0), fake_cuda::createStream(1),
                     fake_cuda::createStream(0), nullptr};
  std::vector<std::thread> threads;
  for (int i = 0; i < threadCount; ++i)
    threads.emplace_back([&, i] {
      MlaRuntimeLaunchConfig config = oneBlock();
      int value = i;
      for (int j = 0; j < launches; ++j) {
        MlaRuntimeStream stream = {streams[(i + j) % 4], -1};
        config.stream = &stream;
        void *arguments[] = {&value};
        EXPECT_EQ(mlaRuntimeLaunch(kernel, &config, arguments, 1, nullptr), 0);
      }
    });
  for (std::thread &thread : threads)
    thread.join();
  EXPECT_EQ(fake_cuda::count("cuModuleLoadDataEx"), 2);
  EXPECT_EQ(fake_cuda::count("cuModuleGetFunction"), 2);
  auto made = fake_cuda::launches();
  ASSERT_EQ(made.size(), size_t(threadCount * launches));
  for (const fake_cuda::Launch &launch : made)
    for (const fake_cuda::Launch &other : made)
      ASSERT_EQ(launch.stream == other.stream,
                launch.arguments[1] == other.arguments[1])
          << "a slot of two streams, or two slots of a stream";
}

//===----------------------------------------------------------------------===//
// Streams
//===----------------------------------------------------------------------===//

using CudaStream = CudaTest;

TEST_F(CudaStream, DecidesTheDevice) {
  MlaRuntimeKernel *kernel = load(ptx("k"));
  void *of1 = fake_cuda::createStream(1);
  struct {
    int current; // the thread's device; -1: none
    MlaRuntimeStream stream;
    int expected;
  } cases[] = {
      {-1, {nullptr, -1}, 0},
      {1, {nullptr, -1}, 1},
      {-1, {nullptr, 2}, 2},
      {1, {nullptr, 0}, 0},
      {1, {nullptr, 1}, 1},
      {-1, {of1, -1}, 1},
      {0, {of1, -1}, 1},
      {0, {of1, 1}, 1},
      {2, {reinterpret_cast<void *>(2), -1}, 2},
      {2, {reinterpret_cast<void *>(1), 0}, 0},
  };
  for (const auto &c : cases) {
    fake_cuda::setCurrent(c.current);
    void *before = fake_cuda::getCurrent();
    ASSERT_EQ(launch(kernel, {}, &c.stream), 0) << message.str();
    EXPECT_EQ(fake_cuda::launches().back().device, c.expected);
    EXPECT_EQ(fake_cuda::launches().back().stream, c.stream.handle);
    EXPECT_EQ(fake_cuda::getCurrent(), before);
  }
}

TEST_F(CudaStream, IsOfAnotherDevice) {
  MlaRuntimeStream stream = {fake_cuda::createStream(1), 0};
  EXPECT_EQ(launch(load(ptx("k")), {}, &stream), -1);
  EXPECT_EQ(message.str(), "kernel 'k': stream: expected a stream of device 0, "
                           "got one of device 1");
  stream = {nullptr, 7};
  EXPECT_EQ(launch(load(ptx("k")), {}, &stream), -1);
  EXPECT_EQ(message.str(),
            "kernel 'k': device: expected a number from 0 to 2, got 7");
  EXPECT_EQ(fake_cuda::getCurrent(), nullptr);
}

TEST_F(CudaStream, IsASettingOfTheThread) {
  MlaRuntimeKernel *kernel = load(ptx("k"));
  void *handle = fake_cuda::createStream(1);
  mlaRuntimeSetStream({handle, 1});
  EXPECT_EQ(mlaRuntimeGetStream().handle, handle);
  EXPECT_EQ(mlaRuntimeGetStream().device, 1);
  EXPECT_EQ(launch(kernel, {}), 0);
  EXPECT_EQ(fake_cuda::launches().back().stream, handle);
  std::thread([] {
    EXPECT_EQ(mlaRuntimeGetStream().handle, nullptr);
    EXPECT_EQ(mlaRuntimeGetStream().device, -1);
  }).join();
}

//===----------------------------------------------------------------------===//
// Errors of compiled code
//===----------------------------------------------------------------------===//

using CudaPendingError = CudaTest;

TEST_F(CudaPendingError, StopsLaterLaunches) {
  MlaRuntimeKernel *kernel = load(ptx("k"));
  config = oneBlock();
  auto launchSilently = [&] {
    return mlaRuntimeLaunch(kernel, &config, nullptr, 0, nullptr);
  };
  EXPECT_EQ(launchSilently(), 0);
  EXPECT_EQ(mlaRuntimeDeviceArch(9, nullptr), -1);
  EXPECT_EQ(mlaRuntimeDeviceArch(8, nullptr), -1);
  EXPECT_EQ(launchSilently(), -1);
  EXPECT_EQ(fake_cuda::launches().size(), 1u);
  // A caller who looks at messages is not concerned; nor is another thread.
  EXPECT_EQ(mlaRuntimeLaunch(kernel, &config, nullptr, 0, message), 0);
  std::thread([&] { EXPECT_EQ(launchSilently(), 0); }).join();
  // The first error is the one that tells.
  EXPECT_STREQ(mlaRuntimeTakeError(),
               "device: expected a number from 0 to 2, got 9");
  EXPECT_EQ(mlaRuntimeTakeError(), nullptr);
  EXPECT_EQ(launchSilently(), 0);
}

} // namespace
