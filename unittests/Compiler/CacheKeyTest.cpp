//===- CacheKeyTest.cpp - What decides which code a module becomes --------===//
//
// Part of the MLA project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// That another build has other keys is tested with two libraries, in
// python/tests/test_disk_cache.py.
//
//===----------------------------------------------------------------------===//

#include "CacheKey.h"

#include "Environment.h"
#include "NativeCode.h"

#include "mla/Pipelines/Pipelines.h"

#include "llvm/ADT/SmallString.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/raw_ostream.h"

#include "gtest/gtest.h"

#include <optional>
#include <set>

using namespace mlir::mla;

namespace {

/// A machine of this CPU's architecture with a CPU name and features.
std::unique_ptr<llvm::TargetMachine> createMachine(const char *cpu,
                                                   const char *features) {
  return llvm::cantFail(createTargetMachine({"test", cpu, features, 0}));
}

class CacheKeyTest : public testing::Test {
protected:
  std::string getKey(const char *entry = "f") {
    std::optional<std::string> key = getCacheKey(request, entry, *machine);
    EXPECT_TRUE(key);
    return key.value_or("");
  }

  CompileRequest request = {"text", "file.mlir", "cpu", ""};
  std::unique_ptr<llvm::TargetMachine> machine =
      createMachine("haswell", "+avx2");
};

TEST_F(CacheKeyTest, SameAgain) {
  std::string key = getKey();
  EXPECT_EQ(key.size(), 64u);
  EXPECT_EQ(getKey(), key);
  machine = createMachine("haswell", "+avx2");
  EXPECT_EQ(getKey(), key);
  // What messages call the text is in no code; nor whether the entry was named.
  request.name = "other.mlir";
  request.entry = "f";
  EXPECT_EQ(getKey(), key);
}

TEST_F(CacheKeyTest, AllParts) {
  std::set<std::string> keys = {getKey()};
  keys.insert(getKey("g"));
  request.text = "text ";
  keys.insert(getKey());
  // The same letters in other parts.
  request.text = "textf";
  keys.insert(getKey(""));
  request.target = "cpu-avx2";
  keys.insert(getKey());
  machine = createMachine("skylake-avx512", "+avx2");
  keys.insert(getKey());
  machine = createMachine("skylake-avx512", "+avx2,-avx512f");
  keys.insert(getKey());
  EXPECT_EQ(keys.size(), 7u);
}

TEST_F(CacheKeyTest, Ptxas) {
  llvm::SmallString<128> folder;
  ASSERT_FALSE(llvm::sys::fs::createUniqueDirectory("mla-key-test", folder));
  auto writePtxas = [&](const char *name, const char *body) {
    std::string path = (folder + "/" + name).str();
    std::error_code code;
    llvm::raw_fd_ostream(path, code) << "#!/bin/sh\n" << body << "\n";
    llvm::sys::fs::setPermissions(path, llvm::sys::fs::all_all);
    return path;
  };
  Environment environment;
  environment.set("CUDA_HOME", std::nullopt);
  environment.set("MLA_PTXAS", std::nullopt);
  environment.set("PATH", folder.str().str());

  std::string onCPU = getKey();
  request.target = "sm_90a";
  std::set<std::string> keys = {onCPU, getKey()};
  environment.set("MLA_PTXAS", writePtxas("one", "echo 1"));
  keys.insert(getKey());
  environment.set("MLA_PTXAS", writePtxas("other", "echo 1"));
  keys.insert(getKey());
  writePtxas("other", "echo 2");
  keys.insert(getKey());
  EXPECT_EQ(keys.size(), 5u);

  // A version that nobody knows.
  environment.set("MLA_PTXAS", writePtxas("broken", "exit 1"));
  EXPECT_EQ(getCacheKey(request, "f", *machine), std::nullopt);
  // On a CPU it does not matter.
  request.target = "cpu";
  EXPECT_EQ(getKey(), onCPU);
  llvm::sys::fs::remove_directories(folder);
}

} // namespace
