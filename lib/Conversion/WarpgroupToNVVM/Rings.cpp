//===- Rings.cpp - Rings as barriers in shared memory -----------*- C++ -*-===//
//
// Part of the MLA project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Each slot of a ring has two mbarriers. Use n is in slot n % slots and is the
// slot's (n / slots)-th:
//
//     full    completes when the producer has arrived and all bytes that it
//             announced are there; takers of use n wait for parity
//             (n / slots) % 2
//     empty   completes when every consumer warp has arrived; the producer of
//             use n waits for the opposite parity, since it waits for the use
//             before, n - slots; a barrier that nobody has used counts as
//             having completed parity 1, so that the first uses are free
//
//===----------------------------------------------------------------------===//

#include "Rings.h"

#include "Thread.h"
#include "mla/Conversion/KernelAttrs.h"
#include "mla/Conversion/Passes.h"
#include "mla/Dialect/Warpgroup/IR/Layouts.h"
#include "mla/Target/PTX/Printer.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "llvm/ADT/TypeSwitch.h"
#include "llvm/Support/SaveAndRestore.h"

namespace mlir::mla {
#define GEN_PASS_DEF_MLALOWERRINGS
#include "mla/Conversion/Passes.h.inc"
} // namespace mlir::mla

using namespace mlir;
using namespace mlir::mla;
using namespace mlir::mla::wg;

static constexpr int64_t kBarrierBytes = 8, kScalarBytes = 8;
/// How long one try may suspend a thread; the op tries again.
static constexpr int64_t kSuspendNanoseconds = 10'000'000;
static constexpr int64_t kWarpsPerWarpgroup =
    threadsPerWarpgroup / threadsPerWarp;

//===----------------------------------------------------------------------===//
// Building
//===----------------------------------------------------------------------===//

Value wg::buildConstant(ImplicitLocOpBuilder &b, int64_t value) {
  return arith::ConstantIntOp::create(b, value, 32);
}

Value wg::buildBroadcast(ImplicitLocOpBuilder &b, Value value) {
  return NVVM::ShflOp::create(b, value.getType(), buildConstant(b, -1), value,
                              buildConstant(b, 0), buildConstant(b, 31),
                              NVVM::ShflKind::idx,
                              /*return_value_and_is_valid=*/nullptr);
}

Value wg::buildLeader(ImplicitLocOpBuilder &b) {
  return NVVM::ElectSyncOp::create(b, b.getI1Type(), /*membermask=*/Value());
}

Value KernelStart::at(ImplicitLocOpBuilder &b, int64_t bytes,
                      Value more) const {
  auto step = [&](Value from, LLVM::GEPArg by) {
    return LLVM::GEPOp::create(b, from.getType(), b.getI8Type(), from, by);
  };
  Value place = bytes ? step(shared, static_cast<int32_t>(bytes)) : shared;
  return more ? step(place, more) : place;
}

Value wg::buildSlot(ImplicitLocOpBuilder &b, const RingPlace &ring, Value use) {
  if (ring.slots == 1)
    return Value();
  return arith::RemUIOp::create(b, use, buildConstant(b, ring.slots));
}

Value wg::buildParity(ImplicitLocOpBuilder &b, const RingPlace &ring,
                      Value use) {
  Value turn =
      ring.slots == 1
          ? use
          : arith::DivUIOp::create(b, use, buildConstant(b, ring.slots));
  return arith::AndIOp::create(b, turn, buildConstant(b, 1));
}

static Value scale(ImplicitLocOpBuilder &b, Value slot, int64_t bytes) {
  return slot ? arith::MulIOp::create(b, slot, buildConstant(b, bytes))
                    .getResult()
              : Value();
}

Value wg::buildFull(ImplicitLocOpBuilder &b, const KernelStart &kernel,
                    const RingPlace &ring, Value use) {
  return kernel.at(b, ring.barriers,
                   scale(b, buildSlot(b, ring, use), kBarrierBytes));
}

static Value buildEmpty(ImplicitLocOpBuilder &b, const KernelStart &kernel,
                        const RingPlace &ring, Value use) {
  return kernel.at(b, ring.barriers + ring.slots * kBarrierBytes,
                   scale(b, buildSlot(b, ring, use), kBarrierBytes));
}

Value wg::buildElement(ImplicitLocOpBuilder &b, const KernelStart &kernel,
                       const RingPlace &ring, Value use, int64_t element,
                       int64_t bytes) {
  return kernel.at(b, ring.start + ring.elements[element] + bytes,
                   scale(b, buildSlot(b, ring, use), ring.slotBytes));
}

static void buildWait(ImplicitLocOpBuilder &b, Value barrier, Value parity) {
  NVVM::MBarrierTryWaitParityOp::create(b, barrier, parity,
                                        buildConstant(b, kSuspendNanoseconds));
}

//===----------------------------------------------------------------------===//
// The pass
//===----------------------------------------------------------------------===//

namespace {
class RingLowering {
public:
  explicit RingLowering(LLVM::LLVMFuncOp kernel)
      : kernel(kernel), b(kernel.getLoc(), kernel.getContext()) {}

  LogicalResult run();

private:
  void place();
  void buildStart(RolesOp roles);
  void initBarriers(RolesOp roles);
  void lower(Operation *op);

  void lower(AcquireOp op);
  void lower(CommitOp op);
  void lower(PutOp op);
  void lower(TakeOp op);
  void lower(ReleaseOp op);
  void lower(ClearRowsOp op);
  void lower(ClaimOp op);
  void lower(RetireOp op);
  void lower(StartTurnsOp op);
  void lower(AwaitTurnOp op);
  void lower(PassTurnOp op);

  /// The warpgroup in the block, and the consumer warpgroup, from 0.
  Value buildWarpgroup();
  Value buildConsumer();
  Value buildTurnBarrier(Value consumer);

  RingPlace &of(Value ring) { return rings[ring]; }
  /// The pointer behind a kernel's tensor map.
  Value getMap(Value map) {
    return map.getDefiningOp<UnrealizedConversionCastOp>().getOperand(0);
  }

  LLVM::LLVMFuncOp kernel;
  ImplicitLocOpBuilder b;
  KernelStart start;
  /// start.shared, by role.
  DenseMap<Region *, Value> sharedOf;
  llvm::MapVector<Value, RingPlace> rings;
  OrderPlace order;
  int64_t bytes = 0;
  int64_t consumers = 0; // warpgroups
};
} // namespace

void RingLowering::place() {
  int64_t barriers = 0;
  // Tiles first: they have to be aligned.
  SmallVector<RingOp> ops;
  for (bool tiles : {true, false})
    kernel.walk([&](RingOp op) {
      if (op.getRing().getType().holdsTiles() == tiles)
        ops.push_back(op);
    });
  for (RingOp op : ops) {
    RingType type = op.getRing().getType();
    RingPlace ring;
    ring.slots = type.getSlots();
    ring.consumers = op.getConsumers();
    for (Type element : type.getElements()) {
      ring.elements.push_back(ring.slotBytes);
      ring.slotBytes +=
          type.holdsTiles()
              ? getShared(cast<TileType>(element)).getSizeInBytes()
              : kScalarBytes;
    }
    bytes = llvm::alignTo(
        bytes, type.holdsTiles() ? getPeriod(Swizzle::Bytes128) : kScalarBytes);
    ring.start = bytes;
    bytes += ring.slots * ring.slotBytes;
    rings[op.getRing()] = ring;
  }
  for (auto &entry : rings) {
    entry.second.barriers = bytes + barriers;
    barriers += 2 * entry.second.slots * kBarrierBytes;
  }
  bytes += barriers;
  WalkResult hasOrder =
      kernel.walk([](OrderOp) { return WalkResult::interrupt(); });
  if (!hasOrder.wasInterrupted())
    return;
  order = {bytes, kOrderCapacity};
  bytes = std::max(bytes + getOrderBytes(order.capacity),
                   getOrderScratchBytes(order.capacity));
}

void RingLowering::buildStart(RolesOp roles) {
  declareShared(b, kernel->getParentOfType<gpu::GPUModuleOp>());
  b.setInsertionPointToStart(&kernel.getBody().front());
  start.thread = NVVM::ThreadIdXOp::create(b, b.getI32Type());
  start.lane =
      arith::RemUIOp::create(b, start.thread, buildConstant(b, threadsPerWarp));
  start.isFirst = arith::CmpIOp::create(b, arith::CmpIPredicate::eq, start.lane,
                                        buildConstant(b, 0));
  Type pointer = LLVM::LLVMPointerType::get(b.getContext(), kSharedSpace);
  start.shared = LLVM::AddressOfOp::create(b, pointer, kSharedName);
  // Each role has the address from an instruction of its own. One for the
  // whole kernel lives across the order's loops in a register of the threads;
  // what is computed from it then is, too, and every descriptor of a product
  // has to be moved to the warp's registers, which are where it is read.
  for (Region *region : {&roles.getProducer(), &roles.getConsumer()}) {
    b.setInsertionPointToStart(&region->front());
    Value address = buildAsm(b, ptx::printAddressOf(kSharedName), {}).front();
    sharedOf[region] = LLVM::IntToPtrOp::create(b, pointer, address);
  }
}

void RingLowering::initBarriers(RolesOp roles) {
  b.setInsertionPoint(roles);
  Value isFirst = arith::CmpIOp::create(b, arith::CmpIPredicate::eq,
                                        start.thread, buildConstant(b, 0));
  auto branch = scf::IfOp::create(b, isFirst);
  {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(branch.thenBlock());
    for (auto &[value, ring] : rings)
      for (int64_t i = 0; i < 2 * ring.slots; ++i)
        NVVM::MBarrierInitOp::create(
            b, start.at(b, ring.barriers + i * kBarrierBytes),
            buildConstant(
                b, i < ring.slots ? 1 : kWarpsPerWarpgroup * ring.consumers),
            /*predicate=*/Value());
    NVVM::FenceMbarrierInitOp::create(b);
  }
  // Building the order used memory that copies will fill.
  NVVM::FenceProxyOp::create(
      b, NVVM::ProxyKind::async_shared,
      NVVM::SharedSpaceAttr::get(b.getContext(),
                                 NVVM::SharedSpace::shared_cta));
  NVVM::BarrierOp::create(b);
}

void RingLowering::lower(AcquireOp op) {
  // Behind the op: copies of pages put before it what need not wait.
  b.setInsertionPointAfter(op);
  RingPlace &ring = of(op.getRing());
  Value parity = arith::XOrIOp::create(b, buildParity(b, ring, op.getUse()),
                                       buildConstant(b, 1));
  buildWait(b, buildEmpty(b, start, ring, op.getUse()), parity);
}

void RingLowering::lower(CommitOp op) {
  RingPlace &ring = of(op.getRing());
  // Copies of boxes announce their bytes here, those of pages by themselves.
  int64_t expected = 0;
  for (Operation *user : op.getRing().getUsers())
    if (auto copy = dyn_cast<CopyBoxOp>(user);
        copy && copy->getBlock() == op->getBlock()) {
      TensorMapType map = copy.getMap().getType();
      int64_t elements = 1;
      for (int64_t extent : map.getBox())
        elements *= extent;
      expected += elements * map.getElementType().getIntOrFloatBitWidth() / 8;
    }
  auto branch = scf::IfOp::create(b, buildLeader(b));
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(branch.thenBlock());
  Value full = buildFull(b, start, ring, op.getUse());
  if (expected)
    NVVM::MBarrierArriveExpectTxOp::create(
        b, TypeRange(), full, buildConstant(b, expected),
        NVVM::MemScopeKind::CTA, /*relaxed=*/false, /*predicate=*/Value());
  else
    NVVM::MBarrierArriveOp::create(b, b.getI64Type(), full);
}

void RingLowering::lower(PutOp op) {
  RingPlace &ring = of(op.getRing());
  auto branch = scf::IfOp::create(b, buildLeader(b));
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(branch.thenBlock());
  for (auto [element, value] : llvm::enumerate(op.getValues())) {
    Value bits = value;
    if (bits.getType().isIndex())
      bits = arith::IndexCastOp::create(b, b.getI64Type(), bits);
    else if (bits.getType().isInteger(1))
      bits = arith::ExtUIOp::create(b, b.getI32Type(), bits);
    LLVM::StoreOp::create(b, bits,
                          buildElement(b, start, ring, op.getUse(), element),
                          /*alignment=*/kScalarBytes, /*isVolatile=*/true);
  }
}

/// The first lane's value in all lanes, so that it is known to be uniform.
static Value buildUniform(ImplicitLocOpBuilder &b, Value value) {
  if (!value.getType().isInteger(64))
    return buildBroadcast(b, value);
  Value shift = arith::ConstantIntOp::create(b, 32, 64);
  Value low = arith::TruncIOp::create(b, b.getI32Type(), value);
  Value high = arith::TruncIOp::create(b, b.getI32Type(),
                                       arith::ShRUIOp::create(b, value, shift));
  auto widen = [&](Value half) {
    return arith::ExtUIOp::create(b, b.getI64Type(), buildBroadcast(b, half));
  };
  return arith::OrIOp::create(b, widen(low),
                              arith::ShLIOp::create(b, widen(high), shift));
}

void RingLowering::lower(TakeOp op) {
  RingPlace &ring = of(op.getRing());
  buildWait(b, buildFull(b, start, ring, op.getUse()),
            buildParity(b, ring, op.getUse()));
  bool tiles = op.getRing().getType().holdsTiles();
  Value slot;
  if (tiles) {
    // One sum for all tiles of the slot, which differ by constants.
    slot = LLVM::PtrToIntOp::create(b, b.getI32Type(), start.shared);
    if (Value offset =
            scale(b, buildSlot(b, ring, op.getUse()), ring.slotBytes))
      slot = arith::AddIOp::create(b, slot, offset);
  }
  for (auto [element, value] : llvm::enumerate(op.getValues())) {
    Type type = value.getType();
    if (tiles) {
      Value address = arith::AddIOp::create(
          b, slot, buildConstant(b, ring.start + ring.elements[element]));
      value.replaceAllUsesWith(TileAtOp::create(b, type, address));
      continue;
    }
    Type stored = type.isIndex()      ? b.getI64Type()
                  : type.isInteger(1) ? b.getI32Type()
                                      : type;
    Value bits = LLVM::LoadOp::create(
        b, stored, buildElement(b, start, ring, op.getUse(), element),
        /*alignment=*/kScalarBytes, /*isVolatile=*/true);
    bits = buildUniform(b, bits);
    if (type.isIndex())
      bits = arith::IndexCastOp::create(b, type, bits);
    else if (type.isInteger(1))
      bits = arith::TruncIOp::create(b, type, bits);
    value.replaceAllUsesWith(bits);
  }
}

void RingLowering::lower(ReleaseOp op) {
  // A predicate and no branch: printPredicatedArrive says why.
  Value empty = buildEmpty(b, start, of(op.getRing()), op.getUse());
  Value address = LLVM::PtrToIntOp::create(b, b.getI32Type(), empty);
  Value arrives = start.isFirst;
  if (op.getWhen())
    arrives = arith::AndIOp::create(b, arrives, op.getWhen());
  buildAsm(b, ptx::printPredicatedArrive(), {address, arrives});
}

void RingLowering::lower(ClearRowsOp op) {
  RingPlace &ring = of(op.getRing());
  auto type =
      cast<TileType>(op.getRing().getType().getElements()[op.getElement()]);
  SharedTile tile = getShared(type);
  int64_t rowBytes = getWidth(tile.getSwizzle());
  Value count = arith::IndexCastOp::create(b, b.getI32Type(), op.getCount());
  Value some = arith::CmpIOp::create(b, arith::CmpIPredicate::slt, count,
                                     buildConstant(b, tile.getRows()));
  auto branch = scf::IfOp::create(b, some);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(branch.thenBlock());
  buildWait(b, buildFull(b, start, ring, op.getUse()),
            buildParity(b, ring, op.getUse()));
  // Each thread of the warpgroup every 128th chunk.
  Value inGroup = arith::RemUIOp::create(b, start.thread,
                                         buildConstant(b, threadsPerWarpgroup));
  Value first = arith::AddIOp::create(
      b, arith::MulIOp::create(b, count, buildConstant(b, rowBytes)),
      arith::MulIOp::create(b, inGroup, buildConstant(b, bytesPerChunk)));
  auto chunk = VectorType::get(4, b.getI32Type());
  Value zero = arith::ConstantOp::create(b, b.getZeroAttr(chunk));
  Value base = buildElement(b, start, ring, op.getUse(), op.getElement());
  scf::ForOp::create(
      b, first, buildConstant(b, tile.getRows() * rowBytes),
      buildConstant(b, threadsPerWarpgroup * bytesPerChunk), ValueRange(),
      [&](OpBuilder &nested, Location loc, Value offset, ValueRange) {
        ImplicitLocOpBuilder inner(loc, nested);
        for (int64_t panel = 0; panel < tile.getPanels(); ++panel) {
          Value place = LLVM::GEPOp::create(inner, base.getType(),
                                            inner.getI8Type(), base, offset);
          place = LLVM::GEPOp::create(inner, base.getType(), inner.getI8Type(),
                                      place,
                                      LLVM::GEPArg(static_cast<int32_t>(
                                          panel * tile.getPanelStride())));
          LLVM::StoreOp::create(inner, zero, place, bytesPerChunk);
        }
        scf::YieldOp::create(inner);
      });
  NVVM::FenceProxyOp::create(
      b, NVVM::ProxyKind::async_shared,
      NVVM::SharedSpaceAttr::get(b.getContext(),
                                 NVVM::SharedSpace::shared_cta));
  // Barrier 0 is the block's.
  NVVM::BarrierOp::create(b, TypeRange(), buildWarpgroup(),
                          buildConstant(b, threadsPerWarpgroup),
                          NVVM::BarrierReductionAttr(),
                          /*reductionPredicate=*/Value());
}

/// The two counters of a launch: items claimed and blocks that are done.
static Value getCounter(ImplicitLocOpBuilder &b, LLVM::LLVMFuncOp kernel,
                        int32_t number) {
  Value slot = kernel.getArguments().back();
  return LLVM::GEPOp::create(b, slot.getType(), b.getI32Type(), slot,
                             LLVM::GEPArg(number));
}

void RingLowering::lower(ClaimOp op) {
  auto branch = scf::IfOp::create(b, b.getI32Type(), start.isFirst,
                                  /*withElseRegion=*/true);
  {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(branch.thenBlock());
    Value claimed = LLVM::AtomicRMWOp::create(
        b, LLVM::AtomicBinOp::add, getCounter(b, kernel, 0),
        buildConstant(b, 1), LLVM::AtomicOrdering::monotonic);
    Value blocks = NVVM::GridDimXOp::create(b, b.getI32Type());
    scf::YieldOp::create(b,
                         arith::AddIOp::create(b, claimed, blocks).getResult());
    b.setInsertionPointToStart(branch.elseBlock());
    scf::YieldOp::create(b, buildConstant(b, 0));
  }
  Value number = buildBroadcast(b, branch.getResult(0));
  op.getNumber().replaceAllUsesWith(
      arith::IndexCastUIOp::create(b, b.getIndexType(), number));
}

void RingLowering::lower(RetireOp op) {
  auto branch = scf::IfOp::create(b, start.isFirst);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(branch.thenBlock());
  Value done = LLVM::AtomicRMWOp::create(
      b, LLVM::AtomicBinOp::add, getCounter(b, kernel, 1), buildConstant(b, 1),
      LLVM::AtomicOrdering::monotonic);
  Value blocks = NVVM::GridDimXOp::create(b, b.getI32Type());
  Value others = arith::SubIOp::create(b, blocks, buildConstant(b, 1));
  Value isLast =
      arith::CmpIOp::create(b, arith::CmpIPredicate::eq, done, others);
  auto last = scf::IfOp::create(b, isLast);
  b.setInsertionPointToStart(last.thenBlock());
  for (int32_t number : {0, 1})
    LLVM::StoreOp::create(b, buildConstant(b, 0),
                          getCounter(b, kernel, number));
}

// A turn is a barrier of two warpgroups: who awaits it, and who has passed it.
// Barrier 0 is the block's; the next ones the warpgroups' own.

Value RingLowering::buildWarpgroup() {
  Value group = arith::DivUIOp::create(b, start.thread,
                                       buildConstant(b, threadsPerWarpgroup));
  return buildBroadcast(b, group);
}

Value RingLowering::buildConsumer() {
  return arith::SubIOp::create(b, buildWarpgroup(), buildConstant(b, 1));
}

Value RingLowering::buildTurnBarrier(Value consumer) {
  return arith::AddIOp::create(b, consumer, buildConstant(b, 1 + consumers));
}

void RingLowering::lower(StartTurnsOp op) {
  // As if the last had passed it.
  Value isLast =
      arith::CmpIOp::create(b, arith::CmpIPredicate::eq, buildConsumer(),
                            buildConstant(b, consumers - 1));
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(scf::IfOp::create(b, isLast).thenBlock());
  NVVM::BarrierArriveOp::create(b, buildTurnBarrier(buildConstant(b, 0)),
                                buildConstant(b, 2 * threadsPerWarpgroup));
}

void RingLowering::lower(AwaitTurnOp op) {
  NVVM::BarrierOp::create(b, TypeRange(), buildTurnBarrier(buildConsumer()),
                          buildConstant(b, 2 * threadsPerWarpgroup),
                          NVVM::BarrierReductionAttr(),
                          /*reductionPredicate=*/Value());
}

void RingLowering::lower(PassTurnOp op) {
  Value next = arith::AddIOp::create(b, buildConsumer(), buildConstant(b, 1));
  next = arith::RemUIOp::create(b, next, buildConstant(b, consumers));
  NVVM::BarrierArriveOp::create(b, buildTurnBarrier(next),
                                buildConstant(b, 2 * threadsPerWarpgroup));
}

void RingLowering::lower(Operation *op) {
  b.setLoc(op->getLoc());
  b.setInsertionPoint(op);
  llvm::SaveAndRestore shared(start.shared);
  for (Region *region = op->getParentRegion(); region;
       region = region->getParentRegion())
    if (Value ofRole = sharedOf.lookup(region))
      start.shared = ofRole;
  llvm::TypeSwitch<Operation *>(op)
      .Case<AcquireOp, CommitOp, PutOp, TakeOp, ReleaseOp, ClearRowsOp, ClaimOp,
            RetireOp, StartTurnsOp, AwaitTurnOp, PassTurnOp>(
          [&](auto each) { lower(each); })
      .Case([&](CopyBoxOp copy) {
        lowerCopyBox(copy, start, getMap(copy.getMap()), of(copy.getRing()));
      })
      .Case([&](CopyPagesOp copy) {
        lowerCopyPages(copy, start,
                       copy.getMap() ? getMap(copy.getMap()) : Value(),
                       of(copy.getRing()));
      })
      .Case([&](ItemCountOp each) { lowerItemCount(each, start, order); })
      .Case([&](ItemOp each) { lowerItem(each, start, order); })
      .Case([&](OrderOp each) { lowerOrder(each, start, order); });
}

LogicalResult RingLowering::run() {
  SmallVector<RolesOp> roles(kernel.getOps<RolesOp>());
  // Without roles there are no rings, and one that has its places is done.
  if (roles.empty() || kernel->hasAttr(kSharedBytes))
    return success();
  if (roles.size() > 1)
    return roles[1]->emitOpError("expected to be the kernel's only one");
  consumers = roles.front().getWarpgroups();
  place();
  if (bytes > kMaxSharedBytes)
    return roles.front()->emitOpError()
           << "needs " << bytes << " bytes of shared memory for its tiles, a "
           << "block of sm_90 has " << kMaxSharedBytes
           << "; choose a smaller key_tile or fewer slots";
  buildStart(roles.front());
  initBarriers(roles.front());
  // Users first: an op may look at what defines its operands.
  SmallVector<Operation *> ops;
  kernel.walk([&](Operation *op) {
    if (isa<AcquireOp, CommitOp, PutOp, TakeOp, ReleaseOp, ClearRowsOp,
            CopyBoxOp, CopyPagesOp, OrderOp, ItemCountOp, ItemOp, ClaimOp,
            RetireOp, StartTurnsOp, AwaitTurnOp, PassTurnOp>(op))
      ops.push_back(op);
  });
  for (Operation *op : ops)
    lower(op);
  for (Operation *op : llvm::reverse(ops))
    op->erase();
  for (auto &entry : rings)
    entry.first.getDefiningOp()->erase();
  kernel->setAttr(kSharedBytes, b.getI64IntegerAttr(bytes));
  return success();
}

namespace {
struct LowerRings : mla::impl::MLALowerRingsBase<LowerRings> {
  void runOnOperation() override {
    for (auto kernel : getOperation().getOps<LLVM::LLVMFuncOp>())
      if (failed(RingLowering(kernel).run()))
        return signalPassFailure();
  }
};
} // namespace
