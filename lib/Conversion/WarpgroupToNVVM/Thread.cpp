//===- Thread.cpp - What one thread knows of a kernel -*- C++ -*-===//
//
// Part of the MLA project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Thread.h"

#include "mla/Conversion/KernelAttrs.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace mlir::mla;
using namespace mlir::mla::wg;

//===----------------------------------------------------------------------===//
// Types and places
//===----------------------------------------------------------------------===//

SharedTile wg::getShared(TileType type) {
  return SharedTile(type.getShape()[0], type.getShape()[1],
                    type.getElementType().getIntOrFloatBitWidth(),
                    Swizzle::Bytes128);
}

VectorType wg::getVector(FragmentType type) {
  int64_t elements = type.getElementsPerThread();
  if (type.getKind() != FragmentKind::OperandA)
    return VectorType::get(elements, type.getElementType());
  int64_t bits = elements * type.getElementType().getIntOrFloatBitWidth();
  return VectorType::get(bits / 32, IntegerType::get(type.getContext(), 32));
}

ThreadTypes::ThreadTypes() {
  addConversion([](Type type) { return type; });
  addConversion([](FragmentType type) -> Type { return getVector(type); });
  addConversion(
      [](PendingType type) -> Type { return getVector(type.getFragment()); });
  addConversion([](TileType type) -> Type {
    return IntegerType::get(type.getContext(), 32);
  });
}

const ThreadIds &KernelFacts::getIds(Operation *op) const {
  Block *block = op->getBlock();
  while (!roles.contains(block))
    block = block->getParentOp()->getBlock();
  return roles.find(block)->second;
}

ThreadIds wg::buildThreadIds(ImplicitLocOpBuilder &b, Value thread) {
  ThreadIds ids;
  ids.thread = arith::IndexCastUIOp::create(b, b.getIndexType(), thread);
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
  // The warp is the same in all its lanes, and known to be.
  auto constant = [&](int64_t value) {
    return arith::ConstantIntOp::create(b, value, 32);
  };
  Value number = NVVM::ShflOp::create(
      b, b.getI32Type(), constant(-1),
      arith::DivUIOp::create(b, thread, constant(threadsPerWarp)), constant(0),
      constant(31), NVVM::ShflKind::idx, /*return_value_and_is_valid=*/nullptr);
  ids.warpgroup = arith::DivUIOp::create(
      b, number, constant(threadsPerWarpgroup / threadsPerWarp));
  Value warp = arith::IndexCastUIOp::create(b, b.getIndexType(), number);
  Value lane = modulo(ids.thread, threadsPerWarp);
  Value rowInWarp = divide(lane, threadsPerQuad);
  ids.row = arith::AddIOp::create(b, scale(warp, rowsPerWarp), rowInWarp);
  Value inQuad = modulo(lane, threadsPerQuad);
  ids.column = scale(inQuad, 2);
  return ids;
}

//===----------------------------------------------------------------------===//
// Building
//===----------------------------------------------------------------------===//

Value wg::index(ImplicitLocOpBuilder &b, int64_t value) {
  return arith::ConstantIndexOp::create(b, value);
}

Value wg::add(ImplicitLocOpBuilder &b, Value value, int64_t offset) {
  return offset ? arith::AddIOp::create(b, value, index(b, offset)).getResult()
                : value;
}

Source::Source(ImplicitLocOpBuilder &b, Value memref) : b(b) {
  auto type = cast<MemRefType>(memref.getType());
  bytes = type.getElementTypeBitWidth() / 8;
  auto data = memref::ExtractStridedMetadataOp::create(b, memref);
  strides = data.getConstifiedMixedStrides();
  base = memref::ExtractAlignedPointerAsIndexOp::create(b, memref);
  base = arith::AddIOp::create(b, base,
                               scale(toValue(data.getConstifiedMixedOffset())));
  sizes = data.getConstifiedMixedSizes();
}

Value Source::toValue(OpFoldResult value) {
  return getValueOrCreateConstantIndexOp(b, b.getLoc(), value);
}

Value Source::scale(Value elements) {
  return arith::MulIOp::create(b, elements, index(b, bytes));
}

Value Source::getPointer(ValueRange indices) {
  Value offset;
  for (auto [position, stride] : llvm::zip(indices, strides)) {
    Value part = arith::MulIOp::create(b, position, toValue(stride));
    offset = offset ? arith::AddIOp::create(b, offset, part).getResult() : part;
  }
  Value address = arith::AddIOp::create(b, base, scale(offset));
  Value bits = arith::IndexCastOp::create(b, b.getI64Type(), address);
  return LLVM::IntToPtrOp::create(
      b, LLVM::LLVMPointerType::get(b.getContext(), kGlobalSpace), bits);
}

Value wg::buildChunkOffset(ImplicitLocOpBuilder &b, const SharedTile &tile,
                           Value row, Value chunk) {
  int64_t chunksPerLine = getWidth(tile.getSwizzle()) / bytesPerChunk;
  ChunkPattern pattern = getChunkPattern(tile.getSwizzle());
  Value panel = arith::DivUIOp::create(b, chunk, index(b, chunksPerLine));
  Value inLine = arith::RemUIOp::create(b, chunk, index(b, chunksPerLine));
  Value twist = arith::AndIOp::create(
      b, arith::ShRUIOp::create(b, row, index(b, pattern.shift)),
      index(b, pattern.mask));
  Value slot = arith::XOrIOp::create(b, inLine, twist);
  return arith::AddIOp::create(
      b, arith::MulIOp::create(b, panel, index(b, tile.getPanelStride())),
      arith::AddIOp::create(
          b,
          arith::MulIOp::create(b, row, index(b, getWidth(tile.getSwizzle()))),
          arith::MulIOp::create(b, slot, index(b, bytesPerChunk))));
}

void wg::declareShared(ImplicitLocOpBuilder &b, gpu::GPUModuleOp module) {
  if (module.lookupSymbol(kSharedName))
    return;
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(module.getBody());
  LLVM::GlobalOp::create(
      b, LLVM::LLVMArrayType::get(b.getI8Type(), 0),
      /*isConstant=*/false, LLVM::Linkage::External, kSharedName, Attribute(),
      /*alignment=*/getPeriod(Swizzle::Bytes128), kSharedSpace);
}

SmallVector<Value> wg::buildAsm(ImplicitLocOpBuilder &b,
                                const ptx::InlineAsm &code,
                                ValueRange arguments) {
  SmallVector<Type> types =
      llvm::map_to_vector(code.results, [&](ptx::Reg reg) -> Type {
        return reg == ptx::Reg::F32 ? Type(b.getF32Type())
                                    : Type(b.getI32Type());
      });
  // Several results are one struct.
  SmallVector<Type> results = types;
  if (types.size() > 1)
    results = {LLVM::LLVMStructType::getLiteral(b.getContext(), types)};
  auto call = LLVM::InlineAsmOp::create(
      b, results, arguments, code.text, code.constraints,
      /*has_side_effects=*/true, /*is_align_stack=*/false,
      LLVM::tailcallkind::TailCallKind::None,
      LLVM::AsmDialectAttr::get(b.getContext(), LLVM::AsmDialect::AD_ATT),
      /*operand_attrs=*/ArrayAttr());
  if (types.size() <= 1)
    return llvm::to_vector_of<Value>(call->getResults());
  SmallVector<Value> values;
  for (size_t i = 0; i < types.size(); ++i)
    values.push_back(LLVM::ExtractValueOp::create(b, call.getResult(0), i));
  return values;
}

SmallVector<Value> wg::extractAll(ImplicitLocOpBuilder &b, Value vector) {
  SmallVector<Value> values;
  int64_t size = cast<VectorType>(vector.getType()).getNumElements();
  for (int64_t i = 0; i < size; ++i)
    values.push_back(vector::ExtractOp::create(b, vector, i));
  return values;
}

Value wg::combine(ImplicitLocOpBuilder &b, VectorType type, ValueRange values) {
  return vector::FromElementsOp::create(b, type, values);
}
