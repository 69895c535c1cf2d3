//===- Slots.h - Device memory that one launch has to itself ----*- C++ -*-===//
//
// Part of the MLA project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A persistent kernel counts its work items in device memory, and later keeps
// partial results there. Two launches that run at once must not share it, and
// neither an allocation nor a memset may stand before every launch. So:
//
// * Slots are cut from blocks of memory that are zeroed once. A kernel leaves
//   its slot zero.
// * Launches on one stream run one after the other and share the stream's slot.
//   Streams are told apart by number: their addresses are used again.
// * A captured launch may be replayed whenever and on whatever stream, so it
//   gets a slot of its own. The graph holds it as a CUDA user object, which its
//   copies and executables share, and gives it back with the last of them.
//
//===----------------------------------------------------------------------===//

#ifndef MLA_LIB_RUNTIME_SLOTS_H
#define MLA_LIB_RUNTIME_SLOTS_H

#include "Driver.h"

#include <map>
#include <mutex>
#include <unordered_map>
#include <vector>

namespace mla::runtime::cuda {

/// The slots of one context, which has to be current in every call.
class LaunchSlots {
public:
  LaunchSlots() = default;
  LaunchSlots(const LaunchSlots &) = delete;
  LaunchSlots &operator=(const LaunchSlots &) = delete;

  /// The slot, of at least `bytes` bytes, of the next launch on `stream`.
  Status acquire(const Driver &driver, Stream stream, int64_t bytes,
                 DevicePointer &slot);

  /// Sees to it that a slot of this size is free.
  Status reserve(const Driver &driver, int64_t bytes);

private:
  /// Slots of one size.
  struct Pool {
    int64_t bytes = 0;
    /// Guards what follows. Never held while the driver is called: the driver
    /// gives slots back on a thread of its own, which must not wait for us
    /// while we wait for the driver.
    std::mutex mutex;
    std::vector<DevicePointer> free;
    std::unordered_map<unsigned long long, DevicePointer> ofStream;

    bool takeFree(DevicePointer &slot);
    void giveBack(DevicePointer slot);
  };
  /// What a graph holds.
  struct Loan {
    Pool *pool;
    DevicePointer slot;
  };

  Pool &getPool(int64_t bytes);
  Status take(const Driver &driver, Pool &pool, DevicePointer &slot);
  Status grow(const Driver &driver, Pool &pool);
  Status lend(const Driver &driver, Pool &pool, Graph graph,
              DevicePointer &slot);

  std::mutex poolsMutex;
  /// By size; addresses of elements stay.
  std::map<int64_t, Pool> pools;
  std::mutex growMutex;
  /// For zeroing, guarded by growMutex.
  Stream zeroing = nullptr;
};

} // namespace mla::runtime::cuda

#endif // MLA_LIB_RUNTIME_SLOTS_H
