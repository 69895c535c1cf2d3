//===- Fragments.cpp - Elements of fragments -*- C++ -*-===//
//
// Part of the MLA project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Compares.h"
#include "Thread.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace mlir::mla;
using namespace mlir::mla::wg;

namespace {
struct SplatPattern : ThreadPattern<SplatOp> {
  using ThreadPattern::ThreadPattern;
  LogicalResult
  matchAndRewrite(SplatOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    rewriter.replaceOpWithNewOp<vector::BroadcastOp>(
        op, getVector(op.getFragment().getType()), adaptor.getValue());
    return success();
  }
};

/// A body's value for block arguments `arguments`. What `mapping` knows already
/// is not copied.
Value inlineBody(ImplicitLocOpBuilder &b, Region &body, ValueRange arguments,
                 IRMapping mapping = {}) {
  mapping.map(body.getArguments(), arguments);
  for (Operation &op : body.front().without_terminator())
    if (op.getNumResults() != 1 || !mapping.contains(op.getResult(0)))
      b.clone(op, mapping);
  return mapping.lookupOrDefault(body.front().getTerminator()->getOperand(0));
}

/// The conditions on columns in a map's body that are no part of another one.
SmallVector<std::pair<Value, ColumnRange>> findRanges(MapOp op) {
  SmallVector<std::pair<Value, ColumnRange>> ranges;
  Block &body = op.getBody().front();
  DenseSet<Operation *> parts;
  for (Operation &inner : llvm::reverse(body))
    if (isa<arith::CmpIOp, arith::AndIOp>(inner)) {
      if (llvm::all_of(inner.getUsers(),
                       [&](Operation *user) { return parts.contains(user); }))
        parts.insert(&inner);
      else if (auto range = ColumnRange::get(inner.getResult(0), body)) {
        ranges.emplace_back(inner.getResult(0), *range);
        parts.insert(&inner);
      }
    }
  return ranges;
}

struct MapPattern : ThreadPattern<MapOp> {
  using ThreadPattern::ThreadPattern;
  LogicalResult
  matchAndRewrite(MapOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    ImplicitLocOpBuilder b(op.getLoc(), rewriter);
    const ThreadIds &ids = facts.getIds(op);
    FragmentType type = op.getResult().getType();
    bool isRow = type.isOfRows();
    std::optional<FragmentLayout> layout;
    if (!isRow)
      layout = FragmentLayout::getAccumulator(type.getWarpgroups(),
                                              type.getShape()[1]);
    // A row has no columns to make a range of.
    SmallVector<std::pair<Value, ColumnRange>> ranges;
    if (!isRow)
      ranges = findRanges(op);
    for (auto &[value, range] : ranges)
      range.buildLimits(b, ids);
    SmallVector<SmallVector<Value>> inputs;
    for (Value input : adaptor.getInputs())
      inputs.push_back(extractAll(b, input));
    SmallVector<Value> results;
    for (int64_t e = 0; e < type.getElementsPerThread(); ++e) {
      int64_t half = isRow ? e : layout->getRowOfThread(e);
      SmallVector<Value> arguments;
      for (auto [input, values] : llvm::zip(op.getInputs(), inputs)) {
        bool row = cast<FragmentType>(input.getType()).isOfRows();
        arguments.push_back(values[row ? half : e]);
      }
      Position part = isRow ? Position{8 * e, 0} : layout->getElementPart(e);
      arguments.push_back(add(b, ids.row, part.row));
      arguments.push_back(isRow ? index(b, 0)
                                : add(b, ids.column, part.column));
      IRMapping known;
      for (auto &[value, range] : ranges)
        known.map(value, range.build(b, half, part.column));
      results.push_back(inlineBody(b, op.getBody(), arguments, known));
    }
    rewriter.replaceOp(op, combine(b, getVector(type), results));
    return success();
  }
};

/// The threads of a quad combine their values; each gets the result.
Value combineQuad(ImplicitLocOpBuilder &b, Region &body, Value value) {
  Value all = arith::ConstantIntOp::create(b, -1, 32);
  Value clamp = arith::ConstantIntOp::create(b, 31, 32);
  for (int64_t distance : {1, 2}) {
    Value mask = arith::ConstantIntOp::create(b, distance, 32);
    Value other = NVVM::ShflOp::create(b, b.getF32Type(), all, value, mask,
                                       clamp, NVVM::ShflKind::bfly,
                                       /*return_value_and_is_valid=*/nullptr);
    value = inlineBody(b, body, {other, value});
  }
  return value;
}

struct ReducePattern : ThreadPattern<ReduceOp> {
  using ThreadPattern::ThreadPattern;
  LogicalResult
  matchAndRewrite(ReduceOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    ImplicitLocOpBuilder b(op.getLoc(), rewriter);
    FragmentType input = op.getInput().getType();
    FragmentType result = op.getResult().getType();
    if (!input.getElementType().isF32())
      return op.emitOpError("only f32 is exchanged between threads");
    auto layout = FragmentLayout::getAccumulator(input.getWarpgroups(),
                                                 input.getShape()[1]);
    // In the thread: chains that do not wait for each other.
    constexpr unsigned kChains = 4;
    SmallVector<Value> chains[2];
    unsigned next[2] = {0, 0};
    for (auto [e, value] : llvm::enumerate(extractAll(b, adaptor.getInput()))) {
      int64_t row = layout.getRowOfThread(e);
      if (chains[row].size() < kChains) {
        chains[row].push_back(value);
        continue;
      }
      Value &chain = chains[row][next[row]++ % kChains];
      chain = inlineBody(b, op.getBody(), {value, chain});
    }
    SmallVector<Value> results, inits = extractAll(b, adaptor.getInit());
    for (auto [chain, init] : llvm::zip(chains, inits)) {
      while (chain.size() > 1) {
        SmallVector<Value> halved;
        for (size_t i = 0; i + 1 < chain.size(); i += 2)
          halved.push_back(
              inlineBody(b, op.getBody(), {chain[i], chain[i + 1]}));
        if (chain.size() % 2)
          halved.push_back(chain.back());
        chain = std::move(halved);
      }
      Value all = chain.front();
      if (result.getKind() == FragmentKind::Row)
        all = combineQuad(b, op.getBody(), all);
      results.push_back(inlineBody(b, op.getBody(), {all, init}));
    }
    rewriter.replaceOp(op, combine(b, getVector(result), results));
    return success();
  }
};

struct CombinePattern : ThreadPattern<CombineOp> {
  using ThreadPattern::ThreadPattern;
  LogicalResult
  matchAndRewrite(CombineOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    ImplicitLocOpBuilder b(op.getLoc(), rewriter);
    FragmentType type = op.getPartial().getType();
    if (!type.getElementType().isF32())
      return op.emitOpError("only f32 is exchanged between threads");
    SmallVector<Value> results;
    for (Value value : extractAll(b, adaptor.getPartial()))
      results.push_back(combineQuad(b, op.getBody(), value));
    rewriter.replaceOp(
        op, combine(b, getVector(op.getResult().getType()), results));
    return success();
  }
};

struct OperandAPattern : ThreadPattern<OperandAOp> {
  using ThreadPattern::ThreadPattern;
  LogicalResult
  matchAndRewrite(OperandAOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    // Neighbours share a register; the order is the accumulator's already
    // (isSamePlacement of Layouts.h).
    rewriter.replaceOpWithNewOp<vector::BitCastOp>(
        op, getVector(op.getFragment().getType()), adaptor.getSource());
    return success();
  }
};

/// The 4 x 4 transpose of the words of a quad: word q of its thread t becomes
/// word t of thread q.
void transposeInQuad(ImplicitLocOpBuilder &b, const ThreadIds &ids,
                     MutableArrayRef<Value> words) {
  Value all = arith::ConstantIntOp::create(b, -1, 32);
  Value clamp = arith::ConstantIntOp::create(b, 31, 32);
  for (unsigned bit : {1, 2}) {
    Value distance = arith::ConstantIntOp::create(b, bit, 32);
    Value isOdd = arith::CmpIOp::create(
        b, arith::CmpIPredicate::ne,
        arith::AndIOp::create(b, ids.thread, index(b, bit)), index(b, 0));
    for (unsigned low = 0; low < 4; ++low) {
      if (low & bit)
        continue;
      Value &x = words[low], &y = words[low | bit];
      Value sent = arith::SelectOp::create(b, isOdd, x, y);
      Value received = NVVM::ShflOp::create(
          b, b.getI32Type(), all, sent, distance, clamp, NVVM::ShflKind::bfly,
          /*return_value_and_is_valid=*/nullptr);
      x = arith::SelectOp::create(b, isOdd, received, x);
      y = arith::SelectOp::create(b, isOdd, y, received);
    }
  }
}

struct StorePattern : ThreadPattern<StoreOp> {
  using ThreadPattern::ThreadPattern;

  /// Runs `body` where one of the thread's two rows is to be stored.
  void ifRowExists(ImplicitLocOpBuilder &b, const ThreadIds &ids, int64_t half,
                   Value count, function_ref<void(Value row)> body) const {
    Value row = add(b, ids.row, 8 * half);
    Value exists =
        arith::CmpIOp::create(b, arith::CmpIPredicate::ult, row, count);
    auto branch = scf::IfOp::create(b, exists);
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(branch.thenBlock());
    body(row);
  }

  /// One value for each row. All threads of a quad have both: the first stores
  /// one, the second the other, so that there is one branch.
  void storeRows(ImplicitLocOpBuilder &b, const ThreadIds &ids, Source &dest,
                 ArrayRef<Value> values, Value count) const {
    Value isSecond = arith::CmpIOp::create(b, arith::CmpIPredicate::ne,
                                           ids.column, index(b, 0));
    Value row =
        arith::SelectOp::create(b, isSecond, add(b, ids.row, 8), ids.row);
    Value value = arith::SelectOp::create(b, isSecond, values[1], values[0]);
    Value exists =
        arith::CmpIOp::create(b, arith::CmpIPredicate::ult, row, count);
    Value isOneOfTwo = arith::CmpIOp::create(b, arith::CmpIPredicate::ule,
                                             ids.column, index(b, 2));
    auto branch =
        scf::IfOp::create(b, arith::AndIOp::create(b, exists, isOneOfTwo));
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(branch.thenBlock());
    LLVM::StoreOp::create(b, value, dest.getPointer(row));
  }

  /// A pair of neighbouring columns, which a thread has beside each other.
  struct Pair {
    Value value; // vector<2>, or i32 with both
    int64_t column;
  };
  using PairsOfRows = std::array<SmallVector<Pair>, 2>;

  PairsOfRows pair(ImplicitLocOpBuilder &b, const FragmentLayout &layout,
                   ArrayRef<Value> values) const {
    Type element = values.front().getType();
    auto type = VectorType::get(2, element);
    auto word = VectorType::get(1, b.getI32Type());
    PairsOfRows pairs;
    for (size_t e = 0; e < values.size(); e += 2) {
      Value both = combine(b, type, {values[e], values[e + 1]});
      // As a word before any branch: one conversion makes it.
      if (element.getIntOrFloatBitWidth() == 16)
        both = vector::ExtractOp::create(
            b, vector::BitCastOp::create(b, word, both), 0);
      pairs[layout.getRowOfThread(e)].push_back(
          {both, layout.getElementPart(e).column});
    }
    return pairs;
  }

  /// Each thread its pairs, as they are. The alignment is an element's.
  void storePairs(ImplicitLocOpBuilder &b, const ThreadIds &ids, Source &dest,
                  const PairsOfRows &pairs, Value count) const {
    for (int64_t half : {0, 1})
      ifRowExists(b, ids, half, count, [&](Value row) {
        for (const Pair &pair : pairs[half])
          LLVM::StoreOp::create(
              b, pair.value,
              dest.getPointer({row, add(b, ids.column, pair.column)}),
              dest.bytes);
      });
  }

  /// Four times wider: the threads of a quad exchange pairs, until each has
  /// eight neighbouring columns of every 32.
  void storeChunks(ImplicitLocOpBuilder &b, const ThreadIds &ids, Source &dest,
                   const PairsOfRows &pairs, Value count) const {
    auto chunk = VectorType::get(4, b.getI32Type());
    // Both rows are exchanged before either is stored: more exchanges that do
    // not wait for each other.
    std::array<SmallVector<Value>, 2> words;
    for (int64_t half : {0, 1}) {
      for (const Pair &pair : pairs[half])
        words[half].push_back(pair.value);
      for (size_t first = 0; first < words[half].size(); first += 4)
        transposeInQuad(b, ids, MutableArrayRef(words[half]).slice(first, 4));
    }
    // Eight columns for each two of ids.column.
    Value start = arith::MulIOp::create(b, ids.column, index(b, 4));
    for (int64_t half : {0, 1})
      ifRowExists(b, ids, half, count, [&](Value row) {
        for (size_t first = 0; first < words[half].size(); first += 4)
          LLVM::StoreOp::create(
              b, combine(b, chunk, ArrayRef(words[half]).slice(first, 4)),
              dest.getPointer({row, add(b, start, 8 * first)}), bytesPerChunk);
      });
  }

  LogicalResult
  matchAndRewrite(StoreOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    ImplicitLocOpBuilder b(op.getLoc(), rewriter);
    const ThreadIds &ids = facts.getIds(op);
    FragmentType type = op.getFragment().getType();
    Source dest(b, adaptor.getDest());
    SmallVector<Value> values = extractAll(b, adaptor.getFragment());
    Value count = adaptor.getCount();
    rewriter.eraseOp(op);
    if (type.getKind() == FragmentKind::Row) {
      storeRows(b, ids, dest, values, count);
      return success();
    }
    PairsOfRows pairs = pair(b,
                             FragmentLayout::getAccumulator(
                                 type.getWarpgroups(), type.getShape()[1]),
                             values);
    if (type.getElementType().getIntOrFloatBitWidth() != 16 ||
        type.getShape()[1] % 32 != 0) {
      storePairs(b, ids, dest, pairs, count);
      return success();
    }
    // Chunks of 16 bytes need rows that begin at one.
    Value bits = arith::OrIOp::create(
        b, dest.base, dest.scale(dest.toValue(dest.strides[0])));
    Value odd = arith::AndIOp::create(b, bits, index(b, bytesPerChunk - 1));
    Value isAligned =
        arith::CmpIOp::create(b, arith::CmpIPredicate::eq, odd, index(b, 0));
    auto branch = scf::IfOp::create(b, isAligned, /*withElseRegion=*/true);
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(branch.thenBlock());
    storeChunks(b, ids, dest, pairs, count);
    b.setInsertionPointToStart(branch.elseBlock());
    storePairs(b, ids, dest, pairs, count);
    return success();
  }
};
} // namespace

void wg::populateFragmentPatterns(const ThreadTypes &types,
                                  const KernelFacts &facts,
                                  RewritePatternSet &patterns) {
  patterns.add<SplatPattern, MapPattern, ReducePattern, CombinePattern,
               OperandAPattern, StorePattern>(types, patterns.getContext(),
                                              facts);
}
