//===- Boxes.cpp - Tensor maps, read by the copy engine ---------*- C++ -*-===//
//
// Part of the MLA project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Harness.h"
#include "Kernels.h"

#include <algorithm>
#include <cstring>

namespace {
/// A tensor [rows, heads, columns] of 16-bit elements in a larger buffer, a box
/// of it, and where the box is loaded.
struct Case {
  const char *name;
  int64_t rows, heads, columns;
  /// Of rows and of heads, in elements.
  int64_t rowStride, headStride;
  int32_t boxRows, boxHeads, boxColumns;
  int32_t swizzle;
  int32_t row, head, column;
};
} // namespace

constexpr int64_t elementBytes = 2;

static const Case cases[] = {
    {"128-byte swizzle", 100, 3, 64, 192, 64, 64, 1, 64, 128, 16, 1, 0},
    {"64-byte swizzle", 100, 3, 64, 192, 64, 64, 1, 32, 64, 16, 2, 32},
    {"32-byte swizzle", 100, 3, 64, 192, 64, 64, 1, 16, 32, 8, 0, 48},
    {"no swizzle", 100, 3, 64, 192, 64, 64, 1, 64, 0, 16, 1, 0},
    {"rows past the end", 100, 3, 64, 192, 64, 64, 1, 64, 128, 70, 1, 0},
    {"rows before the start", 100, 3, 64, 192, 64, 64, 1, 64, 128, -9, 0, 0},
    {"all outside", 100, 3, 64, 192, 64, 64, 1, 64, 128, 100, 0, 0},
    {"columns past the end", 40, 2, 80, 160, 80, 32, 1, 64, 128, 0, 1, 64},
    {"a partial panel", 40, 2, 80, 160, 80, 32, 1, 16, 128, 8, 1, 64},
    {"a partial narrow panel", 40, 2, 80, 160, 80, 32, 2, 16, 64, 8, 0, 64},
    {"several heads", 40, 4, 64, 512, 128, 16, 4, 64, 128, 8, 0, 0},
    {"heads outermost", 40, 4, 64, 64, 2560, 32, 1, 64, 128, 4, 3, 0},
    {"one row, odd stride", 1, 2, 64, 7, 64, 8, 2, 64, 128, 0, 0, 0},
    {"one head, odd stride", 40, 1, 64, 64, 3, 8, 1, 64, 128, 5, 0, 0},
    {"few rows", 40, 2, 64, 128, 64, 4, 1, 64, 128, 6, 1, 0},
};

/// Where the box's byte `offset` lies in shared memory: 16-byte chunks are
/// permuted by the number of the 128-byte line that they are in.
static int64_t swizzled(int64_t offset, int32_t swizzle) {
  int64_t mask = swizzle / 16 - 1;
  return swizzle ? offset ^ ((offset >> 7 & mask) << 4) : offset;
}

static void checkBox(MlaRuntimeKernel *kernel, const Case &c) {
  constexpr int64_t bufferElements = 20000;
  Buffer<uint16_t> tensor(bufferElements);
  for (int64_t i = 0; i < bufferElements; ++i)
    tensor.host[i] = static_cast<uint16_t>(i * 40503 >> 3 | 1);
  tensor.toDevice();

  int64_t shape[] = {c.rows, c.heads, c.columns};
  int64_t strides[] = {c.rowStride, c.headStride, 1};
  int32_t boxShape[] = {c.boxRows, c.boxHeads, c.boxColumns};
  MlaRuntimeTensorMapSpec spec = {sizeof(spec),
                                  c.name,
                                  tensor.data,
                                  MLA_RUNTIME_DTYPE_BF16,
                                  3,
                                  shape,
                                  strides,
                                  boxShape,
                                  c.swizzle,
                                  256,
                                  nullptr};
  MlaRuntimeTensorMap map, again;
  Message message;
  int result = mlaRuntimeEncodeTensorMap(&spec, &map, message);
  check(result == 0, c.name, message.str());
  if (result != 0)
    return;
  need(mlaRuntimeEncodeTensorMap(&spec, &again, message), message);
  check(std::memcmp(&map, &again, sizeof(map)) == 0, "the same map again",
        c.name);

  // Rows narrower than the swizzle's span are a span apart all the same. The
  // barrier counts the loaded bytes alone, and the gaps are not written.
  int64_t rowBytes = c.boxColumns * elementBytes;
  int64_t pitch = std::max<int64_t>(rowBytes, c.swizzle);
  int64_t boxRows = int64_t(c.boxRows) * c.boxHeads;
  int64_t count = boxRows * pitch / elementBytes;
  Buffer<uint16_t> out(count);
  uint32_t loaded = static_cast<uint32_t>(boxRows * rowBytes);
  uint32_t bytes = static_cast<uint32_t>(boxRows * pitch);
  int32_t column = c.column, head = c.head, row = c.row;
  result = launch(kernel, 1, 128,
                  {&map, &out.data, &loaded, &bytes, &column, &head, &row},
                  nullptr, 0, message);
  check(result == 0, "box is launched", message.str());
  out.toHost();

  std::vector<uint16_t> expected(count, 0xffff);
  int64_t boxRow = 0;
  for (int64_t i = c.row; i < c.row + c.boxRows; ++i)
    for (int64_t j = c.head; j < c.head + c.boxHeads; ++j, ++boxRow)
      for (int64_t k = 0; k < c.boxColumns; ++k) {
        bool inside =
            i >= 0 && i < c.rows && j < c.heads && c.column + k < c.columns;
        int64_t from = i * c.rowStride + j * c.headStride + c.column + k;
        int64_t to = swizzled(boxRow * pitch + k * elementBytes, c.swizzle);
        expected[to / elementBytes] = inside ? tensor.host[from] : 0;
      }
  int64_t wrong = 0;
  for (int64_t i = 0; i < count; ++i)
    wrong += out.host[i] != expected[i];
  check(wrong == 0, c.name, std::to_string(wrong) + " wrong elements");
}

/// What the documentation leaves open about descriptors of unusual tensors.
static void checkUnusual() {
  int64_t empty[] = {0, 3, 64}, strides[] = {0, 64, 1}, rows[] = {40, 3, 64};
  int32_t box[] = {64, 1, 64};
  MlaRuntimeTensorMap map;
  Message message;
  MlaRuntimeTensorMapSpec spec = {sizeof(spec),
                                  "empty",
                                  nullptr,
                                  MLA_RUNTIME_DTYPE_BF16,
                                  3,
                                  empty,
                                  nullptr,
                                  box,
                                  128,
                                  0,
                                  nullptr};
  check(mlaRuntimeEncodeTensorMap(&spec, &map, message) == 0,
        "a map of an empty tensor", message.str());
  Buffer<uint16_t> tensor(40 * 3 * 64);
  spec.name = "stride 0";
  spec.data = tensor.data;
  spec.shape = rows;
  spec.strides = strides;
  check(mlaRuntimeEncodeTensorMap(&spec, &map, message) == 0,
        "a map with a stride of 0", message.str());
  spec.strides = nullptr;
  const int32_t bytesOf[] = {2, 2, 4, 8, 4, 4, 8, 8, 1};
  for (int32_t dtype = 0; dtype < 9; ++dtype) {
    int32_t boxOfType[] = {1, 1, 64 / bytesOf[dtype]};
    int64_t shape[] = {4, 3, 64 / bytesOf[dtype]};
    spec.name = "element type";
    spec.dtype = dtype;
    spec.shape = shape;
    spec.box = boxOfType;
    check(mlaRuntimeEncodeTensorMap(&spec, &map, message) == 0,
          "a map of each element type", message.str());
  }
}

void checkBoxes() {
  MlaRuntimeKernel *kernel = load(kernels::box, "box", 64 << 10);
  for (const Case &c : cases)
    checkBox(kernel, c);
  mlaRuntimeFreeKernel(kernel);
  checkUnusual();
}
