//===- StripRewriter.h - Tiles of queries as strips of lanes -*- C++ -*-===//
//
// Part of the MLA project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Level 1 has tiles [queries, columns]. A CPU wants a lane per query, so that
// nothing is reduced across lanes, and few queries at a time, so that their
// scores stay in the first-level cache while the packed keys and values of the
// tile are used again for the next few:
//
//     level 1                               here
//     tile [queries, columns]               tile [strips, columns, strip]
//     for key tile {                        for key tile {
//       load K, V                             pack K, V into f32 rows
//       ops on [queries, columns]             for strip {
//     }                                         ops on [columns, strip]
//                                           } }
//
// A layout change is all this is: each linalg op keeps its scalar body, only
// its indexing maps change. So ops that a user added to level 1 come along.
// Where a value enters (the queries) it is packed, where one leaves (the
// output) it is unpacked.
//
//===----------------------------------------------------------------------===//

#ifndef MLA_LIB_CONVERSION_TILETOCPU_STRIPREWRITER_H
#define MLA_LIB_CONVERSION_TILETOCPU_STRIPREWRITER_H

#include "QueryDims.h"

#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"

namespace mlir::mla {

/// Rewrites the body of one loop over work items. StripTiles.cpp makes tiles
/// and strips of them, StripOps.cpp rewrites ops, StripLoops.cpp loops.
class StripRewriter {
public:
  StripRewriter(scf::ForallOp forall, const QueryDims &dims, int64_t strip)
      : forall(forall), dims(dims), strip(strip),
        b(forall.getLoc(), forall.getContext()) {}

  void run();

private:
  /// One strip of queries: its number, and what stands for a tile of level 1
  /// while it is being worked on.
  struct Strip {
    explicit Strip(Value number) : number(number) {}

    Value number;
    DenseMap<Value, Value> values;
  };

  Value buildActiveStrips();
  RankedTensorType getPartType(Value value);
  Value sliceStrip(Value packed, Value number);
  Value insertStrip(Value part, Value packed, Value number);
  Value sliceRows(Value rows, Value number);
  Value buildStripLoop(Value init,
                       function_ref<Value(Value number, Value carried)> body);
  Value buildTile(Value value,
                  function_ref<Value(Strip &strip, Value slice)> body);
  Value getTile(Value value);
  Value pack(Value value);
  Value packKeys(Value value);
  Value unpack(Value value);
  Value lookup(Value value, Strip &strip);

  void rewriteOp(Operation *op, Strip &strip);
  void rewriteSlice(tensor::ExtractSliceOp op, Strip &strip);
  void rewriteLinalg(linalg::LinalgOp op, Strip &strip,
                     Value destination = Value());
  Value getDestination(linalg::LinalgOp op, OpOperand *init, Strip &strip);
  Value buildMayBeVisible(ArrayRef<Operation *> ops, Value first, Value last);
  SmallVector<Value>
  buildIf(Value condition, ValueRange carried,
          function_ref<SmallVector<Value>(ValueRange carried)> body);
  SmallVector<Value> buildStrip(scf::ForOp loop, ArrayRef<Operation *> ops,
                                ArrayRef<unsigned> numbers, Value number,
                                ValueRange carried);
  SmallVector<Value> buildStrips(scf::ForOp loop, ArrayRef<Operation *> ops,
                                 ArrayRef<unsigned> numbers,
                                 ValueRange carried);
  void rewriteKeyLoop(scf::ForOp loop);
  void rewriteOuter(Operation *op);

  scf::ForallOp forall;
  const QueryDims &dims;
  int64_t strip;
  ImplicitLocOpBuilder b;
  /// Strips that hold a query anybody asks for.
  Value activeStrips;
  /// Where operands that all strips share are packed.
  Operation *packPoint = nullptr;
  /// Tiles [strips, columns, strip], by what they stand for.
  DenseMap<Value, Value> tiles;
};

} // namespace mlir::mla

#endif // MLA_LIB_CONVERSION_TILETOCPU_STRIPREWRITER_H
