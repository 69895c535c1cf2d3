//===- Loads.cpp - How tiles of an item reach shared memory -----*- C++ -*-===//
//
// Part of the MLA project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Loads.h"

#include "mla/Dialect/Warpgroup/IR/Layouts.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/MemRef/Utils/MemRefUtils.h"
#include "llvm/ADT/MapVector.h"

#include <numeric>

using namespace mlir;
using namespace mlir::mla::wg;

Value Load::getCount() const {
  if (auto load = dyn_cast<LoadOp>(op))
    return load.getCount();
  return cast<LoadPagesOp>(op).getCount();
}

SmallVector<Type> LoadGroup::getTypes() const {
  return llvm::map_to_vector(
      loads, [](const Load &load) -> Type { return load.tile; });
}

//===----------------------------------------------------------------------===//
// Which rows have to be zero
//===----------------------------------------------------------------------===//

/// Whether the value of a map is one of its arguments only in columns before
/// `count`, and something else that does not depend on it in the others.
static bool selectsColumnsBefore(MapOp map, OpOperand &input, Value count) {
  Block &body = map.getBody().front();
  BlockArgument element = body.getArgument(input.getOperandNumber());
  Value column = body.getArguments().back();
  auto select =
      body.getTerminator()->getOperand(0).getDefiningOp<arith::SelectOp>();
  if (!select || select.getTrueValue() != element || !element.hasOneUse())
    return false;
  // One of the conjuncts is column < count.
  SmallVector<Value> conjuncts{select.getCondition()};
  while (!conjuncts.empty()) {
    Value condition = conjuncts.pop_back_val();
    if (auto both = condition.getDefiningOp<arith::AndIOp>()) {
      conjuncts.push_back(both.getLhs());
      conjuncts.push_back(both.getRhs());
      continue;
    }
    auto compare = condition.getDefiningOp<arith::CmpIOp>();
    if (compare && compare.getLhs() == column && compare.getRhs() == count &&
        compare.getPredicate() == arith::CmpIPredicate::slt)
      return true;
  }
  return false;
}

/// Whether no result of the item depends on what rows from `count` on hold.
static bool areRestRowsUnused(Value tile, Value count, scf::ForallOp items) {
  for (OpOperand &use : tile.getUses()) {
    Operation *user = use.getOwner();
    if (auto columns = dyn_cast<ColumnsOp>(user)) {
      if (!areRestRowsUnused(columns.getTile(), count, items))
        return false;
      continue;
    }
    auto product = dyn_cast<MmaOp>(user);
    if (!product)
      return false;
    if (use.getOperandNumber() < product.getA().size()) {
      // A row of a fragment depends on the same row of its operands alone, so
      // it matters only where it is stored.
      WalkResult walk = items.walk([&](StoreOp store) {
        return store.getCount() == count ? WalkResult::advance()
                                         : WalkResult::interrupt();
      });
      if (walk.wasInterrupted())
        return false;
      continue;
    }
    // A row of a transposed right operand is a column of the product.
    if (!product.getTransposed() || !product.getResult().hasOneUse())
      return false;
    auto wait = dyn_cast<WaitOp>(*product.getResult().user_begin());
    if (!wait || !wait.getFragment().hasOneUse())
      return false;
    OpOperand &scores = *wait.getFragment().use_begin();
    auto map = dyn_cast<MapOp>(scores.getOwner());
    if (!map || !selectsColumnsBefore(map, scores, count))
      return false;
  }
  return true;
}

//===----------------------------------------------------------------------===//
// Tensor maps
//===----------------------------------------------------------------------===//

static bool isOutside(Value value, scf::ForallOp items) {
  return !items->isAncestor(value.getParentBlock()->getParentOp());
}

/// Whether the items store where a load reads: a producer would copy what is
/// not there yet.
static bool isStoredTo(Value source, scf::ForallOp items) {
  Value memory = memref::skipViewLikeOps(cast<MemrefValue>(source));
  auto isSame = [&](Value dest) {
    return memref::skipViewLikeOps(cast<MemrefValue>(dest)) == memory;
  };
  return items
      .walk([&](Operation *op) {
        auto tile = dyn_cast<StoreOp>(op);
        auto element = dyn_cast<memref::StoreOp>(op);
        return (tile && isSame(tile.getDest())) ||
                       (element && isSame(element.getMemRef()))
                   ? WalkResult::interrupt()
                   : WalkResult::advance();
      })
      .wasInterrupted();
}

/// A slice of an operand: a box of rows for each panel of columns.
static FailureOr<Load> describe(LoadOp op, scf::ForallOp items) {
  auto view = op.getSource().getDefiningOp<memref::SubViewOp>();
  if (!view || !view.hasUnitStride())
    return failure();
  MemRefType source = view.getSourceType();
  TileType tile = op.getTile().getType();
  int64_t rank = source.getRank();
  llvm::SmallBitVector dropped = view.getDroppedDims();
  if (!isOutside(view.getSource(), items) ||
      isStoredTo(view.getSource(), items) || rank > 5 || dropped[rank - 1] ||
      dropped.count() + 2 != dropped.size() || tile.getShape()[0] > 256 ||
      !source.isLastDimUnitStride())
    return failure();
  // The map's last extent is one whole panel, also where the tile's last panel
  // is not: what a box brings beyond the tile's columns nobody reads.
  SmallVector<int64_t> box(rank, 1);
  for (int64_t i = 0; i < rank - 1; ++i)
    if (!dropped[i])
      box[i] = tile.getShape()[0];
  box.back() = panelColumns;
  return Load{op, tile, view.getSource(), view.getMixedOffsets(),
              TensorMapType::get(op.getContext(), box, tile.getElementType())};
}

/// Rows of pages: a box for each run of rows that no page boundary cuts.
static FailureOr<Load> describe(LoadPagesOp op, scf::ForallOp items) {
  TileType tile = op.getTile().getType();
  if (!isOutside(op.getCache(), items) || !isOutside(op.getTable(), items) ||
      isStoredTo(op.getCache(), items) || isStoredTo(op.getTable(), items))
    return failure();
  MemRefType cache = op.getCache().getType();
  int64_t rows = tile.getShape()[0];
  TensorMapType map;
  if (!cache.isDynamicDim(3)) {
    int64_t run = std::gcd(cache.getDimSize(3), rows);
    if (run % linesPerPeriod == 0 && run <= 256)
      map = TensorMapType::get(op.getContext(), {1, 1, run, panelColumns},
                               tile.getElementType());
  }
  return Load{op, tile, op.getCache(), {}, map};
}

//===----------------------------------------------------------------------===//
// Groups
//===----------------------------------------------------------------------===//

/// All ops that read a tile, through wg.columns.
static void collectUsers(Value tile, SetVector<Operation *> &users) {
  for (Operation *user : tile.getUsers()) {
    users.insert(user);
    if (auto columns = dyn_cast<ColumnsOp>(user))
      collectUsers(columns.getTile(), users);
    // A product reads its operands until somebody has waited for it.
    if (auto product = dyn_cast<MmaOp>(user))
      for (Operation *wait : product.getResult().getUsers())
        users.insert(wait);
  }
}

FailureOr<SmallVector<LoadGroup>> mla::wg::findLoadGroups(Block &block,
                                                          scf::ForallOp items) {
  SmallVector<LoadGroup> groups;
  // The group of the loads that a product in this block reads as right
  // operands.
  DenseMap<Operation *, unsigned> ofProduct;
  for (Operation &op : block) {
    FailureOr<Load> load = failure();
    if (auto rows = dyn_cast<LoadOp>(op))
      load = describe(rows, items);
    else if (auto pages = dyn_cast<LoadPagesOp>(op))
      load = describe(pages, items);
    else
      continue;
    // Who would give back the slot of a tile that nobody reads?
    Value tile = op.getResult(0);
    if (tile.use_empty())
      continue;
    if (failed(load))
      return failure();
    // A tile that is full has no other rows.
    Value count = load->getCount();
    load->needsZeros = count &&
                       getConstantIntValue(count) != load->tile.getShape()[0] &&
                       !areRestRowsUnused(tile, count, items);
    Operation *product = nullptr;
    if (tile.hasOneUse()) {
      OpOperand &use = *tile.use_begin();
      auto mma = dyn_cast<MmaOp>(use.getOwner());
      if (mma && mma->getBlock() == &block &&
          use.getOperandNumber() >= mma.getA().size())
        product = mma;
    }
    unsigned number = groups.size();
    if (product)
      number = ofProduct.try_emplace(product, number).first->second;
    if (number == groups.size())
      groups.emplace_back();
    groups[number].loads.push_back(*load);
  }
  for (LoadGroup &group : groups) {
    SetVector<Operation *> users;
    for (Load &load : group.loads)
      collectUsers(load.op->getResult(0), users);
    for (Operation *user : users) {
      Operation *here = block.findAncestorOpInBlock(*user);
      if (!here)
        return failure();
      if (!group.lastUser || group.lastUser->isBeforeInBlock(here))
        group.lastUser = here;
    }
    if (!group.lastUser)
      group.lastUser = group.loads.back().op;
  }
  return groups;
}
