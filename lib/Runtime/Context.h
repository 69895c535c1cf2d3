//===- Context.h - Devices, contexts, and where a call goes -----*- C++ -*-===//
//
// Part of the MLA project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef MLA_LIB_RUNTIME_CONTEXT_H
#define MLA_LIB_RUNTIME_CONTEXT_H

#include "Driver.h"
#include "Slots.h"
#include "mla-c/Runtime.h"

#include <atomic>

namespace mla::runtime::cuda {

/// Facts of a device. One for each, made at first use, never removed.
struct DeviceRecord {
  Device handle;
  int ordinal;
  char name[128];
  /// Ten times the major compute capability, plus the minor one.
  int arch;
  int multiprocessors;
  int maxSharedBytes;
  int maxGrid[3];
  int64_t l2Bytes;
  int64_t memoryBytes;
  /// The primary context, retained when it was first needed.
  std::atomic<Context> primary{nullptr};
};

Status getDevice(const Driver &driver, int ordinal, DeviceRecord *&device);

/// What is kept for a context. Contexts are told apart by their number, which
/// the driver never gives twice, unlike addresses: after a context is destroyed
/// its record is garbage that nobody finds.
struct ContextRecord {
  unsigned long long id;
  DeviceRecord *device;
  LaunchSlots slots;
  ContextRecord *next = nullptr;
};

/// Makes the context of a stream current for as long as the scope lives.
class StreamScope {
public:
  StreamScope() = default;
  StreamScope(const StreamScope &) = delete;
  StreamScope &operator=(const StreamScope &) = delete;
  ~StreamScope();

  /// Null: the thread's stream. To be called once.
  Status enter(const MlaRuntimeStream *stream);

  const Driver &getDriver() const { return *driver; }
  ContextRecord &getContext() const { return *context; }
  Stream getStream() const { return stream; }

private:
  /// The context of one of CUDA's default streams.
  Status chooseContext(int ordinal, Context current, Context &wanted);

  const Driver *driver = nullptr;
  ContextRecord *context = nullptr;
  Stream stream = nullptr;
  bool pushed = false;
};

/// While this lives, the thread may allocate and load although a capture is
/// under way here or elsewhere in the process. Nothing of it is recorded.
class RelaxedCapture {
public:
  explicit RelaxedCapture(const Driver &driver) : driver(driver) {
    changed = driver.exchangeCaptureMode(&mode) == success;
  }
  ~RelaxedCapture() {
    if (changed)
      (void)driver.exchangeCaptureMode(&mode);
  }
  RelaxedCapture(const RelaxedCapture &) = delete;
  RelaxedCapture &operator=(const RelaxedCapture &) = delete;

private:
  const Driver &driver;
  int mode = captureModeRelaxed;
  bool changed;
};

} // namespace mla::runtime::cuda

#endif // MLA_LIB_RUNTIME_CONTEXT_H
