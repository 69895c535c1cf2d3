//===- Masks.cpp - The masks of the contract -*- C++ -*-===//
//
// Part of the MLA project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The only file that lists masks. Each is a predicate over absolute positions
// and, to be fast, the key ranges of a tile of queries. With a = first and
// b = last query of the tile, a key is visible to all of them or to none where
// the bounds below say so; between the bounds the predicate decides.
//
//===----------------------------------------------------------------------===//

#include "mla/Dialect/MLA/IR/MLA.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace mlir::mla;

namespace {
/// Index arithmetic that reads like the formulas.
struct Arith {
  OpBuilder &builder;
  Location loc;

  Value constant(int64_t value) const {
    return arith::ConstantIndexOp::create(builder, loc, value);
  }
  Value add(Value a, Value b) const {
    return arith::AddIOp::create(builder, loc, a, b);
  }
  Value sub(Value a, Value b) const {
    return arith::SubIOp::create(builder, loc, a, b);
  }
  Value mul(Value a, Value b) const {
    return arith::MulIOp::create(builder, loc, a, b);
  }
  Value floorDiv(Value a, Value b) const {
    return arith::FloorDivSIOp::create(builder, loc, a, b);
  }
  Value both(Value a, Value b) const {
    return arith::AndIOp::create(builder, loc, a, b);
  }
  Value select(Value condition, Value a, Value b) const {
    return arith::SelectOp::create(builder, loc, condition, a, b);
  }
  Value compare(arith::CmpIPredicate predicate, Value a, Value b) const {
    return arith::CmpIOp::create(builder, loc, predicate, a, b);
  }
  Value lessEqual(Value a, Value b) const {
    return compare(arith::CmpIPredicate::sle, a, b);
  }
  Value less(Value a, Value b) const {
    return compare(arith::CmpIPredicate::slt, a, b);
  }
  Value equal(Value a, Value b) const {
    return compare(arith::CmpIPredicate::eq, a, b);
  }
  Value next(Value a) const { return add(a, constant(1)); }
  /// The first key that a query at `query` sees through a window: its distance
  /// is window - 1.
  Value windowBegin(Value query, Value window) const {
    return next(sub(query, window));
  }
  /// First position of the chunk that holds `position`.
  Value chunkBegin(Value position, Value window) const {
    return mul(floorDiv(position, window), window);
  }
  /// Whether a key is in its query's chunk. A division for each query, none for
  /// each pair.
  Value inChunk(Value key, Value query, Value window) const {
    Value begin = chunkBegin(query, window);
    return both(lessEqual(begin, key), less(key, add(begin, window)));
  }
};

constexpr bool open = false, guarded = true;

/// Whether a window, if constant, reaches over `maxDistance`.
bool coversContext(ArrayRef<Attribute> parameters,
                   std::optional<int64_t> maxDistance) {
  auto window = dyn_cast_if_present<IntegerAttr>(parameters.front());
  return window && maxDistance && window.getInt() > *maxDistance;
}
} // namespace

//===----------------------------------------------------------------------===//
// null
//===----------------------------------------------------------------------===//

Value NullMaskAttr::buildPredicate(OpBuilder &builder, Location loc, Value,
                                   Value, ValueRange) const {
  return arith::ConstantIntOp::create(builder, loc, 1, 1);
}

SmallVector<KeyRange> NullMaskAttr::buildKeyRanges(OpBuilder &, Location,
                                                   const MaskTile &tile,
                                                   ValueRange) const {
  return {{tile.firstKey, tile.endKey, open}};
}

//===----------------------------------------------------------------------===//
// causal
//===----------------------------------------------------------------------===//

Value CausalMaskAttr::buildPredicate(OpBuilder &builder, Location loc,
                                     Value query, Value key, ValueRange) const {
  return Arith{builder, loc}.lessEqual(key, query);
}

SmallVector<KeyRange> CausalMaskAttr::buildKeyRanges(OpBuilder &builder,
                                                     Location loc,
                                                     const MaskTile &tile,
                                                     ValueRange) const {
  Arith x{builder, loc};
  Value afterFirst = x.next(tile.firstQuery);
  return {{tile.firstKey, afterFirst, open},
          {afterFirst, x.next(tile.lastQuery), guarded}};
}

//===----------------------------------------------------------------------===//
// sliding_window_causal
//===----------------------------------------------------------------------===//

unsigned SlidingWindowCausalMaskAttr::getNumParameters() const { return 1; }
bool SlidingWindowCausalMaskAttr::isParameterPositive(unsigned) const {
  return true;
}

Value SlidingWindowCausalMaskAttr::buildPredicate(OpBuilder &builder,
                                                  Location loc, Value query,
                                                  Value key,
                                                  ValueRange parameters) const {
  Arith x{builder, loc};
  return x.both(x.lessEqual(key, query),
                x.less(x.sub(query, key), parameters[0]));
}

SmallVector<KeyRange>
SlidingWindowCausalMaskAttr::buildKeyRanges(OpBuilder &builder, Location loc,
                                            const MaskTile &tile,
                                            ValueRange parameters) const {
  Arith x{builder, loc};
  Value openBegin = x.windowBegin(tile.lastQuery, parameters[0]);
  Value openEnd = x.next(tile.firstQuery);
  return {{x.windowBegin(tile.firstQuery, parameters[0]), openBegin, guarded},
          {openBegin, openEnd, open},
          {openEnd, x.next(tile.lastQuery), guarded}};
}

Attribute SlidingWindowCausalMaskAttr::simplify(
    ArrayRef<Attribute> parameters, std::optional<int64_t> maxDistance) const {
  if (coversContext(parameters, maxDistance))
    return CausalMaskAttr::get(getContext());
  return *this;
}

//===----------------------------------------------------------------------===//
// sliding_window_noncausal
//===----------------------------------------------------------------------===//

unsigned SlidingWindowNoncausalMaskAttr::getNumParameters() const { return 1; }
bool SlidingWindowNoncausalMaskAttr::isParameterPositive(unsigned) const {
  return true;
}

Value SlidingWindowNoncausalMaskAttr::buildPredicate(
    OpBuilder &builder, Location loc, Value query, Value key,
    ValueRange parameters) const {
  Arith x{builder, loc};
  return x.less(x.sub(query, key), parameters[0]);
}

SmallVector<KeyRange>
SlidingWindowNoncausalMaskAttr::buildKeyRanges(OpBuilder &builder, Location loc,
                                               const MaskTile &tile,
                                               ValueRange parameters) const {
  Arith x{builder, loc};
  Value openBegin = x.windowBegin(tile.lastQuery, parameters[0]);
  return {{x.windowBegin(tile.firstQuery, parameters[0]), openBegin, guarded},
          {openBegin, tile.endKey, open}};
}

Attribute SlidingWindowNoncausalMaskAttr::simplify(
    ArrayRef<Attribute> parameters, std::optional<int64_t> maxDistance) const {
  if (coversContext(parameters, maxDistance))
    return NullMaskAttr::get(getContext());
  return *this;
}

//===----------------------------------------------------------------------===//
// chunked
//===----------------------------------------------------------------------===//

unsigned ChunkedMaskAttr::getNumParameters() const { return 1; }
bool ChunkedMaskAttr::isParameterPositive(unsigned) const { return true; }

Value ChunkedMaskAttr::buildPredicate(OpBuilder &builder, Location loc,
                                      Value query, Value key,
                                      ValueRange parameters) const {
  Arith x{builder, loc};
  return x.inChunk(key, query, parameters[0]);
}

SmallVector<KeyRange>
ChunkedMaskAttr::buildKeyRanges(OpBuilder &builder, Location loc,
                                const MaskTile &tile,
                                ValueRange parameters) const {
  Arith x{builder, loc};
  Value window = parameters[0];
  Value begin = x.chunkBegin(tile.firstQuery, window);
  Value last = x.chunkBegin(tile.lastQuery, window);
  Value end = x.add(last, window);
  // Queries of one chunk see all of it; of several, the predicate decides.
  Value openEnd = x.select(x.equal(begin, last), end, begin);
  return {{begin, openEnd, open}, {openEnd, end, guarded}};
}

//===----------------------------------------------------------------------===//
// chunked_causal
//===----------------------------------------------------------------------===//

unsigned ChunkedCausalMaskAttr::getNumParameters() const { return 1; }
bool ChunkedCausalMaskAttr::isParameterPositive(unsigned) const { return true; }

Value ChunkedCausalMaskAttr::buildPredicate(OpBuilder &builder, Location loc,
                                            Value query, Value key,
                                            ValueRange parameters) const {
  Arith x{builder, loc};
  return x.both(x.lessEqual(key, query), x.inChunk(key, query, parameters[0]));
}

SmallVector<KeyRange>
ChunkedCausalMaskAttr::buildKeyRanges(OpBuilder &builder, Location loc,
                                      const MaskTile &tile,
                                      ValueRange parameters) const {
  Arith x{builder, loc};
  Value window = parameters[0];
  Value begin = x.chunkBegin(tile.firstQuery, window);
  Value last = x.chunkBegin(tile.lastQuery, window);
  Value openEnd =
      x.select(x.equal(begin, last), x.next(tile.firstQuery), begin);
  return {{begin, openEnd, open}, {openEnd, x.next(tile.lastQuery), guarded}};
}
