//===- VerifyCache.h - What rows of pages are read from ---------*- C++ -*-===//
//
// Part of the MLA project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef MLA_LIB_DIALECT_WARPGROUP_IR_VERIFYCACHE_H
#define MLA_LIB_DIALECT_WARPGROUP_IR_VERIFYCACHE_H

#include "mla/Dialect/Warpgroup/IR/Warpgroup.h"

namespace mlir::mla::wg {

/// Whether the columns of a tile, from `column` on, can be read from a cache
/// [pages, 1, L, P, 1, Dc], in chunks of 16 bytes.
LogicalResult verifyCache(Operation *op, MemRefType cache, TileType tile,
                          int64_t column);

} // namespace mlir::mla::wg

#endif // MLA_LIB_DIALECT_WARPGROUP_IR_VERIFYCACHE_H
