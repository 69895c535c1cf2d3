//===- Copies.cpp - Loads by all threads of a block -*- C++ -*-===//
//
// Part of the MLA project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Of a kernel whose threads all do the same: each copies its share of a tile,
// between two barriers.
//
//===----------------------------------------------------------------------===//

#include "Thread.h"

#include "mla/Conversion/KernelAttrs.h"
#include "mla/Dialect/MLA/IR/MLA.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace mlir::mla;
using namespace mlir::mla::wg;

/// Bytes that one thread copies at once.
static constexpr int64_t kChunk = bytesPerChunk;

/// Copies a tile chunk by chunk: all threads, all their loads before the first
/// store. `getPointer` tells where the chunk of a row and a column is.
static Value
buildCopy(ImplicitLocOpBuilder &b, const ThreadIds &ids, int64_t place,
          TileType type, int64_t threads, Value count,
          function_ref<Value(Value row, Value column)> getPointer) {
  SharedTile tile = getShared(type);
  auto chunkType = VectorType::get(4, b.getI32Type());
  auto sharedPointer = LLVM::LLVMPointerType::get(b.getContext(), kSharedSpace);
  int64_t perChunk = kChunk * 8 / tile.getElementBits();
  int64_t perRow = tile.getColumns() / perChunk;
  int64_t total = tile.getRows() * perRow;
  Value zero = arith::ConstantOp::create(b, b.getZeroAttr(chunkType));
  Value base = LLVM::PtrToIntOp::create(
      b, b.getI32Type(),
      LLVM::AddressOfOp::create(b, sharedPointer, kSharedName));
  Value start = arith::AddIOp::create(
      b, base, arith::ConstantIntOp::create(b, place, 32));

  // Nobody still reads what was there.
  NVVM::Barrier0Op::create(b);
  SmallVector<std::pair<Value, Value>> chunks; // value, bytes from the start
  SmallVector<Value> inside;
  for (int64_t first = 0; first < total; first += threads) {
    Value number = add(b, ids.thread, first);
    Value row = arith::DivUIOp::create(b, number, index(b, perRow));
    Value chunk = arith::RemUIOp::create(b, number, index(b, perRow));
    Value exists = count;
    if (count)
      exists = arith::CmpIOp::create(b, arith::CmpIPredicate::ult, row, count);
    if (first + threads > total) {
      Value last = arith::CmpIOp::create(b, arith::CmpIPredicate::ult, number,
                                         index(b, total));
      exists =
          exists ? arith::AndIOp::create(b, exists, last).getResult() : last;
      inside.push_back(last);
    } else {
      inside.push_back(Value());
    }
    auto load = [&](ImplicitLocOpBuilder &b) -> Value {
      Value column = arith::MulIOp::create(b, chunk, index(b, perChunk));
      return LLVM::LoadOp::create(b, chunkType, getPointer(row, column),
                                  kChunk);
    };
    Value value;
    if (exists) {
      auto branch = scf::IfOp::create(b, chunkType, exists,
                                      /*withElseRegion=*/true);
      OpBuilder::InsertionGuard guard(b);
      b.setInsertionPointToEnd(branch.elseBlock());
      scf::YieldOp::create(b, zero);
      b.setInsertionPointToEnd(branch.thenBlock());
      scf::YieldOp::create(b, load(b));
      value = branch.getResult(0);
    } else {
      value = load(b);
    }
    Value offset = buildChunkOffset(b, tile, row, chunk);
    chunks.emplace_back(value, offset);
  }
  for (auto [chunk, guard] : llvm::zip(chunks, inside)) {
    Value value = chunk.first;
    Value offset = arith::IndexCastOp::create(b, b.getI32Type(), chunk.second);
    Value address = arith::AddIOp::create(b, start, offset);
    auto store = [&](ImplicitLocOpBuilder &b) {
      LLVM::StoreOp::create(b, value,
                            LLVM::IntToPtrOp::create(b, sharedPointer, address),
                            kChunk);
    };
    if (!guard) {
      store(b);
      continue;
    }
    auto branch = scf::IfOp::create(b, guard);
    OpBuilder::InsertionGuard restore(b);
    b.setInsertionPointToStart(branch.thenBlock());
    store(b);
  }
  // The matrix instruction reads through the asynchronous proxy.
  NVVM::FenceProxyOp::create(
      b, NVVM::ProxyKind::async_shared,
      NVVM::SharedSpaceAttr::get(b.getContext(),
                                 NVVM::SharedSpace::shared_cta));
  NVVM::Barrier0Op::create(b);
  return start;
}

namespace {
struct LoadPattern : ThreadPattern<LoadOp> {
  using ThreadPattern::ThreadPattern;
  LogicalResult
  matchAndRewrite(LoadOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    ImplicitLocOpBuilder b(op.getLoc(), rewriter);
    Source source(b, adaptor.getSource());
    rewriter.replaceOp(
        op, buildCopy(b, facts.getIds(op), facts.places.lookup(op),
                      op.getTile().getType(), facts.threads, adaptor.getCount(),
                      [&](Value row, Value column) {
                        return source.getPointer({row, column});
                      }));
    return success();
  }
};

struct LoadPagesPattern : ThreadPattern<LoadPagesOp> {
  using ThreadPattern::ThreadPattern;
  LogicalResult
  matchAndRewrite(LoadPagesOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    ImplicitLocOpBuilder b(op.getLoc(), rewriter);
    Source cache(b, adaptor.getCache());
    Value zero = index(b, 0);
    Value pageSize = cache.toValue(cache.sizes[3]);
    rewriter.replaceOp(
        op,
        buildCopy(
            b, facts.getIds(op), facts.places.lookup(op),
            op.getTile().getType(), facts.threads, adaptor.getCount(),
            [&](Value row, Value column) {
              Value position =
                  arith::AddIOp::create(b, adaptor.getPosition(), row);
              Value entry = memref::LoadOp::create(
                  b, adaptor.getTable(),
                  ValueRange{adaptor.getSequence(),
                             arith::DivUIOp::create(b, position, pageSize)});
              Value page = castToIndex(b, b.getLoc(), entry);
              Value inPage = arith::RemUIOp::create(b, position, pageSize);
              return cache.getPointer({page, zero, adaptor.getLayer(), inPage,
                                       zero, add(b, column, op.getColumn())});
            }));
    return success();
  }
};

struct ColumnsPattern : ThreadPattern<ColumnsOp> {
  using ThreadPattern::ThreadPattern;
  LogicalResult
  matchAndRewrite(ColumnsOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    ImplicitLocOpBuilder b(op.getLoc(), rewriter);
    int64_t offset =
        getShared(op.getSource().getType()).getColumnOffset(op.getFirst());
    rewriter.replaceOp(
        op, arith::AddIOp::create(b, adaptor.getSource(),
                                  arith::ConstantIntOp::create(b, offset, 32)));
    return success();
  }
};

struct TileAtPattern : ThreadPattern<TileAtOp> {
  using ThreadPattern::ThreadPattern;
  LogicalResult
  matchAndRewrite(TileAtOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    rewriter.replaceOp(op, adaptor.getAddress());
    return success();
  }
};

/// A scan over the sequences: no host knows their lengths.
struct LocatePattern : ThreadPattern<wg::LocateOp> {
  using ThreadPattern::ThreadPattern;
  LogicalResult
  matchAndRewrite(wg::LocateOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    ImplicitLocOpBuilder b(op.getLoc(), rewriter);
    Value zero = arith::ConstantIndexOp::create(b, 0);
    Value one = arith::ConstantIndexOp::create(b, 1);
    Value tile = arith::ConstantIndexOp::create(b, op.getTile());
    Value entries = memref::DimOp::create(b, adaptor.getOffsets(), 0);
    Value sequences = arith::SubIOp::create(b, entries, one);
    Value item = adaptor.getNumber();
    auto loop = scf::ForOp::create(
        b, zero, sequences, one, ValueRange{item, zero, zero, zero},
        [&](OpBuilder &nested, Location loc, Value sequence,
            ValueRange carried) {
          ImplicitLocOpBuilder b(loc, nested);
          auto load = [&](Value index) {
            return castToIndex(
                b, loc, memref::LoadOp::create(b, adaptor.getOffsets(), index));
          };
          Value next = arith::AddIOp::create(b, sequence, one);
          Value rows = arith::SubIOp::create(b, load(next), load(sequence));
          Value tiles = arith::CeilDivSIOp::create(b, rows, tile);
          Value left = carried[0];
          auto compare = [&](arith::CmpIPredicate predicate, Value x, Value y) {
            return arith::CmpIOp::create(b, predicate, x, y).getResult();
          };
          Value here = arith::AndIOp::create(
              b, compare(arith::CmpIPredicate::sge, left, zero),
              compare(arith::CmpIPredicate::slt, left, tiles));
          // Tiles of a sequence count down.
          Value number = arith::SubIOp::create(
              b, arith::SubIOp::create(b, tiles, one), left);
          Value first = arith::MulIOp::create(b, number, tile);
          Value count = arith::MinSIOp::create(
              b, arith::SubIOp::create(b, rows, first), tile);
          SmallVector<Value> results{arith::SubIOp::create(b, left, tiles)};
          Value found[] = {sequence, first, count};
          for (auto [value, old] : llvm::zip(found, carried.drop_front()))
            results.push_back(arith::SelectOp::create(b, here, value, old));
          scf::YieldOp::create(b, results);
        });
    rewriter.replaceOp(op, loop.getResults().drop_front());
    return success();
  }
};
} // namespace

void wg::populateCopyPatterns(const ThreadTypes &types,
                              const KernelFacts &facts,
                              RewritePatternSet &patterns) {
  patterns.add<LoadPattern, LoadPagesPattern, ColumnsPattern, TileAtPattern,
               LocatePattern>(types, patterns.getContext(), facts);
}
