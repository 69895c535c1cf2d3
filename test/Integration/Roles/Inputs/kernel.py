"""Runs a function whose loop over blocks has roles: the host's part, then a producer
and consumers of some blocks at once, each step by step, in an order drawn at random.
Whoever has to wait is asked again later; nobody left to ask is a deadlock.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import scalars
from generic import Block, Op
from rings import Ring
from scalars import round_to, shape_of

ROWS = 64  # of a fragment, by warpgroup


class Launch:
    """What the blocks of a launch share."""

    def __init__(self, blocks: int) -> None:
        self.blocks, self.claimed, self.retired = blocks, 0, 0


class Pending:
    """A product in flight: its operands are read until it has been waited for."""

    def __init__(self, role: Role, op: Op, operands: list) -> None:
        self.pairs, self.tiles = [], []
        a, b, acc = operands
        for left, right in zip(a, b):
            for tile in (left, right):
                if isinstance(tile, Tile):
                    self.tiles.append(tile)
            self.pairs.append((left, right))
        self.accumulator = acc[0] if acc else None
        self.transposed, self.group = op.has("transposed"), role.group
        self.result = None

    def finish(self) -> None:
        if self.result is not None:
            return
        total = np.float32(0) if self.accumulator is None else self.accumulator
        for left, right in self.pairs:
            if isinstance(left, Tile):
                left = left.read()[ROWS * self.group : ROWS * (self.group + 1)]
            right = right.read()
            with np.errstate(all="ignore"):
                total = total + left @ (right.T if self.transposed else right)
        self.result = total


class Tile:
    """Columns of an element of a ring's use."""

    def __init__(self, ring: Ring, use: int, element: int, columns: slice) -> None:
        self.ring, self.use, self.element, self.columns = ring, use, element, columns

    def read(self) -> np.ndarray:
        return self.ring.take(self.use)[self.element][:, self.columns]


class Role:
    """One thread of control: the producer's warp, or a warpgroup of the consumers."""

    def __init__(self, name: str, group: int, values: dict, block: KernelBlock) -> None:
        self.name, self.group, self.values, self.block = name, group, values, block
        self.in_flight: list[Pending] = []
        self.turns = 0  # that it had

    # ---- Structure. Each generator yields what it waits for: a function that tells
    # whether it may go on, and a text.

    def run(self, body: Block, arguments: Sequence = ()):
        self.values.update(zip(body.arguments, arguments))
        for op in body.ops:
            operands = [self.values[name] for name in op.operands]
            if op.name in ("scf.yield", "scf.condition", "wg.yield", "func.return"):
                return operands
            results = yield from self.step(op, operands)
            self.values.update(zip(op.results, results))
        return []

    def step(self, op: Op, operands: list):
        short = op.name.replace(".", "_")
        structured = getattr(self, "run_" + short, None)
        if structured:
            return (yield from structured(op, operands))
        plain = getattr(self, "do_" + short, None)
        if plain:
            return plain(op, operands) or []
        return [scalars.evaluate(op, operands)]

    def run_scf_for(self, op: Op, operands: list):
        low, high, step = (int(x) for x in operands[:3])
        carried = operands[3:]
        for i in range(low, high, step):
            kind = op.regions[0].types[0]
            first = scalars.INT[kind](i)
            carried = yield from self.run(op.regions[0], [first, *carried])
        return carried

    def run_scf_if(self, op: Op, operands: list):
        if operands[0]:
            return (yield from self.run(op.regions[0]))
        if len(op.regions) > 1:
            return (yield from self.run(op.regions[1]))
        return []

    def run_scf_while(self, op: Op, operands: list):
        carried = operands
        while True:
            go_on, *passed = yield from self.run(op.regions[0], carried)
            if not go_on:
                return passed
            carried = yield from self.run(op.regions[1], passed)

    # ---- Memory of the host and of the device.

    def do_memref_load(self, op: Op, operands: list) -> list:
        array, *indices = operands
        for i, n in zip(indices, array.shape):
            assert 0 <= i < n, f"{op.name}: index {i} of {n}"
        kind = op.result_types[0].removeprefix("u")
        return [scalars.INT[kind](array[tuple(int(i) for i in indices)])]

    def do_memref_dim(self, op: Op, operands: list) -> list:
        return [np.int64(operands[0].shape[int(operands[1])])]

    def do_memref_subview(self, op: Op, operands: list) -> list:
        names = iter(operands)
        sizes = op.numbers("operandSegmentSizes")
        groups = [[next(names) for _ in range(size)] for size in sizes]
        return [scalars.subview(op, groups[0][0], groups)]

    def do_wg_tensor_map(self, op: Op, operands: list) -> list:
        return [(operands[0], shape_of(op.result_types[0])[0])]

    # ---- Rings.

    def run_wg_acquire(self, op: Op, operands: list):
        ring, use = operands[0], int(operands[1])
        yield lambda: ring.may_acquire(use), f"{ring}: the slot of {use}"
        ring.acquire(use)
        return []

    def run_wg_take(self, op: Op, operands: list):
        ring, use = operands[0], int(operands[1])
        yield lambda: ring.may_take(use), f"{ring}: use {use}"
        values = ring.take(use)
        if not ring.kinds[0].startswith("!wg.tile"):
            return list(values)
        return [Tile(ring, use, i, slice(None)) for i in range(len(values))]

    def do_wg_commit(self, op: Op, operands: list) -> None:
        operands[0].commit(int(operands[1]))

    def do_wg_put(self, op: Op, operands: list) -> None:
        *values, ring, use = operands
        ring.fill(int(use))[:] = values

    def do_wg_release(self, op: Op, operands: list) -> None:
        ring, use = operands[0], int(operands[1])
        if len(operands) > 2 and not operands[2]:
            return
        for product in self.in_flight:
            for tile in product.tiles:
                assert (tile.ring, tile.use) != (ring, use), (
                    f"{ring}: {use} is still read"
                )
        ring.release(use, self.name)

    def run_wg_clear_rows(self, op: Op, operands: list):
        ring, use, count = operands[0], int(operands[1]), int(operands[2])
        rows = shape_of(ring.kinds[op.number("element")])[0][0]
        if count < rows:
            yield lambda: ring.may_take(use), f"{ring}: use {use}, to clear rows"
            ring.take(use)[op.number("element")][count:] = 0
        return []

    # ---- Copies.

    def do_wg_copy_box(self, op: Op, operands: list) -> None:
        (source, box), *coordinates, ring, use = operands
        tile = ring.fill(int(use))[op.number("element")]
        to = tile[:, op.number("column") :]
        copy_box(source, box, [int(c) for c in coordinates], to)

    def do_wg_copy_pages(self, op: Op, operands: list) -> None:
        cache = operands[0]  # a map, of the same tensor, may be second
        layer, table, sequence, position, count, ring, use = operands[-7:]
        tile = ring.fill(int(use))[op.number("element")]
        first = op.number("column")
        size = cache.shape[3]
        for row in range(min(int(count), len(tile))):
            at = int(position) + row
            page = int(table[int(sequence), at // size])
            assert 0 <= page < len(cache), f"page {page} of {len(cache)}"
            tile[row] = cache[page, 0, int(layer), at % size, 0][
                first : first + tile.shape[1]
            ]

    # ---- Items.

    def do_wg_item_count(self, op: Op, operands: list) -> list:
        return [np.int64(operands[0].tiles * int(operands[1]))]

    def do_wg_item(self, op: Op, operands: list) -> list:
        order, number, heads = operands[:3]
        return [np.int64(x) for x in order.find(int(number), int(heads))]

    def do_wg_claim(self, op: Op, operands: list) -> list:
        launch = self.block.launch
        launch.claimed += 1
        return [np.int64(launch.claimed - 1 + launch.blocks)]

    def do_wg_retire(self, op: Op, operands: list) -> None:
        launch = self.block.launch
        launch.retired += 1
        if launch.retired == launch.blocks:
            launch.claimed = launch.retired = 0

    # ---- Turns.

    def do_wg_start_turns(self, op: Op, operands: list) -> None:
        pass

    def run_wg_await_turn(self, op: Op, operands: list):
        block, due = self.block, self.group + self.turns * self.block.warpgroups
        yield lambda: block.passed == due, f"turn {due}"
        return []

    def do_wg_pass_turn(self, op: Op, operands: list) -> None:
        assert self.block.passed == self.group + self.turns * self.block.warpgroups
        self.block.passed += 1
        self.turns += 1

    # ---- Tiles and fragments.

    def do_wg_columns(self, op: Op, operands: list) -> list:
        tile, first = operands[0], op.number("first")
        start = (tile.columns.start or 0) + first
        width = shape_of(op.result_types[0])[0][1]
        return [Tile(tile.ring, tile.use, tile.element, slice(start, start + width))]

    def do_wg_mma(self, op: Op, operands: list) -> list:
        names = iter(operands)
        groups = [
            [next(names) for _ in range(n)] for n in op.numbers("operandSegmentSizes")
        ]
        product = Pending(self, op, groups)
        for tile in product.tiles:
            tile.ring.check(tile.use)
        self.in_flight.append(product)
        return [product]

    def do_wg_wait(self, op: Op, operands: list) -> list:
        while operands[0].result is None:
            self.in_flight.pop(0).finish()
        return [operands[0].result]

    def do_wg_splat(self, op: Op, operands: list) -> list:
        extents, _ = shape_of(op.result_types[0])
        shape = [ROWS, *extents[1:]]
        if "partial" in op.result_types[0]:
            shape = [ROWS, 4]
        return [np.full(shape, operands[0], np.float32)]

    def do_wg_operand_a(self, op: Op, operands: list) -> list:
        return operands

    def run_wg_map(self, op: Op, operands: list):
        wide = operands[0].ndim == 2
        rows = np.arange(ROWS, dtype=np.int64) + ROWS * self.group
        columns = np.int64(0)
        if wide:
            operands = [x[:, None] if x.ndim == 1 else x for x in operands]
            rows, columns = rows[:, None], np.arange(operands[0].shape[1])[None]
        (result,) = yield from self.run(op.regions[0], [*operands, rows, columns])
        return [np.broadcast_to(result, operands[0].shape).astype(np.float32)]

    def run_wg_reduce(self, op: Op, operands: list):
        values, start = operands
        if start.ndim == 1:
            (total,) = yield from self.fold(op, values.T)
        else:  # each thread of a quad has every fourth pair of columns
            quad = values.reshape(ROWS, -1, 4, 2).transpose(1, 3, 0, 2)
            (total,) = yield from self.fold(op, quad.reshape(-1, ROWS, 4))
        return (yield from self.run(op.regions[0], [total, start]))

    def run_wg_combine(self, op: Op, operands: list):
        return (yield from self.fold(op, operands[0].T))

    def fold(self, op: Op, values):
        total = [values[0]]
        for value in values[1:]:
            total = yield from self.run(op.regions[0], [value, *total])
        return total

    def do_wg_store(self, op: Op, operands: list) -> None:
        fragment, dest, count = operands
        start = ROWS * self.group
        rows = max(0, min(int(count) - start, ROWS))
        if rows == 0:
            return
        assert len(dest) >= start + rows, f"{start + rows} rows into {len(dest)}"
        kind = op.operand_types[1].split("<")[1].split(",")[0].split("x")[-1]
        dest[start : start + rows] = round_to(fragment[:rows], kind.rstrip(">"))


def copy_box(
    source: np.ndarray, box: list[int], start: list[int], to: np.ndarray
) -> None:
    """A box of a tensor as rows; what is outside of the tensor is zero."""
    padded = np.zeros(box, np.float32)
    inside = [
        (max(0, s), min(s + size, extent))
        for s, size, extent in zip(start, box, source.shape)
    ]
    if all(low < high for low, high in inside):
        padded[tuple(slice(a - s, b - s) for (a, b), s in zip(inside, start))] = source[
            tuple(slice(a, b) for a, b in inside)
        ]
    rows = padded.reshape(len(to), box[-1])
    to[:, : box[-1]] = rows[:, : to.shape[1]]


class Order:
    """wg.order: sequences by the cost of their last tile, heads in groups."""

    def __init__(self, op: Op, block: KernelBlock, offsets: np.ndarray) -> None:
        self.tile, self.heads_for = op.number("tile"), op.number("headsFor")
        self.rows = np.diff(np.asarray(offsets).astype(np.int64))
        costs = []
        for sequence, rows in enumerate(self.rows):
            first = max(-(-rows // self.tile) - 1, 0) * self.tile
            role = Role("order", 0, dict(block.values), block)
            arguments = [np.int64(x) for x in (sequence, first, rows - first)]
            (cost,) = finish(role.run(op.regions[0], arguments))
            costs.append(int(cost))
        self.most = max(costs, default=1)
        self.sequences = sorted(range(len(costs)), key=lambda s: -costs[s])
        self.tiles = int(sum(-(-self.rows // self.tile)))

    def find(self, number: int, heads: int) -> tuple[int, int, int, int]:
        fit = max(self.heads_for // max(self.most, 1), 1)
        group = -(-heads // -(-heads // fit))
        g, rest = divmod(number, self.tiles * group)
        here = min(group, heads - g * group)
        tile, head = divmod(rest, here)
        for sequence in self.sequences:
            rows = int(self.rows[sequence])
            tiles = -(-rows // self.tile)
            if tile < tiles:
                first = (tiles - 1 - tile) * self.tile
                return sequence, first, min(rows - first, self.tile), g * group + head
            tile -= tiles
        raise AssertionError(f"item {number} past the last")


def finish(generator):
    """Runs what waits for nothing."""
    try:
        next(generator)
    except StopIteration as stop:
        return stop.value
    raise AssertionError("waits outside of a role")


class KernelBlock:
    """A block: all ops up to wg.roles, then its roles."""

    def __init__(self, launch: Launch, body: Block, number: int, values: dict) -> None:
        self.launch, self.number = launch, number
        self.values = {**values, body.arguments[0]: np.int64(number)}
        self.rings: list[Ring] = []
        self.passed = self.warpgroups = 0
        self.roles: list[Role] = []
        self.generators: list = []
        for op in body.ops:
            if op.name == "wg.ring":
                consumers = op.number("consumers")
                ring = Ring(f"{number}.{op.results[0]}", op.result_types[0], consumers)
                self.rings.append(ring)
                self.values[op.results[0]] = ring
            elif op.name == "wg.order":
                offsets = self.values[op.operands[0]]
                self.values[op.results[0]] = Order(op, self, offsets)
            elif op.name == "wg.roles":
                self.warpgroups = op.number("warpgroups")
                self.start("producer", 0, op.regions[0])
                for group in range(self.warpgroups):
                    self.start(f"consumer {group}", group, op.regions[1])
            elif op.name != "scf.forall.in_parallel":
                role = Role("block", 0, self.values, self)
                operands = [self.values[name] for name in op.operands]
                results = finish(role.step(op, operands))
                self.values.update(zip(op.results, results))

    def start(self, name: str, group: int, body: Block) -> None:
        role = Role(f"{name} of block {self.number}", group, dict(self.values), self)
        self.roles.append(role)
        self.generators.append(role.run(body))


def run_blocks(blocks: list[KernelBlock], rng: np.random.Generator) -> None:
    waiting = [
        (generator, lambda: True, "", role.name)
        for block in blocks
        for role, generator in zip(block.roles, block.generators)
    ]
    while waiting:
        ready = [i for i, (_, may, _, _) in enumerate(waiting) if may()]
        if not ready:
            texts = [f"{name} waits for {text}" for _, _, text, name in waiting]
            raise AssertionError("deadlock:\n  " + "\n  ".join(texts))
        i = ready[rng.integers(len(ready))]
        generator, _, _, name = waiting.pop(i)
        try:
            may, text = next(generator)
        except StopIteration:
            continue
        waiting.append((generator, may, text, name))
    for block in blocks:
        for ring in block.rings:
            ring.check_end()


def run_function(ops: list[Op], arguments: list, resident: int, seed: int) -> int:
    """Runs the module's function on `resident` blocks, and returns how many items the
    loop over blocks had."""
    function = next(op for op in ops[0].regions[0].ops if op.name == "func.func")
    body = function.regions[0]
    host = Role("host", 0, dict(zip(body.arguments, arguments)), None)
    rng = np.random.default_rng(seed)
    items = 0
    for op in body.ops:
        operands = [host.values[name] for name in op.operands]
        if op.name == "scf.forall":
            (bound,) = [int(x) for x in operands] or op.numbers("staticUpperBound")
            items += bound
            launch = Launch(min(bound, resident))
            blocks = [
                KernelBlock(launch, op.regions[0], i, host.values)
                for i in range(launch.blocks)
            ]
            run_blocks(blocks, rng)
            assert launch.claimed == 0, "the counters are not zero for the next launch"
        elif op.name != "func.return":
            host.values.update(zip(op.results, finish(host.step(op, operands))))
    return items
