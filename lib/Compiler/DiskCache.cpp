//===- DiskCache.cpp - Object files of earlier compilations -----*- C++ -*-===//
//
// Part of the MLA project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "DiskCache.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/ScopeExit.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/CachePruning.h"
#include "llvm/Support/Error.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FileUtilities.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/Process.h"
#include "llvm/Support/SHA256.h"
#include "llvm/Support/raw_ostream.h"

#include <array>
#include <chrono>
#include <vector>

using namespace mlir::mla;
using llvm::StringRef;
namespace fs = llvm::sys::fs;
namespace path = llvm::sys::path;

static constexpr size_t keySize = 64, digestSize = 32;

//===----------------------------------------------------------------------===//
// Where it is
//===----------------------------------------------------------------------===//

static std::string findFolder() {
  auto chosen = llvm::sys::Process::GetEnv("MLA_CACHE_DIR");
  if (chosen && !chosen->empty())
    return *chosen == "off" ? std::string() : *chosen;
  llvm::SmallString<128> folder;
  auto caches = llvm::sys::Process::GetEnv("XDG_CACHE_HOME");
  // By its rules a relative path there is to be ignored.
  if (caches && path::is_absolute(*caches))
    folder = *caches;
  else if (path::home_directory(folder) && path::is_absolute(folder))
    path::append(folder, ".cache");
  else
    return {};
  path::append(folder, "mla");
  return folder.str().str();
}

static uint64_t findLimit() {
  constexpr uint64_t standard = uint64_t(1) << 30;
  auto chosen = llvm::sys::Process::GetEnv("MLA_CACHE_SIZE");
  if (!chosen)
    return standard;
  auto policy = llvm::parseCachePruningPolicy("cache_size_bytes=" + *chosen);
  if (policy)
    return policy->MaxSizeBytes;
  llvm::consumeError(policy.takeError());
  return standard;
}

DiskCache DiskCache::fromEnvironment() {
  return DiskCache(findFolder(), findLimit());
}

std::string DiskCache::getPath(StringRef key, StringRef suffix) const {
  llvm::SmallString<128> result(folder);
  path::append(result, "mla-" + key + suffix);
  return result.str().str();
}

/// Whether a file is an entry, or what a process that was killed left of one.
/// Nothing else is ever removed: the folder may be a wrong one.
static bool isOurs(StringRef name) {
  return name.consume_front("mla-") && name.size() > keySize &&
         llvm::all_of(name.take_front(keySize), llvm::isHexDigit) &&
         (name.drop_front(keySize) == ".o" || name.ends_with(".tmp"));
}

//===----------------------------------------------------------------------===//
// Entries
//===----------------------------------------------------------------------===//

/// An entry under another entry's name has the wrong digest too.
static std::array<uint8_t, digestSize> computeDigest(StringRef key,
                                                     StringRef object) {
  llvm::SHA256 hasher;
  hasher.update(key);
  hasher.update(object);
  return hasher.final();
}

std::unique_ptr<llvm::MemoryBuffer> DiskCache::find(StringRef key) const {
  if (!isOn())
    return nullptr;
  int file;
  if (fs::openFileForRead(getPath(key, ".o"), file))
    return nullptr;
  llvm::scope_exit close(
      [&] { llvm::sys::Process::SafelyCloseFileDescriptor(file); });
  // Volatile, so that it is read and not mapped: what was verified stays so.
  auto contents = llvm::MemoryBuffer::getOpenFile(
      fs::convertFDToNativeFile(file), key, /*FileSize=*/-1,
      /*RequiresNullTerminator=*/false, /*IsVolatile=*/true);
  if (!contents || (*contents)->getBufferSize() < digestSize)
    return nullptr;
  StringRef object = (*contents)->getBuffer().drop_back(digestSize);
  StringRef digest = (*contents)->getBuffer().take_back(digestSize);
  if (digest != llvm::toStringRef(computeDigest(key, object)))
    return nullptr;
  // Used now. File systems note that themselves once a day, or never.
  (void)fs::setLastAccessAndModificationTime(file,
                                             std::chrono::system_clock::now());
  return llvm::MemoryBuffer::getMemBufferCopy(object, key);
}

void DiskCache::store(StringRef key, StringRef object) const {
  if (!isOn() || (limit && object.size() + digestSize > limit) ||
      fs::create_directories(folder))
    return;
  // Neither llvm::localCache, which ends the process if the disk is full, nor
  // fs::TempFile, which takes over the process's signal handlers.
  int file;
  llvm::SmallString<128> temporary;
  if (fs::createUniqueFile(getPath(key, "-%%%%%%%%.tmp"), file, temporary))
    return;
  llvm::FileRemover remover(temporary);
  llvm::raw_fd_ostream os(file, /*shouldClose=*/true);
  os << object << llvm::toStringRef(computeDigest(key, object));
  os.close();
  bool isWritten = !os.has_error();
  os.clear_error();
  if (!isWritten || fs::rename(temporary, getPath(key, ".o")))
    return;
  remover.releaseFile();
  prune();
}

/// Not llvm::pruneCache, which ends the process if somebody removes the folder
/// meanwhile.
void DiskCache::prune() const {
  if (!limit)
    return;
  struct File {
    llvm::sys::TimePoint<> used;
    uint64_t size;
    std::string path;
  };
  std::vector<File> files;
  uint64_t total = 0;
  std::error_code code;
  for (fs::directory_iterator entry(folder, code), end; entry != end && !code;
       entry.increment(code)) {
    auto status = entry->status();
    if (!status || !isOurs(path::filename(entry->path())))
      continue;
    files.push_back(
        {status->getLastModificationTime(), status->getSize(), entry->path()});
    total += status->getSize();
  }
  llvm::sort(files, [](const File &left, const File &right) {
    return left.used < right.used;
  });
  for (const File &file : files) {
    if (total <= limit)
      break;
    // Another process may have done so already.
    if (!fs::remove(file.path))
      total -= file.size;
  }
}
