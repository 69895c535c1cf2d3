//===- Kernel.cpp - Entry points of images, and their launch ----*- C++ -*-===//
//
// Part of the MLA project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Kernel.h"

#include "Error.h"
#include "Options.h"

#include <algorithm>
#include <climits>
#include <memory>

using namespace mla::runtime;
using namespace mla::runtime::cuda;

/// CUDA's limit is on bytes of parameters (4 KB; 32 KB since 12.1); a count
/// that no kernel of ours comes near keeps them on the stack.
static constexpr size_t maxArguments = 256;

//===----------------------------------------------------------------------===//
// Loading
//===----------------------------------------------------------------------===//

Status MlaRuntimeKernel::create(const void *bytes, size_t size,
                                const char *entry,
                                const MlaRuntimeKernelOptions *given,
                                MlaRuntimeKernel *&kernel) {
  if (!entry || !*entry)
    return Status::error("entry: expected a kernel's name, got none");
  MlaRuntimeKernelOptions options;
  if (Status status = readOptions("options", given, options); status.failed())
    return status;
  for (auto [name, value] : {std::pair("sharedBytes", options.sharedBytes),
                             std::pair("slotBytes", options.slotBytes)})
    if (value < 0 || value > INT_MAX)
      return Status::error("%s: expected a number from 0 to %d, got %lld", name,
                           INT_MAX, static_cast<long long>(value));
  if (options.parameterCount < 0 ||
      options.parameterCount > static_cast<int64_t>(maxArguments))
    return Status::error("parameterCount: expected a number from 0 to %zu, got "
                         "%lld",
                         maxArguments,
                         static_cast<long long>(options.parameterCount));
  Arch arch;
  if (options.arch)
    if (Status status = Arch::parse(options.arch, arch); status.failed())
      return status;
  Image *image = nullptr;
  if (Status status = Image::get(bytes, size, image); status.failed())
    return status;
  kernel = new MlaRuntimeKernel;
  kernel->image = image;
  kernel->entry = entry;
  kernel->archName = options.arch ? options.arch : "";
  kernel->arch = arch;
  kernel->sharedBytes = options.sharedBytes;
  kernel->slotBytes = options.slotBytes;
  kernel->parameterCount = options.parameterCount;
  return Status();
}

Status MlaRuntimeKernel::blame(const Status &status) const {
  if (!status.failed())
    return Status();
  return Status::error("kernel '%s': %s", entry.c_str(),
                       status.message().c_str());
}

Status MlaRuntimeKernel::loadFunction(const StreamScope &scope,
                                      Loaded &loaded) {
  const Driver &driver = scope.getDriver();
  const ContextRecord &context = scope.getContext();
  const DeviceRecord &device = *context.device;
  if (!arch.runsOn(device.arch, image->isPtx()))
    return Status::error("it was compiled for %s, device %d (%s) is sm_%d",
                         archName.c_str(), device.ordinal, device.name,
                         device.arch);
  loaded.contextId = context.id;
  Module module = nullptr;
  if (Status status = image->load(driver, context, module); status.failed())
    return status;
  RelaxedCapture relaxed(driver);
  Result result =
      driver.moduleGetFunction(&loaded.function, module, entry.c_str());
  if (result == errorNotFound)
    return Status::error("the image has no such entry");
  if (result != success)
    return driver.check(result, symbolOf_moduleGetFunction);

  int staticBytes = 0;
  MLA_CUDA_TRY(driver, functionGetAttribute, &loaded.maxThreads,
               function_attribute::maxThreadsPerBlock, loaded.function);
  MLA_CUDA_TRY(driver, functionGetAttribute, &staticBytes,
               function_attribute::sharedBytes, loaded.function);
  if (sharedBytes + staticBytes > device.maxSharedBytes)
    return Status::error("a block needs %lld bytes of shared memory, device %d "
                         "(%s) has %d",
                         static_cast<long long>(sharedBytes + staticBytes),
                         device.ordinal, device.name, device.maxSharedBytes);
  // More than 48 KB have to be asked for.
  MLA_CUDA_TRY(driver, functionSetAttribute, loaded.function,
               function_attribute::maxDynamicSharedBytes,
               static_cast<int>(sharedBytes));
  if (Status status = checkParameters(driver, loaded.function); status.failed())
    return status;
  if (slotBytes > 0)
    return scope.getContext().slots.reserve(driver, slotBytes);
  return Status();
}

/// Whether the last parameter exists. That there is none after it is not asked:
/// the right answer would be an error of the driver, which tools report.
Status MlaRuntimeKernel::checkParameters(const Driver &driver,
                                         Function function) const {
  size_t count = static_cast<size_t>(parameterCount) + (slotBytes > 0);
  if (parameterCount == 0 || !driver.functionGetParameterInfo)
    return Status();
  size_t offset = 0, size = 0;
  if (driver.functionGetParameterInfo(function, count - 1, &offset, &size) ==
      success)
    return Status();
  return Status::error("the image's entry has fewer than %zu parameters",
                       count);
}

Status MlaRuntimeKernel::load(const StreamScope &scope, Loaded *&loaded) {
  auto matches = [&](const Loaded &loaded) {
    return loaded.contextId == scope.getContext().id;
  };
  loaded = functions.find(matches);
  if (loaded)
    return Status();
  std::lock_guard<std::mutex> lock(mutex);
  loaded = functions.find(matches);
  if (loaded)
    return Status();
  auto made = std::make_unique<Loaded>();
  if (Status status = loadFunction(scope, *made); status.failed())
    return status;
  loaded = made.release();
  functions.add(loaded);
  return Status();
}

Status MlaRuntimeKernel::prepare(const MlaRuntimeStream *stream) {
  StreamScope scope;
  if (Status status = scope.enter(stream); status.failed())
    return blame(status);
  Loaded *loaded = nullptr;
  return blame(load(scope, loaded));
}

//===----------------------------------------------------------------------===//
// Launching
//===----------------------------------------------------------------------===//

/// Checks what the driver would only call an invalid value.
Status MlaRuntimeKernel::check(const MlaRuntimeLaunchConfig &config,
                               size_t count, const DeviceRecord &device,
                               const Loaded &loaded) const {
  const uint32_t *grid = config.grid, *block = config.block;
  uint64_t threads = uint64_t(block[0]) * block[1];
  bool fits = threads <= INT_MAX && (threads *= block[2]) > 0 &&
              threads <= static_cast<uint64_t>(loaded.maxThreads);
  if (!fits)
    return Status::error("block: expected 1 to %d threads, got %u x %u x %u",
                         loaded.maxThreads, block[0], block[1], block[2]);
  for (int i = 0; i < 3; ++i)
    if (grid[i] > static_cast<uint32_t>(device.maxGrid[i]))
      return Status::error("grid: expected at most %d blocks in dimension %d, "
                           "got %u",
                           device.maxGrid[i], i, grid[i]);
  bool resident = config.flags & MLA_RUNTIME_LAUNCH_RESIDENT;
  if (resident && (grid[1] != 1 || grid[2] != 1))
    return Status::error("grid: expected one dimension with "
                         "MLA_RUNTIME_LAUNCH_RESIDENT, got %u x %u x %u",
                         grid[0], grid[1], grid[2]);
  if (parameterCount > 0 && static_cast<int64_t>(count) != parameterCount)
    return Status::error("arguments: expected %lld, got %zu",
                         static_cast<long long>(parameterCount), count);
  return Status();
}

Status MlaRuntimeKernel::countResidentBlocks(const StreamScope &scope,
                                             uint32_t blockSize, Loaded &loaded,
                                             uint32_t &blocks) const {
  uint64_t known = loaded.residency.load(std::memory_order_relaxed);
  if (known >> 32 != blockSize) {
    int count = 0;
    MLA_CUDA_TRY(scope.getDriver(), maxActiveBlocks, &count, loaded.function,
                 static_cast<int>(blockSize), static_cast<size_t>(sharedBytes));
    known = uint64_t(blockSize) << 32 | static_cast<uint32_t>(count);
    loaded.residency.store(known, std::memory_order_relaxed);
  }
  // At least one: where not even that fits, the launch says why.
  uint32_t each = std::max<uint32_t>(static_cast<uint32_t>(known), 1);
  blocks = each * scope.getContext().device->multiprocessors;
  return Status();
}

Status MlaRuntimeKernel::launchIn(const StreamScope &scope,
                                  const MlaRuntimeLaunchConfig &config,
                                  void *const *arguments, size_t count) {
  const Driver &driver = scope.getDriver();
  ContextRecord &context = scope.getContext();
  Loaded *loaded = nullptr;
  if (Status status = load(scope, loaded); status.failed())
    return status;
  if (Status status = check(config, count, *context.device, *loaded);
      status.failed())
    return status;

  LaunchConfig launch = {};
  std::copy_n(config.grid, 3, launch.grid);
  std::copy_n(config.block, 3, launch.block);
  launch.sharedBytes = static_cast<unsigned>(sharedBytes);
  launch.stream = scope.getStream();
  if (config.flags & MLA_RUNTIME_LAUNCH_RESIDENT) {
    uint32_t most = 0;
    if (Status status = countResidentBlocks(
            scope, config.block[0] * config.block[1] * config.block[2], *loaded,
            most);
        status.failed())
      return status;
    launch.grid[0] = std::min(launch.grid[0], most);
  }
  LaunchAttribute programmatic = {};
  if (config.flags & MLA_RUNTIME_LAUNCH_PROGRAMMATIC) {
    programmatic.id = LaunchAttribute::programmaticStreamSerialization;
    programmatic.value.number = 1;
    launch.attributes = &programmatic;
    launch.attributeCount = 1;
  }

  void *parameters[maxArguments + 1];
  std::copy_n(arguments, count, parameters);
  DevicePointer slot = 0;
  if (slotBytes > 0) {
    if (Status status =
            context.slots.acquire(driver, launch.stream, slotBytes, slot);
        status.failed())
      return status;
    parameters[count] = &slot;
  }
  MLA_CUDA_TRY(driver, launchKernel, &launch, loaded->function, parameters,
               nullptr);
  return Status();
}

Status MlaRuntimeKernel::launch(const MlaRuntimeLaunchConfig *given,
                                void *const *arguments, size_t count) {
  MlaRuntimeLaunchConfig config;
  if (!given)
    return blame(Status::error("config: expected a structure, got null"));
  if (Status status = readOptions("config", given, config); status.failed())
    return blame(status);
  constexpr uint32_t known =
      MLA_RUNTIME_LAUNCH_PROGRAMMATIC | MLA_RUNTIME_LAUNCH_RESIDENT;
  if (config.flags & ~known)
    return blame(Status::error("flags: expected a combination of %#x, got %#x",
                               known, config.flags));
  if (count > maxArguments || (count > 0 && !arguments))
    return blame(Status::error("arguments: expected up to %zu addresses, got "
                               "%zu%s",
                               maxArguments, count,
                               arguments ? "" : " at address null"));
  for (size_t i = 0; i < count; ++i)
    if (!arguments[i])
      return blame(
          Status::error("argument %zu: expected an address, got null", i));
  if (config.grid[0] == 0 || config.grid[1] == 0 || config.grid[2] == 0)
    return Status();
  StreamScope scope;
  if (Status status = scope.enter(config.stream); status.failed())
    return blame(status);
  return blame(launchIn(scope, config, arguments, count));
}

//===----------------------------------------------------------------------===//
// The C ABI
//===----------------------------------------------------------------------===//

MlaRuntimeKernel *mlaRuntimeLoadKernel(const void *image, size_t imageSize,
                                       const char *entry,
                                       const MlaRuntimeKernelOptions *options,
                                       char **error) {
  MlaRuntimeKernel *kernel = nullptr;
  (void)MlaRuntimeKernel::create(image, imageSize, entry, options, kernel)
      .publish(error);
  return kernel;
}

MlaRuntimeKernel *
mlaRuntimeLoadKernelOnce(MlaRuntimeKernel **cell, const void *image,
                         size_t imageSize, const char *entry,
                         const MlaRuntimeKernelOptions *options, char **error) {
  MlaRuntimeKernel *kernel = __atomic_load_n(cell, __ATOMIC_ACQUIRE);
  if (kernel)
    return kernel;
  MlaRuntimeKernel *made =
      mlaRuntimeLoadKernel(image, imageSize, entry, options, error);
  if (!made || __atomic_compare_exchange_n(cell, &kernel, made, false,
                                           __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE))
    return made;
  // Another thread was first.
  delete made;
  return kernel;
}

void mlaRuntimeFreeKernel(MlaRuntimeKernel *kernel) { delete kernel; }

int mlaRuntimePrepareKernel(MlaRuntimeKernel *kernel,
                            const MlaRuntimeStream *stream, char **error) {
  if (!kernel)
    return Status::error("kernel: expected a kernel, got null").publish(error);
  return kernel->prepare(stream).publish(error);
}

int mlaRuntimeLaunch(MlaRuntimeKernel *kernel,
                     const MlaRuntimeLaunchConfig *config,
                     void *const *arguments, size_t count, char **error) {
  // An earlier step of the same function failed.
  if (!error && hasError())
    return -1;
  if (!kernel)
    return Status::error("kernel: expected a kernel, got null").publish(error);
  return kernel->launch(config, arguments, count).publish(error);
}
