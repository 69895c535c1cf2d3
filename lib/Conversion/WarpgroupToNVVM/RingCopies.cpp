//===- RingCopies.cpp - Copies by one warp ----------------------*- C++ -*-===//
//
// Part of the MLA project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Rings.h"
#include "Thread.h"

#include "mla/Dialect/MLA/IR/MLA.h"
#include "mla/Dialect/Warpgroup/IR/Layouts.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace mlir::mla;
using namespace mlir::mla::wg;

/// Rows whose chunks a lane asks for before it waits for none: enough to hide
/// the way to memory, few enough for the producer's registers.
static constexpr int64_t kRowsInFlight = 2;

/// One box. The copy engine counts coordinates from the innermost.
static void buildBox(ImplicitLocOpBuilder &b, Value to, Value map,
                     ArrayRef<Value> coordinates, Value barrier) {
  SmallVector<Value> inner(llvm::reverse(coordinates));
  NVVM::CpAsyncBulkTensorGlobalToSharedClusterOp::create(
      b, to, map, inner, barrier, /*im2colOffsets=*/ValueRange(),
      /*multicastMask=*/Value(), /*l2CacheHint=*/Value(),
      NVVM::TMALoadMode::TILE, /*isCTAOnly=*/true, /*group=*/nullptr,
      /*predicate=*/Value());
}

void wg::lowerCopyBox(CopyBoxOp op, const KernelStart &kernel, Value map,
                      const RingPlace &ring) {
  ImplicitLocOpBuilder b(op.getLoc(), op);
  auto branch = scf::IfOp::create(b, buildLeader(b));
  b.setInsertionPointToStart(branch.thenBlock());
  SharedTile tile = getShared(
      cast<TileType>(op.getRing().getType().getElements()[op.getElement()]));
  Value to = buildElement(b, kernel, ring, op.getUse(), op.getElement(),
                          tile.getColumnOffset(op.getColumn()));
  buildBox(b, to, map, llvm::to_vector(op.getCoordinates()),
           buildFull(b, kernel, ring, op.getUse()));
}

namespace {
/// Rows of pages into a tile, one way or another.
class PageCopy {
public:
  PageCopy(CopyPagesOp op, const KernelStart &kernel, Value map,
           const RingPlace &ring)
      : op(op), kernel(kernel), map(map), ring(ring), b(op.getLoc(), op),
        tile(getShared(cast<TileType>(
            op.getRing().getType().getElements()[op.getElement()]))),
        cache(b, op.getCache()) {}

  void run();

private:
  /// The page of a position, and the position in it.
  std::pair<Value, Value> find(Value position, Value pageSize);
  void findPages();
  void copyRuns();
  void gather();
  Value element(int64_t bytes) {
    return buildElement(b, kernel, ring, op.getUse(), op.getElement(), bytes);
  }
  Value narrow(Value value) {
    return arith::IndexCastOp::create(b, b.getI32Type(), value);
  }

  CopyPagesOp op;
  const KernelStart &kernel;
  Value map;
  const RingPlace &ring;
  ImplicitLocOpBuilder b;
  SharedTile tile;
  Source cache;
  /// Of each run: its page, and its first row there.
  SmallVector<std::pair<Value, Value>> pages;
};
} // namespace

std::pair<Value, Value> PageCopy::find(Value position, Value pageSize) {
  Value entry = memref::LoadOp::create(
      b, op.getTable(),
      ValueRange{op.getSequence(),
                 arith::DivUIOp::create(b, position, pageSize)});
  return {castToIndex(b, b.getLoc(), entry),
          arith::RemUIOp::create(b, position, pageSize)};
}

/// Looks up the pages of all runs, which takes a way to memory and back: before
/// the wait for the slot, not after it. A run past the count has the page of
/// the last that is not: what the table holds further on may be anything.
void PageCopy::findPages() {
  int64_t rows = op.getMap().getType().getBox()[2];
  OpBuilder::InsertionGuard guard(b);
  for (auto acquire : op->getBlock()->getOps<AcquireOp>())
    if (acquire.getRing() == op.getRing() && acquire.getUse() == op.getUse())
      b.setInsertionPoint(acquire);
  Value last = arith::SubIOp::create(b, op.getCount(), index(b, 1));
  for (int64_t first = 0; first < tile.getRows(); first += rows) {
    Value row = arith::MinSIOp::create(b, index(b, first), last);
    auto [page, inPage] = find(arith::AddIOp::create(b, op.getPosition(), row),
                               index(b, op.getCache().getType().getDimSize(3)));
    pages.emplace_back(narrow(page), narrow(inPage));
  }
}

/// A box for each run of rows; runs past the count are left alone.
void PageCopy::copyRuns() {
  TensorMapType type = op.getMap().getType();
  int64_t rows = type.getBox()[2], columns = type.getBox()[3];
  // Boxes arrive whole, also where the tile's last panel is not.
  int64_t bytes = rows * llvm::alignTo(tile.getColumns(), columns) *
                  tile.getElementBits() / 8;
  int64_t lineBytes = getWidth(tile.getSwizzle());
  auto leader = scf::IfOp::create(b, buildLeader(b));
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(leader.thenBlock());
  Value full = buildFull(b, kernel, ring, op.getUse());
  Value layer = narrow(op.getLayer());
  for (auto [number, place] : llvm::enumerate(pages)) {
    int64_t first = number * rows;
    OpBuilder::InsertionGuard inner(b);
    if (first) {
      Value exists = arith::CmpIOp::create(b, arith::CmpIPredicate::sgt,
                                           op.getCount(), index(b, first));
      b.setInsertionPointToStart(scf::IfOp::create(b, exists).thenBlock());
    }
    NVVM::MBarrierExpectTxOp::create(b, full, buildConstant(b, bytes));
    for (int64_t column = 0; column < tile.getColumns(); column += columns)
      buildBox(b, element(tile.getColumnOffset(column) + first * lineBytes),
               map,
               {place.first, layer, place.second,
                buildConstant(b, op.getColumn() + column)},
               full);
  }
}

/// Chunk by chunk: the lanes of a warp side by side along a row, then down.
void PageCopy::gather() {
  int64_t perChunk = bytesPerChunk * 8 / tile.getElementBits();
  int64_t perRow = tile.getColumns() / perChunk;
  Value total = arith::MulIOp::create(b, op.getCount(), index(b, perRow));
  Value lane = arith::IndexCastOp::create(b, b.getIndexType(), kernel.lane);
  int64_t stride = threadsPerWarp * kRowsInFlight;
  Value pageSize = cache.toValue(cache.sizes[3]);
  auto loop = scf::ForOp::create(b, lane, total, index(b, stride));
  {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(loop.getBody());
    // All look-ups first, past the last row that of the last one: no branch
    // between them, so that they are on their way together.
    Value last = arith::SubIOp::create(b, total, index(b, 1));
    SmallVector<std::pair<Value, Value>> copies; // to, from
    for (int64_t i = 0; i < kRowsInFlight; ++i) {
      Value number = arith::MinUIOp::create(
          b, add(b, loop.getInductionVar(), i * threadsPerWarp), last);
      Value row = arith::DivUIOp::create(b, number, index(b, perRow));
      Value chunk = arith::RemUIOp::create(b, number, index(b, perRow));
      auto [page, inPage] =
          find(arith::AddIOp::create(b, op.getPosition(), row), pageSize);
      Value zero = index(b, 0);
      Value column = arith::MulIOp::create(b, chunk, index(b, perChunk));
      Value from = cache.getPointer({page, zero, op.getLayer(), inPage, zero,
                                     add(b, column, op.getColumn())});
      Value offset = buildChunkOffset(b, tile, row, chunk);
      Value to = LLVM::GEPOp::create(b, element(0).getType(), b.getI8Type(),
                                     element(0), LLVM::GEPArg(narrow(offset)));
      copies.emplace_back(to, from);
    }
    for (auto [i, copy] : llvm::enumerate(copies)) {
      OpBuilder::InsertionGuard inner(b);
      if (i) {
        Value number = add(b, loop.getInductionVar(), i * threadsPerWarp);
        Value exists =
            arith::CmpIOp::create(b, arith::CmpIPredicate::ule, number, last);
        b.setInsertionPointToStart(scf::IfOp::create(b, exists).thenBlock());
      }
      NVVM::CpAsyncOp::create(b, copy.first, copy.second, bytesPerChunk,
                              NVVM::LoadCacheModifierKind::CG,
                              /*cpSize=*/Value());
    }
  }
  NVVM::CpAsyncCommitGroupOp::create(b);
  NVVM::CpAsyncWaitGroupOp::create(b, 0);
  // Each lane shows its own chunks to the matrix unit, then the warp's first
  // arrives for all.
  NVVM::FenceProxyOp::create(
      b, NVVM::ProxyKind::async_shared,
      NVVM::SharedSpaceAttr::get(b.getContext(),
                                 NVVM::SharedSpace::shared_cta));
  NVVM::SyncWarpOp::create(b, buildConstant(b, -1));
}

void PageCopy::run() {
  if (!map)
    return gather();
  findPages();
  int64_t rows = op.getMap().getType().getBox()[2];
  Value rest = arith::RemUIOp::create(b, op.getPosition(), index(b, rows));
  Value isAligned =
      arith::CmpIOp::create(b, arith::CmpIPredicate::eq, rest, index(b, 0));
  auto branch = scf::IfOp::create(b, isAligned, /*withElseRegion=*/true);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(branch.thenBlock());
  copyRuns();
  b.setInsertionPointToStart(branch.elseBlock());
  gather();
}

void wg::lowerCopyPages(CopyPagesOp op, const KernelStart &kernel, Value map,
                        const RingPlace &ring) {
  PageCopy(op, kernel, map, ring).run();
}
