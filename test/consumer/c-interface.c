/* Compiles a module through the C API and runs it on three tokens: with equal
 * scores, causal attention of row i is the mean of the values 0 to i. */
#include "mla-c/Compiler.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { tokens = 3, heads = 2, nope = 4, rope = 2 };

static char text[65536];

int main(int argc, char **argv) {
  FILE *file = argc == 2 ? fopen(argv[1], "r") : NULL;
  if (!file) {
    fprintf(stderr, "usage: c-interface prefill.mlir\n");
    return 2;
  }
  size_t length = fread(text, 1, sizeof text, file);
  fclose(file);

  char *error = NULL;
  MlaKernel *kernel = mlaCompile(text, length, NULL, &error);
  if (!kernel) {
    fprintf(stderr, "compile: %s\n", error);
    return 1;
  }

  static float q[tokens * heads * (nope + rope)], k[tokens * heads * nope],
      v[tokens * heads * nope], kRope[tokens * rope],
      output[tokens * heads * nope];
  int32_t offsets[] = {0, tokens};
  float scale = 0.5f;
  for (int t = 0; t < tokens; ++t)
    for (int i = 0; i < heads * nope; ++i)
      v[t * heads * nope + i] = (float)t;

  int64_t wide[] = {tokens, heads, nope + rope},
          wideStrides[] = {heads * (nope + rope), nope + rope, 1};
  int64_t narrow[] = {tokens, heads, nope},
          narrowStrides[] = {heads * nope, nope, 1};
  int64_t pair[] = {2}, unit[] = {1};
  int64_t ropeShape[] = {tokens, rope}, ropeStrides[] = {rope, 1};
  MlaTensor arguments[] = {
      {q, MLA_DTYPE_F32, 3, wide, wideStrides},
      {offsets, MLA_DTYPE_I32, 1, pair, unit},
      {k, MLA_DTYPE_F32, 3, narrow, narrowStrides},
      {v, MLA_DTYPE_F32, 3, narrow, narrowStrides},
      {offsets, MLA_DTYPE_I32, 1, pair, unit},
      {kRope, MLA_DTYPE_F32, 2, ropeShape, ropeStrides},
      {&scale, MLA_DTYPE_F32, 0, NULL, NULL},
      {output, MLA_DTYPE_F32, 3, narrow, narrowStrides},
  };
  if (mlaKernelRun(kernel, arguments, sizeof arguments / sizeof *arguments,
                   NULL, &error)) {
    fprintf(stderr, "run: %s\n", error);
    return 1;
  }
  mlaKernelDestroy(kernel);

  for (int t = 0; t < tokens; ++t)
    for (int i = 0; i < heads * nope; ++i) {
      float got = output[t * heads * nope + i], expected = 0.5f * (float)t;
      if (!(fabsf(got - expected) < 1e-5f)) {
        fprintf(stderr, "row %d: expected %g, got %g\n", t, expected, got);
        return 1;
      }
    }
  printf("MLA %s, LLVM %s: ok\n", mlaVersion(), mlaLLVMVersion());
  return 0;
}
