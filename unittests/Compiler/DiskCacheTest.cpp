//===- DiskCacheTest.cpp - Object files of earlier compilations -----------===//
//
// Part of the MLA project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "DiskCache.h"

#include "Environment.h"

#include "llvm/ADT/SmallString.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/raw_ostream.h"

#include "gtest/gtest.h"

#include <atomic>
#include <chrono>
#include <optional>
#include <set>
#include <thread>
#include <vector>

using namespace mlir::mla;
namespace fs = llvm::sys::fs;
namespace path = llvm::sys::path;

namespace {

/// A key, and the bytes stored under it, for a digit.
std::string key(char digit) { return std::string(64, digit); }
std::string contents(char digit, size_t size = 968) {
  return std::string(size, digit);
}
/// With its digest an entry of these contents has so many bytes.
constexpr uint64_t entrySize = 1000;

class DiskCacheTest : public testing::Test {
protected:
  void SetUp() override {
    ASSERT_FALSE(fs::createUniqueDirectory("mla-cache-test", root));
    folder = getPath("folder");
  }
  void TearDown() override { fs::remove_directories(root); }

  std::string getPath(llvm::StringRef name) {
    llvm::SmallString<128> result(root);
    path::append(result, name);
    return result.str().str();
  }
  std::string getEntry(char digit) {
    return folder + "/mla-" + key(digit) + ".o";
  }

  std::optional<std::string> find(char digit) {
    auto object = DiskCache(folder).find(key(digit));
    if (!object)
      return std::nullopt;
    return object->getBuffer().str();
  }
  void store(char digit, uint64_t limit = 0) {
    DiskCache(folder, limit).store(key(digit), contents(digit));
  }

  void write(const std::string &file, llvm::StringRef bytes) {
    std::error_code code;
    llvm::raw_fd_ostream os(file, code);
    ASSERT_FALSE(code) << file;
    os << bytes;
  }
  std::string read(const std::string &file) {
    auto buffer = llvm::MemoryBuffer::getFile(file);
    return buffer ? (*buffer)->getBuffer().str() : "";
  }
  /// As if it was used so many seconds ago.
  void age(const std::string &file, int seconds) {
    int descriptor;
    ASSERT_FALSE(fs::openFileForRead(file, descriptor));
    ASSERT_FALSE(fs::setLastAccessAndModificationTime(
        descriptor,
        std::chrono::system_clock::now() - std::chrono::seconds(seconds)));
    fs::file_t native = fs::convertFDToNativeFile(descriptor);
    fs::closeFile(native);
  }
  std::set<std::string> list() {
    std::set<std::string> names;
    std::error_code code;
    for (fs::directory_iterator entry(folder, code), end; entry != end && !code;
         entry.increment(code))
      names.insert(path::filename(entry->path()).str());
    return names;
  }

  llvm::SmallString<128> root;
  std::string folder;
};

TEST_F(DiskCacheTest, FindsWhatWasStored) {
  EXPECT_EQ(find('a'), std::nullopt);
  EXPECT_FALSE(fs::exists(folder));
  store('a');
  store('b');
  EXPECT_EQ(find('a'), contents('a'));
  EXPECT_EQ(find('b'), contents('b'));
  EXPECT_EQ(find('c'), std::nullopt);
  // Nothing else stays behind.
  EXPECT_EQ(list().size(), 2u);
  // The file begins with the object file.
  EXPECT_EQ(read(getEntry('a')).substr(0, 968), contents('a'));
}

TEST_F(DiskCacheTest, EveryBitCounts) {
  store('a');
  std::string good = read(getEntry('a'));
  ASSERT_EQ(good.size(), entrySize);
  for (size_t bit = 0; bit < 8 * good.size(); ++bit) {
    std::string bad = good;
    bad[bit / 8] ^= static_cast<char>(1 << bit % 8);
    write(getEntry('a'), bad);
    EXPECT_EQ(find('a'), std::nullopt) << bit;
  }
  write(getEntry('a'), good);
  EXPECT_EQ(find('a'), contents('a'));
}

TEST_F(DiskCacheTest, EveryByteCounts) {
  store('a');
  std::string good = read(getEntry('a'));
  for (size_t size = 0; size < good.size(); ++size) {
    write(getEntry('a'), good.substr(0, size));
    EXPECT_EQ(find('a'), std::nullopt) << size;
  }
  write(getEntry('a'), good + '\0');
  EXPECT_EQ(find('a'), std::nullopt);
}

TEST_F(DiskCacheTest, OtherFilesAreNoEntries) {
  store('a');
  // Another entry under this name.
  ASSERT_FALSE(fs::copy_file(getEntry('a'), getEntry('b')));
  EXPECT_EQ(find('b'), std::nullopt);
  // A folder, and a link that leads nowhere.
  ASSERT_FALSE(fs::create_directory(getEntry('c')));
  EXPECT_EQ(find('c'), std::nullopt);
  ASSERT_FALSE(fs::create_link(getPath("nowhere"), getEntry('d')));
  EXPECT_EQ(find('d'), std::nullopt);
  // They give way, but for a folder.
  for (char digit : {'b', 'c', 'd'})
    store(digit);
  EXPECT_EQ(find('b'), contents('b'));
  EXPECT_EQ(find('c'), std::nullopt);
  EXPECT_EQ(find('d'), contents('d'));
  EXPECT_EQ(list().size(), 4u);
}

TEST_F(DiskCacheTest, StoringReplacesAWrongEntry) {
  store('a');
  write(getEntry('a'), "foreign");
  store('a');
  EXPECT_EQ(find('a'), contents('a'));
}

TEST_F(DiskCacheTest, FolderThatCannotBe) {
  write(getPath("file"), "text");
  for (const char *name : {"file", "file/folder"}) {
    DiskCache cache(getPath(name));
    cache.store(key('a'), contents('a'));
    EXPECT_EQ(cache.find(key('a')), nullptr);
  }
  EXPECT_EQ(read(getPath("file")), "text");
}

TEST_F(DiskCacheTest, LeastRecentlyUsedGoes) {
  for (char digit : {'a', 'b', 'c', 'd'})
    store(digit);
  age(getEntry('a'), 40);
  age(getEntry('b'), 30);
  age(getEntry('c'), 20);
  age(getEntry('d'), 10);
  // A use that finds it.
  EXPECT_EQ(find('b'), contents('b'));
  store('e', 3 * entrySize);
  EXPECT_EQ(list(), (std::set<std::string>{"mla-" + key('b') + ".o",
                                           "mla-" + key('d') + ".o",
                                           "mla-" + key('e') + ".o"}));
}

TEST_F(DiskCacheTest, NoLimit) {
  for (char digit : {'a', 'b', 'c'})
    store(digit, 0);
  EXPECT_EQ(list().size(), 3u);
}

TEST_F(DiskCacheTest, WhatDoesNotFitIsNotStored) {
  store('a', 2 * entrySize);
  DiskCache(folder, 2 * entrySize).store(key('b'), contents('b', 2000));
  EXPECT_EQ(find('a'), contents('a'));
  EXPECT_EQ(find('b'), std::nullopt);
  // One byte makes the difference.
  DiskCache(folder, entrySize - 1).store(key('c'), contents('c'));
  EXPECT_EQ(find('c'), std::nullopt);
  DiskCache(folder, entrySize).store(key('c'), contents('c'));
  EXPECT_EQ(find('c'), contents('c'));
}

TEST_F(DiskCacheTest, OnlyOurFilesGo) {
  store('a');
  std::set<std::string> others = {"mla-notes.o",     "mla-" + key('0') + ".txt",
                                  "mla-" + key('0'), "mla-" + key('g') + ".o",
                                  key('0') + ".o",   "main.o",
                                  "notes.tmp"};
  for (const std::string &name : others) {
    write(folder + "/" + name, contents('x'));
    age(folder + "/" + name, 1000);
  }
  // What was left of a process that was killed goes like an entry.
  std::string left = folder + "/mla-" + key('0') + "-0123abcd.tmp";
  write(left, contents('x', 100));
  age(left, 100);
  store('b', entrySize);
  others.insert("mla-" + key('b') + ".o");
  EXPECT_EQ(list(), others);
}

TEST_F(DiskCacheTest, ManyThreads) {
  std::vector<std::thread> threads;
  std::atomic<int> wrong = 0, found = 0;
  for (int i = 0; i < 8; ++i)
    threads.emplace_back([&] {
      for (int round = 0; round < 50; ++round)
        for (char digit : {'a', 'b', 'c', 'd'}) {
          // Three of the four have room.
          store(digit, 3 * entrySize);
          std::optional<std::string> got = find(digit);
          found += got.has_value();
          wrong += got && *got != contents(digit);
        }
    });
  for (std::thread &thread : threads)
    thread.join();
  EXPECT_EQ(wrong, 0);
  EXPECT_GT(found, 0);
  for (const std::string &name : list())
    EXPECT_TRUE(llvm::StringRef(name).ends_with(".o")) << name;
}

class DiskCacheEnvironment : public testing::Test {
protected:
  void SetUp() override {
    for (const char *name :
         {"MLA_CACHE_DIR", "MLA_CACHE_SIZE", "XDG_CACHE_HOME"})
      environment.set(name, std::nullopt);
    environment.set("HOME", "/somebodys/home");
  }
  std::string getFolder() {
    return DiskCache::fromEnvironment().getFolder().str();
  }
  uint64_t getLimit() { return DiskCache::fromEnvironment().getLimit(); }

  Environment environment;
};

TEST_F(DiskCacheEnvironment, Folder) {
  EXPECT_EQ(getFolder(), "/somebodys/home/.cache/mla");
  environment.set("XDG_CACHE_HOME", "/caches");
  EXPECT_EQ(getFolder(), "/caches/mla");
  for (const char *ignored : {"", "caches"}) {
    environment.set("XDG_CACHE_HOME", ignored);
    EXPECT_EQ(getFolder(), "/somebodys/home/.cache/mla");
  }
  environment.set("MLA_CACHE_DIR", "some/where");
  EXPECT_EQ(getFolder(), "some/where");
  environment.set("MLA_CACHE_DIR", "");
  EXPECT_EQ(getFolder(), "/somebodys/home/.cache/mla");
  environment.set("HOME", "nowhere");
  EXPECT_FALSE(DiskCache::fromEnvironment().isOn());
}

TEST_F(DiskCacheEnvironment, Off) {
  environment.set("MLA_CACHE_DIR", "off");
  DiskCache cache = DiskCache::fromEnvironment();
  EXPECT_FALSE(cache.isOn());
  cache.store(key('a'), contents('a'));
  EXPECT_EQ(cache.find(key('a')), nullptr);
  EXPECT_FALSE(fs::exists("off"));
}

TEST_F(DiskCacheEnvironment, Size) {
  EXPECT_EQ(getLimit(), uint64_t(1) << 30);
  for (auto [text, bytes] : {std::pair("12345", uint64_t(12345)),
                             {"3k", 3 << 10},
                             {"20m", 20 << 20},
                             {"5g", uint64_t(5) << 30},
                             {"0", 0}}) {
    environment.set("MLA_CACHE_SIZE", text);
    EXPECT_EQ(getLimit(), bytes) << text;
  }
  for (const char *wrong : {"", "much", "-1", "1 g", "1t"}) {
    environment.set("MLA_CACHE_SIZE", wrong);
    EXPECT_EQ(getLimit(), uint64_t(1) << 30) << wrong;
  }
}

} // namespace
