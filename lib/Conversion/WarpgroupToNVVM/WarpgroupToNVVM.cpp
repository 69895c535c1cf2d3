//===- WarpgroupToNVVM.cpp - What one thread does of a wg op -*- C++ -*-===//
//
// Part of the MLA project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// All arithmetic on positions comes from Layouts.h.
//
//===----------------------------------------------------------------------===//

#include "Thread.h"

#include "mla/Conversion/KernelAttrs.h"
#include "mla/Conversion/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/SCF/Transforms/Patterns.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

namespace mlir::mla {
#define GEN_PASS_DEF_MLAWARPGROUPTONVVM
#include "mla/Conversion/Passes.h.inc"
} // namespace mlir::mla

using namespace mlir;
using namespace mlir::mla;
using namespace mlir::mla::wg;

/// Tiles of one block side by side; tiles of different loops share memory.
static int64_t place(Block &block, int64_t start, KernelFacts &facts) {
  int64_t end = start, top = start;
  for (Operation &op : block) {
    if (isa<LoadOp, LoadPagesOp>(op)) {
      SharedTile tile = getShared(cast<TileType>(op.getResult(0).getType()));
      top = llvm::alignTo(top, tile.getAlignment());
      facts.places[&op] = top;
      top += tile.getSizeInBytes();
      end = std::max(end, top);
    }
    for (Region &region : op.getRegions())
      for (Block &inner : region)
        end = std::max(end, place(inner, top, facts));
  }
  return end;
}

/// Products that a block issues between one and the wait for it.
static void countIssued(Operation *kernel, KernelFacts &facts) {
  kernel->walk([&](WaitOp wait) {
    Operation *product = wait.getProduct().getDefiningOp();
    if (!product || product->getBlock() != wait->getBlock())
      return;
    int64_t count = 0;
    for (Operation *op = product->getNextNode(); op != wait;
         op = op->getNextNode())
      count += isa<MmaOp>(op);
    facts.issuedSince[wait] = count;
  });
}

/// Each role in a branch of its own.
static void lowerRoles(RolesOp roles, Value thread, KernelFacts &facts) {
  ImplicitLocOpBuilder b(roles.getLoc(), roles);
  auto constant = [&](int64_t value) {
    return arith::ConstantIntOp::create(b, value, 32);
  };
  // The same in all lanes of a warp, and known to be.
  Value warp = NVVM::ShflOp::create(
      b, b.getI32Type(), constant(-1),
      arith::DivUIOp::create(b, thread, constant(threadsPerWarp)), constant(0),
      constant(31), NVVM::ShflKind::idx, /*return_value_and_is_valid=*/nullptr);
  auto isBelow = [&](int64_t bound) {
    return arith::CmpIOp::create(b, arith::CmpIPredicate::ult, warp,
                                 constant(bound));
  };
  auto branch =
      scf::IfOp::create(b, isBelow(threadsPerWarpgroup / threadsPerWarp),
                        /*withElseRegion=*/true);
  auto move = [&](Region &region, Block *to) {
    to->getOperations().splice(std::prev(to->end()),
                               region.front().getOperations());
  };

  b.setInsertionPointToStart(branch.thenBlock());
  NVVM::SetMaxRegisterOp::create(b, roles.getProducerRegisters(),
                                 NVVM::SetMaxRegisterAction::decrease);
  auto first = scf::IfOp::create(b, isBelow(1));
  move(roles.getProducer(), first.thenBlock());

  b.setInsertionPointToStart(branch.elseBlock());
  NVVM::SetMaxRegisterOp::create(b, roles.getConsumerRegisters(),
                                 NVVM::SetMaxRegisterAction::increase);
  facts.roles[branch.elseBlock()] = buildThreadIds(
      b, arith::SubIOp::create(b, thread, constant(threadsPerWarpgroup)));
  move(roles.getConsumer(), branch.elseBlock());
  roles.erase();
}

namespace {
struct WarpgroupToNVVM : mla::impl::MLAWarpgroupToNVVMBase<WarpgroupToNVVM> {
  void runOnOperation() override {
    for (auto kernel : getOperation().getOps<LLVM::LLVMFuncOp>()) {
      // One that was lowered before stays as it is.
      WalkResult walk = kernel.walk([](Operation *op) {
        return isa_and_present<WGDialect>(op->getDialect())
                   ? WalkResult::interrupt()
                   : WalkResult::advance();
      });
      if (walk.wasInterrupted() && failed(lower(kernel)))
        return signalPassFailure();
    }
  }

  LogicalResult lower(LLVM::LLVMFuncOp kernel) {
    auto threads = kernel->getAttrOfType<DenseI32ArrayAttr>(
        NVVM::NVVMDialect::getReqntidAttrName());
    if (!threads)
      return kernel.emitOpError("expected the attribute '")
             << NVVM::NVVMDialect::getReqntidAttrName()
             << "', the threads of a block";
    MLIRContext *context = &getContext();
    KernelFacts facts;
    facts.threads = threads[0];
    ImplicitLocOpBuilder b(kernel.getLoc(), context);
    Block &entry = kernel.getBody().front();
    // Rings have their places already.
    if (!kernel->hasAttr(kSharedBytes)) {
      int64_t bytes = place(entry, 0, facts);
      declareShared(b, getOperation());
      kernel->setAttr(kSharedBytes, b.getI64IntegerAttr(bytes));
    }
    countIssued(kernel, facts);
    b.setInsertionPointToStart(&entry);
    Value thread = NVVM::ThreadIdXOp::create(b, b.getI32Type());
    facts.roles[&entry] = buildThreadIds(b, thread);
    SmallVector<RolesOp> roles(kernel.getOps<RolesOp>());
    for (RolesOp op : roles)
      lowerRoles(op, thread, facts);

    ThreadTypes types;
    RewritePatternSet patterns(context);
    populateCopyPatterns(types, facts, patterns);
    populateProductPatterns(types, facts, patterns);
    populateFragmentPatterns(types, facts, patterns);
    ConversionTarget target(*context);
    target.addIllegalDialect<WGDialect>();
    target.markUnknownOpDynamicallyLegal([](Operation *) { return true; });
    scf::populateSCFStructuralTypeConversionsAndLegality(types, patterns,
                                                         target);
    return applyPartialConversion(kernel, target, std::move(patterns));
  }
};
} // namespace
