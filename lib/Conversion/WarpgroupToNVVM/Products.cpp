//===- Products.cpp - Matrix products of warpgroups -*- C++ -*-===//
//
// Part of the MLA project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Thread.h"

#include "mla/Dialect/Warpgroup/IR/Wgmma.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace mlir::mla;
using namespace mlir::mla::wg;

static OperandType getOperandType(Type element) {
  return element.isBF16() ? OperandType::BF16 : OperandType::F16;
}

/// The descriptor of a tile at an address.
static Value buildDescriptor(ImplicitLocOpBuilder &b, const SharedTile &tile,
                             Major major, Value address) {
  Value masked = arith::AndIOp::create(
      b, address,
      arith::ConstantIntOp::create(b, MatrixDescriptor::addressMask, 32));
  Value start =
      arith::ShRUIOp::create(b, masked, arith::ConstantIntOp::create(b, 4, 32));
  Value wide = arith::ExtUIOp::create(b, b.getI64Type(), start);
  Value constant = arith::ConstantOp::create(
      b, b.getIntegerAttr(b.getI64Type(),
                          static_cast<int64_t>(
                              MatrixDescriptor::get(tile, major).encode())));
  return arith::AddIOp::create(b, wide, constant);
}

/// An address as another one and a constant number of bytes.
static std::pair<Value, int64_t> splitAddress(Value address) {
  int64_t bytes = 0;
  while (auto sum = address.getDefiningOp<arith::AddIOp>()) {
    APInt constant;
    if (!matchPattern(sum.getRhs(), m_ConstantInt(&constant)))
      break;
    bytes += constant.getSExtValue();
    address = sum.getLhs();
  }
  return {address, bytes};
}

namespace {
/// The tiles on one side of a product, as descriptors and what the steps add
/// to them. Tiles a constant distance apart share a descriptor: fewer
/// registers.
struct Operand {
  SmallVector<Value> descriptors;
  SmallVector<int64_t> offsets;
  SmallVector<unsigned> ofSteps;

  void add(ImplicitLocOpBuilder &b, const SharedTile &tile, Major major,
           Value address, Value start) {
    auto [root, bytes] = splitAddress(address);
    uint64_t form = MatrixDescriptor::get(tile, major).encode();
    unsigned number = 0;
    while (number < bases.size() &&
           (bases[number].root != root || bases[number].form != form))
      ++number;
    if (number == bases.size()) {
      bases.push_back({root, bytes, form});
      if (start)
        address = arith::AddIOp::create(b, address, start);
      descriptors.push_back(buildDescriptor(b, tile, major, address));
    }
    for (int64_t offset :
         getStepOffsets(tile, major, bytes - bases[number].bytes)) {
      offsets.push_back(offset);
      ofSteps.push_back(number);
    }
  }

private:
  struct Base {
    Value root;
    int64_t bytes;
    uint64_t form;
  };
  SmallVector<Base> bases;
};

struct MmaPattern : ThreadPattern<MmaOp> {
  using ThreadPattern::ThreadPattern;
  LogicalResult
  matchAndRewrite(MmaOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    ImplicitLocOpBuilder b(op.getLoc(), rewriter);
    FragmentType result = op.getResult().getType().getFragment();
    auto element = cast<TileType>(op.getB().front().getType()).getElementType();
    ptx::WgmmaGroup group;
    group.instruction.n = result.getShape()[1];
    group.instruction.a = group.instruction.b = getOperandType(element);
    group.instruction.bMajor = op.getTransposed() ? Major::K : Major::MN;
    group.accumulate = !!op.getAcc();
    SmallVector<Value> arguments;
    if (op.getAcc())
      arguments = extractAll(b, adaptor.getAcc());

    Operand left, right;
    SmallVector<Value> registers;
    for (auto [original, a] : llvm::zip(op.getA(), adaptor.getA())) {
      auto type = dyn_cast<TileType>(original.getType());
      if (!type) {
        llvm::append_range(registers, extractAll(b, a));
        continue;
      }
      // Each warpgroup has 64 rows of A.
      SharedTile tile = getShared(type);
      Value rows = arith::MulIOp::create(
          b, facts.getIds(op).warpgroup,
          arith::ConstantIntOp::create(b, tile.getRowOffset(rowsPerWarpgroup),
                                       32));
      left.add(b, tile, Major::K, a, rows);
    }
    if (!registers.empty() && !left.descriptors.empty())
      return op.emitOpError(
          "expected left operands all in registers or all in shared memory");
    for (auto [original, c] : llvm::zip(op.getB(), adaptor.getB()))
      right.add(b, getShared(cast<TileType>(original.getType())),
                group.instruction.bMajor, c, Value());
    group.aOffsets = left.offsets;
    group.aDescriptors = left.ofSteps;
    group.bOffsets = right.offsets;
    group.bDescriptors = right.ofSteps;
    if (std::optional<std::string> problem = group.findProblem())
      return op.emitOpError() << *problem;
    llvm::append_range(arguments, registers);
    llvm::append_range(arguments, left.descriptors);
    llvm::append_range(arguments, right.descriptors);
    rewriter.replaceOp(
        op, combine(b, getVector(result),
                    buildAsm(b, ptx::printWgmmaGroup(group), arguments)));
    return success();
  }
};

struct WaitPattern : ThreadPattern<WaitOp> {
  using ThreadPattern::ThreadPattern;
  LogicalResult
  matchAndRewrite(WaitOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    ImplicitLocOpBuilder b(op.getLoc(), rewriter);
    SmallVector<Value> values = extractAll(b, adaptor.getProduct());
    SmallVector<ptx::Reg> registers(values.size(), ptx::Reg::F32);
    int64_t pending = facts.issuedSince.lookup(op);
    rewriter.replaceOp(
        op,
        combine(b, getVector(op.getFragment().getType()),
                buildAsm(b, ptx::printWgmmaWait(pending, registers), values)));
    return success();
  }
};
} // namespace

void wg::populateProductPatterns(const ThreadTypes &types,
                                 const KernelFacts &facts,
                                 RewritePatternSet &patterns) {
  patterns.add<MmaPattern, WaitPattern>(types, patterns.getContext(), facts);
}
