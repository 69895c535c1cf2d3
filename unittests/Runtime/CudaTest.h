//===- CudaTest.h - The runtime on a fake CUDA driver -----------*- C++ -*-===//
//
// Part of the MLA project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef MLA_UNITTESTS_RUNTIME_CUDATEST_H
#define MLA_UNITTESTS_RUNTIME_CUDATEST_H

#include "FakeCuda.h"
#include "mla-c/Runtime.h"

#include "gtest/gtest.h"

#include <cstdlib>
#include <string>
#include <vector>

/// A message of the runtime's, freed at the end.
class Message {
public:
  Message() = default;
  Message(const Message &) = delete;
  Message &operator=(const Message &) = delete;
  ~Message() { mlaRuntimeFreeString(text); }
  operator char **() {
    mlaRuntimeFreeString(text);
    text = nullptr;
    return &text;
  }
  std::string str() const { return text ? text : ""; }

private:
  char *text = nullptr;
};

/// Tests that end in a process which has opened the fake driver.
class CudaTest : public testing::Test {
protected:
  void SetUp() override;
  /// No test may break a rule of the driver's.
  void TearDown() override;

  /// PTX with this entry line of FakeCuda.h; different in each test, so that no
  /// image is loaded before.
  std::string ptx(const std::string &entry) const;
  MlaRuntimeKernel *load(const std::string &image, const char *entry = "k",
                         const char *arch = nullptr, int64_t sharedBytes = 0,
                         int64_t slotBytes = 0, int64_t parameterCount = 0);
  /// One block of 32 threads, unless `config` says otherwise.
  int launch(MlaRuntimeKernel *kernel, std::vector<void *> arguments,
             const MlaRuntimeStream *stream = nullptr);

  static MlaRuntimeLaunchConfig oneBlock();

  Message message;
  MlaRuntimeLaunchConfig config = oneBlock();

private:
  std::vector<MlaRuntimeKernel *> kernels;
};

#endif // MLA_UNITTESTS_RUNTIME_CUDATEST_H
