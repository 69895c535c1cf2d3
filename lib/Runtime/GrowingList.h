//===- GrowingList.h - A list that only grows -------------------*- C++ -*-===//
//
// Part of the MLA project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef MLA_LIB_RUNTIME_GROWINGLIST_H
#define MLA_LIB_RUNTIME_GROWINGLIST_H

#include <atomic>

namespace mla::runtime {

/// For the few records that a launch looks up, one for each context: finding
/// one takes no lock. T has a member `T *next`. Who adds holds a lock of its
/// own; records are never removed.
template <typename T> class GrowingList {
public:
  template <typename Match> T *find(Match match) const {
    for (T *record = first.load(std::memory_order_acquire); record;
         record = record->next)
      if (match(*record))
        return record;
    return nullptr;
  }

  /// Takes ownership.
  void add(T *record) {
    record->next = first.load(std::memory_order_relaxed);
    first.store(record, std::memory_order_release);
  }

  void deleteAll() {
    T *record = first.exchange(nullptr);
    while (record) {
      T *next = record->next;
      delete record;
      record = next;
    }
  }

private:
  std::atomic<T *> first{nullptr};
};

} // namespace mla::runtime

#endif // MLA_LIB_RUNTIME_GROWINGLIST_H
