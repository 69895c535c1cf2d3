//===- TileOps.cpp - mla.locate and mla.gather_pages -*- C++ -*-===//
//
// Part of the MLA project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "mla/Dialect/MLA/IR/MLA.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace mlir::mla;

Value mla::castToIndex(OpBuilder &builder, Location loc, Value integer) {
  Type type = integer.getType();
  if (type.isIndex())
    return integer;
  if (!type.isUnsignedInteger())
    return arith::IndexCastOp::create(builder, loc, builder.getIndexType(),
                                      integer);
  // arith has signless integers only; the cast folds away in LLVM.
  Type signless = builder.getIntegerType(type.getIntOrFloatBitWidth());
  Value bits =
      UnrealizedConversionCastOp::create(builder, loc, signless, integer)
          .getResult(0);
  return arith::IndexCastUIOp::create(builder, loc, builder.getIndexType(),
                                      bits);
}

void LocateOp::getEffects(
    SmallVectorImpl<SideEffects::EffectInstance<MemoryEffects::Effect>>
        &effects) {
  if (isa<MemRefType>(getOffsets().getType()))
    effects.emplace_back(MemoryEffects::Read::get(), &getOffsetsMutable());
}

LogicalResult GatherPagesOp::verify() {
  auto cache = cast<ShapedType>(getCache().getType());
  auto dest = cast<ShapedType>(getDest().getType());
  bool tensors = isa<RankedTensorType>(cache);
  for (Type type : {Type(getTable().getType()), Type(dest)})
    if (isa<RankedTensorType>(type) != tensors)
      return emitOpError() << "expected all tensors or all memrefs, got "
                           << cache << " and " << type;
  if (tensors ? !getResult() || getResult().getType() != dest : !!getResult())
    return emitOpError() << "expected "
                         << (tensors ? "one result of the destination's type"
                                     : "no result on memrefs");
  if (cache.getRank() != 6)
    return emitOpError() << "'cache': expected rank 6, got " << cache;
  if (dest.getRank() != 2 || dest.isDynamicDim(1))
    return emitOpError() << "'dest': expected rank 2 and a static width, got "
                         << dest;
  if (cache.isDynamicDim(5) ||
      static_cast<int64_t>(getColumn()) + dest.getDimSize(1) >
          cache.getDimSize(5))
    return emitOpError() << "'column': expected " << dest.getDimSize(1)
                         << " columns from " << getColumn()
                         << " to lie inside the cache's row, got " << cache;
  auto from = dyn_cast<FloatType>(cache.getElementType());
  auto to = dyn_cast<FloatType>(dest.getElementType());
  if (!from || !to || (from != to && from.getWidth() >= to.getWidth()))
    return emitOpError() << "'dest': expected " << cache.getElementType()
                         << " or a wider float, got " << dest.getElementType();
  return success();
}
