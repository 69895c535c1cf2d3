//===- Pipeline.cpp - Overlap the products of neighbouring tiles -*- C++
//-*-===//
//
// Part of the MLA project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// An iteration of a loop over tiles has two parts. The deferred part is what
// only an accumulator depends on, D below; the rest is E, whose first product
// starts the iteration:
//
//     for j:  E: S = Q K(j); softmax -> P      D: O = O * c + P V(j)
//
// Neither S of the next tile nor its softmax needs O. So D(j - 1) goes behind
// the first product of E(j), and both run while E(j) waits for S:
//
//     if there is a tile:
//       E(first)
//       for the other j:  issue S(j); issue D(j - 1); the rest of E(j);
//                         wait for D(j - 1)
//       D(last)
//
// Loops that carry the same values one after the other are one chain: D of the
// last tile of one loop runs in the first iteration of the next.
//
// Warpgroups issue the first product of a chain in turns. It keeps the matrix
// unit busy for one of them alone, so they start half an iteration apart: one's
// products then run beside the other's softmax, and they stay so by themselves.
// (Taking turns in every iteration costs 4 % of the cycles.)
//
//===----------------------------------------------------------------------===//

#include "DelayCopies.h"

#include "mla/Dialect/Warpgroup/IR/Warpgroup.h"
#include "mla/Dialect/Warpgroup/Transforms/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "mlir/IR/OperationSupport.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "mlir/Transforms/RegionUtils.h"

namespace mlir::mla::wg {
#define GEN_PASS_DEF_WGPIPELINE
#include "mla/Dialect/Warpgroup/Transforms/Passes.h.inc"
} // namespace mlir::mla::wg

using namespace mlir;
using namespace mlir::mla;
using namespace mlir::mla::wg;

//===----------------------------------------------------------------------===//
// The parts of an iteration
//===----------------------------------------------------------------------===//

namespace {
/// A loop's body in the order in which its ops are emitted.
struct Parts {
  scf::ForOp loop;
  unsigned accumulator; // the iter_arg that D updates

  SmallVector<Operation *> start; // E up to its first product
  SmallVector<Operation *> rest;  // E after that,
  SmallVector<Operation *> late;  // but what makes a left operand for D
  SmallVector<Operation *> issue; // D up to its last product
  SmallVector<Operation *> finish;
  /// What D needs of E.
  SetVector<Value> inputs;
};
using Chain = SmallVector<Parts, 2>;
} // namespace

/// Ops of the body that depend on a value.
static void collectDependents(Value value, Block &body,
                              SetVector<Operation *> &ops) {
  for (Operation *user : value.getUsers()) {
    Operation *here = body.findAncestorOpInBlock(*user);
    if (!here || !ops.insert(here))
      continue;
    for (Value result : here->getResults())
      collectDependents(result, body, ops);
  }
}

/// The ops of D for an iter_arg; empty unless nothing else depends on it and
/// it is made by a product.
static SetVector<Operation *> findDeferred(scf::ForOp loop, unsigned number) {
  Block &body = *loop.getBody();
  SetVector<Operation *> deferred;
  collectDependents(loop.getRegionIterArg(number), body, deferred);
  Operation *yield = body.getTerminator();
  deferred.remove(yield);
  if (llvm::none_of(deferred, llvm::IsaPred<MmaOp>))
    return {};
  for (OpOperand &operand : yield->getOpOperands()) {
    Operation *def = operand.get().getDefiningOp();
    bool isDeferred = def && deferred.contains(def);
    if (isDeferred != (operand.getOperandNumber() == number))
      return {};
  }
  // Tiles that D alone reads are taken and given back there.
  for (Operation &op : body) {
    auto take = dyn_cast<TakeOp>(op);
    if (!take || !llvm::all_of(op.getUsers(), [&](Operation *user) {
          return deferred.contains(user);
        }))
      continue;
    deferred.insert(take);
    for (Operation &other : body)
      if (auto release = dyn_cast<ReleaseOp>(other))
        if (release.getRing() == take.getRing() &&
            release.getUse() == take.getUse())
          deferred.insert(release);
  }
  return deferred;
}

/// Whether all that comes of an op in E is a left operand for D.
static bool isLate(Operation *op, const SetVector<Operation *> &deferred) {
  if (!isa<MapOp, OperandAOp>(op))
    return false;
  return llvm::all_of(op->getUsers(), [&](Operation *user) {
    return deferred.contains(user)
               ? isa<OperandAOp>(op)
               : isa<OperandAOp>(user) && isLate(user, deferred);
  });
}

static std::optional<Parts> split(scf::ForOp loop) {
  for (unsigned number = 0; number < loop.getNumRegionIterArgs(); ++number) {
    SetVector<Operation *> deferred = findDeferred(loop, number);
    if (deferred.empty())
      continue;
    Parts parts{loop, number, {}, {}, {}, {}, {}, {}};
    Block &body = *loop.getBody();
    Operation *last = nullptr;
    for (Operation &op : body)
      if (deferred.contains(&op) && isa<MmaOp>(op))
        last = &op;
    bool started = false;
    for (Operation &op : body.without_terminator()) {
      if (deferred.contains(&op)) {
        (op.isBeforeInBlock(last) || &op == last ? parts.issue : parts.finish)
            .push_back(&op);
        for (Value operand : op.getOperands()) {
          Operation *def = operand.getDefiningOp();
          if (operand == loop.getRegionIterArg(number) ||
              (def && deferred.contains(def)) ||
              !loop->isAncestor(operand.getParentBlock()->getParentOp()))
            continue;
          parts.inputs.insert(operand);
        }
      } else if (!started) {
        parts.start.push_back(&op);
        started = isa<MmaOp>(op);
      } else if (isLate(&op, deferred)) {
        parts.late.push_back(&op);
      } else {
        parts.rest.push_back(&op);
      }
    }
    if (started)
      return parts;
  }
  return std::nullopt;
}

/// Whether D of both loops is the same function of its inputs.
static bool isSameDeferred(Parts &x, Parts &y) {
  if (x.accumulator != y.accumulator || x.inputs.size() != y.inputs.size() ||
      x.issue.size() != y.issue.size() || x.finish.size() != y.finish.size())
    return false;
  IRMapping mapping;
  mapping.map(x.loop.getRegionIterArg(x.accumulator),
              y.loop.getRegionIterArg(y.accumulator));
  for (auto [from, to] : llvm::zip(x.inputs, y.inputs)) {
    if (from.getType() != to.getType())
      return false;
    mapping.map(from, to);
  }
  auto same = [&](Operation *from, Operation *to) {
    return OperationEquivalence::isEquivalentTo(
        from, to,
        [&](Value left, Value right) {
          return success(mapping.lookupOrDefault(left) == right);
        },
        [&](Value left, Value right) { mapping.map(left, right); },
        OperationEquivalence::IgnoreLocations);
  };
  for (auto [from, to] : llvm::zip(x.issue, y.issue))
    if (!same(from, to))
      return false;
  for (auto [from, to] : llvm::zip(x.finish, y.finish))
    if (!same(from, to))
      return false;
  return true;
}

//===----------------------------------------------------------------------===//
// Chains
//===----------------------------------------------------------------------===//

/// Computations on rows behind the chain that need of its results any but the
/// accumulator: the sums, what is made of them.
static SmallVector<Operation *> findFollowing(Chain &chain) {
  scf::ForOp last = chain.back().loop;
  SmallVector<Operation *> following;
  for (Operation *op = last->getNextNode(); op; op = op->getNextNode()) {
    if (!isa<MapOp, CombineOp>(op) ||
        !cast<FragmentType>(op->getResult(0).getType()).isOfRows())
      continue;
    SetVector<Value> read(op->operand_begin(), op->operand_end());
    getUsedValuesDefinedAbove(op->getRegions(), read);
    bool isReady = llvm::all_of(read, [&](Value value) {
      Operation *def = value.getDefiningOp();
      if (def == last)
        return value != last.getResult(chain.back().accumulator);
      return !def || def->getBlock() != last->getBlock() ||
             def->isBeforeInBlock(last) || llvm::is_contained(following, def);
    });
    if (isReady)
      following.push_back(op);
  }
  return following;
}

namespace {
class Rotator {
public:
  /// `shared`: releases, after the chain, of tiles that only first products of
  /// iterations read. `turns`: warpgroups issue the chain's first in turns.
  Rotator(Chain chain, SmallVector<ReleaseOp> shared, bool turns)
      : chain(std::move(chain)), shared(std::move(shared)), turns(turns),
        b(this->chain.front().loop.getLoc(), this->chain.front().loop) {}

  void run();

private:
  /// What an iteration hands to the next: the carried values, D's inputs.
  struct State {
    SmallVector<Value> carried, inputs;

    SmallVector<Value> flat() const {
      SmallVector<Value> all(carried);
      llvm::append_range(all, inputs);
      return all;
    }
  };
  State unflatten(ValueRange values) {
    unsigned count = chain.front().loop.getNumRegionIterArgs();
    return {llvm::to_vector(values.take_front(count)),
            llvm::to_vector(values.drop_front(count))};
  }

  void clone(ArrayRef<Operation *> ops, IRMapping &mapping) {
    for (Operation *op : ops)
      b.clone(*op, mapping);
  }
  IRMapping mapDeferred(const State &state);
  /// What E leaves; the accumulator is as it was.
  State finishIteration(Parts &parts, IRMapping &mapping, Value accumulator);
  /// Whether the tile of loop `number` at `key` is the chain's last.
  Value isLastTile(unsigned number, Value key);
  /// Gives shared tiles back if `isLast`.
  void releaseShared(Value isLast);
  /// The parts of E, in order.
  void buildRest(Parts &parts, IRMapping &mapping, Value isLast);
  State buildFirst(unsigned number);
  State buildLoop(unsigned number, Value begin, const State &init);
  /// The last D. What follows the chain and needs no accumulator runs while it
  /// does; its results are added to `results`.
  Value buildDeferred(const State &state, SmallVectorImpl<Value> &results);
  /// What follows the chain and needs no accumulator, of `state` instead of the
  /// chain's results.
  void buildFollowing(const State &state, SmallVectorImpl<Value> &results);

  Chain chain;
  SmallVector<ReleaseOp> shared;
  SmallVector<Operation *> following;
  bool turns;
  ImplicitLocOpBuilder b;
  /// Of each loop: whether it has tiles, and whether no later one has.
  SmallVector<Value> conditions, isLastLoop;
};
} // namespace

/// D of the iteration that left `state`.
IRMapping Rotator::mapDeferred(const State &state) {
  Parts &parts = chain.front();
  IRMapping mapping;
  mapping.map(parts.loop.getRegionIterArg(parts.accumulator),
              state.carried[parts.accumulator]);
  for (auto [from, to] : llvm::zip(parts.inputs, state.inputs))
    mapping.map(from, to);
  return mapping;
}

Rotator::State Rotator::finishIteration(Parts &parts, IRMapping &mapping,
                                        Value accumulator) {
  State state;
  for (auto [number, value] : llvm::enumerate(parts.loop.getYieldedValues()))
    state.carried.push_back(number == parts.accumulator
                                ? accumulator
                                : mapping.lookupOrDefault(value));
  for (Value input : parts.inputs)
    state.inputs.push_back(mapping.lookupOrDefault(input));
  return state;
}

Value Rotator::isLastTile(unsigned number, Value key) {
  scf::ForOp loop = chain[number].loop;
  Value next = arith::AddIOp::create(b, key, loop.getStep());
  Value isEnd = arith::CmpIOp::create(b, arith::CmpIPredicate::sge, next,
                                      loop.getUpperBound());
  return arith::AndIOp::create(b, isEnd, isLastLoop[number]);
}

void Rotator::releaseShared(Value isLast) {
  for (ReleaseOp release : shared)
    ReleaseOp::create(b, release.getRing(), release.getUse(), isLast);
}

void Rotator::buildRest(Parts &parts, IRMapping &mapping, Value isLast) {
  // Shared tiles go as soon as the product has been waited for, after those
  // that somebody waits for in every iteration.
  bool waited = false, released = false;
  for (Operation *op : parts.rest) {
    if (waited && !released && !isa<ReleaseOp>(op)) {
      releaseShared(isLast);
      released = true;
    }
    b.clone(*op, mapping);
    waited |= isa<WaitOp>(op);
  }
  if (!released)
    releaseShared(isLast);
}

/// E of the first tile, which is the first of loop `number` or of a later one.
Rotator::State Rotator::buildFirst(unsigned number) {
  auto build = [&]() {
    Parts &parts = chain[number];
    IRMapping mapping;
    mapping.map(parts.loop.getInductionVar(), parts.loop.getLowerBound());
    mapping.map(parts.loop.getRegionIterArgs(),
                chain.front().loop.getInitArgs());
    // The only tile, if the loop has no second and no later loop a first.
    Value isLast = isLastTile(number, parts.loop.getLowerBound());
    for (Operation *op : parts.start) {
      if (turns && isa<MmaOp>(op))
        AwaitTurnOp::create(b);
      b.clone(*op, mapping);
    }
    if (turns)
      PassTurnOp::create(b);
    buildRest(parts, mapping, isLast);
    clone(parts.late, mapping);
    return finishIteration(parts, mapping,
                           chain.front().loop.getInitArgs()[parts.accumulator]);
  };
  if (number + 1 == chain.size())
    return build();
  // The types of the results are those of what the first branch yields.
  auto scratch = scf::IfOp::create(b, TypeRange(), conditions[number],
                                   /*withElseRegion=*/true);
  OpBuilder::InsertionGuard guard(b);
  auto fill = [&](Block *block, function_ref<State()> body) {
    if (!block->empty())
      block->getTerminator()->erase();
    b.setInsertionPointToEnd(block);
    SmallVector<Value> values = body().flat();
    scf::YieldOp::create(b, values);
    return SmallVector<Type>(ValueRange(values).getTypes());
  };
  SmallVector<Type> types = fill(scratch.thenBlock(), build);
  fill(scratch.elseBlock(), [&]() { return buildFirst(number + 1); });
  b.setInsertionPoint(scratch);
  auto branch = scf::IfOp::create(b, types, conditions[number],
                                  /*addThenBlock=*/false,
                                  /*addElseBlock=*/false);
  branch.getThenRegion().takeBody(scratch.getThenRegion());
  branch.getElseRegion().takeBody(scratch.getElseRegion());
  scratch.erase();
  return unflatten(branch.getResults());
}

Rotator::State Rotator::buildLoop(unsigned number, Value begin,
                                  const State &init) {
  Parts &parts = chain[number];
  Value step = parts.loop.getStep();
  // Told by the iteration before, so that a release has its predicate at once.
  // (ptxas still puts the release off to the end of the softmax.)
  SmallVector<Value> inits = init.flat();
  if (!shared.empty())
    inits.push_back(isLastTile(number, begin));
  auto loop =
      scf::ForOp::create(b, begin, parts.loop.getUpperBound(), step, inits);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToEnd(loop.getBody());
  ValueRange arguments = loop.getRegionIterArgs();
  Value isLast;
  if (!shared.empty()) {
    isLast = arguments.back();
    arguments = arguments.drop_back();
  }
  State before = unflatten(arguments);
  IRMapping mapping, deferred = mapDeferred(before);
  mapping.map(parts.loop.getInductionVar(), loop.getInductionVar());
  mapping.map(parts.loop.getRegionIterArgs(), before.carried);
  clone(parts.start, mapping);
  clone(chain.front().issue, deferred);
  buildRest(parts, mapping, isLast);
  clone(chain.front().finish, deferred);
  // Not before D is there: the registers of the left operand are still read.
  clone(parts.late, mapping);
  Parts &first = chain.front();
  Value accumulator =
      deferred.lookup(first.loop.getYieldedValues()[first.accumulator]);
  SmallVector<Value> yields =
      finishIteration(parts, mapping, accumulator).flat();
  if (isLast)
    yields.push_back(isLastTile(
        number, arith::AddIOp::create(b, loop.getInductionVar(), step)));
  scf::YieldOp::create(b, yields);
  return unflatten(loop.getResults().take_front(init.flat().size()));
}

void Rotator::buildFollowing(const State &state,
                             SmallVectorImpl<Value> &results) {
  IRMapping mapping;
  mapping.map(chain.back().loop.getResults(), state.carried);
  clone(following, mapping);
  for (Operation *op : following)
    llvm::append_range(results, llvm::map_range(op->getResults(), [&](Value x) {
                         return mapping.lookup(x);
                       }));
}

Value Rotator::buildDeferred(const State &state,
                             SmallVectorImpl<Value> &results) {
  Parts &first = chain.front();
  IRMapping mapping = mapDeferred(state);
  clone(first.issue, mapping);
  buildFollowing(state, results);
  clone(first.finish, mapping);
  return mapping.lookup(first.loop.getYieldedValues()[first.accumulator]);
}

void Rotator::run() {
  scf::ForOp first = chain.front().loop, last = chain.back().loop;
  SmallVector<Value> inits(first.getInitArgs());
  Value any;
  SmallVector<Value> begins;
  for (Parts &parts : chain) {
    scf::ForOp loop = parts.loop;
    Value some =
        arith::CmpIOp::create(b, arith::CmpIPredicate::slt,
                              loop.getLowerBound(), loop.getUpperBound());
    conditions.push_back(some);
    // Without the first tile, if that is this loop's.
    Value second =
        arith::AddIOp::create(b, loop.getLowerBound(), loop.getStep());
    begins.push_back(
        any ? arith::SelectOp::create(b, any, loop.getLowerBound(), second)
                  .getResult()
            : second);
    any = any ? arith::OrIOp::create(b, any, some).getResult() : some;
  }
  Value none = arith::ConstantIntOp::create(b, 1, 1);
  isLastLoop.resize(chain.size());
  for (size_t i = chain.size(); i-- > 0;) {
    isLastLoop[i] = none;
    Value empty = arith::XOrIOp::create(b, conditions[i],
                                        arith::ConstantIntOp::create(b, 1, 1));
    none = arith::AndIOp::create(b, none, empty);
  }
  following = findFollowing(chain);
  SmallVector<Type> types(last.getResultTypes());
  for (Operation *op : following)
    llvm::append_range(types, op->getResultTypes());
  auto branch = scf::IfOp::create(b, types, any, /*addThenBlock=*/true,
                                  /*addElseBlock=*/true);
  {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToEnd(branch.elseBlock());
    releaseShared(/*isLast=*/Value());
    SmallVector<Value> unchanged(inits);
    buildFollowing({inits, {}}, unchanged);
    scf::YieldOp::create(b, unchanged);
    b.setInsertionPointToEnd(branch.thenBlock());
    State state = buildFirst(0);
    for (auto [number, begin] : llvm::enumerate(begins))
      state = buildLoop(number, begin, state);
    SmallVector<Value> results;
    Value accumulator = buildDeferred(state, results);
    state.carried[chain.front().accumulator] = accumulator;
    llvm::append_range(state.carried, results);
    scf::YieldOp::create(b, state.carried);
  }
  ValueRange results = branch.getResults();
  last.replaceAllUsesWith(results.take_front(last.getNumResults()));
  results = results.drop_front(last.getNumResults());
  for (Operation *op : following) {
    op->replaceAllUsesWith(results.take_front(op->getNumResults()));
    results = results.drop_front(op->getNumResults());
  }
  for (Operation *op : llvm::reverse(following))
    op->erase();
  for (ReleaseOp release : shared)
    release.erase();
  for (Parts &parts : llvm::reverse(chain))
    parts.loop.erase();
}

/// Whether the chain's first products, and nothing else, read the tiles of a
/// use.
static bool isReadByFirstProducts(ReleaseOp release, const Chain &chain) {
  SmallVector<Value> tiles;
  for (Operation *user : release.getRing().getUsers())
    if (auto take = dyn_cast<TakeOp>(user))
      if (take.getUse() == release.getUse())
        llvm::append_range(tiles, take.getValues());
  while (!tiles.empty())
    for (Operation *user : tiles.pop_back_val().getUsers()) {
      if (auto columns = dyn_cast<ColumnsOp>(user))
        tiles.push_back(columns.getTile());
      else if (llvm::none_of(chain, [&](const Parts &parts) {
                 return parts.start.back() == user;
               }))
        return false;
    }
  return true;
}

/// Whether E waits for a tile of D's before D has given back the one before.
static bool needsSecondSlot(Chain &chain) {
  DenseSet<Value> ofOneSlot;
  for (Operation *op : chain.front().issue)
    if (auto take = dyn_cast<TakeOp>(op))
      if (take.getRing().getType().getSlots() == 1)
        ofOneSlot.insert(take.getRing());
  return llvm::any_of(chain, [&](Parts &parts) {
    return llvm::any_of(
        parts.loop.getBody()->getOps<ClearRowsOp>(),
        [&](ClearRowsOp clear) { return ofOneSlot.contains(clear.getRing()); });
  });
}

/// Releases behind the chain that can be moved into it.
static SmallVector<ReleaseOp> findShared(const Chain &chain) {
  SmallVector<ReleaseOp> shared;
  for (Operation *op = chain.back().loop->getNextNode(); op;
       op = op->getNextNode()) {
    auto release = dyn_cast<ReleaseOp>(op);
    if (release && isReadByFirstProducts(release, chain))
      shared.push_back(release);
  }
  return shared;
}

/// The loops that take up where the given one ends.
static Chain findChain(scf::ForOp first) {
  Chain chain;
  for (scf::ForOp loop = first; loop;) {
    std::optional<Parts> parts = split(loop);
    if (!parts || (!chain.empty() && !isSameDeferred(chain.front(), *parts)))
      break;
    chain.push_back(std::move(*parts));
    scf::ForOp next;
    for (Operation *op = loop->getNextNode(); op; op = op->getNextNode()) {
      next = dyn_cast<scf::ForOp>(op);
      if (next || !isPure(op))
        break;
    }
    if (!next ||
        ValueRange(next.getInitArgs()) != ValueRange(loop.getResults()) ||
        !llvm::all_of(loop.getResults(),
                      [](Value result) { return result.hasOneUse(); }))
      break;
    loop = next;
  }
  // What stands between the loops depends on none of them.
  if (chain.size() > 1)
    for (Operation *op = first->getNextNode(); op != chain.back().loop;) {
      Operation *next = op->getNextNode();
      if (!isa<scf::ForOp>(op))
        op->moveBefore(first);
      op = next;
    }
  return chain;
}

namespace {
struct Pipeline : wg::impl::WGPipelineBase<Pipeline> {
  using WGPipelineBase::WGPipelineBase;

  void runOnOperation() override {
    SmallVector<RolesOp> all;
    getOperation()->walk([&](RolesOp roles) {
      if (!roles->hasAttr(kPipelinedName))
        all.push_back(roles);
    });
    for (RolesOp roles : all) {
      // First loops of chains: no other loop's results go into them.
      SmallVector<scf::ForOp> firsts;
      roles.getConsumer().walk([&](scf::ForOp loop) {
        if (llvm::none_of(loop.getInitArgs(), [](Value init) {
              return init.getDefiningOp<scf::ForOp>();
            }))
          firsts.push_back(loop);
      });
      DenseSet<Value> late;
      bool rotated = false, inTurns = turns && roles.getWarpgroups() > 1;
      for (scf::ForOp loop : firsts)
        if (Chain chain = findChain(loop);
            !chain.empty() && !needsSecondSlot(chain)) {
          for (Operation *op : chain.front().issue)
            if (auto take = dyn_cast<TakeOp>(op))
              late.insert(take.getRing());
          SmallVector<ReleaseOp> shared = findShared(chain);
          rotated = true;
          Rotator(std::move(chain), std::move(shared), inTurns).run();
        }
      if (rotated)
        roles->setAttr(kPipelinedName, UnitAttr::get(&getContext()));
      if (rotated && inTurns) {
        OpBuilder builder(roles.getConsumer());
        StartTurnsOp::create(builder, roles.getLoc());
      }
      delayCopies(roles, late);
    }
  }
};
} // namespace
