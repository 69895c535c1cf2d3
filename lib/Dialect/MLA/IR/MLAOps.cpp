//===- MLAOps.cpp - mla.prefill: syntax, verifier, folds -*- C++ -*-===//
//
// Part of the MLA project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "mla/Dialect/MLA/IR/MLA.h"

#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/IR/PatternMatch.h"

using namespace mlir;
using namespace mlir::mla;

//===----------------------------------------------------------------------===//
// Syntax of the rope operand: pages(...) or rope(...)
//===----------------------------------------------------------------------===//

using UnresolvedOperand = OpAsmParser::UnresolvedOperand;

static ParseResult
parseRopeSource(OpAsmParser &parser, std::optional<UnresolvedOperand> &kvBlocks,
                std::optional<UnresolvedOperand> &lookupTable,
                std::optional<UnresolvedOperand> &kRope,
                std::optional<UnresolvedOperand> &cacheLengths,
                std::optional<UnresolvedOperand> &layerIdx) {
  auto operand = [&](std::optional<UnresolvedOperand> &result) {
    return parser.parseOperand(result.emplace());
  };
  if (succeeded(parser.parseOptionalKeyword("pages")))
    return failure(
        parser.parseLParen() || operand(kvBlocks) || parser.parseComma() ||
        operand(lookupTable) || parser.parseComma() || operand(cacheLengths) ||
        parser.parseComma() || operand(layerIdx) || parser.parseRParen());
  if (failed(parser.parseOptionalKeyword("rope")))
    return parser.emitError(parser.getCurrentLocation(),
                            "expected 'pages' or 'rope'");
  if (parser.parseLParen() || operand(kRope))
    return failure();
  if (succeeded(parser.parseOptionalComma()) && operand(cacheLengths))
    return failure();
  return parser.parseRParen();
}

static void printRopeSource(OpAsmPrinter &printer, PrefillOp, Value kvBlocks,
                            Value lookupTable, Value kRope, Value cacheLengths,
                            Value layerIdx) {
  if (kvBlocks) {
    printer << "pages(" << kvBlocks << ", " << lookupTable << ", "
            << cacheLengths << ", " << layerIdx << ")";
    return;
  }
  printer << "rope(" << kRope;
  if (cacheLengths)
    printer << ", " << cacheLengths;
  printer << ")";
}

#define GET_OP_CLASSES
#include "mla/Dialect/MLA/IR/MLAOps.cpp.inc"

//===----------------------------------------------------------------------===//
// Verifier
//===----------------------------------------------------------------------===//

namespace {
/// One dimension of one operand, for messages such as "'k' has 4".
struct Extent {
  StringRef name;
  Value operand;
  int64_t dim;
  /// Added to the extent: offsets have one entry more than sequences.
  int64_t bias = 0;
};
} // namespace

static ShapedType shaped(Value value) {
  return cast<ShapedType>(value.getType());
}

/// All given extents that are static have to be equal.
static LogicalResult verifyEqual(PrefillOp op, StringRef label, StringRef what,
                                 ArrayRef<Extent> extents) {
  const Extent *known = nullptr;
  int64_t size = 0;
  for (const Extent &extent : extents) {
    if (!extent.operand || shaped(extent.operand).isDynamicDim(extent.dim))
      continue;
    int64_t here = shaped(extent.operand).getDimSize(extent.dim) + extent.bias;
    if (known && here != size)
      return op.emitOpError()
             << label << ": " << what << ": '" << known->name << "' has "
             << size << ", '" << extent.name << "' has " << here;
    known = &extent;
    size = here;
  }
  return success();
}

LogicalResult PrefillOp::verify() {
  struct Named {
    StringRef name;
    Value value;
    int64_t rank;
  };
  const Named floats[] = {
      {"q", getQ(), 3},          {"k", getK(), 3},
      {"v", getV(), 3},          {"kv_blocks", getKvBlocks(), 6},
      {"k_rope", getKRope(), 2}, {"output", getOutput(), 3},
      {"lse", getLse(), 2}};
  const Named indices[] = {{"input_row_offsets", getInputRowOffsets(), 1},
                           {"buffer_row_offsets", getBufferRowOffsets(), 1},
                           {"cache_offsets", getCacheOffsets(), 1},
                           {"lookup_table", getLookupTable(), 2},
                           {"cache_lengths", getCacheLengths(), 1}};

  // MLA-V8. First, since nothing else can be said of half a group.
  bool paged = getKvBlocks() && getLookupTable() && getLayerIdx() &&
               getCacheLengths() && !getKRope();
  bool ragged =
      getKRope() && !getKvBlocks() && !getLookupTable() && !getLayerIdx();
  if (!paged && !ragged)
    return emitOpError("MLA-V8: expected either kv_blocks, lookup_table, "
                       "cache_lengths and layer_idx, or k_rope");

  // MLA-V1.
  bool tensors = hasTensors();
  auto verifyKind = [&](const Named &operand) -> LogicalResult {
    if (operand.value &&
        isa<RankedTensorType>(operand.value.getType()) != tensors)
      return emitOpError() << "MLA-V1: '" << operand.name << "': expected a "
                           << (tensors ? "tensor" : "memref") << " as 'q', got "
                           << operand.value.getType();
    return success();
  };
  for (const Named &operand : llvm::concat<const Named>(floats, indices))
    if (failed(verifyKind(operand)))
      return failure();
  for (Value parameter : getMaskParameters())
    if (isa<ShapedType>(parameter.getType()) &&
        failed(verifyKind({"mask_parameters", parameter, 1})))
      return failure();
  size_t expectedResults = tensors ? (getLse() ? 2 : 1) : 0;
  if (getNumResults() != expectedResults)
    return emitOpError() << "MLA-V1: expected " << expectedResults
                         << " results, got " << getNumResults();
  for (auto [result, init] : llvm::zip(getResultTypes(), getDpsInits()))
    if (result != init.getType())
      return emitOpError() << "MLA-V1: expected a result of type "
                           << init.getType() << " as its destination, got "
                           << result;

  // MLA-V2.
  for (const Named &operand : floats)
    if (operand.value && shaped(operand.value).getRank() != operand.rank)
      return emitOpError() << "MLA-V2: '" << operand.name << "': expected rank "
                           << operand.rank << ", got "
                           << operand.value.getType();

  // MLA-V3.
  Type element = shaped(getQ()).getElementType();
  for (const Named &operand : floats) {
    if (!operand.value)
      continue;
    Type type = shaped(operand.value).getElementType();
    if (isa<Float8E4M3FNType>(type))
      return emitOpError() << "MLA-V3: '" << operand.name
                           << "': f8E4M3FN is not supported yet";
    bool isLse = operand.name == "lse";
    if (isLse ? !type.isF32()
              : !type.isF32() && !type.isBF16() && !type.isF16())
      return emitOpError() << "MLA-V3: '" << operand.name << "': expected "
                           << (isLse ? "f32" : "bf16, f16 or f32") << ", got "
                           << type;
  }
  for (const Named &operand : {floats[1], floats[2]})
    if (shaped(operand.value).getElementType() != element)
      return emitOpError() << "MLA-V3: '" << operand.name << "': expected "
                           << element << " as 'q', got "
                           << shaped(operand.value).getElementType();

  // MLA-V4.
  auto verifyWidth = [&](StringRef name, Value value) -> LogicalResult {
    if (!value)
      return success();
    int64_t width = shaped(value).getShape().back();
    if (ShapedType::isDynamic(width) || width == 0)
      return emitOpError() << "MLA-V4: '" << name
                           << "': expected a static, positive last extent, got "
                           << value.getType();
    return success();
  };
  for (const Named &operand : ArrayRef(floats).drop_back())
    if (failed(verifyWidth(operand.name, operand.value)))
      return failure();
  if (failed(verifyEqual(*this, "MLA-V4", "heads",
                         {{"q", getQ(), 1},
                          {"k", getK(), 1},
                          {"v", getV(), 1},
                          {"output", getOutput(), 1},
                          {"lse", getLse(), 1}})))
    return failure();

  // MLA-V5.
  int64_t dq = shaped(getQ()).getDimSize(2), dn = shaped(getK()).getDimSize(2);
  int64_t dr = dq - dn;
  if (dr <= 0)
    return emitOpError() << "MLA-V5: expected 'q' to be wider than 'k', got "
                         << dq << " and " << dn << " columns";
  if (paged && shaped(getKvBlocks()).getDimSize(5) < dr)
    return emitOpError() << "MLA-V5: 'kv_blocks': expected rows of at least "
                         << dr << " columns, got "
                         << shaped(getKvBlocks()).getDimSize(5);
  if (ragged && shaped(getKRope()).getDimSize(1) != dr)
    return emitOpError() << "MLA-V5: 'k_rope': expected " << dr
                         << " columns, got "
                         << shaped(getKRope()).getDimSize(1);
  if (failed(verifyEqual(*this, "MLA-V5", "value width",
                         {{"v", getV(), 2}, {"output", getOutput(), 2}})))
    return failure();

  // MLA-V6.
  if (failed(verifyEqual(*this, "MLA-V6", "query tokens",
                         {{"q", getQ(), 0},
                          {"output", getOutput(), 0},
                          {"lse", getLse(), 0}})) ||
      failed(verifyEqual(
          *this, "MLA-V6", "buffer rows",
          {{"k", getK(), 0}, {"v", getV(), 0}, {"k_rope", getKRope(), 0}})))
    return failure();
  SmallVector<Extent> sequences{
      {"input_row_offsets", getInputRowOffsets(), 0, -1},
      {"buffer_row_offsets", getBufferRowOffsets(), 0, -1},
      {"lookup_table", getLookupTable(), 0},
      {"cache_lengths", getCacheLengths(), 0}};
  for (Value parameter : getMaskParameters())
    if (isa<ShapedType>(parameter.getType()))
      sequences.push_back({"mask_parameters", parameter, 0});
  if (failed(verifyEqual(*this, "MLA-V6", "sequences", sequences)))
    return failure();
  // cache_offsets may have one entry more than there are sequences.
  int64_t offsets = shaped(getInputRowOffsets()).getDimSize(0);
  if (getCacheOffsets() && !ShapedType::isDynamic(offsets)) {
    int64_t entries = shaped(getCacheOffsets()).getDimSize(0);
    if (!ShapedType::isDynamic(entries) && entries != offsets &&
        entries != offsets - 1)
      return emitOpError() << "MLA-V6: sequences: 'input_row_offsets' has "
                           << offsets - 1 << ", 'cache_offsets' has " << entries
                           << " entries";
  }

  // MLA-V7.
  if (paged)
    for (int64_t dim : {1, 4})
      if (shaped(getKvBlocks()).getDimSize(dim) != 1)
        return emitOpError() << "MLA-V7: 'kv_blocks': expected extent " << dim
                             << " to be 1, got " << getKvBlocks().getType();

  // MLA-V9.
  if (getMask().getNumParameters() != getMaskParameters().size())
    return emitOpError() << "MLA-V9: " << getMask() << " takes "
                         << getMask().getNumParameters() << " parameters, got "
                         << getMaskParameters().size();

  // MLA-V10.
  if (!tensors)
    for (const Named &operand : floats)
      if (operand.value && operand.name != "lse" &&
          !cast<MemRefType>(operand.value.getType()).isLastDimUnitStride())
        return emitOpError() << "MLA-V10: '" << operand.name
                             << "': expected a last dimension of stride 1, got "
                             << operand.value.getType();
  return success();
}

//===----------------------------------------------------------------------===//
// Interfaces
//===----------------------------------------------------------------------===//

/// What a destination-style op on memrefs does to memory: it reads its inputs,
/// and reads (rows it leaves alone) and writes its destinations.
static void getDestinationStyleEffects(
    DestinationStyleOpInterface op,
    SmallVectorImpl<SideEffects::EffectInstance<MemoryEffects::Effect>>
        &effects) {
  for (OpOperand &operand : op->getOpOperands()) {
    if (!isa<MemRefType>(operand.get().getType()))
      continue;
    effects.emplace_back(MemoryEffects::Read::get(), &operand);
    if (op.isDpsInit(&operand))
      effects.emplace_back(MemoryEffects::Write::get(), &operand);
  }
}

void PrefillOp::getEffects(
    SmallVectorImpl<SideEffects::EffectInstance<MemoryEffects::Effect>>
        &effects) {
  getDestinationStyleEffects(*this, effects);
}

void GatherPagesOp::getEffects(
    SmallVectorImpl<SideEffects::EffectInstance<MemoryEffects::Effect>>
        &effects) {
  getDestinationStyleEffects(*this, effects);
}

/// The extents of a result are those of its destination.
static LogicalResult
reifyDestinationShapes(DestinationStyleOpInterface op, OpBuilder &builder,
                       ReifiedRankedShapedTypeDims &shapes) {
  for (OpResult result : op->getResults())
    shapes.push_back(tensor::getMixedSizes(builder, op.getLoc(),
                                           op.getTiedOpOperand(result)->get()));
  return success();
}

LogicalResult
PrefillOp::reifyResultShapes(OpBuilder &builder,
                             ReifiedRankedShapedTypeDims &shapes) {
  return reifyDestinationShapes(*this, builder, shapes);
}

LogicalResult
GatherPagesOp::reifyResultShapes(OpBuilder &builder,
                                 ReifiedRankedShapedTypeDims &shapes) {
  return reifyDestinationShapes(*this, builder, shapes);
}

//===----------------------------------------------------------------------===//
// Canonicalization
//===----------------------------------------------------------------------===//

namespace {
/// The greatest distance between a query and a key that the static types allow.
std::optional<int64_t> getMaxDistance(PrefillOp op) {
  // A sequence's tokens fit the pages that its table row can name.
  if (Value table = op.getLookupTable()) {
    int64_t pages = shaped(table).getDimSize(1);
    int64_t pageSize = shaped(op.getKvBlocks()).getDimSize(3);
    if (ShapedType::isDynamic(pages) || ShapedType::isDynamic(pageSize))
      return std::nullopt;
    return pages * pageSize - 1;
  }
  // Queries aligned to the end of the keys: all keys are in the buffer.
  int64_t rows = shaped(op.getK()).getDimSize(0);
  if (op.getCacheLengths() || ShapedType::isDynamic(rows))
    return std::nullopt;
  return rows - 1;
}

/// A mask that the static context or a constant parameter makes simpler, for
/// example a window that covers the whole context, is replaced.
struct SimplifyMask : OpRewritePattern<PrefillOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(PrefillOp op,
                                PatternRewriter &rewriter) const override {
    SmallVector<Attribute> parameters;
    for (Value parameter : op.getMaskParameters()) {
      Attribute constant;
      matchPattern(parameter, m_Constant(&constant));
      parameters.push_back(constant);
    }
    Attribute simpler = op.getMask().simplify(parameters, getMaxDistance(op));
    if (simpler == op.getMask())
      return failure();
    auto mask = cast<MaskAttrInterface>(simpler);
    rewriter.modifyOpInPlace(op, [&] {
      op.setMaskAttr(mask);
      if (mask.getNumParameters() == 0)
        op.getMaskParametersMutable().clear();
    });
    return success();
  }
};

/// cache_offsets that are constant zeros are the default.
struct DropZeroCacheOffsets : OpRewritePattern<PrefillOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(PrefillOp op,
                                PatternRewriter &rewriter) const override {
    if (!op.getCacheOffsets() || !matchPattern(op.getCacheOffsets(), m_Zero()))
      return failure();
    rewriter.modifyOpInPlace(op, [&] { op.getCacheOffsetsMutable().clear(); });
    return success();
  }
};

} // namespace

void PrefillOp::getCanonicalizationPatterns(RewritePatternSet &patterns,
                                            MLIRContext *context) {
  patterns.add<SimplifyMask, DropZeroCacheOffsets>(context);
}
