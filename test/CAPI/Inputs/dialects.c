//===- dialects.c - The mla dialect through MLIR's own C API ------*- C -*-===//
//
// Part of the MLA project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "mla-c/Dialects.h"

#include "mlir-c/IR.h"
#include "mlir-c/Pass.h"
#include "mlir-c/RegisterEverything.h"

#include <stdio.h>
#include <string.h>

static const char text[] =
    "func.func @prefill(%q: tensor<?x2x6xf32>, %offsets: tensor<?xi32>,\n"
    "    %k: tensor<?x2x4xf32>, %v: tensor<?x2x4xf32>, %rope: "
    "tensor<?x2xf32>,\n"
    "    %scale: f32, %output: tensor<?x2x4xf32>) -> tensor<?x2x4xf32> {\n"
    "  %o = mla.prefill #mla.causal queries(%q, %offsets)\n"
    "      keys(%k, %v, %offsets) rope(%rope) scale(%scale) outs(%output)\n"
    "      : (tensor<?x2x6xf32>, tensor<?xi32>, tensor<?x2x4xf32>,\n"
    "         tensor<?x2x4xf32>, tensor<?xi32>, tensor<?x2xf32>, f32,\n"
    "         tensor<?x2x4xf32>) -> tensor<?x2x4xf32>\n"
    "  return %o : tensor<?x2x4xf32>\n"
    "}\n";

static void print(MlirStringRef string, void *data) {
  (void)data;
  fwrite(string.data, 1, string.length, stdout);
}

int main(void) {
  MlirDialectRegistry registry = mlirDialectRegistryCreate();
  mlirRegisterAllDialects(registry);
  mlaRegisterAllDialects(registry);
  MlirContext context =
      mlirContextCreateWithRegistry(registry, /*threadingEnabled=*/false);
  mlirDialectRegistryDestroy(registry);

  MlirDialectHandle handle = mlirGetDialectHandle__mla__();
  MlirStringRef name = mlirDialectHandleGetNamespace(handle);
  printf("dialect %.*s\n", (int)name.length, name.data);
  mlirDialectHandleRegisterDialect(handle, context);
  MlirDialect dialect = mlirDialectHandleLoadDialect(handle, context);
  printf("loaded: %d\n", !mlirDialectIsNull(dialect));

  MlirModule module =
      mlirModuleCreateParse(context, mlirStringRefCreateFromCString(text));
  if (mlirModuleIsNull(module))
    return 1;
  mlirOperationPrint(mlirModuleGetOperation(module), print, NULL);

  mlaRegisterAllPasses();
  mlaRegisterAllPasses();
  MlirPassManager manager = mlirPassManagerCreate(context);
  MlirLogicalResult parsed = mlirParsePassPipeline(
      mlirPassManagerGetAsOpPassManager(manager),
      mlirStringRefCreateFromCString(
          "builtin.module(mla-lower{target=cpu-generic stop-after=tile})"),
      print, NULL);
  printf("pipeline: %d\n", mlirLogicalResultIsSuccess(parsed));
  MlirLogicalResult run =
      mlirPassManagerRunOnOp(manager, mlirModuleGetOperation(module));
  printf("run: %d\n", mlirLogicalResultIsSuccess(run));
  mlirOperationPrint(mlirModuleGetOperation(module), print, NULL);

  mlirPassManagerDestroy(manager);
  mlirModuleDestroy(module);
  mlirContextDestroy(context);
  return 0;
}
