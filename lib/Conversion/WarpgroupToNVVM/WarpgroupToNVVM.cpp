//===- WarpgroupToNVVM.cpp - What one thread does of a wg op -*- C++ -*-===//
//
// Part of the MLA project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A fragment becomes the vector of the elements that the thread holds, in the
// order of Layouts.h; a tile its address in shared memory. All arithmetic on
// positions comes from there.
//
//===----------------------------------------------------------------------===//

#include "mla/Conversion/Passes.h"
#include "mla/Dialect/MLA/IR/MLA.h"
#include "mla/Dialect/Warpgroup/IR/Layouts.h"
#include "mla/Dialect/Warpgroup/IR/Warpgroup.h"
#include "mla/Dialect/Warpgroup/IR/Wgmma.h"
#include "mla/Target/PTX/Printer.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/SCF/Transforms/Patterns.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "mlir/Transforms/DialectConversion.h"

namespace mlir::mla {
#define GEN_PASS_DEF_MLAWARPGROUPTONVVM
#include "mla/Conversion/Passes.h.inc"
} // namespace mlir::mla

using namespace mlir;
using namespace mlir::mla;
using wg::FragmentKind;
using wg::FragmentLayout;

/// Shared memory spaces of NVVM's pointers.
static constexpr unsigned kGlobal = 1, kShared = 3;
/// Bytes that one thread copies at once.
static constexpr int64_t kChunk = wg::bytesPerChunk;
static constexpr StringLiteral kSharedName = "mla_shared";

//===----------------------------------------------------------------------===//
// Types and places
//===----------------------------------------------------------------------===//

static wg::SharedTile getShared(wg::TileType type) {
  return wg::SharedTile(type.getShape()[0], type.getShape()[1],
                        type.getElementType().getIntOrFloatBitWidth(),
                        wg::Swizzle::Bytes128);
}

/// The elements that a thread holds; of an operand A as the 32-bit registers
/// that the matrix instruction takes.
static VectorType getVector(wg::FragmentType type) {
  int64_t elements = type.getElementsPerThread();
  if (type.getKind() != FragmentKind::OperandA)
    return VectorType::get(elements, type.getElementType());
  int64_t bits = elements * type.getElementType().getIntOrFloatBitWidth();
  return VectorType::get(bits / 32, IntegerType::get(type.getContext(), 32));
}

namespace {
struct ThreadTypes : TypeConverter {
  ThreadTypes() {
    addConversion([](Type type) { return type; });
    addConversion(
        [](wg::FragmentType type) -> Type { return getVector(type); });
    addConversion([](wg::PendingType type) -> Type {
      return getVector(type.getFragment());
    });
    addConversion([](wg::TileType type) -> Type {
      return IntegerType::get(type.getContext(), 32);
    });
  }
};

/// Integers of the thread's own, made once at the kernel's start.
struct ThreadIds {
  Value thread;    // index, in the block
  Value warpgroup; // i32, in the block
  Value row;       // index: first of the two rows, in the block
  Value column;    // index: first column, of the element part 0
  Value isFirstOfQuad;
};

/// Bytes from the start of shared memory, by the op that fills them.
using Places = DenseMap<Operation *, int64_t>;
} // namespace

/// Tiles of one block side by side; tiles of different loops share memory.
static int64_t place(Block &block, int64_t start, Places &places) {
  int64_t end = start, top = start;
  for (Operation &op : block) {
    if (isa<wg::LoadOp, wg::LoadPagesOp>(op)) {
      wg::SharedTile tile =
          getShared(cast<wg::TileType>(op.getResult(0).getType()));
      top = llvm::alignTo(top, tile.getAlignment());
      places[&op] = top;
      top += tile.getSizeInBytes();
      end = std::max(end, top);
    }
    for (Region &region : op.getRegions())
      for (Block &inner : region)
        end = std::max(end, place(inner, top, places));
  }
  return end;
}

static Value index(ImplicitLocOpBuilder &b, int64_t value) {
  return arith::ConstantIndexOp::create(b, value);
}

static Value add(ImplicitLocOpBuilder &b, Value value, int64_t offset) {
  return offset ? arith::AddIOp::create(b, value, index(b, offset)).getResult()
                : value;
}

static ThreadIds buildThreadIds(ImplicitLocOpBuilder &b) {
  ThreadIds ids;
  Value thread = NVVM::ThreadIdXOp::create(b, b.getI32Type());
  ids.thread = arith::IndexCastOp::create(b, b.getIndexType(), thread);
  auto divide = [&](Value value, int64_t by) {
    return arith::DivUIOp::create(b, value, index(b, by)).getResult();
  };
  auto modulo = [&](Value value, int64_t by) {
    return arith::RemUIOp::create(b, value, index(b, by)).getResult();
  };
  auto scale = [&](Value value, int64_t by) {
    return arith::MulIOp::create(b, value, index(b, by)).getResult();
  };
  // getThreadPart of Layouts.h.
  Value warp = divide(ids.thread, wg::threadsPerWarp);
  Value lane = modulo(ids.thread, wg::threadsPerWarp);
  Value rowInWarp = divide(lane, wg::threadsPerQuad);
  ids.row = arith::AddIOp::create(b, scale(warp, wg::rowsPerWarp), rowInWarp);
  Value inQuad = modulo(lane, wg::threadsPerQuad);
  ids.column = scale(inQuad, 2);
  ids.isFirstOfQuad =
      arith::CmpIOp::create(b, arith::CmpIPredicate::eq, inQuad, index(b, 0));
  // The same in all lanes of a warp, and known to be.
  Value number = divide(ids.thread, wg::threadsPerWarpgroup);
  ids.warpgroup = arith::IndexCastOp::create(b, b.getI32Type(), number);
  return ids;
}

//===----------------------------------------------------------------------===//
// Patterns
//===----------------------------------------------------------------------===//

namespace {
template <typename Op> struct ThreadPattern : OpConversionPattern<Op> {
  ThreadPattern(const TypeConverter &converter, MLIRContext *context,
                const ThreadIds &ids, const Places &places)
      : OpConversionPattern<Op>(converter, context), ids(ids), places(places) {}

  const ThreadIds &ids;
  const Places &places;
};

/// The start of a memref's data, in bytes, and its strides.
struct Source {
  Source(ImplicitLocOpBuilder &b, Value memref) : b(b) {
    auto type = cast<MemRefType>(memref.getType());
    bytes = type.getElementTypeBitWidth() / 8;
    auto data = memref::ExtractStridedMetadataOp::create(b, memref);
    strides = data.getConstifiedMixedStrides();
    base = memref::ExtractAlignedPointerAsIndexOp::create(b, memref);
    base = arith::AddIOp::create(
        b, base, scale(toValue(data.getConstifiedMixedOffset())));
    sizes = data.getConstifiedMixedSizes();
  }

  Value toValue(OpFoldResult value) {
    return getValueOrCreateConstantIndexOp(b, b.getLoc(), value);
  }
  Value scale(Value elements) {
    return arith::MulIOp::create(b, elements, index(b, bytes));
  }
  /// The address of an element.
  Value getPointer(ValueRange indices) {
    Value offset;
    for (auto [position, stride] : llvm::zip(indices, strides)) {
      Value part = arith::MulIOp::create(b, position, toValue(stride));
      offset =
          offset ? arith::AddIOp::create(b, offset, part).getResult() : part;
    }
    Value address = arith::AddIOp::create(b, base, scale(offset));
    Value bits = arith::IndexCastOp::create(b, b.getI64Type(), address);
    return LLVM::IntToPtrOp::create(
        b, LLVM::LLVMPointerType::get(b.getContext(), kGlobal), bits);
  }

  ImplicitLocOpBuilder &b;
  int64_t bytes;
  Value base;
  SmallVector<OpFoldResult> strides, sizes;
};

/// Copies a tile chunk by chunk: all threads, all their loads before the first
/// store. `getPointer` tells where the chunk of a row and a column is.
Value buildCopy(ImplicitLocOpBuilder &b, const ThreadIds &ids, int64_t place,
                wg::TileType type, int64_t threads, Value count,
                function_ref<Value(Value row, Value column)> getPointer) {
  wg::SharedTile tile = getShared(type);
  auto chunkType = VectorType::get(4, b.getI32Type());
  auto sharedPointer = LLVM::LLVMPointerType::get(b.getContext(), kShared);
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
    // getOffset of Layouts.h for a row and a chunk that are known at run time.
    int64_t chunksPerLine = tile.getPanelColumns() / perChunk;
    wg::ChunkPattern pattern = wg::getChunkPattern(tile.getSwizzle());
    Value panel = arith::DivUIOp::create(b, chunk, index(b, chunksPerLine));
    Value inLine = arith::RemUIOp::create(b, chunk, index(b, chunksPerLine));
    Value twist = arith::AndIOp::create(
        b, arith::ShRUIOp::create(b, row, index(b, pattern.shift)),
        index(b, pattern.mask));
    Value slot = arith::XOrIOp::create(b, inLine, twist);
    Value offset = arith::AddIOp::create(
        b, arith::MulIOp::create(b, panel, index(b, tile.getPanelStride())),
        arith::AddIOp::create(
            b,
            arith::MulIOp::create(b, row,
                                  index(b, wg::getWidth(tile.getSwizzle()))),
            arith::MulIOp::create(b, slot, index(b, kChunk))));
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

int64_t getThreads(Operation *op) {
  auto kernel = op->getParentOfType<LLVM::LLVMFuncOp>();
  return kernel->getAttrOfType<DenseI32ArrayAttr>(
      NVVM::NVVMDialect::getReqntidAttrName())[0];
}

struct LoadPattern : ThreadPattern<wg::LoadOp> {
  using ThreadPattern::ThreadPattern;
  LogicalResult
  matchAndRewrite(wg::LoadOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    ImplicitLocOpBuilder b(op.getLoc(), rewriter);
    Source source(b, adaptor.getSource());
    rewriter.replaceOp(op, buildCopy(b, ids, places.lookup(op),
                                     op.getTile().getType(), getThreads(op),
                                     adaptor.getCount(),
                                     [&](Value row, Value column) {
                                       return source.getPointer({row, column});
                                     }));
    return success();
  }
};

struct LoadPagesPattern : ThreadPattern<wg::LoadPagesOp> {
  using ThreadPattern::ThreadPattern;
  LogicalResult
  matchAndRewrite(wg::LoadPagesOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    ImplicitLocOpBuilder b(op.getLoc(), rewriter);
    Source cache(b, adaptor.getCache());
    Value zero = index(b, 0);
    Value pageSize = cache.toValue(cache.sizes[3]);
    rewriter.replaceOp(
        op,
        buildCopy(
            b, ids, places.lookup(op), op.getTile().getType(), getThreads(op),
            adaptor.getCount(), [&](Value row, Value column) {
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

struct ColumnsPattern : ThreadPattern<wg::ColumnsOp> {
  using ThreadPattern::ThreadPattern;
  LogicalResult
  matchAndRewrite(wg::ColumnsOp op, OpAdaptor adaptor,
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

/// The descriptor of a tile at an address.
Value buildDescriptor(ImplicitLocOpBuilder &b, const wg::SharedTile &tile,
                      wg::Major major, Value address) {
  Value masked = arith::AndIOp::create(
      b, address,
      arith::ConstantIntOp::create(b, wg::MatrixDescriptor::addressMask, 32));
  Value start =
      arith::ShRUIOp::create(b, masked, arith::ConstantIntOp::create(b, 4, 32));
  Value wide = arith::ExtUIOp::create(b, b.getI64Type(), start);
  Value constant = arith::ConstantOp::create(
      b,
      b.getIntegerAttr(b.getI64Type(),
                       static_cast<int64_t>(
                           wg::MatrixDescriptor::get(tile, major).encode())));
  return arith::AddIOp::create(b, wide, constant);
}

/// Calls an inline assembly and returns its results as scalars.
SmallVector<Value> buildAsm(ImplicitLocOpBuilder &b, const ptx::InlineAsm &code,
                            ValueRange arguments) {
  SmallVector<Type> types =
      llvm::map_to_vector(code.results, [&](ptx::Reg reg) -> Type {
        return reg == ptx::Reg::F32 ? Type(b.getF32Type())
                                    : Type(b.getI32Type());
      });
  Type result =
      types.size() == 1
          ? types.front()
          : Type(LLVM::LLVMStructType::getLiteral(b.getContext(), types));
  auto call = LLVM::InlineAsmOp::create(
      b, result, arguments, code.text, code.constraints,
      /*has_side_effects=*/true, /*is_align_stack=*/false,
      LLVM::tailcallkind::TailCallKind::None,
      LLVM::AsmDialectAttr::get(b.getContext(), LLVM::AsmDialect::AD_ATT),
      /*operand_attrs=*/ArrayAttr());
  if (types.size() == 1)
    return {call.getResult(0)};
  SmallVector<Value> values;
  for (size_t i = 0; i < types.size(); ++i)
    values.push_back(LLVM::ExtractValueOp::create(b, call.getResult(0), i));
  return values;
}

SmallVector<Value> extractAll(ImplicitLocOpBuilder &b, Value vector) {
  SmallVector<Value> values;
  int64_t size = cast<VectorType>(vector.getType()).getNumElements();
  for (int64_t i = 0; i < size; ++i)
    values.push_back(vector::ExtractOp::create(b, vector, i));
  return values;
}

Value combine(ImplicitLocOpBuilder &b, VectorType type, ValueRange values) {
  return vector::FromElementsOp::create(b, type, values);
}

wg::OperandType getOperandType(Type element) {
  return element.isBF16() ? wg::OperandType::BF16 : wg::OperandType::F16;
}

struct MmaPattern : ThreadPattern<wg::MmaOp> {
  using ThreadPattern::ThreadPattern;
  LogicalResult
  matchAndRewrite(wg::MmaOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    ImplicitLocOpBuilder b(op.getLoc(), rewriter);
    wg::FragmentType result = op.getResult().getType().getFragment();
    wg::TileType bType = op.getB().getType();
    wg::SharedTile bTile = getShared(bType);
    ptx::WgmmaGroup group;
    group.instruction.n = result.getShape()[1];
    group.instruction.a = group.instruction.b =
        getOperandType(bType.getElementType());
    group.instruction.bMajor =
        op.getTransposed() ? wg::Major::K : wg::Major::MN;
    group.bOffsets = wg::getStepOffsets(bTile, group.instruction.bMajor);
    group.accumulate = !!op.getAcc();
    SmallVector<Value> arguments;
    if (op.getAcc())
      arguments = extractAll(b, adaptor.getAcc());
    if (auto aType = dyn_cast<wg::TileType>(op.getA().getType())) {
      wg::SharedTile aTile = getShared(aType);
      group.aOffsets = wg::getStepOffsets(aTile, wg::Major::K);
      // Each warpgroup has 64 rows of A.
      Value rows = arith::MulIOp::create(
          b, ids.warpgroup,
          arith::ConstantIntOp::create(
              b, aTile.getRowOffset(wg::rowsPerWarpgroup), 32));
      Value address = arith::AddIOp::create(b, adaptor.getA(), rows);
      arguments.push_back(buildDescriptor(b, aTile, wg::Major::K, address));
    } else {
      llvm::append_range(arguments, extractAll(b, adaptor.getA()));
    }
    arguments.push_back(
        buildDescriptor(b, bTile, group.instruction.bMajor, adaptor.getB()));
    if (std::optional<std::string> problem = group.findProblem())
      return op.emitOpError() << *problem;
    rewriter.replaceOp(
        op, combine(b, getVector(result),
                    buildAsm(b, ptx::printWgmmaGroup(group), arguments)));
    return success();
  }
};

struct WaitPattern : ThreadPattern<wg::WaitOp> {
  using ThreadPattern::ThreadPattern;
  LogicalResult
  matchAndRewrite(wg::WaitOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    ImplicitLocOpBuilder b(op.getLoc(), rewriter);
    SmallVector<Value> values = extractAll(b, adaptor.getProduct());
    SmallVector<ptx::Reg> registers(values.size(), ptx::Reg::F32);
    rewriter.replaceOp(
        op, combine(b, getVector(op.getFragment().getType()),
                    buildAsm(b, ptx::printWgmmaWait(0, registers), values)));
    return success();
  }
};

struct SplatPattern : ThreadPattern<wg::SplatOp> {
  using ThreadPattern::ThreadPattern;
  LogicalResult
  matchAndRewrite(wg::SplatOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    rewriter.replaceOpWithNewOp<vector::BroadcastOp>(
        op, getVector(op.getFragment().getType()), adaptor.getValue());
    return success();
  }
};

/// A body's value for block arguments `arguments`.
Value inlineBody(ImplicitLocOpBuilder &b, Region &body, ValueRange arguments) {
  IRMapping mapping;
  mapping.map(body.getArguments(), arguments);
  for (Operation &op : body.front().without_terminator())
    b.clone(op, mapping);
  return mapping.lookupOrDefault(body.front().getTerminator()->getOperand(0));
}

struct MapPattern : ThreadPattern<wg::MapOp> {
  using ThreadPattern::ThreadPattern;
  LogicalResult
  matchAndRewrite(wg::MapOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    ImplicitLocOpBuilder b(op.getLoc(), rewriter);
    wg::FragmentType type = op.getResult().getType();
    bool isRow = type.getKind() == FragmentKind::Row;
    std::optional<FragmentLayout> layout;
    if (!isRow)
      layout = FragmentLayout::getAccumulator(type.getWarpgroups(),
                                              type.getShape()[1]);
    SmallVector<SmallVector<Value>> inputs;
    for (Value input : adaptor.getInputs())
      inputs.push_back(extractAll(b, input));
    SmallVector<Value> results;
    for (int64_t e = 0; e < type.getElementsPerThread(); ++e) {
      int64_t half = isRow ? e : layout->getRowOfThread(e);
      SmallVector<Value> arguments;
      for (auto [input, values] : llvm::zip(op.getInputs(), inputs)) {
        bool row = cast<wg::FragmentType>(input.getType()).getKind() ==
                   FragmentKind::Row;
        arguments.push_back(values[row ? half : e]);
      }
      wg::Position part =
          isRow ? wg::Position{8 * e, 0} : layout->getElementPart(e);
      arguments.push_back(add(b, ids.row, part.row));
      arguments.push_back(isRow ? index(b, 0)
                                : add(b, ids.column, part.column));
      results.push_back(inlineBody(b, op.getBody(), arguments));
    }
    rewriter.replaceOp(op, combine(b, getVector(type), results));
    return success();
  }
};

struct ReducePattern : ThreadPattern<wg::ReduceOp> {
  using ThreadPattern::ThreadPattern;
  LogicalResult
  matchAndRewrite(wg::ReduceOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    ImplicitLocOpBuilder b(op.getLoc(), rewriter);
    wg::FragmentType input = op.getInput().getType();
    if (!input.getElementType().isF32())
      return op.emitOpError("only f32 is exchanged between threads");
    auto layout = FragmentLayout::getAccumulator(input.getWarpgroups(),
                                                 input.getShape()[1]);
    SmallVector<Value> results(2);
    // In the thread.
    for (auto [e, value] : llvm::enumerate(extractAll(b, adaptor.getInput()))) {
      Value &sum = results[layout.getRowOfThread(e)];
      sum = sum ? inlineBody(b, op.getBody(), {value, sum}) : value;
    }
    // Across the quad, and with what was there.
    Value all = arith::ConstantIntOp::create(b, -1, 32);
    Value clamp = arith::ConstantIntOp::create(b, 31, 32);
    SmallVector<Value> inits = extractAll(b, adaptor.getInit());
    for (auto [sum, init] : llvm::zip(results, inits)) {
      for (int64_t distance : {1, 2}) {
        Value mask = arith::ConstantIntOp::create(b, distance, 32);
        Value other = NVVM::ShflOp::create(
            b, b.getF32Type(), all, sum, mask, clamp, NVVM::ShflKind::bfly,
            /*return_value_and_is_valid=*/nullptr);
        sum = inlineBody(b, op.getBody(), {other, sum});
      }
      sum = inlineBody(b, op.getBody(), {sum, init});
    }
    rewriter.replaceOp(
        op, combine(b, getVector(op.getResult().getType()), results));
    return success();
  }
};

struct OperandAPattern : ThreadPattern<wg::OperandAOp> {
  using ThreadPattern::ThreadPattern;
  LogicalResult
  matchAndRewrite(wg::OperandAOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    // Neighbours share a register; the order is the accumulator's already
    // (isSamePlacement of Layouts.h).
    rewriter.replaceOpWithNewOp<vector::BitCastOp>(
        op, getVector(op.getFragment().getType()), adaptor.getSource());
    return success();
  }
};

struct StorePattern : ThreadPattern<wg::StoreOp> {
  using ThreadPattern::ThreadPattern;
  LogicalResult
  matchAndRewrite(wg::StoreOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    ImplicitLocOpBuilder b(op.getLoc(), rewriter);
    wg::FragmentType type = op.getFragment().getType();
    bool isRow = type.getKind() == FragmentKind::Row;
    Source dest(b, adaptor.getDest());
    SmallVector<Value> values = extractAll(b, adaptor.getFragment());
    for (int64_t half : {0, 1}) {
      Value row = add(b, ids.row, 8 * half);
      Value exists = arith::CmpIOp::create(b, arith::CmpIPredicate::ult, row,
                                           adaptor.getCount());
      if (isRow)
        exists = arith::AndIOp::create(b, exists, ids.isFirstOfQuad);
      auto branch = scf::IfOp::create(b, exists);
      OpBuilder::InsertionGuard guard(b);
      b.setInsertionPointToStart(branch.thenBlock());
      if (isRow) {
        LLVM::StoreOp::create(b, values[half], dest.getPointer(row));
        continue;
      }
      auto layout = FragmentLayout::getAccumulator(type.getWarpgroups(),
                                                   type.getShape()[1]);
      auto pair = VectorType::get(2, type.getElementType());
      for (size_t e = 0; e < values.size(); e += 2) {
        if (layout.getRowOfThread(e) != half)
          continue;
        Value column = add(b, ids.column, layout.getElementPart(e).column);
        LLVM::StoreOp::create(b, combine(b, pair, {values[e], values[e + 1]}),
                              dest.getPointer({row, column}),
                              type.getElementType().getIntOrFloatBitWidth() /
                                  8);
      }
    }
    rewriter.eraseOp(op);
    return success();
  }
};

//===----------------------------------------------------------------------===//
// The pass
//===----------------------------------------------------------------------===//

struct WarpgroupToNVVM : mla::impl::MLAWarpgroupToNVVMBase<WarpgroupToNVVM> {
  void runOnOperation() override {
    for (auto kernel : getOperation().getOps<LLVM::LLVMFuncOp>()) {
      // One that was lowered before stays as it is.
      WalkResult walk = kernel.walk([](Operation *op) {
        return isa_and_present<wg::WGDialect>(op->getDialect())
                   ? WalkResult::interrupt()
                   : WalkResult::advance();
      });
      if (walk.wasInterrupted() && failed(lower(kernel)))
        return signalPassFailure();
    }
  }

  LogicalResult lower(LLVM::LLVMFuncOp kernel) {
    if (!kernel->hasAttr(NVVM::NVVMDialect::getReqntidAttrName()))
      return kernel.emitOpError("expected the attribute '")
             << NVVM::NVVMDialect::getReqntidAttrName()
             << "', the threads of a block";
    MLIRContext *context = &getContext();
    Places places;
    int64_t bytes = place(kernel.getBody().front(), 0, places);
    ImplicitLocOpBuilder b(kernel.getLoc(), context);
    if (!getOperation().lookupSymbol(kSharedName)) {
      b.setInsertionPointToStart(getOperation().getBody());
      LLVM::GlobalOp::create(b, LLVM::LLVMArrayType::get(b.getI8Type(), 0),
                             /*isConstant=*/false, LLVM::Linkage::External,
                             kSharedName, Attribute(),
                             /*alignment=*/1024, kShared);
    }
    kernel->setAttr("mla.shared_bytes", b.getI64IntegerAttr(bytes));
    b.setInsertionPointToStart(&kernel.getBody().front());
    ThreadIds ids = buildThreadIds(b);

    ThreadTypes types;
    RewritePatternSet patterns(context);
    patterns.add<LoadPattern, LoadPagesPattern, ColumnsPattern, MmaPattern,
                 WaitPattern, SplatPattern, MapPattern, ReducePattern,
                 OperandAPattern, StorePattern>(types, context, ids, places);
    ConversionTarget target(*context);
    target.addIllegalDialect<wg::WGDialect>();
    target.markUnknownOpDynamicallyLegal([](Operation *) { return true; });
    scf::populateSCFStructuralTypeConversionsAndLegality(types, patterns,
                                                         target);
    return applyPartialConversion(kernel, target, std::move(patterns));
  }
};
} // namespace
