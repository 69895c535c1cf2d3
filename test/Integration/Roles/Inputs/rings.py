"""Rings as they are in a block's shared memory: two barriers a slot, which know a phase
and nothing of uses. What a right program keeps to is checked besides.
"""

from __future__ import annotations

import numpy as np
from generic import split
from scalars import shape_of


class Barrier:
    """An mbarrier: waiting for a parity ends once the phase of that parity is over, and
    a new one counts as if one of parity 1 were."""

    def __init__(self, arrivals: int) -> None:
        self.arrivals = arrivals
        self.phases = 0
        self.arrived: list = []

    def is_over(self, parity: int) -> bool:
        return (self.phases & 1) != parity

    def arrive(self, who) -> None:
        assert who not in self.arrived, f"{who} arrives twice in a phase"
        self.arrived.append(who)
        if len(self.arrived) == self.arrivals:
            self.phases += 1
            self.arrived = []


class Ring:
    """`poison` fills a tile when its slot is acquired: what no copy writes there may be
    anything."""

    def __init__(self, name: str, kind: str, consumers: int) -> None:
        inside = kind[kind.index("<") + 1 : kind.rindex(">")]
        count, _, elements = inside.partition(" x ")
        self.name, self.kinds, self.slots = name, split(elements), int(count)
        self.full = [Barrier(1) for _ in range(self.slots)]
        self.empty = [Barrier(consumers) for _ in range(self.slots)]
        self.values = [[None] * len(self.kinds) for _ in range(self.slots)]
        self.uses: list[int | None] = [
            None
        ] * self.slots  # that a slot was acquired for
        self.committed = 0

    def slot(self, use: int) -> int:
        return use % self.slots

    def parity(self, use: int) -> int:
        return (use // self.slots) & 1

    # The producer.

    def may_acquire(self, use: int) -> bool:
        return self.empty[self.slot(use)].is_over(self.parity(use) ^ 1)

    def acquire(self, use: int) -> None:
        slot = self.slot(use)
        turn = use // self.slots
        assert self.empty[slot].phases == turn, f"{self}: acquires {use} out of order"
        self.uses[slot] = use
        for i, kind in enumerate(self.kinds):
            if kind.startswith("!wg.tile"):
                self.values[slot][i] = np.full(shape_of(kind)[0], np.nan, np.float32)

    def fill(self, use: int) -> list:
        """The slot's values, for the producer to write."""
        slot = self.slot(use)
        assert self.uses[slot] == use, f"{self}: copies into {use} without the slot"
        return self.values[slot]

    def commit(self, use: int) -> None:
        slot = self.slot(use)
        assert self.uses[slot] == use, f"{self}: commits {use} without the slot"
        assert self.full[slot].phases == use // self.slots, (
            f"{self}: commits {use} twice"
        )
        self.full[slot].arrive("producer")
        self.committed += 1

    # Consumers.

    def may_take(self, use: int) -> bool:
        return self.full[self.slot(use)].is_over(self.parity(use))

    def take(self, use: int) -> list:
        self.check(use)
        return self.values[self.slot(use)]

    def check(self, use: int) -> None:
        """Whether the slot holds a use that nobody has given back for good."""
        slot, turn = self.slot(use), use // self.slots
        assert self.uses[slot] == use, (
            f"{self}: {use} is read, {self.uses[slot]} is there"
        )
        assert self.full[slot].phases == turn + 1, f"{self}: {use} is not there yet"
        assert self.empty[slot].phases == turn, f"{self}: {use} is given back already"

    def release(self, use: int, who) -> None:
        self.check(use)
        self.empty[self.slot(use)].arrive(who)

    def check_end(self) -> None:
        for slot in range(self.slots):
            turns = len(range(slot, self.committed, self.slots))
            assert self.full[slot].phases == turns, f"{self}: a use was not committed"
            assert self.empty[slot].phases == turns, f"{self}: a use was not given back"
            assert not self.empty[slot].arrived, f"{self}: not all gave a use back"

    def __str__(self) -> str:
        return f"ring {self.name}"
