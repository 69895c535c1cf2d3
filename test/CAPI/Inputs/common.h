//===- common.h - Helpers of the C API's tests --------------------*- C -*-===//
//
// Part of the MLA project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef MLA_TEST_CAPI_COMMON_H
#define MLA_TEST_CAPI_COMMON_H

#include "mla-c/Compiler.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/// out = a + alpha * b, on 3-D tensors of which one extent is dynamic.
static const char addText[] =
    "#id = affine_map<(i, j, k) -> (i, j, k)>\n"
    "func.func @add(%a: tensor<?x2x3xf32>, %b: tensor<?x2x3xf32>,\n"
    "    %alpha: f32, %out: tensor<?x2x3xf32>) -> tensor<?x2x3xf32> {\n"
    "  %r = linalg.generic {indexing_maps = [#id, #id, #id],\n"
    "      iterator_types = [\"parallel\", \"parallel\", \"parallel\"]}\n"
    "      ins(%a, %b : tensor<?x2x3xf32>, tensor<?x2x3xf32>)\n"
    "      outs(%out : tensor<?x2x3xf32>) {\n"
    "  ^bb0(%x: f32, %y: f32, %o: f32):\n"
    "    %m = arith.mulf %alpha, %y : f32\n"
    "    %s = arith.addf %x, %m : f32\n"
    "    linalg.yield %s : f32\n"
    "  } -> tensor<?x2x3xf32>\n"
    "  return %r : tensor<?x2x3xf32>\n"
    "}\n";

static inline MlaKernel *compile(const char *text) {
  char *error = NULL;
  MlaKernel *kernel = mlaCompile(text, strlen(text), NULL, &error);
  if (!kernel) {
    printf("error: %s\n", error);
    mlaFreeString(error);
    exit(1);
  }
  return kernel;
}

/// Runs and prints "ok" or the message.
static inline void run(const char *what, MlaKernel *kernel,
                       const MlaTensor *tensors, size_t count) {
  char *error = NULL;
  int status = mlaKernelRun(kernel, tensors, count, NULL, &error);
  printf("%s: %d %s\n", what, status, error ? error : "ok");
  mlaFreeString(error);
}

#endif // MLA_TEST_CAPI_COMMON_H
