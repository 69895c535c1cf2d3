//===- object.c - Calls a kernel that was compiled ahead of time --*- C -*-===//
//
// Part of the MLA project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include <stdint.h>
#include <stdio.h>

/// MLIR's memref descriptor of rank 1.
typedef struct {
  float *allocated, *aligned;
  int64_t offset, sizes[1], strides[1];
} Descriptor;

void _mlir_ciface_scale(Descriptor *data, float factor);

int main(void) {
  float numbers[] = {1, 2, 3};
  Descriptor data = {numbers, numbers, 0, {3}, {1}};
  _mlir_ciface_scale(&data, 2.5f);
  printf("%g %g %g\n", numbers[0], numbers[1], numbers[2]);
  return 0;
}
