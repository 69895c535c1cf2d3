//===- TileBuilder.h - What level 1 is written with -------------*- C++ -*-===//
//
// Part of the MLA project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Three layers, each a file: Item.cpp computes what a work item is from the
// offsets, KeyLoops.cpp turns the mask's key ranges into loops, Softmax.cpp
// writes one step of online softmax. MLAToTile.cpp puts them together.
//
//===----------------------------------------------------------------------===//

#ifndef MLA_LIB_CONVERSION_MLATOTILE_TILEBUILDER_H
#define MLA_LIB_CONVERSION_MLATOTILE_TILEBUILDER_H

#include "mla/Dialect/MLA/IR/MLA.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"

namespace mlir::mla {

/// The operands of one mla.prefill, all of them tensors, and its schedule.
struct PrefillTensors {
  MaskAttrInterface mask;
  SmallVector<Value> maskParameters;
  Value q, inputRowOffsets, k, v, bufferRowOffsets, cacheOffsets;
  /// Paged rope; or kRope.
  Value kvBlocks, lookupTable, layer, kRope;
  Value cacheLengths, scale, output, lse;
  ScheduleAttr schedule;

  int64_t dimOf(Value tensor, unsigned dim) const {
    return cast<ShapedType>(tensor.getType()).getDimSize(dim);
  }
  int64_t getDq() const { return dimOf(q, 2); }
  int64_t getDn() const { return dimOf(k, 2); }
  int64_t getDr() const { return getDq() - getDn(); }
  int64_t getDv() const { return dimOf(v, 2); }
};

/// One work item: `count` queries of one head of one sequence and all its keys.
/// Index values. Keys are counted from the sequence's first buffer row.
struct Item {
  Value head, sequence;
  Value queryRow, count;     // rows [queryRow, queryRow + count) of q
  Value firstPosition;       // position of the first query
  Value keyRow, keyPosition; // buffer row and position of key 0
  Value keys;                // number of keys
  SmallVector<Value> maskParameters;
};

/// What the loops over keys carry: accumulator [queries, Dv], row maximum and
/// row sum [queries].
struct Carried {
  Value acc, max, sum;
};

/// Keys [begin, end), counted from the sequence's first buffer row. An open
/// segment is a whole number of key tiles.
struct Segment {
  Value begin, end;
  bool guarded;
};

/// `value[indices]` as an index, whatever its integer type and sign.
Value extractIndex(ImplicitLocOpBuilder &b, Value tensor, ValueRange indices);

/// An upper bound on the number of query tiles, known from shapes alone.
Value buildItemBound(ImplicitLocOpBuilder &b, const PrefillTensors &op);
Item buildItem(ImplicitLocOpBuilder &b, const PrefillTensors &op, Value number,
               Value head);

/// Segments for `item`, in ascending order, disjoint, inside its keys.
SmallVector<Segment> buildSegments(ImplicitLocOpBuilder &b,
                                   const PrefillTensors &op, const Item &item);

/// Nothing absorbed yet: accumulator and sum 0, maximum -inf.
Carried buildEmpty(ImplicitLocOpBuilder &b, const PrefillTensors &op);
/// Absorbs scores [queries, keys] and values [keys, Dv]. `factor` is
/// scale * log2(e).
Carried buildAbsorb(ImplicitLocOpBuilder &b, const PrefillTensors &op,
                    Value scores, Value values, Value factor,
                    const Carried &carried);
/// Output tile [queries, Dv] of `output`'s element type.
Value buildOutput(ImplicitLocOpBuilder &b, const PrefillTensors &op,
                  const Carried &carried);
/// Natural-log normaliser [queries].
Value buildLse(ImplicitLocOpBuilder &b, const PrefillTensors &op,
               const Carried &carried);

/// Elementwise linalg.generic over `shape`. An input has the result's rank, or
/// one less and runs along the rows.
Value buildMap(ImplicitLocOpBuilder &b, ArrayRef<int64_t> shape, Type element,
               ValueRange inputs,
               function_ref<Value(ImplicitLocOpBuilder &, ValueRange)> body);

} // namespace mlir::mla

#endif // MLA_LIB_CONVERSION_MLATOTILE_TILEBUILDER_H
