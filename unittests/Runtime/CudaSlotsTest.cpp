//===- CudaSlotsTest.cpp - Who has which launch slot ------------*- C++ -*-===//
//
// Part of the MLA project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "CudaTest.h"

#include <cstring>
#include <set>
#include <tuple>

namespace {

class CudaSlots : public CudaTest {
protected:
  /// The slot of a launch; 0 on error.
  uint64_t slotOf(MlaRuntimeKernel *kernel, void *stream) {
    MlaRuntimeStream where = {stream, -1};
    if (launch(kernel, {}, &where) != 0)
      return 0;
    return fake_cuda::launches().back().arguments[0];
  }

  MlaRuntimeKernel *loadWithSlot(int64_t bytes) {
    return load(ptx("k 8"), "k", nullptr, 0, bytes);
  }
};

TEST_F(CudaSlots, AreZeroAndAligned) {
  for (int64_t bytes : {1, 256, 300, 1 << 20}) {
    uint64_t slot = slotOf(loadWithSlot(bytes), fake_cuda::createStream(0));
    ASSERT_NE(slot, 0u) << message.str();
    EXPECT_EQ(slot % 256, 0u);
    std::vector<char> zeros(bytes);
    EXPECT_EQ(std::memcmp(reinterpret_cast<void *>(slot), zeros.data(), bytes),
              0);
  }
}

TEST_F(CudaSlots, AreOneForEachStream) {
  MlaRuntimeKernel *kernel = loadWithSlot(64), *other = loadWithSlot(64);
  void *a = fake_cuda::createStream(0), *b = fake_cuda::createStream(0),
       *c = fake_cuda::createStream(1);
  uint64_t ofA = slotOf(kernel, a), ofB = slotOf(kernel, b);
  EXPECT_NE(ofA, ofB);
  EXPECT_EQ(slotOf(kernel, a), ofA);
  EXPECT_NE(slotOf(kernel, c), ofA);
  // Kernels of one stream run one after the other.
  EXPECT_EQ(slotOf(other, a), ofA);
  // A new stream at an old one's address: the old one's work may still run.
  fake_cuda::reuseStream(a);
  EXPECT_NE(slotOf(kernel, a), ofA);
  // The default streams of two devices.
  fake_cuda::setCurrent(0);
  uint64_t of0 = slotOf(kernel, nullptr);
  fake_cuda::setCurrent(1);
  EXPECT_NE(slotOf(kernel, nullptr), of0);
}

TEST_F(CudaSlots, AreOneForEachCapturedLaunch) {
  MlaRuntimeKernel *kernel = loadWithSlot(5000);
  void *stream = fake_cuda::createStream(0);
  uint64_t eager = slotOf(kernel, stream);
  std::set<uint64_t> slots;
  fake_cuda::beginCapture(stream);
  for (int i = 0; i < 3; ++i)
    slots.insert(slotOf(kernel, stream));
  void *graph = fake_cuda::endCapture(stream);
  EXPECT_EQ(slots.size(), 3u);
  EXPECT_EQ(slots.count(eager), 0u);
  EXPECT_EQ(slots.count(0), 0u);

  // Another graph of the same stream shares nothing with it, unless the first
  // one is gone.
  fake_cuda::beginCapture(stream);
  uint64_t second = slotOf(kernel, stream);
  void *another = fake_cuda::endCapture(stream);
  EXPECT_EQ(slots.count(second), 0u);
  EXPECT_EQ(slotOf(kernel, stream), eager);
  fake_cuda::destroyGraph(graph);
  fake_cuda::beginCapture(stream);
  EXPECT_EQ(slots.count(slotOf(kernel, stream)), 1u);
  fake_cuda::destroyGraph(fake_cuda::endCapture(stream));
  fake_cuda::destroyGraph(another);
}

TEST_F(CudaSlots, GrowUnderCapture) {
  // Blocks hold 256 KB.
  MlaRuntimeKernel *kernel = loadWithSlot(100 << 10);
  void *stream = fake_cuda::createStream(0);
  ASSERT_NE(slotOf(kernel, stream), 0u) << message.str();
  int before = fake_cuda::count("cuMemAlloc_v2");
  std::set<uint64_t> slots;
  fake_cuda::beginCapture(stream);
  for (int i = 0; i < 9; ++i)
    slots.insert(slotOf(kernel, stream));
  fake_cuda::destroyGraph(fake_cuda::endCapture(stream));
  EXPECT_EQ(slots.size(), 9u);
  EXPECT_EQ(slots.count(0), 0u);
  EXPECT_EQ(fake_cuda::count("cuMemAlloc_v2"), before + 4);
}

TEST_F(CudaSlots, AreSlotsOfAContext) {
  MlaRuntimeKernel *kernel = loadWithSlot(64);
  fake_cuda::setCurrent(0);
  uint64_t primary = slotOf(kernel, nullptr);
  fake_cuda::createContext(0);
  EXPECT_NE(slotOf(kernel, nullptr), primary);
}

TEST_F(CudaSlots, CannotBeMade) {
  // No test uses this size before.
  MlaRuntimeKernel *kernel = loadWithSlot(70001);
  void *stream = fake_cuda::createStream(0);
  const std::string start = "kernel 'k': launch slots of 70144 bytes: ";
  size_t before = fake_cuda::allocated();
  for (auto [function, result, text] :
       {std::tuple("cuMemAlloc_v2", 2,
                   "cuMemAlloc_v2: CUDA_ERROR_OUT_OF_MEMORY (out of memory)"),
        std::tuple("cuMemsetD8Async", 1,
                   "cuMemsetD8Async: CUDA_ERROR_INVALID_VALUE (invalid "
                   "argument)"),
        std::tuple("cuStreamSynchronize", 1,
                   "cuStreamSynchronize: CUDA_ERROR_INVALID_VALUE (invalid "
                   "argument)")}) {
    fake_cuda::fail(function, result);
    EXPECT_EQ(slotOf(kernel, stream), 0u);
    EXPECT_EQ(message.str(), start + text);
  }
  EXPECT_EQ(fake_cuda::allocated(), before);
  EXPECT_EQ(fake_cuda::launches().size(), 0u);
  EXPECT_NE(slotOf(kernel, stream), 0u);
}

TEST_F(CudaSlots, CannotBeLent) {
  MlaRuntimeKernel *kernel = loadWithSlot(200 << 10);
  void *stream = fake_cuda::createStream(0);
  ASSERT_EQ(mlaRuntimePrepareKernel(kernel, nullptr, message), 0);
  int before = fake_cuda::count("cuMemAlloc_v2");
  fake_cuda::beginCapture(stream);
  for (const char *function :
       {"cuUserObjectCreate", "cuGraphRetainUserObject"}) {
    fake_cuda::fail(function, 1);
    EXPECT_EQ(slotOf(kernel, stream), 0u);
    EXPECT_EQ(message.str(), std::string("kernel 'k': ") + function +
                                 ": CUDA_ERROR_INVALID_VALUE (invalid "
                                 "argument)");
  }
  EXPECT_EQ(fake_cuda::launches().size(), 0u);
  // The one slot of the block was given back both times.
  EXPECT_NE(slotOf(kernel, stream), 0u);
  fake_cuda::destroyGraph(fake_cuda::endCapture(stream));
  EXPECT_EQ(fake_cuda::count("cuMemAlloc_v2"), before);
}

} // namespace
