//===- MLA.h - The mla dialect ----------------------------------*- C++ -*-===//
//
// Part of the MLA project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef MLA_DIALECT_MLA_IR_MLA_H
#define MLA_DIALECT_MLA_IR_MLA_H

#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/Interfaces/DestinationStyleOpInterface.h"
#include "mlir/Interfaces/InferTypeOpInterface.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "mlir/Interfaces/TilingInterface.h"

namespace mlir::mla {

/// The queries that a mask is asked about and the keys there are, as positions
/// in the sequence: queries [firstQuery, lastQuery], keys [firstKey, endKey).
struct MaskTile {
  Value firstQuery, lastQuery;
  Value firstKey, endKey;
};

/// Keys at positions [begin, end). Guarded: the predicate decides for each
/// query and key. Open: every query of the tile sees every key of the range.
struct KeyRange {
  Value begin, end;
  bool guarded;
};

/// A signless, unsigned or index integer as an index value.
Value castToIndex(OpBuilder &builder, Location loc, Value integer);

} // namespace mlir::mla

#include "mla/Dialect/MLA/IR/MLADialect.h.inc"
#include "mla/Dialect/MLA/IR/MLAEnums.h.inc"
#include "mla/Dialect/MLA/IR/MLAInterfaces.h.inc"

#define GET_ATTRDEF_CLASSES
#include "mla/Dialect/MLA/IR/MLAAttrs.h.inc"

#define GET_OP_CLASSES
#include "mla/Dialect/MLA/IR/MLAOps.h.inc"

#endif // MLA_DIALECT_MLA_IR_MLA_H
