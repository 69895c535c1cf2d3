//===- compiler.c - Compiling and asking through the C API --------*- C -*-===//
//
// Part of the MLA project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "common.h"

static void printArguments(const char *text) {
  MlaKernel *kernel = compile(text);
  for (size_t i = 0; i < mlaKernelArgumentCount(kernel); ++i) {
    MlaArgument argument = mlaKernelArgument(kernel, i);
    printf("%s: type %d rank %d written %d shape", argument.name,
           argument.dtype, argument.rank, argument.written);
    for (int j = 0; j < argument.rank; ++j)
      printf(" %lld", (long long)argument.shape[j]);
    printf("\n");
  }
  mlaKernelDestroy(kernel);
}

static void printError(const char *what, const char *text,
                       const MlaCompileOptions *options) {
  char *error = NULL;
  MlaKernel *kernel =
      mlaCompile(text, text ? strlen(text) : 0, options, &error);
  printf("%s: %s\n", what, kernel ? "compiled" : error);
  mlaFreeString(error);
  mlaKernelDestroy(kernel);
  // A caller who does not want the message need not take it.
  mlaKernelDestroy(mlaCompile(text, text ? strlen(text) : 0, options, NULL));
}

int main(void) {
  printf("api %d\n", mlaApiVersion() == MLA_C_API_VERSION);
  printf("version %s, LLVM %s\n", mlaVersion(), mlaLLVMVersion());
  mlaFreeString(NULL);
  mlaKernelDestroy(NULL);

  printArguments(addText);
  printArguments("func.func @f(%s: bf16, %i: index, %u: ui32,\n"
                 "    %m: memref<4x?xf16, strided<[?, 1], offset: ?>>,\n"
                 "    %e: tensor<f64>, %o: memref<2xi64>) {\n"
                 "  %c = arith.constant 0 : index\n"
                 "  %v = arith.constant 1 : i64\n"
                 "  memref.store %v, %o[%c] : memref<2xi64>\n"
                 "  return\n"
                 "}\n");

  printError("null text", NULL, NULL);
  printError("syntax", "func.func @f(%a: f32) {\n  oops\n}\n", NULL);
  printError("verifier", "func.func @f() -> f32 { return }", NULL);
  printError("empty", "", NULL);
  printError("private", "func.func private @f() { return }", NULL);
  printError("declared", "func.func private @f()", NULL);
  const char *two = "func.func @f() { return } func.func @g() { return }";
  printError("two", two, NULL);
  MlaCompileOptions options = {sizeof(options), NULL, "h", "two.mlir"};
  printError("no such entry", two, &options);
  options.entry = "g";
  printError("entry", two, &options);
  options.entry = NULL;
  printError("file name", "oops", &options);
  options.target = "z80";
  printError("target", two, &options);
  options.size = 0;
  printError("size", two, &options);
  // From a time when there was no field but the target.
  options.size = offsetof(MlaCompileOptions, entry);
  options.target = "cpu";
  options.entry = "unread";
  printError("old options", addText, &options);

  printError("pointer", "func.func @f(%p: !llvm.ptr) { return }", NULL);
  printError("i1", "func.func @f(%p: tensor<2xi1>) { return }", NULL);
  printError("unranked", "func.func @f(%p: tensor<*xf32>) { return }", NULL);
  printError("space", "func.func @f(%p: memref<2xf32, 1>) { return }", NULL);
  printError("layout",
             "func.func @f(%p: memref<8xf32, affine_map<(i) -> (i mod 2)>>) {\n"
             "  return\n"
             "}\n",
             NULL);
  printError("result", "func.func @f(%x: f32) -> f32 { return %x : f32 }",
             NULL);

  char *error = NULL;
  char *text = mlaLowerText(addText, strlen(addText), NULL, "tile", &error);
  printf("lowered: %d\n", text && strstr(text, "linalg.generic"));
  mlaFreeString(text);
  text = mlaLowerText(addText, strlen(addText), "cpu", NULL, &error);
  printf("lowered: %d\n", text && strstr(text, "llvm.func"));
  mlaFreeString(text);
  text = mlaLowerText(addText, strlen(addText), "cpu", "soup", &error);
  printf("stage: %s\n", text ? text : error);
  mlaFreeString(error);
  return 0;
}
