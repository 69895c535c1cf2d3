//===- DeviceMemory.cpp - Copies of arrays on a GPU -*- C++ -*-===//
//
// Part of the MLA project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "DeviceMemory.h"

#include "mla-c/Runtime.h"

using namespace mlarun;

static const MlaRuntimeStream stream = {nullptr, 0};

static bool check(int status, char *message, std::string &error) {
  if (message)
    error = message;
  mlaRuntimeFreeString(message);
  return status == 0;
}

DeviceMemory::~DeviceMemory() {
  for (void *allocation : allocations) {
    // Nothing is left to be done about an error here.
    char *message = nullptr;
    mlaRuntimeFree(allocation, &stream, &message);
    mlaRuntimeFreeString(message);
  }
}

bool DeviceMemory::upload(void *&data, size_t bytes, std::string &error) {
  void *device = nullptr;
  char *message = nullptr;
  int status = mlaRuntimeAllocate(&device, bytes, &stream, &message);
  if (!check(status, message, error))
    return false;
  if (device)
    allocations.push_back(device);
  if (!copyBytes(device, data, bytes, error))
    return false;
  data = device;
  return true;
}

bool DeviceMemory::copyBytes(void *to, const void *from, size_t bytes,
                             std::string &error) {
  if (bytes == 0)
    return true;
  char *message = nullptr;
  int status = mlaRuntimeCopy(to, from, bytes, &stream, &message);
  return check(status, message, error);
}

bool DeviceMemory::synchronize(std::string &error) {
  char *message = nullptr;
  int status = mlaRuntimeSynchronize(&stream, &message);
  return check(status, message, error);
}
