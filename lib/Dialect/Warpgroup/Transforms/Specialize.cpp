//===- Specialize.cpp - A producer and consumers ----------------*- C++ -*-===//
//
// Part of the MLA project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// An item's body is copied twice. The producer's copy keeps the scalars and the
// loads, the consumer's all but the loads; what each role does not need in the
// end is dead code. Loops stay loops in both, with the same bounds, so the two
// make the same number of uses of each ring. Two numbers count the uses: one of
// items, one of iterations of the item's loops.
//
// Scalars of the item (bounds, positions) are computed by the producer alone,
// ahead of time, and reach the consumers as a record in a ring of scalars.
//
//===----------------------------------------------------------------------===//

#include "Loads.h"

#include "mla/Dialect/MLA/IR/MLA.h"
#include "mla/Dialect/Warpgroup/IR/Layouts.h"
#include "mla/Dialect/Warpgroup/Transforms/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "mlir/IR/Iterators.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

namespace mlir::mla::wg {
#define GEN_PASS_DEF_WGSPECIALIZE
#include "mla/Dialect/Warpgroup/Transforms/Passes.h.inc"
} // namespace mlir::mla::wg

using namespace mlir;
using namespace mlir::mla;
using namespace mlir::mla::wg;

/// Items that are on their way to the consumers at once.
static constexpr int64_t kRecordSlots = 2;
/// What of the second-level cache the keys of one group of heads may fill.
static constexpr int64_t kCacheBytes = 32 << 20;

namespace {
/// A group of loads with the ring that its tiles go through.
struct Channel {
  LoadGroup group;
  Value ring;
  SmallVector<Value> maps; // of each load; null without one
};

class Specializer {
public:
  Specializer(scf::ForallOp items, RoleScheduleAttr schedule)
      : items(items), schedule(schedule),
        b(items.getLoc(), items.getContext()) {}

  /// Reads the item's body. Changes nothing.
  LogicalResult plan();
  void run();

private:
  using Counters = std::pair<Value, Value>; // uses of item and of loop rings

  bool isScalar(Operation &op);
  void buildRings();
  Value buildOrder();
  void buildCost(OrderOp order);

  void buildProducer(Value first);
  void buildItem(Value number);
  void produceLoads(
      Block &block, Value use, function_ref<void()> afterFirst = [] {});
  void produceItemLoads(Value loopUse, Value firstLoopUse, Value itemUse);
  void produceLoad(Channel &channel, unsigned element, Value use);
  Value produceLoop(scf::ForOp loop, Value firstUse, Counters uses);

  void buildConsumer();
  /// The number of uses of loop rings after the block.
  Value consume(Block &block, bool inLoop, Counters uses);
  Value consumeLoop(scf::ForOp loop, Counters uses);
  void take(Channel &channel, Value use);

  SmallVector<Channel> &getChannels(Block &block) { return channels[&block]; }
  Value constant32(int64_t value) {
    return arith::ConstantIntOp::create(b, value, 32);
  }
  Value increment(Value use) {
    return arith::AddIOp::create(b, use, constant32(1));
  }
  Value toIndex(OpFoldResult value) {
    return getValueOrCreateConstantIndexOp(b, b.getLoc(), value);
  }

  scf::ForallOp items;
  RoleScheduleAttr schedule;
  ImplicitLocOpBuilder b;
  IRMapping mapping;

  int64_t warpgroups = 0;
  wg::LocateOp locate; // may be null: items are what the loop counts
  SmallVector<scf::ForOp> loops;
  DenseMap<Block *, SmallVector<Channel>> channels;

  Value heads; // how many items each number stands for
  Value order, records;
  SmallVector<Value> recordValues; // of the original body, what consumers need
  RolesOp roles;
};
} // namespace

//===----------------------------------------------------------------------===//
// Reading the item
//===----------------------------------------------------------------------===//

static bool isOfDialect(Type type) { return isa<WGDialect>(type.getDialect()); }

/// An op that any role may run: no tiles, nothing written.
bool Specializer::isScalar(Operation &op) {
  WalkResult walk = op.walk([](Operation *inner) {
    bool tiles = isa_and_present<WGDialect>(inner->getDialect()) ||
                 llvm::any_of(inner->getOperandTypes(), isOfDialect) ||
                 llvm::any_of(inner->getResultTypes(), isOfDialect);
    return tiles && !isa<wg::LocateOp>(inner) ? WalkResult::interrupt()
                                              : WalkResult::advance();
  });
  if (walk.wasInterrupted())
    return false;
  return isMemoryEffectFree(&op) || hasSingleEffect<MemoryEffects::Read>(&op);
}

LogicalResult Specializer::plan() {
  if (items.getRank() < 1 || items.getRank() > 2 || !items.isNormalized())
    return failure();
  auto read = [&](Block &block) -> LogicalResult {
    FailureOr<SmallVector<LoadGroup>> groups = findLoadGroups(block, items);
    if (failed(groups))
      return failure();
    for (LoadGroup &group : *groups)
      channels[&block].push_back({std::move(group), Value(), {}});
    return success();
  };
  if (failed(read(*items.getBody())))
    return failure();
  // The roles run at different times: what one writes the other must not read.
  WalkResult writes = items.getBody()->walk([](Operation *op) {
    bool isOurs = isa_and_present<WGDialect>(op->getDialect());
    return isOurs || op->hasTrait<OpTrait::HasRecursiveMemoryEffects>() ||
                   isMemoryEffectFree(op) ||
                   hasSingleEffect<MemoryEffects::Read>(op)
               ? WalkResult::advance()
               : WalkResult::interrupt();
  });
  if (writes.wasInterrupted())
    return failure();
  for (Operation &op : *items.getBody()) {
    if (auto found = dyn_cast<wg::LocateOp>(op)) {
      if (locate || found.getNumber() != items.getInductionVar(0))
        return failure();
      locate = found;
    }
    for (Value result : op.getResults())
      if (auto type = dyn_cast<FragmentType>(result.getType()))
        warpgroups = type.getWarpgroups();
    auto loop = dyn_cast<scf::ForOp>(op);
    if (!loop || isScalar(op)) {
      // Tiles are made at the top and in loops there, no deeper.
      WalkResult walk = op.walk([&](Operation *inner) {
        return inner != &op && isa<LoadOp, LoadPagesOp>(inner)
                   ? WalkResult::interrupt()
                   : WalkResult::advance();
      });
      if (walk.wasInterrupted())
        return failure();
      continue;
    }
    // A loop's copy in the producer counts uses and carries nothing else.
    if (!llvm::all_of(loop.getResultTypes(), isOfDialect))
      return failure();
    if (failed(read(*loop.getBody())))
      return failure();
    for (Operation &inner : *loop.getBody())
      if (inner.getNumRegions() && !isa<MapOp, ReduceOp>(inner) &&
          !isScalar(inner))
        return failure();
    loops.push_back(loop);
  }
  if (!warpgroups || loops.empty())
    return failure();
  // Loops share their rings, so each iteration of any makes one use of each.
  SmallVector<Channel> &first = getChannels(*loops.front().getBody());
  for (scf::ForOp loop : loops) {
    SmallVector<Channel> &other = getChannels(*loop.getBody());
    if (other.size() != first.size())
      return failure();
    for (auto [x, y] : llvm::zip(first, other))
      if (x.group.getTypes() != y.group.getTypes())
        return failure();
  }
  return success();
}

//===----------------------------------------------------------------------===//
// What the roles share
//===----------------------------------------------------------------------===//

/// The operand's name for messages: the load may tell, or the argument's
/// number.
static std::string getName(const Load &load) {
  if (auto name = load.op->getAttrOfType<StringAttr>(MLADialect::kOperand))
    return name.str();
  if (auto argument = dyn_cast<BlockArgument>(load.operand))
    return ("argument " + Twine(argument.getArgNumber())).str();
  return "operand";
}

/// Made on the host, one for all loads of an operand with the same box.
static Value buildMap(ImplicitLocOpBuilder &b, const Load &load,
                      SmallVectorImpl<TensorMapOp> &known) {
  if (!load.mapType)
    return Value();
  auto cacheView = [](Value source) {
    auto view = source.getDefiningOp<memref::SubViewOp>();
    return view ? view.getSource() : source;
  };
  bool pages = isa<LoadPagesOp>(load.op);
  for (TensorMapOp map : known)
    if (map.getMap().getType() == load.mapType &&
        (pages ? cacheView(map.getSource()) : map.getSource()) == load.operand)
      return map.getMap();
  Value source = load.operand;
  if (pages) {
    // [pages, 1, L, P, 1, Dc] has more dimensions than a map.
    auto type = cast<MemRefType>(source.getType());
    SmallVector<OpFoldResult> offsets(6, b.getIndexAttr(0)),
        strides(6, b.getIndexAttr(1)),
        sizes = memref::getMixedSizes(b, b.getLoc(), source);
    sizes[1] = sizes[4] = b.getIndexAttr(1);
    ArrayRef<int64_t> shape = type.getShape();
    auto view = memref::SubViewOp::inferRankReducedResultType(
        {shape[0], shape[2], shape[3], shape[5]}, type, offsets, sizes,
        strides);
    source = memref::SubViewOp::create(b, cast<MemRefType>(view), source,
                                       offsets, sizes, strides);
  }
  known.push_back(TensorMapOp::create(b, load.mapType, source, getName(load)));
  return known.back().getMap();
}

void Specializer::buildRings() {
  SmallVector<Value> loopRings;
  auto build = [&](Channel &channel, int64_t slots) {
    return RingOp::create(
               b,
               RingType::get(b.getContext(), slots, channel.group.getTypes()),
               warpgroups)
        .getRing();
  };
  for (Channel &channel : getChannels(*items.getBody()))
    channel.ring = build(channel, 1);
  for (Channel &channel : getChannels(*loops.front().getBody()))
    loopRings.push_back(build(channel, schedule.getSlots()));
  for (scf::ForOp loop : loops)
    for (auto [channel, ring] :
         llvm::zip(getChannels(*loop.getBody()), loopRings))
      channel.ring = ring;
}

/// The iterations of the item's loops, as a function of the item's sequence,
/// first query and count, where that is what they depend on.
void Specializer::buildCost(OrderOp order) {
  OpBuilder::InsertionGuard guard(b);
  Block *body = b.createBlock(&order.getBody(), {},
                              SmallVector<Type>(3, b.getIndexType()),
                              SmallVector<Location>(3, b.getLoc()));
  IRMapping inner;
  for (auto [from, to] : llvm::zip(locate->getResults(), body->getArguments()))
    inner.map(from, to);
  // Clones what a value depends on, as far as that is scalar.
  std::function<bool(Value)> clone = [&](Value value) -> bool {
    if (inner.contains(value))
      return true;
    Operation *op = value.getDefiningOp();
    if (!op || !items->isProperAncestor(op))
      return !items->isProperAncestor(
                 value.getParentBlock()
                     ->getParentOp()) && // a forall's variable is
             value.getParentBlock() != items.getBody(); // not outside
    if (!isScalar(*op) || op->getNumRegions())
      return false;
    for (Value operand : op->getOperands())
      if (!clone(operand))
        return false;
    b.clone(*op, inner);
    return true;
  };
  Value sum = arith::ConstantIndexOp::create(b, 0);
  for (scf::ForOp loop : loops) {
    bool known = clone(loop.getLowerBound()) && clone(loop.getUpperBound()) &&
                 clone(loop.getStep());
    if (!known) {
      sum = body->getArgument(2);
      break;
    }
    Value length =
        arith::SubIOp::create(b, inner.lookupOrDefault(loop.getUpperBound()),
                              inner.lookupOrDefault(loop.getLowerBound()));
    Value none = arith::ConstantIndexOp::create(b, 0);
    Value steps =
        arith::CeilDivSIOp::create(b, arith::MaxSIOp::create(b, length, none),
                                   inner.lookupOrDefault(loop.getStep()));
    sum = arith::AddIOp::create(b, sum, steps);
  }
  YieldOp::create(b, sum);
}

Value Specializer::buildOrder() {
  if (!locate)
    return Value();
  // What one iteration brings to shared memory of tensors that differ from
  // head to head.
  int64_t bytes = 0;
  for (Channel &channel : getChannels(*loops.front().getBody()))
    for (Load &load : channel.group.loads)
      if (isa<LoadOp>(load.op))
        bytes += SharedTile(load.tile.getShape()[0], load.tile.getShape()[1],
                            load.tile.getElementType().getIntOrFloatBitWidth(),
                            Swizzle::Bytes128)
                     .getSizeInBytes();
  auto op = OrderOp::create(
      b, locate.getOffsets(), locate.getTile(), heads,
      std::max<int64_t>(1, kCacheBytes / std::max<int64_t>(bytes, 1)));
  buildCost(op);
  return op.getOrder();
}

//===----------------------------------------------------------------------===//
// The producer
//===----------------------------------------------------------------------===//

void Specializer::produceLoad(Channel &channel, unsigned element, Value use) {
  Load &load = channel.group.loads[element];
  Value map = channel.maps[element];
  if (auto pages = dyn_cast<LoadPagesOp>(load.op)) {
    CopyPagesOp::create(
        b, load.operand, map, mapping.lookupOrDefault(pages.getLayer()),
        pages.getColumn(), pages.getTable(),
        mapping.lookupOrDefault(pages.getSequence()),
        mapping.lookupOrDefault(pages.getPosition()),
        mapping.lookupOrDefault(pages.getCount()), channel.ring, use, element);
    return;
  }
  SmallVector<Value> coordinates;
  for (OpFoldResult offset : load.offsets) {
    if (auto value = dyn_cast<Value>(offset))
      offset = mapping.lookupOrDefault(value);
    coordinates.push_back(
        arith::IndexCastOp::create(b, b.getI32Type(), toIndex(offset)));
  }
  int64_t panel = load.mapType.getBox().back();
  Value start = coordinates.back();
  for (int64_t column = 0; column < load.tile.getShape()[1]; column += panel) {
    if (column)
      coordinates.back() = arith::AddIOp::create(b, start, constant32(column));
    CopyBoxOp::create(b, map, coordinates, channel.ring, use, element, column);
  }
}

void Specializer::produceLoads(Block &block, Value use,
                               function_ref<void()> afterFirst) {
  bool first = true;
  SmallVector<Channel> &here = getChannels(block);
  for (Operation &op : block) {
    for (Channel &channel : here)
      for (unsigned i = 0; i < channel.group.loads.size(); ++i) {
        if (channel.group.loads[i].op != &op)
          continue;
        if (i == 0)
          AcquireOp::create(b, channel.ring, use);
        produceLoad(channel, i, use);
        if (i + 1 < channel.group.loads.size())
          continue;
        CommitOp::create(b, channel.ring, use);
        if (std::exchange(first, false))
          afterFirst();
      }
  }
}

/// The item's own tiles, where no tile of its loops came before: their slots
/// are free later than those of the loops, which need not wait for them.
void Specializer::produceItemLoads(Value loopUse, Value firstLoopUse,
                                   Value itemUse) {
  Value isFirst =
      arith::CmpIOp::create(b, arith::CmpIPredicate::eq, loopUse, firstLoopUse);
  auto branch = scf::IfOp::create(b, isFirst);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(branch.thenBlock());
  produceLoads(*items.getBody(), itemUse);
}

Value Specializer::produceLoop(scf::ForOp loop, Value firstUse, Counters uses) {
  auto copy =
      scf::ForOp::create(b, mapping.lookupOrDefault(loop.getLowerBound()),
                         mapping.lookupOrDefault(loop.getUpperBound()),
                         mapping.lookupOrDefault(loop.getStep()), uses.second);
  mapping.map(loop.getInductionVar(), copy.getInductionVar());
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToEnd(copy.getBody());
  for (Operation &op : loop.getBody()->without_terminator())
    if (isScalar(op))
      b.clone(op, mapping);
  Value use = copy.getRegionIterArg(0);
  produceLoads(*loop.getBody(), use,
               [&] { produceItemLoads(use, firstUse, uses.first); });
  scf::YieldOp::create(b, increment(use));
  return copy.getResult(0);
}

/// The item with a number: its variables and the results of locate.
void Specializer::buildItem(Value number) {
  if (locate) {
    auto item = ItemOp::create(b, order, number, heads, locate.getOffsets(),
                               locate.getTile());
    mapping.map(locate->getResults(), item->getResults().drop_back());
    if (items.getRank() == 2)
      mapping.map(items.getInductionVar(1), item.getHead());
    return;
  }
  if (items.getRank() == 1) {
    mapping.map(items.getInductionVar(0), number);
    return;
  }
  mapping.map(items.getInductionVar(0),
              arith::DivUIOp::create(b, number, heads).getResult());
  mapping.map(items.getInductionVar(1),
              arith::RemUIOp::create(b, number, heads).getResult());
}

void Specializer::buildProducer(Value first) {
  Value zero = constant32(0);
  Value total;
  if (order)
    total = ItemCountOp::create(b, order, heads);
  else
    total =
        arith::MulIOp::create(b, toIndex(items.getMixedUpperBound()[0]), heads);
  auto send = [&](Value use, bool more) {
    AcquireOp::create(b, records, use);
    SmallVector<Value> values;
    for (Value value : recordValues) {
      if (more)
        values.push_back(mapping.lookupOrDefault(value));
      else
        values.push_back(
            arith::ConstantOp::create(b, b.getZeroAttr(value.getType())));
    }
    values.push_back(arith::ConstantIntOp::create(b, more, 1));
    PutOp::create(b, values, records, use);
    CommitOp::create(b, records, use);
  };
  Type i32 = b.getI32Type();
  auto loop = scf::WhileOp::create(
      b, TypeRange{b.getIndexType(), i32, i32}, ValueRange{first, zero, zero},
      [&](OpBuilder &nested, Location loc, ValueRange state) {
        Value more = arith::CmpIOp::create(
            nested, loc, arith::CmpIPredicate::ult, state[0], total);
        scf::ConditionOp::create(nested, loc, more, state);
      },
      [&](OpBuilder &nested, Location loc, ValueRange state) {
        OpBuilder::InsertionGuard guard(b);
        b.setInsertionPointToEnd(nested.getInsertionBlock());
        Value itemUse = state[1], loopUse = state[2];
        buildItem(state[0]);
        for (Operation &op : items.getBody()->without_terminator())
          if (isScalar(op) && !isa<wg::LocateOp>(op))
            b.clone(op, mapping);
        send(itemUse, /*more=*/true);
        Value firstUse = loopUse;
        for (scf::ForOp each : loops)
          loopUse = produceLoop(each, firstUse, {itemUse, loopUse});
        // Late: claimed earlier, an item would wait here while another block
        // has nothing to do.
        Value next = ClaimOp::create(b);
        produceItemLoads(loopUse, firstUse, itemUse);
        scf::YieldOp::create(b, ValueRange{next, increment(itemUse), loopUse});
      });
  send(loop.getResult(1), /*more=*/false);
  RetireOp::create(b);
}

//===----------------------------------------------------------------------===//
// The consumers
//===----------------------------------------------------------------------===//

void Specializer::take(Channel &channel, Value use) {
  for (auto [element, load] : llvm::enumerate(channel.group.loads))
    if (load.needsZeros)
      ClearRowsOp::create(b, channel.ring, use, element,
                          mapping.lookupOrDefault(load.getCount()));
  auto tiles = TakeOp::create(b, channel.group.getTypes(), channel.ring, use);
  for (auto [load, tile] : llvm::zip(channel.group.loads, tiles.getValues()))
    mapping.map(load.op->getResult(0), tile);
}

Value Specializer::consumeLoop(scf::ForOp loop, Counters uses) {
  SmallVector<Value> inits =
      llvm::map_to_vector(loop.getInitArgs(), [&](Value init) {
        return mapping.lookupOrDefault(init);
      });
  inits.push_back(uses.second);
  auto copy =
      scf::ForOp::create(b, mapping.lookupOrDefault(loop.getLowerBound()),
                         mapping.lookupOrDefault(loop.getUpperBound()),
                         mapping.lookupOrDefault(loop.getStep()), inits);
  mapping.map(loop.getInductionVar(), copy.getInductionVar());
  mapping.map(loop.getRegionIterArgs(), copy.getRegionIterArgs().drop_back());
  mapping.map(loop.getResults(), copy.getResults().drop_back());
  OpBuilder::InsertionGuard guard(b);
  if (!copy.getBody()->empty())
    copy.getBody()->getTerminator()->erase();
  b.setInsertionPointToEnd(copy.getBody());
  Value use = copy.getRegionIterArgs().back();
  consume(*loop.getBody(), /*inLoop=*/true, {uses.first, use});
  SmallVector<Value> yields =
      llvm::map_to_vector(loop.getYieldedValues(), [&](Value value) {
        return mapping.lookupOrDefault(value);
      });
  yields.push_back(increment(use));
  scf::YieldOp::create(b, yields);
  return copy.getResults().back();
}

Value Specializer::consume(Block &block, bool inLoop, Counters uses) {
  Value use = inLoop ? uses.second : uses.first;
  SmallVector<Channel> &here = getChannels(block);
  auto isLoad = [](Operation &op) { return isa<LoadOp, LoadPagesOp>(op); };
  for (Operation &op : block.without_terminator()) {
    if (isLoad(op))
      continue;
    // Tiles are taken where they are first needed, and given back where they
    // are last.
    for (Channel &channel : here) {
      Value tile = channel.group.loads.front().op->getResult(0);
      bool needed = llvm::any_of(channel.group.loads, [&](Load &load) {
        return llvm::any_of(load.op->getUsers(), [&](Operation *user) {
          return block.findAncestorOpInBlock(*user) == &op;
        });
      });
      if (needed && !mapping.contains(tile))
        take(channel, use);
    }
    if (auto loop = dyn_cast<scf::ForOp>(op);
        loop && llvm::is_contained(loops, loop))
      uses.second = consumeLoop(loop, uses);
    else if (inLoop || !isScalar(op) || op.hasTrait<OpTrait::ConstantLike>() ||
             llvm::any_of(op.getResultTypes(), llvm::IsaPred<MemRefType>))
      b.clone(op, mapping);
    for (Channel &channel : here)
      if (channel.group.lastUser == &op)
        ReleaseOp::create(b, channel.ring, use, /*when=*/Value());
  }
  return uses.second;
}

/// Erases what nobody needs, to a fixed point.
static void eraseDeadOps(Region &region) {
  for (bool changed = true; changed;) {
    changed = false;
    region.walk<WalkOrder::PostOrder, ReverseIterator>([&](Operation *op) {
      if (isOpTriviallyDead(op)) {
        op->erase();
        changed = true;
      }
    });
  }
}

void Specializer::buildConsumer() {
  // The scalars of the item, as long as nobody knows which are needed.
  SmallVector<std::pair<Value, Operation *>> scalars;
  OpBuilder outside(items);
  auto stand = [&](Value value) {
    Operation *place = UnrealizedConversionCastOp::create(
        outside, items.getLoc(), value.getType(), ValueRange());
    scalars.emplace_back(value, place);
    mapping.map(value, place->getResult(0));
  };
  for (Value variable : items.getInductionVars())
    stand(variable);
  for (Operation &op : items.getBody()->without_terminator())
    if (isScalar(op) && !op.hasTrait<OpTrait::ConstantLike>() &&
        llvm::none_of(op.getResultTypes(), llvm::IsaPred<MemRefType>))
      for (Value result : op.getResults())
        stand(result);

  Value zero = constant32(0);
  Type i32 = b.getI32Type();
  TakeOp record;
  auto loop = scf::WhileOp::create(
      b, TypeRange{i32, i32}, ValueRange{zero, zero},
      [&](OpBuilder &nested, Location loc, ValueRange state) {
        // Takes the record, once it is known what is in it.
        scf::ConditionOp::create(
            nested, loc, arith::ConstantIntOp::create(nested, loc, 1, 1),
            state);
      },
      [&](OpBuilder &nested, Location loc, ValueRange state) {
        OpBuilder::InsertionGuard guard(b);
        b.setInsertionPointToEnd(nested.getInsertionBlock());
        Value loopUse =
            consume(*items.getBody(), /*inLoop=*/false, {state[0], state[1]});
        scf::YieldOp::create(b, ValueRange{increment(state[0]), loopUse});
      });
  eraseDeadOps(roles.getConsumer());

  SmallVector<Type> types;
  for (auto [value, place] : scalars)
    if (!place->use_empty()) {
      recordValues.push_back(value);
      types.push_back(value.getType());
    }
  types.push_back(b.getI1Type());
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPoint(roles);
  records = RingOp::create(
      b, RingType::get(b.getContext(), kRecordSlots, types), warpgroups);
  // The record is taken in the loop's condition and passed on.
  Block *before = loop.getBeforeBody();
  b.setInsertionPoint(before->getTerminator());
  Value use = before->getArgument(0);
  record = TakeOp::create(b, types, records, use);
  ReleaseOp::create(b, records, use, /*when=*/Value());
  ValueRange values = record.getValues().drop_back();
  auto condition = cast<scf::ConditionOp>(before->getTerminator());
  condition.getConditionMutable().assign(record.getValues().back());
  condition.getArgsMutable().append(values);
  SmallVector<Type> results(loop.getResultTypes());
  llvm::append_range(results, values.getTypes());
  b.setInsertionPoint(loop);
  auto whole = scf::WhileOp::create(b, results, loop.getInits(),
                                    /*beforeBuilder=*/nullptr,
                                    /*afterBuilder=*/nullptr);
  whole.getBefore().takeBody(loop.getBefore());
  whole.getAfter().takeBody(loop.getAfter());
  loop.erase();
  for (auto [value, place] : scalars) {
    if (!place->use_empty())
      place->getResult(0).replaceAllUsesWith(
          whole.getAfterBody()->addArgument(value.getType(), b.getLoc()));
    place->erase();
  }
}

void Specializer::run() {
  b.setInsertionPoint(items);
  SmallVector<TensorMapOp> known;
  auto build = [&](Block &block) {
    for (Channel &channel : getChannels(block))
      for (Load &load : channel.group.loads)
        channel.maps.push_back(buildMap(b, load, known));
  };
  build(*items.getBody());
  for (scf::ForOp loop : loops)
    build(*loop.getBody());

  SmallVector<OpFoldResult> bounds = items.getMixedUpperBound();
  heads = items.getRank() == 2 ? toIndex(bounds[1])
                               : arith::ConstantIndexOp::create(b, 1);
  Value count = arith::MulIOp::create(b, toIndex(bounds[0]), heads);
  auto blocks = scf::ForallOp::create(b, ArrayRef<OpFoldResult>{count},
                                      /*outputs=*/ValueRange(),
                                      /*mapping=*/std::nullopt);
  blocks->setAttr(kResidentName, b.getUnitAttr());
  b.setInsertionPoint(blocks.getTerminator());
  buildRings();
  order = buildOrder();
  roles = RolesOp::create(b, warpgroups, schedule.getProducerRegisters(),
                          schedule.getConsumerRegisters());
  b.createBlock(&roles.getConsumer());
  buildConsumer();
  mapping.clear();
  b.createBlock(&roles.getProducer());
  buildProducer(blocks.getInductionVar(0));
  eraseDeadOps(roles.getProducer());
  items.erase();
}

namespace {
struct Specialize : wg::impl::WGSpecializeBase<Specialize> {
  void runOnOperation() override {
    SmallVector<scf::ForallOp> loops;
    getOperation()->walk<WalkOrder::PreOrder>([&](scf::ForallOp loop) {
      loops.push_back(loop);
      return WalkResult::skip();
    });
    for (scf::ForallOp loop : loops) {
      auto schedule = loop->getAttrOfType<RoleScheduleAttr>(
          RoleScheduleAttr::attributeName);
      if (!schedule)
        continue;
      Specializer specializer(loop, schedule);
      if (succeeded(specializer.plan()))
        specializer.run();
    }
  }
};
} // namespace
