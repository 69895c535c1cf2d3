//===- main.c - A program that compiles and calls mla.prefill -----*- C -*-===//
//
// Part of the MLA project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "mla-c/Compiler.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

// Two sequences of 3 and 5 tokens, four heads, a window of two tokens.
enum { tokens = 8, heads = 4, nope = 128, rope = 64, value = 128, window = 2 };

static float q[tokens][heads][nope + rope], k[tokens][heads][nope];
static float v[tokens][heads][value], kRope[tokens][rope];
static float output[tokens][heads][value];

static void fill(float *data, size_t count) {
  for (size_t i = 0; i < count; ++i)
    data[i] = (float)rand() / (float)RAND_MAX - 0.5f;
}

// exp(score) of one query and one key, unnormalised.
static float weight(int query, int key, int head, float scale) {
  float sum = 0;
  for (int i = 0; i < nope; ++i)
    sum += q[query][head][i] * k[key][head][i];
  for (int i = 0; i < rope; ++i)
    sum += q[query][head][nope + i] * kRope[key][i];
  return expf(scale * sum);
}

int main(int argc, char **argv) {
  static char text[65536];
  FILE *file = argc == 2 ? fopen(argv[1], "r") : NULL;
  if (!file) {
    fprintf(stderr, "usage: prefill prefill.mlir\n");
    return 2;
  }
  size_t length = fread(text, 1, sizeof text, file);
  fclose(file);

  // Compile once, for this machine. Diagnostics come as one string.
  char *error = NULL;
  MlaKernel *kernel = mlaCompile(text, length, NULL, &error);
  if (!kernel) {
    fprintf(stderr, "%s\n", error);
    mlaFreeString(error);
    return 1;
  }
  // The arguments have the names that the text gives them.
  for (size_t i = 0; i < mlaKernelArgumentCount(kernel); ++i) {
    MlaArgument argument = mlaKernelArgument(kernel, i);
    printf("%s%s%s", i ? ", " : "", argument.name,
           argument.written ? " (written)" : "");
  }
  printf("\n");

  fill(&q[0][0][0], sizeof q / sizeof(float));
  fill(&k[0][0][0], sizeof k / sizeof(float));
  fill(&v[0][0][0], sizeof v / sizeof(float));
  fill(&kRope[0][0], sizeof kRope / sizeof(float));
  int32_t offsets[] = {0, 3, tokens}, w = window;
  float scale = 1 / sqrtf(nope + rope);

  // Shapes per call; strides may be given for views, NULL means dense.
  const int64_t qShape[] = {tokens, heads, nope + rope},
                kShape[] = {tokens, heads, nope},
                vShape[] = {tokens, heads, value}, ropeShape[] = {tokens, rope},
                offsetShape[] = {3};
  const MlaTensor arguments[] = {
      {&w, MLA_DTYPE_I32, 0, NULL, NULL},
      {q, MLA_DTYPE_F32, 3, qShape, NULL},
      {offsets, MLA_DTYPE_I32, 1, offsetShape, NULL},
      {k, MLA_DTYPE_F32, 3, kShape, NULL},
      {v, MLA_DTYPE_F32, 3, vShape, NULL},
      {offsets, MLA_DTYPE_I32, 1, offsetShape, NULL},
      {kRope, MLA_DTYPE_F32, 2, ropeShape, NULL},
      {&scale, MLA_DTYPE_F32, 0, NULL, NULL},
      {output, MLA_DTYPE_F32, 3, vShape, NULL},
  };
  if (mlaKernelRun(kernel, arguments, sizeof arguments / sizeof *arguments,
                   NULL, &error)) {
    fprintf(stderr, "%s\n", error);
    mlaFreeString(error);
    return 1;
  }
  mlaKernelDestroy(kernel);

  // The same by hand.
  float worst = 0;
  for (int b = 0; b < 2; ++b)
    for (int t = offsets[b]; t < offsets[b + 1]; ++t)
      for (int h = 0; h < heads; ++h) {
        int first = t - window + 1 > offsets[b] ? t - window + 1 : offsets[b];
        float expected[value] = {0}, sum = 0;
        for (int j = first; j <= t; ++j) {
          float p = weight(t, j, h, scale);
          sum += p;
          for (int i = 0; i < value; ++i)
            expected[i] += p * v[j][h][i];
        }
        for (int i = 0; i < value; ++i)
          worst = fmaxf(worst, fabsf(output[t][h][i] - expected[i] / sum));
      }
  printf("MLA %s: largest difference to a plain loop %.1e\n", mlaVersion(),
         worst);
  return worst < 1e-5f ? 0 : 1;
}
