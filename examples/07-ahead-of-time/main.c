//===- main.c - Calls a prefill that was compiled ahead of time ---*- C -*-===//
//
// Part of the MLA project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// prefill cpu|gpu, after the object file that was linked: one program for both,
// since a kernel is called in the same way. The runtime's library is the only
// one of ours in it.
//
//===----------------------------------------------------------------------===//

#include "mla-c/Runtime.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// What is passed for a tensor of rank 1, 2 or 3: MLIR's memref descriptors.
// Extents and strides count elements.
typedef struct {
  void *allocated, *aligned;
  int64_t offset, sizes[1], strides[1];
} Tensor1;
typedef struct {
  void *allocated, *aligned;
  int64_t offset, sizes[2], strides[2];
} Tensor2;
typedef struct {
  void *allocated, *aligned;
  int64_t offset, sizes[3], strides[3];
} Tensor3;

// The arguments of @prefill in prefill.mlir.
void _mlir_ciface_prefill(Tensor3 *q, Tensor1 *inputRowOffsets, Tensor3 *k,
                          Tensor3 *v, Tensor1 *bufferRowOffsets, Tensor2 *kRope,
                          float scale, Tensor3 *output);

// Two sequences of 150 and 107 tokens, four heads.
enum { tokens = 257, heads = 4, nope = 128, rope = 64, value = 128 };
static const int32_t offsets[] = {0, 150, tokens};

typedef uint16_t bf16; // the upper half of a float
static bf16 q[tokens][heads][nope + rope], k[tokens][heads][nope];
static bf16 v[tokens][heads][value], kRope[tokens][rope];
static bf16 output[tokens][heads][value];

static float widen(bf16 number) {
  uint32_t bits = (uint32_t)number << 16;
  float result;
  memcpy(&result, &bits, sizeof result);
  return result;
}

// Numbers between -1 and 1 with eight significant bits.
static void fill(bf16 *data, size_t count) {
  for (size_t i = 0; i < count; ++i) {
    float number = (float)(rand() % 255 - 127) / 128;
    uint32_t bits;
    memcpy(&bits, &number, sizeof bits);
    data[i] = (bf16)(bits >> 16);
  }
}

static void check(int status, char *error) {
  if (status == 0)
    return;
  fprintf(stderr, "error: %s\n", error);
  exit(1);
}

// Where the kernel finds an array: itself, or a copy on the device.
static int isOnGPU;
static void *place(void *host, size_t bytes) {
  if (!isOnGPU)
    return host;
  void *device = NULL;
  char *error = NULL;
  check(mlaRuntimeAllocate(&device, bytes, NULL, &error), error);
  check(mlaRuntimeCopy(device, host, bytes, NULL, &error), error);
  return device;
}

// exp(score) of one query and one key, unnormalised.
static double weight(int query, int key, int head, float scale) {
  double sum = 0;
  for (int i = 0; i < nope; ++i)
    sum += widen(q[query][head][i]) * widen(k[key][head][i]);
  for (int i = 0; i < rope; ++i)
    sum += widen(q[query][head][nope + i]) * widen(kRope[key][i]);
  return exp(scale * sum);
}

// The largest difference of `output` to the definition.
static double compare(float scale) {
  double worst = 0;
  for (int b = 0; b < 2; ++b)
    for (int t = offsets[b]; t < offsets[b + 1]; ++t)
      for (int h = 0; h < heads; ++h) {
        double expected[value] = {0}, sum = 0;
        for (int j = offsets[b]; j <= t; ++j) {
          double p = weight(t, j, h, scale);
          sum += p;
          for (int i = 0; i < value; ++i)
            expected[i] += p * widen(v[j][h][i]);
        }
        for (int i = 0; i < value; ++i) {
          double got = widen(output[t][h][i]);
          // A NaN is as far off as can be.
          double difference = fabs(got - expected[i] / sum);
          if (!(difference <= worst))
            worst = isnan(difference) ? INFINITY : difference;
        }
      }
  return worst;
}

int main(int argc, char **argv) {
  isOnGPU = argc == 2 && strcmp(argv[1], "gpu") == 0;
  char *error = NULL;
  if (isOnGPU && mlaRuntimeDeviceCount(&error) == 0) {
    printf("skipped: %s\n", error);
    mlaRuntimeFreeString(error);
    return 0;
  }
  if (isOnGPU && mlaRuntimeDeviceArch(0, NULL) != 90) {
    printf("skipped: device 0 is of another compute capability than 9.0\n");
    return 0;
  }
  // A stream of the caller's would stand here; this is device 0's default one.
  if (isOnGPU)
    mlaRuntimeSetStream((MlaRuntimeStream){NULL, 0});

  fill(&q[0][0][0], sizeof q / sizeof(bf16));
  fill(&k[0][0][0], sizeof k / sizeof(bf16));
  fill(&v[0][0][0], sizeof v / sizeof(bf16));
  fill(&kRope[0][0], sizeof kRope / sizeof(bf16));
  memset(output, 0xff, sizeof output); // NaN
  const float scale = 1 / sqrtf(nope + rope);

  // `allocated` is not read: a kernel frees nothing of its caller's.
  Tensor3 queries = {NULL,
                     place(q, sizeof q),
                     0,
                     {tokens, heads, nope + rope},
                     {heads * (nope + rope), nope + rope, 1}};
  Tensor3 keys = {NULL,
                  place(k, sizeof k),
                  0,
                  {tokens, heads, nope},
                  {heads * nope, nope, 1}};
  Tensor3 values = {NULL,
                    place(v, sizeof v),
                    0,
                    {tokens, heads, value},
                    {heads * value, value, 1}};
  Tensor2 ropes = {
      NULL, place(kRope, sizeof kRope), 0, {tokens, rope}, {rope, 1}};
  Tensor1 rows = {NULL, place((void *)offsets, sizeof offsets), 0, {3}, {1}};
  Tensor3 result = {NULL,
                    place(output, sizeof output),
                    0,
                    {tokens, heads, value},
                    {heads * value, value, 1}};

  _mlir_ciface_prefill(&queries, &rows, &keys, &values, &rows, &ropes, scale,
                       &result);
  // What went wrong on the way, if something did; then nothing was launched.
  const char *message = mlaRuntimeTakeError();
  if (message) {
    fprintf(stderr, "error: %s\n", message);
    return 1;
  }
  // On a GPU it has been enqueued. The copy waits for it.
  if (isOnGPU)
    check(mlaRuntimeCopy(output, result.aligned, sizeof output, NULL, &error),
          error);

  // Probabilities and results are rounded to bf16.
  double worst = compare(scale);
  printf("largest difference to a plain loop %.1e\n", worst);
  return worst < 1e-2 ? 0 : 1;
}
