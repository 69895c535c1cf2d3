//===- DiskCache.h - Object files of earlier compilations -------*- C++ -*-===//
//
// Part of the MLA project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A folder of object files that any number of processes and threads share,
// without locks: an entry appears by a rename, whole, and is never changed. It
// is the object file `mla-<key>.o`, so that object file tools read it, with a
// digest of key and object behind its end. What does not have its digest, for
// whatever reason, is no entry.
//
// Nothing here fails: without a folder that can be written there is less in it,
// and the caller compiles.
//
//===----------------------------------------------------------------------===//

#ifndef MLA_LIB_COMPILER_DISKCACHE_H
#define MLA_LIB_COMPILER_DISKCACHE_H

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/MemoryBuffer.h"

#include <cstdint>
#include <memory>
#include <string>

namespace mlir::mla {

class DiskCache {
public:
  /// A cache in `folder`, which is made when it is needed, of at most `limit`
  /// bytes; 0: of any size. Without a folder (empty) it is off.
  explicit DiskCache(std::string folder, uint64_t limit = 0)
      : folder(std::move(folder)), limit(limit) {}

  /// As the environment says, now. MLA_CACHE_DIR is the folder, or `off`; unset
  /// or empty, it is `mla` in $XDG_CACHE_HOME or else in ~/.cache, and without
  /// a home the cache is off. MLA_CACHE_SIZE is the limit in bytes, with k, m
  /// or g behind it in 2^10, 2^20, 2^30 of them; 1g unless it holds a number.
  static DiskCache fromEnvironment();

  bool isOn() const { return !folder.empty(); }
  llvm::StringRef getFolder() const { return folder; }
  uint64_t getLimit() const { return limit; }

  /// The object file that was stored under a key (64 hexadecimal digits), or
  /// null.
  std::unique_ptr<llvm::MemoryBuffer> find(llvm::StringRef key) const;

  /// Stores an object file if that can be done. What was not used for longest
  /// makes room for it.
  void store(llvm::StringRef key, llvm::StringRef object) const;

private:
  std::string getPath(llvm::StringRef key, llvm::StringRef suffix) const;
  void prune() const;

  std::string folder;
  uint64_t limit;
};

} // namespace mlir::mla

#endif // MLA_LIB_COMPILER_DISKCACHE_H
