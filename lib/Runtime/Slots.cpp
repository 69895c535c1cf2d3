//===- Slots.cpp - Device memory that one launch has to itself --*- C++ -*-===//
//
// Part of the MLA project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Slots.h"

#include "Context.h"

#include <algorithm>

using namespace mla::runtime;
using namespace mla::runtime::cuda;

/// Slots start where the driver would start an allocation of its own.
static constexpr int64_t slotAlignment = 256;
/// What one block of memory holds: a thousand slots of counters, or one slot
/// if it is larger than this.
static constexpr int64_t blockBytes = int64_t(256) << 10;

bool LaunchSlots::Pool::takeFree(DevicePointer &slot) {
  std::lock_guard<std::mutex> lock(mutex);
  if (free.empty())
    return false;
  slot = free.back();
  free.pop_back();
  return true;
}

void LaunchSlots::Pool::giveBack(DevicePointer slot) {
  std::lock_guard<std::mutex> lock(mutex);
  free.push_back(slot);
}

LaunchSlots::Pool &LaunchSlots::getPool(int64_t bytes) {
  int64_t size = (bytes + slotAlignment - 1) / slotAlignment * slotAlignment;
  std::lock_guard<std::mutex> lock(poolsMutex);
  Pool &pool = pools[size];
  pool.bytes = size;
  return pool;
}

Status LaunchSlots::grow(const Driver &driver, Pool &pool) {
  int64_t count = std::max<int64_t>(blockBytes / pool.bytes, 1);
  size_t total = static_cast<size_t>(count * pool.bytes);
  RelaxedCapture relaxed(driver);
  if (!zeroing)
    MLA_CUDA_TRY(driver, streamCreate, &zeroing, streamNonBlocking);
  DevicePointer block = 0;
  MLA_CUDA_TRY(driver, memoryAllocate, &block, total);
  // Not the default stream: that would wait for the caller's work, and a
  // capture does not permit it.
  Status status = driver.check(driver.memorySet(block, 0, total, zeroing),
                               symbolOf_memorySet);
  if (!status.failed())
    status = driver.check(driver.streamSynchronize(zeroing),
                          symbolOf_streamSynchronize);
  if (status.failed()) {
    (void)driver.memoryFree(block);
    return status;
  }
  std::lock_guard<std::mutex> lock(pool.mutex);
  // In ascending order of use.
  for (int64_t i = count - 1; i >= 0; --i)
    pool.free.push_back(block + i * pool.bytes);
  return Status();
}

Status LaunchSlots::take(const Driver &driver, Pool &pool,
                         DevicePointer &slot) {
  if (pool.takeFree(slot))
    return Status();
  std::lock_guard<std::mutex> lock(growMutex);
  // Somebody else may have grown the pool, or have emptied it again.
  while (!pool.takeFree(slot))
    if (Status status = grow(driver, pool); status.failed())
      return Status::error("launch slots of %lld bytes: %s",
                           static_cast<long long>(pool.bytes),
                           status.message().c_str());
  return Status();
}

Status LaunchSlots::lend(const Driver &driver, Pool &pool, Graph graph,
                         DevicePointer &slot) {
  if (Status status = take(driver, pool, slot); status.failed())
    return status;
  auto *loan = new Loan{&pool, slot};
  // Runs on a thread of the driver's, and must not call the driver.
  HostFunction end = [](void *pointer) {
    auto *loan = static_cast<Loan *>(pointer);
    loan->pool->giveBack(loan->slot);
    delete loan;
  };
  UserObject object = nullptr;
  if (Result result = driver.userObjectCreate(&object, loan, end, 1,
                                              userObjectNoDestructorSync)) {
    end(loan);
    return driver.check(result, symbolOf_userObjectCreate);
  }
  if (Result result =
          driver.graphRetainUserObject(graph, object, 1, graphUserObjectMove)) {
    (void)driver.userObjectRelease(object, 1);
    return driver.check(result, symbolOf_graphRetainUserObject);
  }
  return Status();
}

Status LaunchSlots::acquire(const Driver &driver, Stream stream, int64_t bytes,
                            DevicePointer &slot) {
  Pool &pool = getPool(bytes);
  int capture = 0;
  uint64_t captureId = 0;
  Graph graph = nullptr;
  MLA_CUDA_TRY(driver, streamGetCaptureInfo, stream, &capture, &captureId,
               &graph, nullptr, nullptr);
  if (capture == captureActive)
    return lend(driver, pool, graph, slot);

  unsigned long long id = 0;
  MLA_CUDA_TRY(driver, streamGetId, stream, &id);
  {
    std::lock_guard<std::mutex> lock(pool.mutex);
    if (auto found = pool.ofStream.find(id); found != pool.ofStream.end()) {
      slot = found->second;
      return Status();
    }
  }
  if (Status status = take(driver, pool, slot); status.failed())
    return status;
  std::lock_guard<std::mutex> lock(pool.mutex);
  auto [entry, inserted] = pool.ofStream.emplace(id, slot);
  if (inserted)
    return Status();
  // Another thread was first.
  pool.free.push_back(slot);
  slot = entry->second;
  return Status();
}

Status LaunchSlots::reserve(const Driver &driver, int64_t bytes) {
  Pool &pool = getPool(bytes);
  DevicePointer slot = 0;
  if (Status status = take(driver, pool, slot); status.failed())
    return status;
  pool.giveBack(slot);
  return Status();
}
