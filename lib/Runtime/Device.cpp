//===- Device.cpp - Devices and their memory for C --------------*- C++ -*-===//
//
// Part of the MLA project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Context.h"
#include "mla-c/Runtime.h"

#include <algorithm>
#include <cstring>

using namespace mla::runtime;
using namespace mla::runtime::cuda;

int32_t mlaRuntimeDeviceCount(char **error) {
  const Driver *driver = nullptr;
  int count = 0;
  Status status = Driver::get(driver);
  if (!status.failed())
    status =
        driver->check(driver->deviceGetCount(&count), symbolOf_deviceGetCount);
  // Asking is no error, so a message nobody takes is not left pending.
  if (status.failed() && error)
    (void)status.publish(error);
  return status.failed() ? 0 : count;
}

static Status findDevice(int32_t ordinal, DeviceRecord *&device) {
  const Driver *driver = nullptr;
  if (Status status = Driver::get(driver); status.failed())
    return status;
  return getDevice(*driver, ordinal, device);
}

int32_t mlaRuntimeDeviceArch(int32_t ordinal, char **error) {
  DeviceRecord *device = nullptr;
  if (findDevice(ordinal, device).publish(error) != 0)
    return -1;
  return device->arch;
}

int mlaRuntimeDeviceInfo(int32_t ordinal, MlaRuntimeDevice *info,
                         char **error) {
  if (!info || info->size < sizeof(size_t))
    return Status::error("info: expected a structure with its size, got %s",
                         info ? "none" : "null")
        .publish(error);
  DeviceRecord *device = nullptr;
  if (findDevice(ordinal, device).publish(error) != 0)
    return -1;
  MlaRuntimeDevice full = {};
  full.size = info->size;
  std::memcpy(full.name, device->name, sizeof(full.name));
  full.arch = device->arch;
  full.multiprocessors = device->multiprocessors;
  full.sharedBytes = device->maxSharedBytes;
  full.l2Bytes = device->l2Bytes;
  full.memoryBytes = device->memoryBytes;
  std::memcpy(info, &full, std::min(info->size, sizeof(full)));
  return 0;
}

//===----------------------------------------------------------------------===//
// Memory
//===----------------------------------------------------------------------===//

static DevicePointer toAddress(const void *pointer) {
  return reinterpret_cast<uintptr_t>(pointer);
}

static Status allocate(void *&pointer, size_t bytes,
                       const MlaRuntimeStream *stream) {
  StreamScope scope;
  if (Status status = scope.enter(stream); status.failed())
    return status;
  DevicePointer address = 0;
  Result result = scope.getDriver().memoryAllocate(&address, bytes);
  const DeviceRecord &device = *scope.getContext().device;
  if (result == errorOutOfMemory)
    return Status::error("device %d (%s) has no %zu bytes left: %s",
                         device.ordinal, device.name, bytes,
                         scope.getDriver()
                             .check(result, symbolOf_memoryAllocate)
                             .message()
                             .c_str());
  pointer = reinterpret_cast<void *>(static_cast<uintptr_t>(address));
  return scope.getDriver().check(result, symbolOf_memoryAllocate);
}

int mlaRuntimeAllocate(void **pointer, size_t bytes,
                       const MlaRuntimeStream *stream, char **error) {
  *pointer = nullptr;
  if (bytes == 0)
    return 0;
  return allocate(*pointer, bytes, stream).publish(error);
}

static Status free(void *pointer, const MlaRuntimeStream *stream) {
  StreamScope scope;
  if (Status status = scope.enter(stream); status.failed())
    return status;
  MLA_CUDA_TRY(scope.getDriver(), memoryFree, toAddress(pointer));
  return Status();
}

int mlaRuntimeFree(void *pointer, const MlaRuntimeStream *stream,
                   char **error) {
  return pointer ? free(pointer, stream).publish(error) : 0;
}

static Status copy(void *to, const void *from, size_t bytes,
                   const MlaRuntimeStream *stream) {
  StreamScope scope;
  if (Status status = scope.enter(stream); status.failed())
    return status;
  // The driver tells host from device by the address.
  MLA_CUDA_TRY(scope.getDriver(), memoryCopy, toAddress(to), toAddress(from),
               bytes, scope.getStream());
  MLA_CUDA_TRY(scope.getDriver(), streamSynchronize, scope.getStream());
  return Status();
}

int mlaRuntimeCopy(void *to, const void *from, size_t bytes,
                   const MlaRuntimeStream *stream, char **error) {
  return bytes ? copy(to, from, bytes, stream).publish(error) : 0;
}

static Status synchronize(const MlaRuntimeStream *stream) {
  StreamScope scope;
  if (Status status = scope.enter(stream); status.failed())
    return status;
  MLA_CUDA_TRY(scope.getDriver(), streamSynchronize, scope.getStream());
  return Status();
}

int mlaRuntimeSynchronize(const MlaRuntimeStream *stream, char **error) {
  return synchronize(stream).publish(error);
}
