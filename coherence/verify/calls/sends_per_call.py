"""Counts the sends that nested retries make, exactly: what one call at the top causes at the bottom.

All sends fail for one shared cause after the same time, as fast as that cause can be; then most of
them fit before the deadlines, so the count is the largest one.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from coherence.base.sends import Tries
from coherence.verify.calls.attempts import (
    NO_PAUSE,
    ZERO,
    RetryBackoff,
    RetrySchedule,
    completed,
    last_end,
    least,
    start,
    started,
)


@dataclass(frozen=True)
class RetryLayer:
    """One call of a chain: its tries, pauses and limits, and what a timeout stops.

    `limit` = seconds that one try may take, `deadline` = seconds for all tries; `cancels`: when a
    limit of this layer ends a try, the work below ends too, else it goes on.
    """

    tries: Tries
    backoff: RetryBackoff = NO_PAUSE
    limit: Fraction | None = None
    deadline: Fraction | None = None
    cancels: bool = True


Outcome = tuple[int | None, Fraction | None]  # (sends, seconds); None is unbounded


@dataclass(frozen=True)
class LayerSends:
    """Sends of one call of a layer: `done` whole tries of `each` sends, and `part` of one that is cut.

    `inner`: a whole try is a whole call of the next layer.
    """

    done: int | None
    each: int | None
    part: int | None
    inner: bool

    @property
    def total(self) -> int | None:
        return _plus(_times(self.done, self.each), self.part)


class _Chain:
    """`whole[i]`: one call at layer i that nothing interrupts from above; `tried[i]`: one of its tries."""

    def __init__(self, layers: tuple[RetryLayer, ...], takes: Fraction) -> None:
        self.layers = layers
        self.whole: list[Outcome] = [(1, takes)] * (len(layers) + 1)
        self.tried: list[Outcome] = [(1, takes)] * len(layers)

    def one_try(self, depth: int) -> Outcome:
        """Returns the outcome of one try at layer `depth`, within the layer's own limit."""
        sends, takes = self.whole[depth + 1]
        layer = self.layers[depth]
        if layer.limit is None or (takes is not None and takes <= layer.limit):
            return sends, takes
        return (self.cut(depth + 1, layer.limit) if layer.cancels else sends), layer.limit

    def call(self, depth: int) -> tuple[LayerSends, Fraction | None]:
        """Returns the row of one call at layer `depth`, within the layer's own deadline, and its seconds."""
        layer, course = self.layers[depth], self._course(depth)
        each = self.tried[depth][0]
        inner = each == self.whole[depth + 1][0]
        if layer.deadline is None:
            return LayerSends(course.count, each, 0, inner), last_end(course)
        done, rest = self._until(depth, layer.deadline)
        part = 0 if rest is None else self.cut(depth + 1, rest) if layer.cancels else each
        return LayerSends(done, each, part, inner), least(layer.deadline, last_end(course))

    def cut(self, depth: int, end: Fraction) -> int | None:
        """Returns sends of one call at layer `depth` that is cancelled from above at `end`."""
        total: int | None = 0
        room: Fraction | None = end
        while depth < len(self.layers) and room is not None:
            layer, each = self.layers[depth], self.tried[depth][0]
            own = layer.deadline is not None and layer.deadline <= room
            done, rest = self._until(depth, layer.deadline if own and layer.deadline is not None else room)
            total = _plus(total, _times(done, each))
            if own and rest is not None and not layer.cancels:
                return _plus(total, each)
            room, depth = rest, depth + 1
        return _plus(total, 1) if room is not None and room > 0 else total

    def _until(self, depth: int, end: Fraction) -> tuple[int | None, Fraction | None]:
        """Returns tries that end by `end`, and the time that is left for the one that has begun (None: none has)."""
        course = self._course(depth)
        begun, done = started(course, end), completed(course, end)
        if begun is None or done is None:
            return None, None
        done = min(done, begun)  # a try of no length that would begin at the end does not begin
        return done, end - (start(course, begun) or ZERO) if begun > done else None

    def _course(self, depth: int) -> RetrySchedule:
        layer = self.layers[depth]
        return RetrySchedule(layer.tries, self.tried[depth][1], layer.backoff, longest=False)


def most_sends(layers: tuple[RetryLayer, ...], takes: Fraction) -> tuple[int | None, tuple[LayerSends, ...]]:
    """Returns the most sends to the last callee that one call of the first layer causes (None: unbounded), by layer.

    `takes` = seconds after which each send fails.
    """
    chain, rows = _Chain(layers, takes), list[LayerSends]()
    for depth in range(len(layers) - 1, -1, -1):
        chain.tried[depth] = chain.one_try(depth)
        row, seconds = chain.call(depth)
        chain.whole[depth] = row.total, seconds
        rows.append(row)
    return chain.whole[0][0], tuple(reversed(rows))


def _times(one: int | None, other: int | None) -> int | None:
    if one == 0 or other == 0:
        return 0
    return None if one is None or other is None else one * other


def _plus(one: int | None, other: int | None) -> int | None:
    return None if one is None or other is None else one + other
