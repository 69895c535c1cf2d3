//===- StripOps.cpp - Ops on one strip of queries -*- C++ -*-===//
//
// Part of the MLA project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "StripRewriter.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace mlir::mla;

/// Whether `op` is the last to read `value`.
static bool isLastUse(Value value, Operation *op) {
  return llvm::all_of(value.getUsers(), [&](Operation *user) {
    return user == op ||
           (user->getBlock() == op->getBlock() && user->isBeforeInBlock(op));
  });
}

void StripRewriter::rewriteSlice(tensor::ExtractSliceOp op, Strip &here) {
  SmallVector<OpFoldResult> offsets = op.getMixedOffsets(),
                            sizes = op.getMixedSizes();
  int64_t dim = *dims.lookup(op.getSource());
  offsets.erase(offsets.begin() + dim);
  sizes.erase(sizes.begin() + dim);
  offsets.push_back(b.getIndexAttr(0));
  sizes.push_back(b.getIndexAttr(strip));
  SmallVector<OpFoldResult> strides(offsets.size(), b.getIndexAttr(1));
  here.values[op] = tensor::ExtractSliceOp::create(
      b, lookup(op.getSource(), here), offsets, sizes, strides);
}

/// An input that an elementwise op without a destination of its own can write
/// over, since nobody reads it afterwards, or null.
static OpOperand *getReusableInput(linalg::LinalgOp op, OpOperand *init) {
  if (!isa_and_present<tensor::EmptyOp>(init->get().getDefiningOp()) ||
      op.getNumParallelLoops() != op.getNumLoops())
    return nullptr;
  for (OpOperand *input : op.getDpsInputOperands()) {
    Value value = input->get();
    if (value.getType() == init->get().getType() &&
        value.getParentBlock() == op->getBlock() && isLastUse(value, op) &&
        op.getMatchingIndexingMap(input) == op.getMatchingIndexingMap(init))
      return input;
  }
  return nullptr;
}

/// The destination of a rewritten op. One that is read again afterwards is
/// copied here, where the copy is vectorised, rather than by bufferization.
Value StripRewriter::getDestination(linalg::LinalgOp op, OpOperand *init,
                                    Strip &strip) {
  Value value = init->get();
  Value here = lookup(value, strip);
  if (isa_and_present<tensor::EmptyOp, linalg::FillOp>(value.getDefiningOp()) ||
      isLastUse(value, op))
    return here;
  auto type = cast<RankedTensorType>(here.getType());
  Value empty =
      tensor::EmptyOp::create(b, type.getShape(), type.getElementType());
  return linalg::CopyOp::create(b, here, empty).getResult(0);
}

/// The same op on one strip: loops (others, lane) in place of (query, others).
/// `destination` takes the place of an empty one.
void StripRewriter::rewriteLinalg(linalg::LinalgOp op, Strip &here,
                                  Value destination) {
  MLIRContext *context = b.getContext();
  unsigned query = *dims.lookupLoop(op);
  bool contraction = linalg::isaContractionOpInterface(op);
  unsigned numLoops = op.getNumLoops();

  // Old loop -> new loop. Lanes are last, but for the reductions of a
  // contraction: there the vectoriser expects rows, lanes, reduction.
  SmallVector<unsigned> position(op.getNumLoops());
  SmallVector<utils::IteratorType> iterators, old = op.getIteratorTypesArray();
  unsigned next = 0, lane = 0;
  auto place = [&](utils::IteratorType type) {
    iterators.push_back(type);
    return next++;
  };
  auto placeAll = [&](bool reductions) {
    for (unsigned loop = 0; loop < old.size(); ++loop)
      if (loop != query &&
          (old[loop] == utils::IteratorType::reduction) == reductions)
        position[loop] = place(old[loop]);
  };
  if (contraction) {
    placeAll(/*reductions=*/false);
    lane = place(utils::IteratorType::parallel);
    placeAll(/*reductions=*/true);
  } else {
    for (unsigned loop = 0; loop < old.size(); ++loop)
      if (loop != query)
        position[loop] = place(old[loop]);
    lane = place(utils::IteratorType::parallel);
  }

  // An elementwise op inside a strip works in place where it can: its input is
  // read as the destination's old value.
  OpOperand *reused = nullptr;
  if (!destination && op.getNumDpsInits() == 1)
    reused = getReusableInput(op, op.getDpsInitOperand(0));
  SmallVector<Value> inputs;
  SmallVector<BlockArgument> arguments;
  SmallVector<AffineMap> maps;
  auto addMap = [&](OpOperand &operand) {
    SmallVector<AffineExpr> exprs;
    bool tagged = dims.isTagged(operand.get());
    for (AffineExpr expr : op.getMatchingIndexingMap(&operand).getResults()) {
      unsigned loop = cast<AffineDimExpr>(expr).getPosition();
      if (loop != query)
        exprs.push_back(b.getAffineDimExpr(position[loop]));
    }
    if (tagged)
      exprs.push_back(b.getAffineDimExpr(lane));
    maps.push_back(AffineMap::get(numLoops, 0, exprs, context));
  };
  SmallVector<OpOperand *> ordered = op.getDpsInputOperands();
  // The operand without lanes is the left one, whose elements are broadcast.
  if (contraction && dims.isTagged(ordered.front()->get()))
    std::swap(ordered.front(), ordered.back());
  for (OpOperand *input : ordered) {
    if (input == reused)
      continue;
    addMap(*input);
    arguments.push_back(op.getMatchingBlockArgument(input));
    if (dims.isTagged(input->get()))
      inputs.push_back(lookup(input->get(), here));
    else if (contraction && isa<RankedTensorType>(input->get().getType()))
      inputs.push_back(packKeys(input->get()));
    else
      inputs.push_back(input->get());
  }
  SmallVector<Value> inits;
  for (OpOperand &init : op.getDpsInitsMutable()) {
    addMap(init);
    arguments.push_back(op.getMatchingBlockArgument(reused ? reused : &init));
    bool isEmpty = isa_and_present<tensor::EmptyOp>(init.get().getDefiningOp());
    inits.push_back(reused                   ? lookup(reused->get(), here)
                    : destination && isEmpty ? destination
                                             : getDestination(op, &init, here));
  }

  auto generic = linalg::GenericOp::create(
      b, ValueRange(inits).getTypes(), inputs, inits, maps, iterators,
      [&](OpBuilder &nested, Location loc, ValueRange packed) {
        IRMapping mapping;
        for (auto [from, to] : llvm::zip(arguments, packed)) {
          // A packed operand is f32 and its values are exact in the old type.
          Value value = to;
          if (from.getType() != to.getType())
            value = arith::TruncFOp::create(nested, loc, from.getType(), to);
          mapping.map(from, value);
        }
        for (Operation &inner : *op.getBlock()) {
          if (auto index = dyn_cast<linalg::IndexOp>(inner)) {
            if (index.getDim() != query) {
              mapping.map(index, linalg::IndexOp::create(
                                     nested, loc, position[index.getDim()])
                                     .getResult());
              continue;
            }
            Value size = arith::ConstantIndexOp::create(nested, loc, strip);
            Value first = arith::MulIOp::create(nested, loc, here.number, size);
            Value offset = linalg::IndexOp::create(nested, loc, lane);
            mapping.map(
                index,
                arith::AddIOp::create(nested, loc, first, offset).getResult());
            continue;
          }
          // Extending what is f32 already.
          if (auto extend = dyn_cast<arith::ExtFOp>(inner))
            if (auto narrow = mapping.lookup(extend.getIn())
                                  .getDefiningOp<arith::TruncFOp>();
                narrow && narrow.getIn().getType() == extend.getType()) {
              mapping.map(extend, narrow.getIn());
              continue;
            }
          nested.clone(inner, mapping);
        }
      });
  // The vectoriser takes left and right from the product, not from the
  // operands.
  if (contraction)
    for (auto product : generic.getBody()->getOps<arith::MulFOp>())
      if (product.getLhs() == generic.getBody()->getArgument(1) &&
          product.getRhs() == generic.getBody()->getArgument(0))
        product->setOperands({product.getRhs(), product.getLhs()});
  for (auto [from, to] : llvm::zip(op->getResults(), generic.getResults()))
    here.values[from] = to;
}

void StripRewriter::rewriteOp(Operation *op, Strip &here) {
  if (isa<tensor::EmptyOp, linalg::FillOp>(op))
    return; // made where they are used
  if (auto slice = dyn_cast<tensor::ExtractSliceOp>(op);
      slice && dims.isTagged(slice.getSource()))
    return rewriteSlice(slice, here);
  if (auto linalgOp = dyn_cast<linalg::LinalgOp>(op))
    return rewriteLinalg(linalgOp, here);
}
