//===- TensorMap.h - Descriptors for the tensor copy engine -----*- C++ -*-===//
//
// Part of the MLA project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef MLA_LIB_RUNTIME_TENSORMAP_H
#define MLA_LIB_RUNTIME_TENSORMAP_H

#include "Context.h"
#include "mla-c/Runtime.h"

#include <list>
#include <mutex>
#include <unordered_map>

namespace mla::runtime::cuda {

/// All that a descriptor depends on, in the driver's terms: dimensions are
/// innermost first, strides in bytes. The driver wants a context to make one:
/// so the device may matter too.
struct TensorMapKey {
  static constexpr int maxRank = 5;
  uint64_t address;
  uint64_t extents[maxRank];
  uint64_t strides[maxRank - 1];
  uint32_t box[maxRank];
  uint32_t rank;
  int32_t dataType;
  int32_t swizzle;
  int32_t l2Promotion;
  /// Set by the cache. Keys are compared as bytes, so their number is even.
  int32_t deviceArch;

  /// Checks a specification against what the copy engine can do.
  static Status create(const MlaRuntimeTensorMapSpec &spec, TensorMapKey &key);

  bool operator==(const TensorMapKey &other) const;
  struct Hash {
    size_t operator()(const TensorMapKey &key) const;
  };
};

/// The descriptors that were used last.
class TensorMapCache {
public:
  static TensorMapCache &get();
  /// The descriptor for the stream's device.
  Status encode(const MlaRuntimeStream *stream, TensorMapKey key,
                MlaRuntimeTensorMap &map);

private:
  bool find(const TensorMapKey &key, MlaRuntimeTensorMap &map);
  Status findOrMake(const Driver &driver, const TensorMapKey &key,
                    MlaRuntimeTensorMap &map);

  static constexpr size_t capacity = 1024;
  struct Entry {
    TensorMapKey key;
    MlaRuntimeTensorMap map;
  };
  std::mutex mutex;
  /// Most recently used first.
  std::list<Entry> entries;
  std::unordered_map<TensorMapKey, std::list<Entry>::iterator,
                     TensorMapKey::Hash>
      index;
};

} // namespace mla::runtime::cuda

#endif // MLA_LIB_RUNTIME_TENSORMAP_H
