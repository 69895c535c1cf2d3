//===- DelayCopies.h - Copies in the order of their use ---------*- C++ -*-===//
//
// Part of the MLA project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef MLA_LIB_DIALECT_WARPGROUP_TRANSFORMS_DELAYCOPIES_H
#define MLA_LIB_DIALECT_WARPGROUP_TRANSFORMS_DELAYCOPIES_H

#include "mla/Dialect/Warpgroup/IR/Warpgroup.h"

namespace mlir::mla::wg {

/// In the producer's loops, moves the copies into `rings` behind the others of
/// the next iteration: consumers need them that late, and their slots are free
/// that late. A producer waits for one slot at a time, so it has to wait in the
/// order in which slots become free.
void delayCopies(RolesOp roles, const DenseSet<Value> &rings);

} // namespace mlir::mla::wg

#endif // MLA_LIB_DIALECT_WARPGROUP_TRANSFORMS_DELAYCOPIES_H
