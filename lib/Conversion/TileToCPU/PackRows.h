//===- PackRows.h - Operands as contiguous rows of f32 -*- C++ -*-===//
//
// Part of the MLA project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef MLA_LIB_CONVERSION_TILETOCPU_PACKROWS_H
#define MLA_LIB_CONVERSION_TILETOCPU_PACKROWS_H

#include "mlir/IR/ImplicitLocOpBuilder.h"

namespace mlir::mla {

/// A tile [rows, columns] as f32 rows of its own. Padded slices and gathers are
/// written straight into it, each row once. With `pad`, rows are kept apart by
/// more than a power of two, which a cache of few ways needs. With `limit`,
/// rows from there on need not be written.
Value packRows(ImplicitLocOpBuilder &b, Value value, bool pad,
               Value limit = Value());

} // namespace mlir::mla

#endif // MLA_LIB_CONVERSION_TILETOCPU_PACKROWS_H
