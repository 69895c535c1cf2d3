//===- Context.cpp - Devices, contexts, and where a call goes ---*- C++ -*-===//
//
// Part of the MLA project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Context.h"

#include "GrowingList.h"

#include <memory>
#include <mutex>
#include <vector>

using namespace mla::runtime;
using namespace mla::runtime::cuda;

//===----------------------------------------------------------------------===//
// Devices
//===----------------------------------------------------------------------===//

static Status describe(const Driver &driver, int ordinal,
                       DeviceRecord &device) {
  device.ordinal = ordinal;
  MLA_CUDA_TRY(driver, deviceGet, &device.handle, ordinal);
  MLA_CUDA_TRY(driver, deviceGetName, device.name, sizeof(device.name),
               device.handle);
  device.name[sizeof(device.name) - 1] = 0;
  int major = 0, minor = 0, l2Bytes = 0;
  const std::pair<int, int *> attributes[] = {
      {device_attribute::capabilityMajor, &major},
      {device_attribute::capabilityMinor, &minor},
      {device_attribute::multiprocessors, &device.multiprocessors},
      {device_attribute::maxSharedBytesOptIn, &device.maxSharedBytes},
      {device_attribute::maxGridX, &device.maxGrid[0]},
      {device_attribute::maxGridY, &device.maxGrid[1]},
      {device_attribute::maxGridZ, &device.maxGrid[2]},
      {device_attribute::l2CacheSize, &l2Bytes}};
  for (auto [attribute, value] : attributes)
    MLA_CUDA_TRY(driver, deviceGetAttribute, value, attribute, device.handle);
  device.arch = 10 * major + minor;
  device.l2Bytes = l2Bytes;
  size_t memoryBytes = 0;
  MLA_CUDA_TRY(driver, deviceTotalMem, &memoryBytes, device.handle);
  device.memoryBytes = static_cast<int64_t>(memoryBytes);
  return Status();
}

Status cuda::getDevice(const Driver &driver, int ordinal,
                       DeviceRecord *&device) {
  // Never destroyed: threads may still be here while the process exits.
  static std::mutex &mutex = *new std::mutex;
  static std::vector<DeviceRecord *> &devices =
      *new std::vector<DeviceRecord *>;
  std::lock_guard<std::mutex> lock(mutex);
  if (devices.empty()) {
    int count = 0;
    MLA_CUDA_TRY(driver, deviceGetCount, &count);
    if (count == 0)
      return Status::error("no CUDA device");
    devices.resize(count);
  }
  if (ordinal < 0 || static_cast<size_t>(ordinal) >= devices.size())
    return Status::error("device: expected a number from 0 to %zu, got %d",
                         devices.size() - 1, ordinal);
  if (!devices[ordinal]) {
    auto made = std::make_unique<DeviceRecord>();
    if (Status status = describe(driver, ordinal, *made); status.failed())
      return status;
    devices[ordinal] = made.release();
  }
  device = devices[ordinal];
  return Status();
}

static Status getPrimaryContext(const Driver &driver, int ordinal,
                                Context &context) {
  DeviceRecord *device = nullptr;
  if (Status status = getDevice(driver, ordinal, device); status.failed())
    return status;
  context = device->primary.load(std::memory_order_acquire);
  if (context)
    return Status();
  // Two threads may retain it twice, which does no harm: it stays until the
  // process ends.
  RelaxedCapture relaxed(driver);
  MLA_CUDA_TRY(driver, devicePrimaryContextRetain, &context, device->handle);
  device->primary.store(context, std::memory_order_release);
  return Status();
}

//===----------------------------------------------------------------------===//
// Contexts
//===----------------------------------------------------------------------===//

/// The device of the current context.
static Status getCurrentDevice(const Driver &driver, DeviceRecord *&device) {
  Device wanted = 0;
  int count = 0;
  MLA_CUDA_TRY(driver, contextGetDevice, &wanted);
  MLA_CUDA_TRY(driver, deviceGetCount, &count);
  for (int ordinal = 0; ordinal < count; ++ordinal) {
    if (Status status = getDevice(driver, ordinal, device); status.failed())
      return status;
    if (device->handle == wanted)
      return Status();
  }
  return Status::error("the current CUDA context has no device");
}

/// The record of `context`, which is current.
static Status getRecord(const Driver &driver, Context context,
                        ContextRecord *&record) {
  static std::mutex &mutex = *new std::mutex;
  static GrowingList<ContextRecord> records;
  unsigned long long id = 0;
  MLA_CUDA_TRY(driver, contextGetId, context, &id);
  auto matches = [&](const ContextRecord &record) { return record.id == id; };
  record = records.find(matches);
  if (record)
    return Status();
  std::lock_guard<std::mutex> lock(mutex);
  record = records.find(matches);
  if (record)
    return Status();
  DeviceRecord *device = nullptr;
  if (Status status = getCurrentDevice(driver, device); status.failed())
    return status;
  record = new ContextRecord;
  record->id = id;
  record->device = device;
  records.add(record);
  return Status();
}

//===----------------------------------------------------------------------===//
// Streams
//===----------------------------------------------------------------------===//

static thread_local MlaRuntimeStream threadStream = {nullptr, -1};

void mlaRuntimeSetStream(MlaRuntimeStream stream) { threadStream = stream; }

MlaRuntimeStream mlaRuntimeGetStream() { return threadStream; }

/// CUDA's names for streams that every context has: null, 1 and 2.
static bool isDefaultStream(const void *handle) {
  return reinterpret_cast<uintptr_t>(handle) <= 2;
}

Status StreamScope::chooseContext(int ordinal, Context current,
                                  Context &wanted) {
  if (ordinal < 0) {
    wanted = current;
    return current ? Status() : getPrimaryContext(*driver, 0, wanted);
  }
  if (current) {
    // A program's own context serves as well as the primary one.
    if (Status status = getRecord(*driver, current, context); status.failed())
      return status;
    wanted = current;
    if (context->device->ordinal == ordinal)
      return Status();
  }
  return getPrimaryContext(*driver, ordinal, wanted);
}

Status StreamScope::enter(const MlaRuntimeStream *given) {
  if (Status status = Driver::get(driver); status.failed())
    return status;
  MlaRuntimeStream chosen = given ? *given : threadStream;
  stream = static_cast<Stream>(chosen.handle);
  Context current = nullptr, wanted = nullptr;
  MLA_CUDA_TRY(*driver, contextGetCurrent, &current);
  if (isDefaultStream(chosen.handle)) {
    if (Status status = chooseContext(chosen.device, current, wanted);
        status.failed())
      return status;
  } else {
    MLA_CUDA_TRY(*driver, streamGetContext, stream, &wanted);
  }
  if (wanted != current) {
    MLA_CUDA_TRY(*driver, contextPush, wanted);
    pushed = true;
  }
  if (Status status = getRecord(*driver, wanted, context); status.failed())
    return status;
  int ordinal = context->device->ordinal;
  if (chosen.device >= 0 && chosen.device != ordinal)
    return Status::error(
        "stream: expected a stream of device %d, got one of device %d",
        chosen.device, ordinal);
  return Status();
}

StreamScope::~StreamScope() {
  Context popped = nullptr;
  if (pushed)
    (void)driver->contextPop(&popped);
}
