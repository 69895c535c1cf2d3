//===- Dialects.h - C API: the mla dialect and its passes ---------*- C -*-===//
//
// Part of the MLA project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// For programs that build or transform MLIR through MLIR's own C API. For
// compiling and running a module's text, mla-c/Compiler.h is enough.
//
//===----------------------------------------------------------------------===//

#ifndef MLA_C_DIALECTS_H
#define MLA_C_DIALECTS_H

#include "mlir-c/IR.h"

#ifdef __cplusplus
extern "C" {
#endif

/// The handle of the dialect `mla`.
MLIR_DECLARE_CAPI_DIALECT_REGISTRATION(MLA, mla);

/// Adds the dialect and its interface implementations (bufferization) to a
/// registry. The handle alone adds the dialect.
MLIR_CAPI_EXPORTED void mlaRegisterAllDialects(MlirDialectRegistry registry);

/// Registers the passes and the pipeline `mla-lower` for textual pass
/// pipelines. Safe to call again.
MLIR_CAPI_EXPORTED void mlaRegisterAllPasses(void);

#ifdef __cplusplus
}
#endif

#endif // MLA_C_DIALECTS_H
