//===- TensorMapTest.cpp - Checks and cache of tensor maps ------*- C++ -*-===//
//
// Part of the MLA project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "CudaTest.h"
#include "mla-c/Compiler.h"

#include <cstring>
#include <thread>

static_assert(int(MLA_RUNTIME_DTYPE_BF16) == int(MLA_DTYPE_BF16));
static_assert(int(MLA_RUNTIME_DTYPE_F16) == int(MLA_DTYPE_F16));
static_assert(int(MLA_RUNTIME_DTYPE_F32) == int(MLA_DTYPE_F32));
static_assert(int(MLA_RUNTIME_DTYPE_F64) == int(MLA_DTYPE_F64));
static_assert(int(MLA_RUNTIME_DTYPE_I32) == int(MLA_DTYPE_I32));
static_assert(int(MLA_RUNTIME_DTYPE_U32) == int(MLA_DTYPE_U32));
static_assert(int(MLA_RUNTIME_DTYPE_I64) == int(MLA_DTYPE_I64));
static_assert(int(MLA_RUNTIME_DTYPE_U64) == int(MLA_DTYPE_U64));
static_assert(int(MLA_RUNTIME_DTYPE_F8E4M3FN) == int(MLA_DTYPE_F8E4M3FN));

namespace {

/// The arguments of cuTensorMapEncodeTiled, which the fake driver writes into
/// the map.
struct Encoded {
  uint32_t dataType, rank, interleave, swizzle, l2Promotion, fill;
  uint32_t address[2];
  uint32_t extents[5];
  uint32_t strides[4];
  uint32_t box[5];
  uint32_t elementStrides[5];
};

class TensorMap : public CudaTest {
protected:
  /// [rows, heads, 64] of bf16 in rows of 192 elements a head, in a box of
  /// [128, 1, 64]; at an address that no other test uses.
  void SetUp() override {
    CudaTest::SetUp();
    static uintptr_t next = 0x10000000;
    spec = {};
    spec.size = sizeof(spec);
    spec.name = "k";
    spec.data = reinterpret_cast<void *>(next += 0x1000000);
    spec.dtype = MLA_RUNTIME_DTYPE_BF16;
    spec.rank = 3;
    spec.shape = shape;
    spec.strides = strides;
    spec.box = box;
    spec.swizzle = 128;
    spec.l2Promotion = 256;
  }

  int encode() { return mlaRuntimeEncodeTensorMap(&spec, &map, message); }
  /// The message of a specification that is refused; then all is as before.
  std::string refusal() {
    EXPECT_EQ(encode(), -1);
    EXPECT_EQ(fake_cuda::count("cuTensorMapEncodeTiled"), 0);
    return message.str();
  }
  Encoded encoded() const {
    Encoded result;
    std::memcpy(&result, &map, sizeof(result));
    return result;
  }
  int made() const { return fake_cuda::count("cuTensorMapEncodeTiled"); }

  int64_t shape[5] = {1000, 16, 64, 1, 1};
  int64_t strides[5] = {3072, 192, 1, 1, 1};
  int32_t box[5] = {128, 1, 64, 1, 1};
  MlaRuntimeTensorMapSpec spec;
  MlaRuntimeTensorMap map;
};

TEST_F(TensorMap, IsWhatTheDriverIsAskedFor) {
  ASSERT_EQ(encode(), 0) << message.str();
  Encoded e = encoded();
  EXPECT_EQ(e.dataType, 9u);
  EXPECT_EQ(e.rank, 3u);
  EXPECT_EQ(e.interleave, 0u);
  EXPECT_EQ(e.swizzle, 3u);
  EXPECT_EQ(e.l2Promotion, 3u);
  EXPECT_EQ(e.fill, 0u);
  EXPECT_EQ(e.address[0], reinterpret_cast<uintptr_t>(spec.data));
  // Innermost first; strides in bytes, the innermost one left out.
  const uint32_t extents[] = {64, 16, 1000}, boxes[] = {64, 1, 128};
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(e.extents[i], extents[i]);
    EXPECT_EQ(e.box[i], boxes[i]);
    EXPECT_EQ(e.elementStrides[i], 1u);
  }
  EXPECT_EQ(e.strides[0], 384u);
  EXPECT_EQ(e.strides[1], 6144u);
}

TEST_F(TensorMap, TakesEveryTypeAndMode) {
  const std::pair<int, uint32_t> types[] = {
      {MLA_RUNTIME_DTYPE_BF16, 9},    {MLA_RUNTIME_DTYPE_F16, 6},
      {MLA_RUNTIME_DTYPE_F32, 7},     {MLA_RUNTIME_DTYPE_F64, 8},
      {MLA_RUNTIME_DTYPE_I32, 3},     {MLA_RUNTIME_DTYPE_U32, 2},
      {MLA_RUNTIME_DTYPE_I64, 5},     {MLA_RUNTIME_DTYPE_U64, 4},
      {MLA_RUNTIME_DTYPE_F8E4M3FN, 0}};
  box[2] = 16;
  for (auto [dtype, expected] : types) {
    spec.dtype = dtype;
    ASSERT_EQ(encode(), 0) << message.str();
    EXPECT_EQ(encoded().dataType, expected);
  }
  spec.dtype = MLA_RUNTIME_DTYPE_BF16;
  uint32_t number = 0;
  for (int swizzle : {0, 32, 64, 128}) {
    spec.swizzle = swizzle;
    ASSERT_EQ(encode(), 0) << message.str();
    EXPECT_EQ(encoded().swizzle, number++);
  }
  number = 0;
  for (int bytes : {0, 64, 128, 256}) {
    spec.l2Promotion = bytes;
    ASSERT_EQ(encode(), 0) << message.str();
    EXPECT_EQ(encoded().l2Promotion, number++);
  }
  shape[0] = 64;
  box[0] = 64;
  for (spec.rank = 1; spec.rank <= 5; ++spec.rank) {
    spec.strides = nullptr;
    // The last extents of a wider shape.
    int64_t wide[] = {2, 2, 2, 2, 64};
    int32_t boxes[] = {1, 1, 1, 1, 64};
    spec.shape = wide + 5 - spec.rank;
    spec.box = boxes + 5 - spec.rank;
    ASSERT_EQ(encode(), 0) << message.str();
    EXPECT_EQ(encoded().rank, uint32_t(spec.rank));
  }
}

TEST_F(TensorMap, ImpliesRowMajorStrides) {
  spec.strides = nullptr;
  ASSERT_EQ(encode(), 0) << message.str();
  EXPECT_EQ(encoded().strides[0], 128u);
  EXPECT_EQ(encoded().strides[1], 2048u);
}

TEST_F(TensorMap, R8IgnoresStridesOfExtentOne) {
  shape[0] = 1;
  strides[0] = 7;
  ASSERT_EQ(encode(), 0) << message.str();
  EXPECT_EQ(encoded().strides[1] % 16, 0u);
  shape[0] = 1000;
  strides[0] = 3072;
  shape[2] = 1;
  strides[2] = 5;
  ASSERT_EQ(encode(), 0) << message.str();
}

TEST_F(TensorMap, R10TakesEmptyTensors) {
  spec.data = nullptr;
  shape[0] = 0;
  strides[1] = 3;
  ASSERT_EQ(encode(), 0) << message.str();
  EXPECT_EQ(encoded().extents[2], 1u);
  shape[0] = 1000;
  EXPECT_EQ(encode(), -1);
}

TEST_F(TensorMap, R7TakesLargeTensors) {
  shape[0] = int64_t(1) << 32;
  strides[0] = (int64_t(1) << 39) - 8;
  EXPECT_EQ(encode(), 0) << message.str();
  shape[0] += 1;
  EXPECT_EQ(encode(), -1);
  EXPECT_EQ(message.str(),
            "'k': expected extent 0 from 0 to 2^32, got 4294967297");
}

TEST_F(TensorMap, R8RefusesMisalignedTensors) {
  spec.data = static_cast<char *>(spec.data) + 8;
  std::string text = refusal();
  EXPECT_EQ(text.find("'k': expected data at a multiple of 16 bytes, got "
                      "address 0x"),
            0u)
      << text;
  spec.name = nullptr;
  EXPECT_EQ(refusal().find("tensor map: expected data at"), 0u);
  spec.name = "k";
  spec.data = nullptr;
  EXPECT_EQ(refusal(), "'k': expected data at a multiple of 16 bytes, got "
                       "address 0");
  spec.data = this;
  for (int64_t stride :
       {int64_t(3073), int64_t(-3072), int64_t(1) << 39, INT64_MAX}) {
    strides[0] = stride;
    EXPECT_EQ(refusal(),
              "'k': expected a stride of dimension 0 that is a multiple of 16 "
              "bytes from 0 to below 2^40, got " +
                  std::to_string(stride) + " elements of 2 bytes");
  }
  strides[0] = 3072;
  strides[2] = 2;
  EXPECT_EQ(refusal(), "'k': expected stride 1 in the last dimension, got 2");
}

TEST_F(TensorMap, RefusesWhatTheEngineCannotDo) {
  auto with = [&](auto &field, auto value) {
    auto saved = field;
    field = value;
    std::string text = refusal();
    field = saved;
    return text;
  };
  EXPECT_EQ(with(spec.rank, 0), "'k': expected rank 1 to 5, got 0");
  EXPECT_EQ(with(spec.rank, 6), "'k': expected rank 1 to 5, got 6");
  EXPECT_EQ(with(spec.dtype, 9),
            "'k': expected an element type of MlaRuntimeDType, got 9");
  EXPECT_EQ(with(spec.dtype, -1),
            "'k': expected an element type of MlaRuntimeDType, got -1");
  EXPECT_EQ(with(spec.swizzle, 16),
            "'k': expected swizzle 0, 32, 64 or 128, got 16");
  EXPECT_EQ(with(spec.l2Promotion, 32),
            "'k': expected l2Promotion 0, 64, 128 or 256, got 32");
  EXPECT_EQ(with(spec.shape, static_cast<const int64_t *>(nullptr)),
            "'k': expected shape and box, got null");
  EXPECT_EQ(with(spec.box, static_cast<const int32_t *>(nullptr)),
            "'k': expected shape and box, got null");
  EXPECT_EQ(with(shape[1], int64_t(-1)),
            "'k': expected extent 1 from 0 to 2^32, got -1");
  EXPECT_EQ(with(box[0], 0), "'k': expected box extent 0 from 1 to 256, got 0");
  EXPECT_EQ(with(box[0], 257),
            "'k': expected box extent 0 from 1 to 256, got 257");
  EXPECT_EQ(with(box[2], 60),
            "'k': expected a last box extent that is a multiple of 16 bytes, "
            "got 120");
  EXPECT_EQ(with(box[2], 128),
            "'k': expected a last box extent of at most 128 bytes, as swizzle "
            "says, got 256");
  EXPECT_EQ(with(spec.size, size_t(0)), "spec.size: expected 72, got 0");
  int64_t huge[] = {int64_t(1) << 32, int64_t(1) << 32, 64};
  spec.strides = nullptr;
  EXPECT_EQ(with(spec.shape, static_cast<const int64_t *>(huge)),
            "'k': expected fewer than 2^63 elements");
  EXPECT_EQ(mlaRuntimeEncodeTensorMap(nullptr, &map, message), -1);
  EXPECT_EQ(mlaRuntimeEncodeTensorMap(&spec, nullptr, message), -1);
  auto *shifted = reinterpret_cast<MlaRuntimeTensorMap *>(map.bytes + 32);
  EXPECT_EQ(mlaRuntimeEncodeTensorMap(&spec, shifted, message), -1);
  EXPECT_EQ(message.str().find("tensor map: expected a specification and a map "
                               "at a multiple of 64 bytes, got "),
            0u);
}

TEST_F(TensorMap, IsMadeOnce) {
  ASSERT_EQ(encode(), 0);
  MlaRuntimeTensorMap first = map;
  std::memset(&map, 0, sizeof(map));
  // The same tensor, described elsewhere in memory and under another name.
  int64_t sameShape[] = {1000, 16, 64};
  spec.shape = sameShape;
  spec.name = "v";
  ASSERT_EQ(encode(), 0);
  EXPECT_EQ(std::memcmp(&map, &first, sizeof(map)), 0);
  EXPECT_EQ(made(), 1);
  // Found without asking for the context.
  int asked = fake_cuda::count("cuCtxGetCurrent");
  ASSERT_EQ(encode(), 0);
  EXPECT_EQ(fake_cuda::count("cuCtxGetCurrent"), asked);
}

TEST_F(TensorMap, IsMadeForEachDifference) {
  ASSERT_EQ(encode(), 0);
  int expected = 1;
  auto with = [&](auto &field, auto value) {
    auto saved = field;
    field = value;
    EXPECT_EQ(encode(), 0) << message.str();
    EXPECT_EQ(made(), ++expected);
    field = saved;
    EXPECT_EQ(encode(), 0);
    EXPECT_EQ(made(), expected);
  };
  with(spec.data, static_cast<void *>(static_cast<char *>(spec.data) + 16));
  with(spec.dtype, MLA_RUNTIME_DTYPE_F16);
  with(spec.swizzle, 0);
  with(spec.l2Promotion, 0);
  with(shape[0], int64_t(999));
  with(shape[1], int64_t(15));
  with(shape[2], int64_t(63));
  with(strides[0], int64_t(3080));
  with(strides[1], int64_t(200));
  with(box[0], 64);
  with(box[1], 2);
  with(box[2], 32);
}

TEST_F(TensorMap, IsForgottenAfterAThousand) {
  ASSERT_EQ(encode(), 0);
  void *data = spec.data;
  auto encodeAt = [&](int64_t i) {
    spec.data = static_cast<char *>(data) + 16 * i;
    ASSERT_EQ(encode(), 0);
    EXPECT_EQ(encoded().address[0], reinterpret_cast<uintptr_t>(spec.data));
  };
  // In use all the time, it stays.
  for (int64_t i = 1; i < 2000; ++i) {
    encodeAt(i);
    encodeAt(0);
  }
  EXPECT_EQ(made(), 2000);
  encodeAt(1500);
  EXPECT_EQ(made(), 2000);
  // Unused, it goes.
  for (int64_t i = 2000; i < 3024; ++i)
    encodeAt(i);
  EXPECT_EQ(made(), 3024);
  encodeAt(0);
  EXPECT_EQ(made(), 3025);
}

TEST_F(TensorMap, IsForADevice) {
  MlaRuntimeStream stream = {fake_cuda::createStream(2), -1};
  spec.stream = &stream;
  EXPECT_EQ(refusal(), "'k': device 2 (Fake 2) is sm_80, which has no tensor "
                       "copy engine");
  stream = {nullptr, 3};
  EXPECT_EQ(refusal(), "'k': device: expected a number from 0 to 2, got 3");
  // Devices 0 and 1 are alike.
  for (int device : {0, 1}) {
    stream = {nullptr, device};
    EXPECT_EQ(encode(), 0) << message.str();
    EXPECT_EQ(made(), 1);
  }
  EXPECT_EQ(fake_cuda::getCurrent(), nullptr);
}

TEST_F(TensorMap, IsMadeUnderCapture) {
  MlaRuntimeStream stream = {fake_cuda::createStream(0), -1};
  spec.stream = &stream;
  fake_cuda::beginCapture(stream.handle);
  EXPECT_EQ(encode(), 0) << message.str();
  fake_cuda::destroyGraph(fake_cuda::endCapture(stream.handle));
}

TEST_F(TensorMap, ReportsTheDriver) {
  fake_cuda::fail("cuTensorMapEncodeTiled", 1);
  EXPECT_EQ(encode(), -1);
  EXPECT_EQ(message.str(), "'k': cuTensorMapEncodeTiled: "
                           "CUDA_ERROR_INVALID_VALUE (invalid argument)");
  EXPECT_EQ(encode(), 0);
  EXPECT_EQ(made(), 2);
}

TEST_F(TensorMap, IsMadeOnManyThreads) {
  std::vector<std::thread> threads;
  for (int i = 0; i < 8; ++i)
    threads.emplace_back([&] {
      MlaRuntimeTensorMapSpec own = spec;
      for (int j = 0; j < 2000; ++j) {
        own.data = static_cast<char *>(spec.data) + 16 * (j % 500);
        MlaRuntimeTensorMap map;
        ASSERT_EQ(mlaRuntimeEncodeTensorMap(&own, &map, nullptr), 0);
        Encoded e;
        std::memcpy(&e, &map, sizeof(e));
        ASSERT_EQ(e.address[0], reinterpret_cast<uintptr_t>(own.data));
      }
    });
  for (std::thread &thread : threads)
    thread.join();
  EXPECT_EQ(made(), 500);
}

} // namespace
