//===- Dialects.cpp - The C API of the mla dialect --------------*- C++ -*-===//
//
// Part of the MLA project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "mla-c/Dialects.h"

#include "mla/Dialect/MLA/IR/MLA.h"
#include "mla/InitAll.h"

#include "mlir/CAPI/IR.h"
#include "mlir/CAPI/Registration.h"

MLIR_DEFINE_CAPI_DIALECT_REGISTRATION(MLA, mla, mlir::mla::MLADialect)

void mlaRegisterAllDialects(MlirDialectRegistry registry) {
  mlir::mla::registerAllDialects(*unwrap(registry));
}

void mlaRegisterAllPasses() { mlir::mla::registerAllPasses(); }
