//===- run.c - Calling kernels through the C API ------------------*- C -*-===//
//
// Part of the MLA project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "common.h"

#include <pthread.h>
#include <stdbool.h>

enum { rows = 4, size = rows * 2 * 3 };
static float a[size], b[size], out[size];
static float alpha = 0.5f;
static const int64_t shape[] = {rows, 2, 3};

/// A call that is right; tests break one thing at a time.
static void makeCall(MlaTensor *tensors) {
  tensors[0] = (MlaTensor){a, MLA_DTYPE_F32, 3, shape, NULL};
  tensors[1] = (MlaTensor){b, MLA_DTYPE_F32, 3, shape, NULL};
  tensors[2] = (MlaTensor){&alpha, MLA_DTYPE_F32, 0, NULL, NULL};
  tensors[3] = (MlaTensor){out, MLA_DTYPE_F32, 3, shape, NULL};
}

static bool isRight(const float *result) {
  for (int i = 0; i < size; ++i)
    if (result[i] != a[i] + alpha * b[i])
      return false;
  return true;
}

static void testErrors(MlaKernel *kernel) {
  MlaTensor t[5];
  makeCall(t);
  run("count", kernel, t, 3);
  run("no kernel", NULL, t, 4);
  run("no arguments", kernel, NULL, 4);

  t[1].dtype = MLA_DTYPE_BF16;
  run("type", kernel, t, 4);
  makeCall(t);
  t[1].dtype = 77;
  run("unknown type", kernel, t, 4);
  makeCall(t);
  t[1].rank = 2;
  run("rank", kernel, t, 4);
  makeCall(t);
  t[1].rank = -2;
  run("negative rank", kernel, t, 4);
  makeCall(t);
  t[1].shape = NULL;
  run("no shape", kernel, t, 4);
  makeCall(t);
  int64_t wrong[] = {rows, 2, 4};
  t[1].shape = wrong;
  run("static extent", kernel, t, 4);
  int64_t negative[] = {-1, 2, 3};
  t[1].shape = negative;
  run("negative extent", kernel, t, 4);
  makeCall(t);
  int64_t strided[] = {12, 6, 2};
  t[1].strides = strided;
  run("last stride", kernel, t, 4);
  makeCall(t);
  int64_t overlapping[] = {0, 3, 1};
  t[3].strides = overlapping;
  run("overlap", kernel, t, 4);
  makeCall(t);
  t[0].data = NULL;
  run("null data", kernel, t, 4);
  makeCall(t);
  t[0].data = (char *)a + 1;
  run("alignment", kernel, t, 4);
  makeCall(t);
  t[2].data = NULL;
  run("null scalar", kernel, t, 4);
  makeCall(t);
  t[2].rank = 3;
  t[2].shape = shape;
  run("tensor for scalar", kernel, t, 4);

  makeCall(t);
  MlaRunOptions options = {sizeof(options), -1, -1, NULL};
  char *error = NULL;
  mlaKernelRun(kernel, t, 4, &options, &error);
  printf("threads: %s\n", error);
  mlaFreeString(error);
  options.size = 4;
  mlaKernelRun(kernel, t, 4, &options, &error);
  printf("size: %s\n", error);
  mlaFreeString(error);
  printf("errors without a place for them: %d\n",
         mlaKernelRun(kernel, t, 3, NULL, NULL));

  bool untouched = true;
  for (int i = 0; i < size; ++i)
    untouched &= out[i] == 0;
  printf("nothing was written: %d\n", untouched);
}

static void testLayouts(MlaKernel *kernel) {
  MlaTensor t[4];
  makeCall(t);
  run("row-major", kernel, t, 4);
  printf("right: %d\n", isRight(out));

  // Two arrays interleaved in one buffer, broadcast rows, reversed rows.
  static float both[2 * size];
  int64_t interleaved[] = {12, 6, 1}, broadcast[] = {0, 3, 1},
          reversed[] = {-6, 3, 1};
  for (int i = 0; i < size; ++i)
    both[i / 3 * 6 + i % 3] = a[i];
  memset(out, 0, sizeof(out));
  t[0].data = both;
  t[0].strides = interleaved;
  t[3].data = both + 3;
  t[3].strides = interleaved;
  run("interleaved", kernel, t, 4);
  bool right = true;
  for (int i = 0; i < size; ++i)
    right &= both[i / 3 * 6 + 3 + i % 3] == a[i] + alpha * b[i];
  printf("right: %d\n", right);

  makeCall(t);
  t[0].strides = broadcast;
  t[1].data = b + (rows - 1) * 6;
  t[1].strides = reversed;
  run("broadcast and reversed", kernel, t, 4);
  right = true;
  for (int i = 0; i < rows; ++i)
    for (int j = 0; j < 6; ++j)
      right &= out[i * 6 + j] == a[j] + alpha * b[(rows - 1 - i) * 6 + j];
  printf("right: %d\n", right);

  // Nothing moves along an extent of 1, whatever its stride.
  makeCall(t);
  int64_t one[] = {1, 2, 3}, odd[] = {INT64_MAX, 3, 1};
  t[0].shape = t[1].shape = t[3].shape = one;
  t[0].strides = t[3].strides = odd;
  run("extent 1", kernel, t, 4);

  // No elements: no memory, no strides that matter.
  int64_t none[] = {0, 2, 3}, zeros[] = {0, 0, 0};
  for (int i = 0; i < 4; ++i)
    if (i != 2) {
      t[i].data = NULL;
      t[i].shape = none;
      t[i].strides = zeros;
    }
  run("empty", kernel, t, 4);

  // Scalars may stand anywhere.
  makeCall(t);
  char bytes[5];
  memcpy(bytes + 1, &alpha, 4);
  t[2].data = bytes + 1;
  run("unaligned scalar", kernel, t, 4);
  printf("right: %d\n", isRight(out));
}

static void testMemRefs(void) {
  // The first has to be dense: its type says so. The second starts 2 elements
  // after its descriptor's base, and its rows are 8 apart.
  MlaKernel *kernel = compile(
      "func.func @f(%x: memref<?x2x3xf32>,\n"
      "    %y: memref<?x6xf32, strided<[8, 1], offset: 2>>) {\n"
      "  %c0 = arith.constant 0 : index\n"
      "  %c1 = arith.constant 1 : index\n"
      "  %c2 = arith.constant 2 : index\n"
      "  %v = memref.load %x[%c1, %c1, %c2] : memref<?x2x3xf32>\n"
      "  memref.store %v, %y[%c1, %c0] : memref<?x6xf32, strided<[8, 1], "
      "offset: 2>>\n"
      "  return\n"
      "}\n");
  static float wide[2 * 8];
  int64_t wideShape[] = {2, 6}, wideStrides[] = {8, 1}, gap[] = {7, 3, 1};
  MlaTensor t[2] = {{a, MLA_DTYPE_F32, 3, shape, NULL},
                    {wide, MLA_DTYPE_F32, 2, wideShape, wideStrides}};
  run("memrefs", kernel, t, 2);
  printf("right: %d\n", wide[8] == a[6 + 3 + 2]);
  t[0].strides = gap;
  run("gap", kernel, t, 2);
  t[0].strides = NULL;
  t[1].strides = NULL;
  run("static stride", kernel, t, 2);
  mlaKernelDestroy(kernel);
}

static void *runMany(void *kernel) {
  float *result = calloc(size, sizeof(float));
  MlaTensor t[4];
  makeCall(t);
  t[3].data = result;
  bool right = true;
  for (int i = 0; i < 1000; ++i)
    right &= mlaKernelRun(kernel, t, 4, NULL, NULL) == 0 && isRight(result);
  free(result);
  return right ? kernel : NULL;
}

int main(void) {
  for (int i = 0; i < size; ++i) {
    a[i] = (float)i;
    b[i] = (float)(i % 5);
  }
  MlaKernel *kernel = compile(addText);
  testErrors(kernel);
  testLayouts(kernel);
  testMemRefs();

  pthread_t threads[4];
  for (int i = 0; i < 4; ++i)
    pthread_create(&threads[i], NULL, runMany, kernel);
  bool right = true;
  for (int i = 0; i < 4; ++i) {
    void *result;
    pthread_join(threads[i], &result);
    right &= result != NULL;
  }
  printf("four threads: %d\n", right);
  mlaKernelDestroy(kernel);
  return 0;
}
