//===- Loads.h - How tiles of an item reach shared memory -------*- C++ -*-===//
//
// Part of the MLA project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef MLA_LIB_DIALECT_WARPGROUP_TRANSFORMS_LOADS_H
#define MLA_LIB_DIALECT_WARPGROUP_TRANSFORMS_LOADS_H

#include "mla/Dialect/Warpgroup/IR/Warpgroup.h"

#include "mlir/Dialect/SCF/IR/SCF.h"

namespace mlir::mla::wg {

/// A wg.load or wg.load_pages, and the tensor map that its copies go by.
struct Load {
  Operation *op;
  TileType tile;
  /// Outside the loop over items: the operand, and where the rows start in it.
  Value operand;
  SmallVector<OpFoldResult> offsets;
  TensorMapType mapType; // null: gathered without a map
  bool needsZeros = false;

  Value getCount() const;
};

/// Loads that one product reads together.
struct LoadGroup {
  SmallVector<Load> loads;
  /// The last op of the group's block that needs its tiles, transitively.
  Operation *lastUser = nullptr;

  SmallVector<Type> getTypes() const;
};

/// The groups of one block, in the order of their first loads; failure if a
/// load is nothing that a producer can do.
FailureOr<SmallVector<LoadGroup>> findLoadGroups(Block &block,
                                                 scf::ForallOp items);

} // namespace mlir::mla::wg

#endif // MLA_LIB_DIALECT_WARPGROUP_TRANSFORMS_LOADS_H
