//===- CollectCallChecks.cpp - From ops to checks of a call -----*- C++ -*-===//
//
// Part of the MLA project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "CallChecks.h"

#include "mla/Dialect/MLA/IR/MLA.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace mlir::mla;

namespace {

/// Turns operands of ops in one function into extents of its arguments.
class Collector {
public:
  Collector(func::FuncOp entry, CallChecks &checks)
      : entry(entry), checks(checks) {}

  void collect(PrefillOp op);

private:
  /// The index of the argument that `value` is, apart from casts, or -1.
  int getArgument(Value value) {
    while (value)
      if (auto cast = value.getDefiningOp<tensor::CastOp>())
        value = cast.getSource();
      else if (auto cast = value.getDefiningOp<memref::CastOp>())
        value = cast.getSource();
      else
        break;
    auto argument = dyn_cast_if_present<BlockArgument>(value);
    if (!argument || argument.getOwner() != &entry.front())
      return -1;
    return argument.getArgNumber();
  }

  /// None if the operand is absent, or neither an argument nor static.
  std::optional<Extent> getExtent(Value value, unsigned dimension) {
    if (!value)
      return std::nullopt;
    if (int argument = getArgument(value); argument >= 0)
      return Extent{argument, dimension, 0};
    auto type = cast<ShapedType>(value.getType());
    if (type.isDynamicDim(dimension))
      return std::nullopt;
    return Extent{-1, dimension, type.getDimSize(dimension)};
  }

  void add(CallChecks::Size &size, Value value, unsigned dimension,
           int64_t plus = 0, int64_t slack = 0) {
    if (std::optional<Extent> extent = getExtent(value, dimension))
      size.members.push_back({*extent, plus, slack});
  }

  /// One member has nothing to agree with.
  void keep(CallChecks::Size &&size) {
    if (size.members.size() > 1)
      checks.sizes.push_back(std::move(size));
  }

  void addMinimum(Value value, unsigned dimension, int64_t minimum,
                  const char *what) {
    if (std::optional<Extent> extent = getExtent(value, dimension))
      checks.minima.push_back({*extent, minimum, what});
  }

  func::FuncOp entry;
  CallChecks &checks;
};

} // namespace

void Collector::collect(PrefillOp op) {
  addMinimum(op.getInputRowOffsets(), 0, 1, "sequences + 1");
  addMinimum(op.getBufferRowOffsets(), 0, 1, "sequences + 1");
  addMinimum(op.getKvBlocks(), 3, 1, "tokens of a page");

  CallChecks::Size tokens{"query tokens", {}};
  add(tokens, op.getQ(), 0);
  add(tokens, op.getOutput(), 0);
  add(tokens, op.getLse(), 0);
  keep(std::move(tokens));

  CallChecks::Size heads{"heads", {}};
  add(heads, op.getQ(), 1);
  add(heads, op.getK(), 1);
  add(heads, op.getV(), 1);
  add(heads, op.getOutput(), 1);
  add(heads, op.getLse(), 1);
  keep(std::move(heads));

  CallChecks::Size rows{"rows of the key and value buffers", {}};
  add(rows, op.getK(), 0);
  add(rows, op.getV(), 0);
  add(rows, op.getKRope(), 0);
  keep(std::move(rows));

  CallChecks::Size sequences{"sequences", {}};
  add(sequences, op.getInputRowOffsets(), 0, /*plus=*/1);
  add(sequences, op.getBufferRowOffsets(), 0, /*plus=*/1);
  // A B+1st entry is ignored.
  add(sequences, op.getCacheOffsets(), 0, /*plus=*/0, /*slack=*/1);
  add(sequences, op.getLookupTable(), 0);
  add(sequences, op.getCacheLengths(), 0);
  for (Value parameter : op.getMaskParameters())
    if (isa<ShapedType>(parameter.getType()))
      add(sequences, parameter, 0);
  keep(std::move(sequences));

  if (int argument = getArgument(op.getScale()); argument >= 0)
    checks.finitePositive.push_back(argument);
  if (int argument = getArgument(op.getLayerIdx()); argument >= 0)
    if (std::optional<Extent> layers = getExtent(op.getKvBlocks(), 2))
      checks.indices.push_back({argument, *layers, "a layer of the cache"});
  for (auto [index, parameter] : llvm::enumerate(op.getMaskParameters()))
    if (op.getMask().isParameterPositive(index) &&
        !isa<ShapedType>(parameter.getType()))
      if (int argument = getArgument(parameter); argument >= 0)
        checks.positive.push_back(argument);
}

CallChecks mla::collectCallChecks(func::FuncOp entry) {
  CallChecks checks;
  Collector collector(entry, checks);
  entry.walk([&](PrefillOp op) { collector.collect(op); });
  return checks;
}
