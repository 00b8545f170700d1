"""Holds the causal graph of a design: which signal may act on which, how late, in which direction, by what.

A latent signal is one that the design has and the telemetry has not.  One that is only computed from others (an
output, or what a loop writes) has no chance of its own: its causes act through it.  Any other latent signal (an
input, a state, something outside) has, and is a common cause of all that it acts on.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from fractions import Fraction

from coherence.base.places import Place
from coherence.language.expressions.tree import Tree

MOST_WAYS = 4  # separate delays of one influence; more are one range
LAGS_AT_MOST = 600  # steps that a declared delay may reach back


@dataclass(frozen=True)
class Influence:
    """`cause` acts on `effect` after `low` to `high` seconds; `sign` +1 or -1, 0 where either is possible.

    `flow`: the cause sets the rate of change of the effect, so what counts is its mean between two samples.
    `either`: one delay of the range, whichever the telemetry shows (a write is sampled before it is made, or after).
    `spread`: every delay of the range counts (a mean, a sampler), not one of them.
    `counted`: between counts of requests, which wait in lines: of no declared form.
    `period`: of the sampled loop that carries the influence; it never sees an effect of what it writes at once.
    """

    cause: str
    effect: str
    low: Fraction = Fraction(0)
    high: Fraction = Fraction(0)
    sign: int = 0
    by: str = ""  # the loop, component or call that declares it
    flow: bool = False
    places: tuple[Place, ...] = field(default=(), compare=False)
    either: bool = False
    period: Fraction = Fraction(0)
    spread: bool = False
    counted: bool = False

    def lags(self, step: float) -> range:
        """The delays in whole steps that the declared range allows."""
        if self.flow:
            return range(2)
        low = round(float(self.low) / step)
        high = max(low, math.ceil(float(self.high) / step - 1e-9))
        return range(min(low, LAGS_AT_MOST), min(high, LAGS_AT_MOST) + 1)


@dataclass(frozen=True)
class CausalGraph:
    """Signals and declared influences.

    `computed`: functions of others; `mechanisms`: those functions, if declared.  `curved`: what is, by its declaration,
    no straight line of its causes.
    """

    nodes: tuple[str, ...]
    influences: tuple[Influence, ...]
    computed: frozenset[str] = frozenset()
    mechanisms: Mapping[str, Tree] = field(default_factory=dict)
    places: Mapping[str, Place] = field(default_factory=dict)
    curved: frozenset[str] = frozenset()
    _known: dict[str, frozenset[str]] = field(default_factory=dict, compare=False)  # ancestors that were asked for

    def into(self, effect: str) -> tuple[Influence, ...]:
        """What acts on a signal, the signal's own past included."""
        return tuple(influence for influence in self.influences if influence.effect == effect)

    def causes(self, effect: str) -> tuple[str, ...]:
        """The signals that act on a signal, each once."""
        return tuple(dict.fromkeys(one.cause for one in self.into(effect)))

    def ancestors(self, effect: str) -> frozenset[str]:
        """All that can reach a signal, itself included."""
        if not self._known:
            self._known.update(_ancestors(self.influences))
        return self._known.get(effect, frozenset({effect}))

    def without(self, loops: Iterable[str]) -> CausalGraph:
        """The graph with these loops off: what they declare is gone."""
        off = set(loops)
        kept = tuple(influence for influence in self.influences if influence.by not in off)
        return CausalGraph(self.nodes, kept, self.computed, self.mechanisms, self.places, self.curved)

    def bypassing(self, observed: Iterable[str]) -> CausalGraph:
        """The graph without latent signals that are only computed: their causes act on their effects directly.

        Latent signals with a chance of their own stay, and what acts through them acts directly as well: else nothing
        would be told of it.  Delays add, signs multiply, and what a path was declared by stays with its last part.
        """
        seen = frozenset(observed)
        hidden = [node for node in self.nodes if node in self.computed and node not in seen]
        influences = _passed(self.influences, hidden)
        nodes = tuple(node for node in self.nodes if node not in hidden)
        latent = [node for node in nodes if node not in seen]
        through = [one for one in _passed(influences, latent) if one.cause in seen and one.effect in seen]
        influences += [one for one in through if one not in influences]
        mechanisms = {path: tree for path, tree in self.mechanisms.items() if path in nodes}
        curved = set(self.curved)
        for node in hidden:
            curved |= (
                {influence.effect for influence in self.influences if influence.cause == node}
                if node in curved
                else set()
            )
        merged = tuple(_merged(influences))
        return CausalGraph(nodes, merged, self.computed, mechanisms, self.places, frozenset(curved))

    def latent(self, observed: Iterable[str]) -> tuple[str, ...]:
        """Signals with a chance of their own that the telemetry lacks, and that act on something."""
        seen = frozenset(observed)
        acting = {influence.cause for influence in self.influences}
        return tuple(n for n in self.nodes if n not in seen and n not in self.computed and n in acting)


def _passed(influences: Iterable[Influence], hidden: Iterable[str]) -> list[Influence]:
    """Influences without these nodes, in order: what acts on each acts on its effects."""
    left = list(influences)
    for node in hidden:
        arriving = [one for one in left if one.effect == node and one.cause != node]
        leaving = [one for one in left if one.cause == node and one.effect != node]
        left = [one for one in left if node not in {one.cause, one.effect}]
        left += _merged(_joined(arriving, leaving))
    return left


def _ancestors(influences: Iterable[Influence]) -> Iterator[tuple[str, frozenset[str]]]:
    """Every effect with all that can reach it, itself included."""
    parents: dict[str, set[str]] = {}
    for influence in influences:
        parents.setdefault(influence.effect, set()).add(influence.cause)
    for effect in parents:
        ancestors, waiting = {effect}, [effect]
        while waiting:
            fresh = parents.get(waiting.pop(), set()) - ancestors
            ancestors |= fresh
            waiting += fresh
        yield effect, frozenset(ancestors)


def _joined(arriving: Iterable[Influence], leaving: Iterable[Influence]) -> Iterator[Influence]:
    last = tuple(leaving)
    for first in arriving:
        for then in last:
            yield Influence(
                first.cause, then.effect, first.low + then.low, first.high + then.high, first.sign * then.sign,
                then.by or first.by, first.flow or then.flow, (*first.places, *then.places),
                first.either or then.either, max(first.period, then.period),
                first.spread or then.spread, first.counted or then.counted,
            )  # fmt: skip


def _merged(influences: Iterable[Influence]) -> Iterator[Influence]:
    """For each cause, effect and declarer the ranges of its ways, those that overlap as one; all as one if many."""
    ways: dict[tuple[str, str, str, bool], list[Influence]] = {}
    for influence in influences:
        ways.setdefault((influence.cause, influence.effect, influence.by, influence.flow), []).append(influence)
    for parallel in ways.values():
        parts = _overlapping(parallel)
        yield from _as_one(parts if len(parts) <= MOST_WAYS else [parallel])


def _overlapping(parallel: Iterable[Influence]) -> list[list[Influence]]:
    """Sets of influences whose ranges of delays meet."""
    groups: list[list[Influence]] = []
    for influence in sorted(parallel, key=lambda influence: influence.low):
        if groups and influence.low <= max(other.high for other in groups[-1]):
            groups[-1].append(influence)
        else:
            groups.append([influence])
    return groups


def _as_one(parts: Iterable[list[Influence]]) -> Iterator[Influence]:
    for overlapping in parts:
        cause, effect, by, flow = overlapping[0].cause, overlapping[0].effect, overlapping[0].by, overlapping[0].flow
        signs = {one.sign for one in overlapping}
        places = tuple(dict.fromkeys(place for one in overlapping for place in one.places))
        low, high = min(one.low for one in overlapping), max(one.high for one in overlapping)
        sign = signs.pop() if len(signs) == 1 else 0
        either, period = all(one.either for one in overlapping), min(one.period for one in overlapping)
        spread, counted = any(one.spread for one in overlapping), any(one.counted for one in overlapping)
        yield Influence(cause, effect, low, high, sign, by, flow, places, either, period, spread, counted)
