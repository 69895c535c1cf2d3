//===- QueryDims.h - Which dimension of a tile counts queries -*- C++ -*-===//
//
// Part of the MLA project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef MLA_LIB_CONVERSION_TILETOCPU_QUERYDIMS_H
#define MLA_LIB_CONVERSION_TILETOCPU_QUERYDIMS_H

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

namespace mlir::mla {

/// For the body of one loop over work items: which dimension of each tensor is
/// the query dimension, found by following the carried tiles of the key loops
/// through the indexing maps of linalg ops.
class QueryDims {
public:
  /// Fails, with the reason as a remark-like string, where there is no key loop
  /// or the dimension is not the same everywhere.
  static FailureOr<QueryDims> compute(scf::ForallOp loop, std::string &reason);

  /// The loops over keys: those that carry tensors. In program order.
  ArrayRef<scf::ForOp> getKeyLoops() const { return keyLoops; }
  /// Static number of queries of a tile.
  int64_t getQueries() const { return queries; }
  /// The query dimension of a tensor, or none.
  std::optional<int64_t> lookup(Value value) const {
    auto found = dims.find(value);
    return found == dims.end() ? std::nullopt : std::optional(found->second);
  }
  /// The query loop of a linalg op, or none.
  std::optional<unsigned> lookupLoop(linalg::LinalgOp op) const;
  bool isTagged(Value value) const { return dims.contains(value); }
  /// An op that computes on tiles of queries.
  bool isTagged(Operation *op) const {
    return llvm::any_of(op->getResults(),
                        [&](Value value) { return isTagged(value); });
  }

private:
  LogicalResult tag(Value value, int64_t dim);
  LogicalResult propagate(Operation *op);
  /// Why some op keeps the tiles from being cut into strips; empty if none.
  std::string findObstacle(scf::ForallOp forall) const;

  SmallVector<scf::ForOp> keyLoops;
  int64_t queries = 0;
  DenseMap<Value, int64_t> dims;
  bool changed = false;
};

/// An extract_slice of a tile that leaves dimension `dim` whole.
bool keepsDimension(tensor::ExtractSliceOp op, int64_t dim);

} // namespace mlir::mla

#endif // MLA_LIB_CONVERSION_TILETOCPU_QUERYDIMS_H
