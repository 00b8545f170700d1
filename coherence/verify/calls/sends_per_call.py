"""Counts the sends that nested retries make, exactly: what one call at the top causes at the bottom.

All sends fail for one shared cause after the same time, as fast as that cause can be; then most of
them fit before the deadlines, so the count is the largest one.  A try that a limit ends has timed out, whatever
fails behind it: its caller tries again where it does so after a timeout, and not by the shared cause.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from math import inf

from coherence.base.sends import Tries, product
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

    `hedge` = seconds after which a try that goes on is sent a second time, and fails when both copies have.
    `limit` = seconds that one copy may take, `deadline` = seconds for all tries; `cancels`: when a
    limit of this layer ends a try, the work below ends too, else it goes on.  `timed_tries`: the tries where they
    time out (None: the same).  `hedge_by`: that at the latest (None: the same).  `beside` = seconds that the callee may
    work besides the next call (None: unbounded), as long as its own time and its other calls last.  `streams`: its
    limit does not end an answer that has begun.
    """

    tries: Tries
    backoff: RetryBackoff = NO_PAUSE
    limit: Fraction | None = None
    deadline: Fraction | None = None
    cancels: bool = True
    timed_tries: Tries | None = None
    hedge: Fraction | None = None
    hedge_by: Fraction | None = None
    beside: Fraction | None = ZERO
    streams: bool = False


Outcome = tuple[int | None, Fraction | None]  # (sends, seconds); None is unbounded


@dataclass(frozen=True)
class LayerSends:
    """Sends of one call of a layer: `done` whole tries of `each` sends, and `part` of one that is cut.

    `inner`: a whole try is a whole call of the next layer; `tries` that are made of it.
    """

    done: int | None
    each: int | None
    part: int | None
    inner: bool
    tries: Tries = ()

    @property
    def total(self) -> int | None:
        return _plus(_times(self.done, self.each), self.part)


CAUSE, TIMEOUT = frozenset({False}), frozenset({True})  # by which a try may fail: the shared cause, a timeout


class _Chain:
    """`whole[i]`: one call at layer i that nothing interrupts from above; `tried[i]`: one of its tries; `copies[i]`:
    one copy of it, of which `hedged[i]` sends two.

    `longest[i]`, seconds: more than the call may take (None: unbounded), which decides what may time out; `failed[i]`:
    by what the call may fail; `causes[i]`: by what its tries may.
    """

    def __init__(self, layers: tuple[RetryLayer, ...], takes: Fraction, slowest: Fraction | None) -> None:
        self.layers, self.bounds = layers, slowest is not None
        self.whole: list[Outcome] = [(1, takes)] * (len(layers) + 1)
        self.tried: list[Outcome] = [(1, takes)] * len(layers)
        self.copies: list[Outcome] = [(1, takes)] * len(layers)
        self.hedged = [False] * len(layers)
        self.longest: list[Fraction | None] = [takes if slowest is None else slowest] * (len(layers) + 1)
        self.failed, self.causes = [CAUSE] * (len(layers) + 1), [CAUSE] * len(layers)

    def one_try(self, depth: int) -> Outcome:
        """Returns the outcome of one try at layer `depth`, with the second copy that may be sent of it.

        For a bound both copies are sent as if each were alone: no more than twice the sends of tries of one copy.
        """
        sends, takes = self.copies[depth] = self.one_copy(depth)
        hedge, longest = self.layers[depth].hedge, takes
        if self.bounds:
            longest = self._longest_copy(depth)
        if hedge is None or (longest is not None and (longest < hedge or (longest == hedge and not self.bounds))):
            return sends, takes
        self.hedged[depth] = True
        return _times(2, sends), takes if self.bounds else _later(takes, hedge)

    def one_copy(self, depth: int) -> Outcome:
        """Returns the outcome of one copy of a try at layer `depth`, within the layer's own limit."""
        sends, takes = self.whole[depth + 1]
        layer = self.layers[depth]
        failed = self._causes(self.failed[depth + 1], takes, self.longest[depth + 1], layer.limit)
        within = sends
        if layer.limit is not None and layer.cancels and (takes is None or takes >= layer.limit):
            within = self.cut(depth + 1, layer.limit)
        self.causes[depth] = failed if within == sends or self.bounds else TIMEOUT
        return within, least(takes, layer.limit)

    def call(self, depth: int) -> tuple[LayerSends, Fraction | None]:
        """Returns the row of one call at layer `depth`, within the layer's own deadline, and its seconds."""
        layer, course = self.layers[depth], self._course(depth)
        each = self.tried[depth][0]
        inner = each == self.whole[depth + 1][0]
        end = last_end(self._course(depth, fewest=True))
        self.longest[depth] = self._longest(depth) if self.bounds else end
        self.failed[depth] = self._causes(self.causes[depth], end, self.longest[depth], layer.deadline)
        self.longest[depth] = least(self.longest[depth], layer.deadline)
        if layer.deadline is None:
            return LayerSends(course.count, each, 0, inner, course.tries), end
        done, rest = self._until(depth, layer.deadline)
        part = 0 if rest is None else self._part(depth, rest) if layer.cancels else self._abandoned(depth, rest)
        row = LayerSends(done, each, part, inner, course.tries)
        if row.total != _times(course.count, each) and not self.bounds:
            self.failed[depth] = TIMEOUT
        return row, least(layer.deadline, end)

    def _longest(self, depth: int) -> Fraction | None:
        layer = self.layers[depth]
        takes = self._longest_copy(depth)
        if layer.hedge is not None:
            takes = _sum(takes, least(takes, layer.hedge_by or layer.hedge))
        return last_end(RetrySchedule(self._tries(depth), takes, layer.backoff))

    def _longest_copy(self, depth: int) -> Fraction | None:
        layer = self.layers[depth]
        return self.longest[depth + 1] if layer.streams else least(self.longest[depth + 1], layer.limit)

    def work_beside(self, depth: int) -> None:
        """Adds what the callee of layer `depth` does besides its next call, to what both take together.

        In a run that can happen it follows that call; for a bound it may also be none, and as long as it can be.
        """
        beside, (sends, takes) = self.layers[depth].beside, self.whole[depth + 1]
        if self.bounds:
            self.longest[depth + 1] = _sum(self.longest[depth + 1], beside)
        else:
            self.whole[depth + 1] = sends, _sum(takes, beside)

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
                return _plus(total, self._abandoned(depth, rest))
            if rest is not None and layer.hedge is not None:
                return _plus(total, self._part(depth, rest))
            room, depth = rest, depth + 1
        return _plus(total, 1) if room is not None and room > 0 else total

    def _part(self, depth: int, rest: Fraction) -> int | None:
        """Returns sends of a try at layer `depth` that is cancelled after `rest`; for a bound, of two whole copies."""
        sends, takes = self.copies[depth]
        hedge = self.layers[depth].hedge
        if hedge is None:
            return self.cut(depth + 1, rest)
        copy = sends if takes is not None and takes < rest else self.cut(depth + 1, rest)
        if self.bounds or not self.hedged[depth] or rest <= hedge:
            return _times(2, copy) if self.hedged[depth] and self.bounds else copy
        return _plus(copy, self.cut(depth + 1, rest - hedge))

    def _abandoned(self, depth: int, rest: Fraction) -> int | None:
        """Returns sends of a try that is abandoned when its call ends, so long after it began."""
        hedge = self.layers[depth].hedge
        twice = self.bounds or (self.hedged[depth] and hedge is not None and rest > hedge)
        return self.tried[depth][0] if twice else self.copies[depth][0]

    def _until(self, depth: int, end: Fraction) -> tuple[int | None, Fraction | None]:
        """Returns tries that end before `end`, and the time that is left for the one that has begun (None: none has).

        What ends with it is counted send by send: one of no length that would begin then does not begin.  For a bound,
        a try that its own limit ends then may have been abandoned first.
        """
        course, races = self._course(depth), self.bounds and not self.layers[depth].cancels
        begun, done = started(course, end), completed(course, end, strict=not races)
        if begun is None or done is None:
            return None, None
        return min(done, begun), end - (start(course, begun) or ZERO) if begun > done else None

    def _course(self, depth: int, *, fewest: bool = False) -> RetrySchedule:
        tries = self._tries(depth, fewest=fewest)
        return RetrySchedule(tries, self.tried[depth][1], self.layers[depth].backoff, longest=False)

    def _tries(self, depth: int, *, fewest: bool = False) -> Tries:
        """Returns the tries of a call at layer `depth`: the most, or fewest, where its tries may fail in either way."""
        layer = self.layers[depth]
        timed = layer.tries if layer.timed_tries is None else layer.timed_tries
        both = [timed if late else layer.tries for late in sorted(self.causes[depth])]
        return (min if fewest else max)(both, key=lambda tries: product(tries) or inf)

    def _causes(
        self, inside: frozenset[bool], takes: Fraction | None, longest: Fraction | None, limit: Fraction | None
    ) -> frozenset[bool]:
        """Returns by what something may fail that a limit may end; at equality the two race."""
        if limit is not None and (takes is None or takes > limit):
            return TIMEOUT
        may_be_late = limit is not None and self.bounds and (longest is None or longest >= limit)
        return inside | TIMEOUT if may_be_late else inside


@lru_cache(maxsize=4096)  # chains of equal numbers are asked about by many questions, and again after each edit
def most_sends(
    layers: tuple[RetryLayer, ...], takes: Fraction, slowest: Fraction | None = None
) -> tuple[int | None, tuple[LayerSends, ...]]:
    """Returns the most sends to the last callee that one call of the first layer causes (None: unbounded), by layer.

    `takes` = seconds after which each send fails; `slowest`: it may take up to so long, and pauses their longest: then
    the sends are no more than what is returned.
    """
    chain, rows = _Chain(layers, takes, slowest), list[LayerSends]()
    for depth in range(len(layers) - 1, -1, -1):
        chain.work_beside(depth)
        chain.tried[depth] = chain.one_try(depth)
        row, seconds = chain.call(depth)
        chain.whole[depth] = row.total, seconds
        rows.append(row)
    return chain.whole[0][0], tuple(reversed(rows))


def _times(one: int | None, other: int | None) -> int | None:
    if one == 0 or other == 0:
        return 0
    return None if one is None or other is None else one * other


def _later(time: Fraction | None, by: Fraction) -> Fraction | None:
    return None if time is None else time + by


def _sum(one: Fraction | None, other: Fraction | None) -> Fraction | None:
    return None if one is None or other is None else one + other


def _plus(one: int | None, other: int | None) -> int | None:
    return None if one is None or other is None else one + other
