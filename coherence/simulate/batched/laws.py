"""`laws.decide` over many points at once: the same steps in the same order, masks where they branch.

One array entry per point; where a point does not take part, lists of the past hold NaN.  Held to
`laws.py`, function by function, by tests that compare every point with the exact executor.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

from coherence.language.expressions.lower_numpy import Values, numpy_function
from coherence.language.expressions.tree import Choose, Compare, Tree, walk
from coherence.model.laws import CURRENT, READ, READY, ROUNDING, Recommendation
from coherence.model.model import RateLimit, SampledLoop

Array = Any  # numpy array: one entry per point
Read = Callable[[Tree], Array]
Near = Callable[[Array, Array], None]  # told of comparisons that rounding may decide
CLOCK = 1e-9  # seconds: ages are kept as floats


@dataclass(slots=True)
class Memories:
    """What one loop remembers at every point; see `laws.Memory`."""

    count: int
    recommendations: list[tuple[Fraction, Array]] = field(default_factory=list)
    changes: list[tuple[Fraction, Array]] = field(default_factory=list)
    changed: Array = None
    done: Array = None
    since: dict[Tree, Array] = field(default_factory=dict)
    earlier: dict[Tree, tuple[Fraction, Array, Array]] = field(default_factory=dict)
    lowered: dict[int, tuple[Tree, Callable[[Values], Array]]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        import numpy as np

        self.changed, self.done = np.full(self.count, np.nan), np.zeros(self.count, bool)

    def held(self, condition: Tree, now: Array, time: Fraction, duration: Fraction) -> Array:
        """Tells where the time since the first of the true samples in a row is at least the duration."""
        import numpy as np

        start = self.since.get(condition, np.full(self.count, np.nan))
        start = np.where(now, np.where(np.isnan(start), float(time), start), np.nan)
        self.since[condition] = start
        return float(time) - start >= float(duration) - CLOCK

    def previous_of(self, tree: Tree, value: Array, time: Fraction) -> Array:
        """The value at the sample before; at the first sample the value itself."""
        at, before, current = self.earlier.get(tree, (time, value, value))
        if at != time:
            before, current = current, value
        self.earlier[tree] = (time, before, current)
        return before


@dataclass(slots=True)
class Decided:
    """Modes after this sample, and the values that are written where `writes`."""

    mode: Array
    writes: Array
    value: Array


@dataclass(slots=True)
class Sample:
    """One sample of one loop at every point."""

    loop: SampledLoop
    time: Fraction
    read: Read
    near: Near
    memory: Memories
    commanded: Array
    landed: Array

    def decide(self, mode: Array) -> Decided:
        """As `laws.decide`."""
        import numpy as np

        loop, memory = self.loop, self.memory
        mode = self._triggered(mode)
        if loop.rules:
            active, wanted = self._first_rule()
            return self._limited(wanted, active, active)
        if loop.law == "none":
            return Decided(mode, np.zeros_like(mode), self.commanded)
        active = mode & ~memory.done if loop.mode == "once" else mode
        memory.done = memory.done | active
        wanted = self._value(loop.recommendations[0], self.landed if loop.counts_landed else self.commanded)
        return self._limited(wanted, active, mode)

    def _truth(self, tree: Tree) -> Array:
        import numpy as np

        return np.broadcast_to(np.asarray(self.read(tree), bool), self.commanded.shape)

    def _triggered(self, mode: Array) -> Array:
        import numpy as np

        loop = self.loop
        if loop.enter is not None and loop.leave is not None:
            return self._truth(loop.enter) | (mode & ~self._truth(loop.leave))
        return np.ones_like(mode) if loop.trigger is None else self._truth(loop.trigger)

    def _first_rule(self) -> tuple[Array, Array]:
        import numpy as np

        active, wanted = np.zeros(self.commanded.shape, bool), self.commanded
        for rule, recommendation in zip(self.loop.rules, self.loop.recommendations, strict=True):
            chosen = self._truth(rule.when) & ~active
            wanted, active = np.where(chosen, self._value(recommendation, self.commanded), wanted), active | chosen
        return active, wanted

    def _value(self, recommendation: Recommendation, current: Array) -> Array:
        """What the law recommends at every point."""
        import numpy as np

        formula, bound = recommendation.formula, {CURRENT.path: current}
        for name, tree in ((READ, recommendation.read), (READY, recommendation.ready)):
            bound[name.path] = np.broadcast_to(self.read(tree), current.shape) if tree is not None else 0.0
        wanted = self._lowered(formula)(bound)
        for edge in walk(formula.condition) if isinstance(formula, Choose) else ():
            if isinstance(edge, Compare):
                sides = (np.broadcast_to(self._lowered(s)(bound), current.shape) for s in (edge.left, edge.right))
                self.near(*sides)
        return np.broadcast_to(wanted, self.commanded.shape)

    def _lowered(self, tree: Tree) -> Callable[[Values], Array]:
        """Returns a part of a law, which each sample evaluates, as a function."""
        if id(tree) not in self.memory.lowered:
            self.memory.lowered[id(tree)] = (tree, numpy_function(tree, {"ceil": round_up}))
        return self.memory.lowered[id(tree)][1]

    def _limited(self, wanted: Array, active: Array, mode: Array) -> Decided:
        import numpy as np

        loop, memory, commanded = self.loop, self.memory, self.commanded
        inside = clip(commanded, loop)
        moved = (inside != commanded) if loop.law == "proportional" else np.zeros(commanded.shape, bool)
        if loop.hold_down or loop.hold_up:
            wanted = self._held(wanted, active & ~moved)
        if loop.rates:
            wanted = self._rate_limited(wanted)
        value = clip(wanted, loop)
        value = np.where(moved, inside, value)
        writes = active & np.isfinite(value)
        if loop.cooldown is not None:
            young = float(self.time) - memory.changed <= float(loop.cooldown) + CLOCK
            writes = writes & ~(young & (value != commanded))
        if loop.rates:
            longest = max(rate.per for rate in loop.rates)
            memory.changes = [(at, v) for at, v in memory.changes if at > self.time - longest]
            memory.changes.append((self.time, np.where(writes, value - commanded, 0.0)))
        return Decided(mode, writes, value)

    def _held(self, wanted: Array, active: Array) -> Array:
        import numpy as np

        loop, memory, time = self.loop, self.memory, self.time
        memory.recommendations.append((time, np.where(active, wanted, np.nan)))
        reach = max(loop.hold_down, loop.hold_up)
        memory.recommendations = [(at, v) for at, v in memory.recommendations if at >= time - reach]
        held = wanted
        if loop.hold_down:
            highest = np.fmax.reduce([v for at, v in memory.recommendations if at >= time - loop.hold_down])
            held = np.where(wanted < self.commanded, np.minimum(highest, self.commanded), held)
        if loop.hold_up:
            lowest = np.fmin.reduce([v for at, v in memory.recommendations if at >= time - loop.hold_up])
            held = np.where(wanted > self.commanded, np.maximum(lowest, self.commanded), held)
        return held

    def _rate_limited(self, wanted: Array) -> Array:
        import numpy as np

        rises = [self._edge(r, rising=True) for r in self.loop.rates if r.up]
        falls = [self._edge(r, rising=False) for r in self.loop.rates if r.down]
        commanded = self.commanded
        up = np.minimum(wanted, np.maximum.reduce([commanded, *rises])) if rises else wanted
        down = np.maximum(wanted, np.minimum.reduce([commanded, *falls])) if falls else wanted
        return np.where(wanted > commanded, up, np.where(wanted < commanded, down, wanted))

    def _edge(self, rate: RateLimit, *, rising: bool) -> Array:
        import numpy as np

        own = [change for at, change in self.memory.changes if at > self.time - rate.per]
        start = self.commanded - np.sum(own, axis=0)
        change = float(rate.by) if rate.by is not None else 0.0
        edge = start + change if rising else start - change
        if rate.percent is not None:
            share = float(rate.percent)
            scaled = start * (1 + share if rising else 1 - share)
            scaled = whole(np.ceil if rising else np.floor, scaled) if self.loop.integer else scaled
            edge = np.maximum(edge, scaled) if rising else np.minimum(edge, scaled)
        return edge


def round_up(wanted: Array) -> Array:
    """Rounded up to whole numbers."""
    import numpy as np

    return whole(np.ceil, wanted)


def whole(rounded: Callable[[Array], Array], wanted: Array) -> Array:
    """Rounded to whole numbers; what is whole but for rounding is that number, as in `laws`."""
    import numpy as np

    near = np.round(wanted)
    return np.where(np.abs(wanted - near) <= ROUNDING * np.abs(wanted), near, rounded(wanted))


def clip(value: Array, loop: SampledLoop) -> Array:
    """Within the loop's bounds."""
    import numpy as np

    low, high = loop.bounds.low, loop.bounds.high
    return np.clip(value, -math.inf if low is None else float(low), math.inf if high is None else float(high))
