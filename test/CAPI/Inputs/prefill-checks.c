//===- prefill-checks.c - Calls of mla.prefill that do not fit ----*- C -*-===//
//
// Part of the MLA project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "common.h"

#include <math.h>

enum { Window, Q, Iro, K, V, Bro, Blocks, Table, Lengths, Layer, Scale, Out };
enum { count = Out + 1, most = 4096 };

/// Two sequences of 2 and 1 tokens, no prefix, pages of 4 tokens, 3 layers.
static float ones[most], out[3 * 2 * 4], scale;
static int32_t iro[] = {0, 2, 3}, table[] = {0, 1}, lengths[] = {0, 0};
static int32_t window, layer;
static int64_t shapes[count][6];
static MlaTensor tensors[count];

static void set(int argument, void *data, int32_t dtype, int32_t rank,
                const int64_t *shape) {
  for (int i = 0; i < rank; ++i)
    shapes[argument][i] = shape[i];
  tensors[argument] = (MlaTensor){data, dtype, rank, shapes[argument], NULL};
}

/// A call that is right; each test below changes one thing.
static void reset(void) {
  const int64_t offsets[] = {3}, batch[] = {2}, tablePages[] = {2, 1};
  const int64_t q[] = {3, 2, 6}, row[] = {3, 2, 4};
  const int64_t blocks[] = {2, 1, 3, 4, 1, 5};
  window = 2;
  layer = 1;
  scale = 0.5f;
  set(Window, &window, MLA_DTYPE_I32, 0, NULL);
  set(Q, ones, MLA_DTYPE_F32, 3, q);
  set(Iro, iro, MLA_DTYPE_I32, 1, offsets);
  set(K, ones, MLA_DTYPE_F32, 3, row);
  set(V, ones, MLA_DTYPE_F32, 3, row);
  set(Bro, iro, MLA_DTYPE_I32, 1, offsets);
  set(Blocks, ones, MLA_DTYPE_F32, 6, blocks);
  set(Table, table, MLA_DTYPE_I32, 2, tablePages);
  set(Lengths, lengths, MLA_DTYPE_I32, 1, batch);
  set(Layer, &layer, MLA_DTYPE_I32, 0, NULL);
  set(Scale, &scale, MLA_DTYPE_F32, 0, NULL);
  set(Out, out, MLA_DTYPE_F32, 3, row);
}

static void call(MlaKernel *kernel, const char *what) {
  run(what, kernel, tensors, count);
  reset();
}

static char *readFile(const char *path) {
  FILE *file = fopen(path, "r");
  if (!file)
    exit(2);
  char *text = calloc(most, 1);
  size_t length = fread(text, 1, most - 1, file);
  fclose(file);
  return length ? text : NULL;
}

int main(int argc, char **argv) {
  for (int i = 0; i < most; ++i)
    ones[i] = 1;
  char *text = argc == 2 ? readFile(argv[1]) : NULL;
  if (!text)
    return 2;
  MlaKernel *kernel = compile(text);
  free(text);

  reset();
  call(kernel, "good");
  int right = 1;
  for (size_t i = 0; i < sizeof(out) / sizeof(out[0]); ++i)
    right &= fabsf(out[i] - 1) < 1e-6f;
  printf("right: %d\n", right);

  scale = 0;
  call(kernel, "scale 0");
  scale = -1;
  call(kernel, "scale -1");
  scale = NAN;
  call(kernel, "scale nan");
  scale = INFINITY;
  call(kernel, "scale inf");
  window = 0;
  call(kernel, "window 0");
  layer = 3;
  call(kernel, "layer 3");
  layer = -1;
  call(kernel, "layer -1");

  shapes[Out][0] = 4;
  call(kernel, "tokens");
  shapes[V][0] = 5;
  call(kernel, "rows");
  shapes[K][1] = 1;
  call(kernel, "heads");
  shapes[Bro][0] = 2;
  call(kernel, "offsets");
  shapes[Table][0] = 3;
  call(kernel, "table");
  shapes[Lengths][0] = 3;
  call(kernel, "lengths");
  shapes[Iro][0] = 0;
  call(kernel, "no offsets");
  shapes[Blocks][3] = 0;
  call(kernel, "page size 0");

  // No sequence, token, row or page: legal (MLA-R10).
  shapes[Iro][0] = shapes[Bro][0] = 1;
  const int empty[] = {Q, K, V, Out, Table, Lengths, Blocks};
  for (size_t i = 0; i < sizeof(empty) / sizeof(empty[0]); ++i) {
    shapes[empty[i]][0] = 0;
    tensors[empty[i]].data = NULL;
  }
  call(kernel, "empty batch");
  mlaKernelDestroy(kernel);
  return 0;
}
