//===- DeviceMemory.h - Copies of arrays on a GPU -*- C++ -*-===//
//
// Part of the MLA project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef MLA_TOOLS_MLA_RUN_DEVICEMEMORY_H
#define MLA_TOOLS_MLA_RUN_DEVICEMEMORY_H

#include <cstddef>
#include <string>
#include <vector>

namespace mlarun {

/// Memory of device 0, freed at the end. Functions return false with a message.
class DeviceMemory {
public:
  DeviceMemory() = default;
  DeviceMemory(const DeviceMemory &) = delete;
  DeviceMemory &operator=(const DeviceMemory &) = delete;
  ~DeviceMemory();

  /// Replaces a pointer to `bytes` bytes by one to a copy on the device.
  bool upload(void *&data, size_t bytes, std::string &error);
  /// Between host and device, either way.
  bool copyBytes(void *to, const void *from, size_t bytes, std::string &error);
  /// Waits for what was enqueued, and reports an error of it.
  bool synchronize(std::string &error);

private:
  std::vector<void *> allocations;
};

} // namespace mlarun

#endif // MLA_TOOLS_MLA_RUN_DEVICEMEMORY_H
