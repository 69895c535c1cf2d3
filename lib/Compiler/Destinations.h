//===- Destinations.h - Which arguments a function writes -------*- C++ -*-===//
//
// Part of the MLA project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef MLA_LIB_COMPILER_DESTINATIONS_H
#define MLA_LIB_COMPILER_DESTINATIONS_H

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace mlir::mla {

/// Whether the function may write the memory of `argument`, a tensor or memref:
/// true if the tensor reaches a destination, or the memref an op that writes it
/// or that is not understood.
bool mayBeWritten(BlockArgument argument);

/// Whether result `index` is an argument's memory after bufferisation:
/// following destinations upwards from the returned value ends at an argument.
bool livesInArgument(func::FuncOp function, unsigned index);

} // namespace mlir::mla

#endif // MLA_LIB_COMPILER_DESTINATIONS_H
