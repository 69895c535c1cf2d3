//===- Order.cpp - Longest sequences first ----------------------*- C++ -*-===//
//
// Part of the MLA project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Blocks take items from one counter. For the last of them to finish at about
// the same time, long items have to come first. Every block builds the same
// order in its shared memory, from the offsets alone: a counting sort by cost,
// then prefix sums of tiles, in which an item is found by binary search.
//
// A line is a sequence, or a run of `chunk` neighbouring ones where there are
// more than the table holds. Costs are sorted by bucket: the exponent and three
// bits of the mantissa, the most costly first. Lines of one bucket keep their
// order, so that all blocks agree.
//
//===----------------------------------------------------------------------===//

#include "Rings.h"
#include "Thread.h"

#include "mla/Dialect/MLA/IR/MLA.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Parser/Parser.h"

using namespace mlir;
using namespace mlir::mla;
using namespace mlir::mla::wg;

/// In shared memory, in words: the header, the buckets, and of each line in
/// order the tiles before it and its number.
static constexpr int64_t kWord = 4, kHeaderWords = 8, kBuckets = 256;
int64_t wg::getOrderBytes(int64_t capacity) {
  return kWord * (kHeaderWords + kBuckets + 2 * capacity);
}
/// Of each line in its own place: its tiles and its bucket.
int64_t wg::getOrderScratchBytes(int64_t capacity) {
  return kWord * 2 * capacity;
}

/// @tiles and @cost are a sequence's. The header: tiles of all lines; heads of
/// a group; lines; sequences of a line; the greatest cost.
static constexpr StringLiteral kSource = R"mlir(
func.func private @tiles(i32) -> i32
func.func private @cost(i32) -> i32

// The sum over the lanes up to this one.
func.func private @scan(%x: i32, %lane: i32) -> i32 {
  %all = arith.constant -1 : i32
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c32 = arith.constant 32 : i32
  %sum:2 = scf.while (%s = %x, %d = %c1) : (i32, i32) -> (i32, i32) {
    %more = arith.cmpi ult, %d, %c32 : i32
    scf.condition(%more) %s, %d : i32, i32
  } do {
  ^bb0(%s: i32, %d: i32):
    %other = nvvm.shfl.sync up %all, %s, %d, %c0 : i32 -> i32
    %inside = arith.cmpi uge, %lane, %d : i32
    %part = arith.select %inside, %other, %c0 : i32
    %next = arith.addi %s, %part : i32
    %twice = arith.addi %d, %d : i32
    scf.yield %next, %twice : i32, i32
  }
  return %sum#0 : i32
}

func.func @order(%header: !llvm.ptr<3>, %buckets: !llvm.ptr<3>,
                 %starts: !llvm.ptr<3>, %numbers: !llvm.ptr<3>,
                 %tiles_of: !llvm.ptr<3>, %bucket_of: !llvm.ptr<3>,
                 %sequences: i32, %capacity: i32, %heads: i32, %heads_for: i32,
                 %thread: i32, %threads: i32) {
  %all = arith.constant -1 : i32
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c2 = arith.constant 2 : i32
  %c3 = arith.constant 3 : i32
  %c4 = arith.constant 4 : i32
  %c8 = arith.constant 8 : i32
  %c20 = arith.constant 20 : i32
  %c31 = arith.constant 31 : i32
  %c32 = arith.constant 32 : i32
  %c255 = arith.constant 255 : i32
  %c256 = arith.constant 256 : i32
  %one = arith.constant 1016 : i32 // the upper bits of 1.0
  %tiles_at = llvm.getelementptr %header[%c0] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, i32
  %group_at = llvm.getelementptr %header[%c1] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, i32
  %lines_at = llvm.getelementptr %header[%c2] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, i32
  %chunk_at = llvm.getelementptr %header[%c3] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, i32
  %most_at = llvm.getelementptr %header[%c4] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, i32

  %runs = arith.ceildivui %sequences, %capacity : i32
  %chunk = arith.maxui %runs, %c1 : i32
  %lines = arith.ceildivui %sequences, %chunk : i32
  scf.for %i = %thread to %c256 step %threads : i32 {
    %at = llvm.getelementptr %buckets[%i] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, i32
    llvm.store %c0, %at : i32, !llvm.ptr<3>
  }
  %is_first = arith.cmpi eq, %thread, %c0 : i32
  scf.if %is_first {
    llvm.store %c1, %most_at : i32, !llvm.ptr<3>
  }
  nvvm.barrier

  // Tiles and bucket of each line; how many lines there are in each bucket.
  scf.for %line = %thread to %lines step %threads : i32 {
    %begin = arith.muli %line, %chunk : i32
    %next = arith.addi %begin, %chunk : i32
    %end = arith.minui %next, %sequences : i32
    %sum:2 = scf.for %sequence = %begin to %end step %c1
        iter_args(%tiles = %c0, %most = %c0) -> (i32, i32) : i32 {
      %t = func.call @tiles(%sequence) : (i32) -> i32
      %c = func.call @cost(%sequence) : (i32) -> i32
      %more = arith.addi %tiles, %t : i32
      %greater = arith.maxui %most, %c : i32
      scf.yield %more, %greater : i32, i32
    }
    %cost = arith.uitofp %sum#1 : i32 to f32
    %bits = arith.bitcast %cost : f32 to i32
    %upper = arith.shrui %bits, %c20 : i32
    %above = arith.subi %upper, %one : i32
    %level = arith.maxsi %above, %c0 : i32
    %low = arith.minsi %level, %c255 : i32
    %bucket = arith.subi %c255, %low : i32
    %t_at = llvm.getelementptr %tiles_of[%line] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, i32
    %b_at = llvm.getelementptr %bucket_of[%line] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, i32
    llvm.store %sum#0, %t_at : i32, !llvm.ptr<3>
    llvm.store %bucket, %b_at : i32, !llvm.ptr<3>
    %at = llvm.getelementptr %buckets[%bucket] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, i32
    %old = llvm.atomicrmw add %at, %c1 syncscope("block") monotonic : !llvm.ptr<3>, i32
    %most = llvm.atomicrmw umax %most_at, %sum#1 syncscope("block") monotonic : !llvm.ptr<3>, i32
  }
  nvvm.barrier

  // The rest is one warp's.
  %in_warp = arith.cmpi ult, %thread, %c32 : i32
  scf.if %in_warp {
    // Lines in the buckets before each: eight buckets a lane.
    %b0 = arith.muli %thread, %c8 : i32
    %own = scf.for %i = %c0 to %c8 step %c1 iter_args(%s = %c0) -> (i32) : i32 {
      %n = arith.addi %b0, %i : i32
      %at = llvm.getelementptr %buckets[%n] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, i32
      %x = llvm.load %at : !llvm.ptr<3> -> i32
      %y = arith.addi %s, %x : i32
      scf.yield %y : i32
    }
    %up_to = func.call @scan(%own, %thread) : (i32, i32) -> i32
    %before = arith.subi %up_to, %own : i32
    %rest = scf.for %i = %c0 to %c8 step %c1 iter_args(%s = %before) -> (i32) : i32 {
      %n = arith.addi %b0, %i : i32
      %at = llvm.getelementptr %buckets[%n] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, i32
      %x = llvm.load %at : !llvm.ptr<3> -> i32
      llvm.store %s, %at : i32, !llvm.ptr<3>
      %y = arith.addi %s, %x : i32
      scf.yield %y : i32
    }
    nvvm.bar.warp.sync %all : i32

    // Each line to its place; those of one bucket in their order.
    %bit = arith.shli %c1, %thread : i32
    %lanes_below = arith.subi %bit, %c1 : i32
    scf.for %i = %c0 to %lines step %c32 : i32 {
      %line = arith.addi %i, %thread : i32
      %exists = arith.cmpi ult, %line, %lines : i32
      %bucket = scf.if %exists -> (i32) {
        %at = llvm.getelementptr %bucket_of[%line] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, i32
        %x = llvm.load %at : !llvm.ptr<3> -> i32
        scf.yield %x : i32
      } else {
        scf.yield %all : i32
      }
      %peers = nvvm.match.sync any %all, %bucket : i32 -> i32
      %below = arith.andi %peers, %lanes_below : i32
      %rank = llvm.intr.ctpop(%below) : (i32) -> i32
      %count = llvm.intr.ctpop(%peers) : (i32) -> i32
      scf.if %exists {
        %at = llvm.getelementptr %buckets[%bucket] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, i32
        %first = llvm.load %at : !llvm.ptr<3> -> i32
        %place = arith.addi %first, %rank : i32
        %t_at = llvm.getelementptr %tiles_of[%line] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, i32
        %tiles = llvm.load %t_at : !llvm.ptr<3> -> i32
        %s_at = llvm.getelementptr %starts[%place] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, i32
        %n_at = llvm.getelementptr %numbers[%place] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, i32
        llvm.store %tiles, %s_at : i32, !llvm.ptr<3>
        llvm.store %line, %n_at : i32, !llvm.ptr<3>
      }
      nvvm.bar.warp.sync %all : i32
      %is_lowest = arith.cmpi eq, %rank, %c0 : i32
      %counts = arith.andi %exists, %is_lowest : i1
      scf.if %counts {
        %at = llvm.getelementptr %buckets[%bucket] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, i32
        %first = llvm.load %at : !llvm.ptr<3> -> i32
        %next = arith.addi %first, %count : i32
        llvm.store %next, %at : i32, !llvm.ptr<3>
      }
      nvvm.bar.warp.sync %all : i32
    }

    // Tiles before each line.
    %tiles = scf.for %i = %c0 to %lines step %c32 iter_args(%sum = %c0) -> (i32) : i32 {
      %line = arith.addi %i, %thread : i32
      %exists = arith.cmpi ult, %line, %lines : i32
      %at = llvm.getelementptr %starts[%line] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, i32
      %t = scf.if %exists -> (i32) {
        %x = llvm.load %at : !llvm.ptr<3> -> i32
        scf.yield %x : i32
      } else {
        scf.yield %c0 : i32
      }
      %with = func.call @scan(%t, %thread) : (i32, i32) -> i32
      %without = arith.subi %with, %t : i32
      %start = arith.addi %sum, %without : i32
      scf.if %exists {
        llvm.store %start, %at : i32, !llvm.ptr<3>
      }
      %last = nvvm.shfl.sync idx %all, %with, %c31, %c31 : i32 -> i32
      %next = arith.addi %sum, %last : i32
      scf.yield %next : i32
    }

    // Groups of heads of about the same size.
    %most = llvm.load %most_at : !llvm.ptr<3> -> i32
    %fit = arith.divui %heads_for, %most : i32
    %some = arith.maxui %fit, %c1 : i32
    %groups = arith.ceildivui %heads, %some : i32
    %any = arith.maxui %groups, %c1 : i32
    %group = arith.ceildivui %heads, %any : i32
    scf.if %is_first {
      llvm.store %tiles, %tiles_at : i32, !llvm.ptr<3>
      llvm.store %group, %group_at : i32, !llvm.ptr<3>
      llvm.store %lines, %lines_at : i32, !llvm.ptr<3>
      llvm.store %chunk, %chunk_at : i32, !llvm.ptr<3>
    }
  }
  nvvm.barrier
  return
}

// Sequence, number of the tile in it counted from the last, and head.
func.func @item(%header: !llvm.ptr<3>, %starts: !llvm.ptr<3>,
                %numbers: !llvm.ptr<3>, %number: i32, %heads: i32)
    -> (i32, i32, i32) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c2 = arith.constant 2 : i32
  %c3 = arith.constant 3 : i32
  %tiles_at = llvm.getelementptr %header[%c0] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, i32
  %group_at = llvm.getelementptr %header[%c1] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, i32
  %lines_at = llvm.getelementptr %header[%c2] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, i32
  %chunk_at = llvm.getelementptr %header[%c3] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, i32
  %tiles = llvm.load %tiles_at : !llvm.ptr<3> -> i32
  %group = llvm.load %group_at : !llvm.ptr<3> -> i32
  %lines = llvm.load %lines_at : !llvm.ptr<3> -> i32
  %chunk = llvm.load %chunk_at : !llvm.ptr<3> -> i32

  // Groups of heads, tiles, heads of the group.
  %of_group = arith.muli %tiles, %group : i32
  %g = arith.divui %number, %of_group : i32
  %g_start = arith.muli %g, %of_group : i32
  %rest = arith.subi %number, %g_start : i32
  %first_head = arith.muli %g, %group : i32
  %heads_left = arith.subi %heads, %first_head : i32
  %here = arith.minui %group, %heads_left : i32
  %tile = arith.divui %rest, %here : i32
  %t_start = arith.muli %tile, %here : i32
  %h = arith.subi %rest, %t_start : i32
  %head = arith.addi %first_head, %h : i32

  // The last line that starts at or before the tile.
  %found:2 = scf.while (%low = %c0, %high = %lines) : (i32, i32) -> (i32, i32) {
    %next = arith.addi %low, %c1 : i32
    %more = arith.cmpi ult, %next, %high : i32
    scf.condition(%more) %low, %high : i32, i32
  } do {
  ^bb0(%low: i32, %high: i32):
    %sum = arith.addi %low, %high : i32
    %middle = arith.shrui %sum, %c1 : i32
    %at = llvm.getelementptr %starts[%middle] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, i32
    %start = llvm.load %at : !llvm.ptr<3> -> i32
    %is_up = arith.cmpi ule, %start, %tile : i32
    %l = arith.select %is_up, %middle, %low : i32
    %u = arith.select %is_up, %high, %middle : i32
    scf.yield %l, %u : i32, i32
  }
  %s_at = llvm.getelementptr %starts[%found#0] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, i32
  %n_at = llvm.getelementptr %numbers[%found#0] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, i32
  %start = llvm.load %s_at : !llvm.ptr<3> -> i32
  %line = llvm.load %n_at : !llvm.ptr<3> -> i32
  %in_line = arith.subi %tile, %start : i32
  %first = arith.muli %line, %chunk : i32

  // Which of the line's sequences.
  %result:2 = scf.while (%sequence = %first, %k = %in_line)
      : (i32, i32) -> (i32, i32) {
    %t = func.call @tiles(%sequence) : (i32) -> i32
    %past = arith.cmpi uge, %k, %t : i32
    %less = arith.subi %k, %t : i32
    %k_next = arith.select %past, %less, %k : i32
    scf.condition(%past) %sequence, %k_next : i32, i32
  } do {
  ^bb0(%sequence: i32, %k: i32):
    %next = arith.addi %sequence, %c1 : i32
    scf.yield %next, %k : i32, i32
  }
  return %result#0, %result#1, %head : i32, i32, i32
}
)mlir";

namespace {
/// Functions of kSource, put where they are needed.
class Library {
public:
  using Function = std::function<Value(ImplicitLocOpBuilder &, Value)>;

  explicit Library(MLIRContext *context)
      : module(parseSourceString<ModuleOp>(kSource, context)) {
    assert(module && "the source above parses");
  }

  /// @tiles or @cost.
  void define(StringRef name, Function function) {
    functions[name] = std::move(function);
  }

  SmallVector<Value> call(ImplicitLocOpBuilder &b, StringRef name,
                          ValueRange arguments);

private:
  OwningOpRef<ModuleOp> module;
  llvm::StringMap<Function> functions;
};
} // namespace

SmallVector<Value> Library::call(ImplicitLocOpBuilder &b, StringRef name,
                                 ValueRange arguments) {
  Block &body = module->lookupSymbol<func::FuncOp>(name).getBody().front();
  IRMapping mapping;
  mapping.map(body.getArguments(), arguments);
  SmallVector<func::CallOp> calls;
  for (Operation &op : body.without_terminator())
    b.clone(op, mapping)->walk([&](func::CallOp call) {
      calls.push_back(call);
    });
  SmallVector<Value> results = llvm::map_to_vector(
      body.getTerminator()->getOperands(),
      [&](Value value) { return mapping.lookupOrDefault(value); });
  for (func::CallOp inner : calls) {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPoint(inner);
    auto known = functions.find(inner.getCallee());
    if (known == functions.end())
      inner.replaceAllUsesWith(call(b, inner.getCallee(), inner.getOperands()));
    else
      inner.getResult(0).replaceAllUsesWith(
          known->second(b, inner.getOperand(0)));
    inner.erase();
  }
  return results;
}

static Value toI32(ImplicitLocOpBuilder &b, Value value) {
  return arith::IndexCastOp::create(b, b.getI32Type(), value);
}
static Value toIndex(ImplicitLocOpBuilder &b, Value value) {
  return arith::IndexCastUIOp::create(b, b.getIndexType(), value);
}

/// Rows of a sequence.
static Value buildRows(ImplicitLocOpBuilder &b, Value offsets, Value sequence) {
  auto load = [&](Value at) {
    return castToIndex(b, b.getLoc(), memref::LoadOp::create(b, offsets, at));
  };
  Value next = arith::AddIOp::create(b, sequence, index(b, 1));
  Value rows = arith::SubIOp::create(b, load(next), load(sequence));
  return arith::MaxSIOp::create(b, rows, index(b, 0));
}

static Value buildTiles(ImplicitLocOpBuilder &b, Value rows, int64_t tile) {
  return arith::CeilDivUIOp::create(b, rows, index(b, tile));
}

static Library::Function getTilesFunction(Value offsets, int64_t tile) {
  return [=](ImplicitLocOpBuilder &b, Value sequence) {
    Value rows = buildRows(b, offsets, toIndex(b, sequence));
    return toI32(b, buildTiles(b, rows, tile));
  };
}

namespace {
struct OrderTables {
  OrderTables(ImplicitLocOpBuilder &b, const KernelStart &kernel,
              const OrderPlace &place)
      : header(kernel.at(b, place.start)),
        buckets(kernel.at(b, place.start + kWord * kHeaderWords)),
        starts(kernel.at(b, place.start + kWord * (kHeaderWords + kBuckets))),
        numbers(kernel.at(b, place.start + kWord * (kHeaderWords + kBuckets +
                                                    place.capacity))) {}
  Value header, buckets, starts, numbers;
};
} // namespace

void wg::lowerOrder(OrderOp op, const KernelStart &kernel,
                    const OrderPlace &place) {
  ImplicitLocOpBuilder b(op.getLoc(), op);
  int64_t tile = op.getTile();
  Library library(b.getContext());
  library.define("tiles", getTilesFunction(op.getOffsets(), tile));
  library.define("cost", [&](ImplicitLocOpBuilder &b, Value number) {
    Value sequence = toIndex(b, number);
    Value rows = buildRows(b, op.getOffsets(), sequence);
    // The last tile, or one of no rows.
    Value tiles = buildTiles(b, rows, tile);
    Value others = arith::MaxSIOp::create(
        b, arith::SubIOp::create(b, tiles, index(b, 1)), index(b, 0));
    Value first = arith::MulIOp::create(b, others, index(b, tile));
    Value count = arith::SubIOp::create(b, rows, first);
    Block &body = op.getBody().front();
    IRMapping mapping;
    mapping.map(body.getArguments(), ValueRange{sequence, first, count});
    for (Operation &each : body.without_terminator())
      b.clone(each, mapping);
    Value cost = mapping.lookupOrDefault(body.getTerminator()->getOperand(0));
    return toI32(b, arith::MaxSIOp::create(b, cost, index(b, 0)));
  });

  Value entries = memref::DimOp::create(b, op.getOffsets(), 0);
  Value sequences = arith::MaxSIOp::create(
      b, arith::SubIOp::create(b, entries, index(b, 1)), index(b, 0));
  auto threads =
      op->getParentOfType<LLVM::LLVMFuncOp>()->getAttrOfType<DenseI32ArrayAttr>(
          NVVM::NVVMDialect::getReqntidAttrName());
  OrderTables tables(b, kernel, place);
  library.call(b, "order",
               {tables.header, tables.buckets, tables.starts, tables.numbers,
                kernel.at(b, 0), kernel.at(b, kWord * place.capacity),
                toI32(b, sequences), buildConstant(b, place.capacity),
                toI32(b, op.getHeads()), buildConstant(b, op.getHeadsFor()),
                kernel.thread, buildConstant(b, threads[0])});
}

void wg::lowerItemCount(ItemCountOp op, const KernelStart &kernel,
                        const OrderPlace &place) {
  ImplicitLocOpBuilder b(op.getLoc(), op);
  Value tiles =
      LLVM::LoadOp::create(b, b.getI32Type(), kernel.at(b, place.start));
  op.getCount().replaceAllUsesWith(
      arith::MulIOp::create(b, toIndex(b, tiles), op.getHeads()).getResult());
}

void wg::lowerItem(ItemOp op, const KernelStart &kernel,
                   const OrderPlace &place) {
  ImplicitLocOpBuilder b(op.getLoc(), op);
  int64_t tile = op.getTile();
  Library library(b.getContext());
  library.define("tiles", getTilesFunction(op.getOffsets(), tile));
  OrderTables tables(b, kernel, place);
  SmallVector<Value> found =
      library.call(b, "item",
                   {tables.header, tables.starts, tables.numbers,
                    toI32(b, op.getNumber()), toI32(b, op.getHeads())});
  Value sequence = toIndex(b, found[0]);
  Value rows = buildRows(b, op.getOffsets(), sequence);
  // Tiles of a sequence count down.
  Value number = arith::SubIOp::create(
      b, arith::SubIOp::create(b, buildTiles(b, rows, tile), index(b, 1)),
      toIndex(b, found[1]));
  Value first = arith::MulIOp::create(b, number, index(b, tile));
  Value count = arith::MinSIOp::create(b, arith::SubIOp::create(b, rows, first),
                                       index(b, tile));
  Value results[] = {sequence, first, count, toIndex(b, found[2])};
  op->replaceAllUsesWith(ValueRange(results));
}
