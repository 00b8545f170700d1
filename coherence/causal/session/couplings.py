"""Tests for couplings that the data show and the design does not declare.

A design says that a signal, given its causes, has nothing to do with what is not its effect.  Each such statement that
can be read off the graph is tested: one regression on the signal's causes, on its own past and theirs (so that
errors that remember the past do not look like causes), and on the present and past of the other signal.  Family-wise
errors are held below 1 % (Holm) with the jackknife's t values, for autocorrelated signals fool the usual ones: of 20
that have nothing to do with an effect, naive tests choose 8.6.  The clock is held fixed too: a straight trend, and the
day where the record has one, act on everything that follows them.
SOURCE: local Markov property (Pearl 2009, 1.2.2); Holm 1979.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from coherence.causal.answers.intervals import Estimate
from coherence.causal.data.series import Floats, Series
from coherence.causal.fitting.clocks import Clocks, clocks_of, days_of
from coherence.causal.fitting.equations import Equation, delays_of
from coherence.causal.fitting.fit import FittedNode, node_of
from coherence.causal.fitting.gram import Column, Grams, grams, unexplained
from coherence.causal.fitting.graph import CausalGraph
from coherence.causal.fitting.identification import implied
from coherence.causal.fitting.planning import FEWEST_ROWS
from coherence.causal.session.coupling_screen import (
    EXACT,
    SCREEN,
    EffectColumns,
    largest_of_blocks,
    least_squared_t,
    possible_causes,
)

FAMILYWISE = 0.005  # of finding anything where nothing is: half of what is promised, for t quantiles are approximate
MEMORY = 2  # past steps of everything that are held fixed, and in which another signal is looked for

MOST_BESIDE, PACK = 150, 30  # signals that are not of the design; above so many they are tested some at a time
MOST_MOVED = 60  # signals up to which the couplings are tested again with everything moved in time


@dataclass(frozen=True)
class UndeclaredCoupling:
    """An influence that nobody declared.  `lag` in steps; at 0 only the design could say which of the two acts."""

    cause: str
    effect: str
    lag: int
    strength: Estimate  # effect's unit per cause's unit, causes and past held fixed
    p: float  # family-wise
    explains: float  # share of the variance that the declared causes leave


@dataclass(frozen=True)
class Tested:
    """All couplings found, and how many statements of independence were tested.

    `broken`: how many of the statements do not hold; a coupling breaks those of everything that acts through it too.
    """

    couplings: tuple[UndeclaredCoupling, ...]
    tests: int
    placebo: int | None = None  # found with every other signal moved by half the record, where nothing can act
    broken: int = 0
    accounts: int = 0  # pairs that count the same requests, which are no couplings and are not tested


def tested(series: Series, graph: CausalGraph, accounts: Mapping[str, frozenset[str]]) -> Tested:
    """`couplings`; of very many signals that are not of the design, or of some with gaps, only those that may act.

    Errors are held for all.  Couplings are estimated on rows without a gap: beside many signals with gaps few are left.
    """
    if len(series) < FEWEST_ROWS:
        return Tested((), 0)
    known = set(graph.nodes)
    mine, others = ([name for name in series.names if (name in known) is own] for own in (True, False))
    own = series.of(mine)
    if len(others) <= MOST_BESIDE and 2 * _complete_rows(series) >= _complete_rows(own):
        return couplings(series, graph, placebo=len(series.names) <= MOST_MOVED, accounts=accounts)
    effects, tests, booked = _asked_of_others(own, others, graph, accounts)
    if not effects:
        return couplings(own, graph, accounts=accounts)
    chance = min(SCREEN, math.sqrt(FAMILYWISE / tests))  # far above what the family-wise test leaves of so many
    chosen = possible_causes(clocks_of(own).added(own), series, others, effects, MEMORY, chance)
    if len(chosen) > MOST_BESIDE:
        packs = [chosen[at : at + PACK] for at in range(0, len(chosen), PACK)]
        results = [couplings(series.of([*mine, *pack]), graph, tests=tests, accounts=accounts) for pack in packs]
        seen = {name for result in results for pair in result.couplings for name in (pair.cause, pair.effect)}
        chosen = [name for name in chosen if name in seen]
    left = couplings(series.of([*mine, *chosen]), graph, tests=tests, accounts=accounts)
    return replace(left, tests=tests, accounts=booked)


def _complete_rows(series: Series) -> int:
    """Returns how many rows have no gap, nor those before them whose past is held fixed."""
    whole = np.isfinite(series.values).all(axis=1)
    return int(np.lib.stride_tricks.sliding_window_view(whole, MEMORY + 2).all(axis=1).sum())


def _asked_of_others(
    own: Series, others: Sequence[str], graph: CausalGraph, accounts: Mapping[str, frozenset[str]]
) -> tuple[list[EffectColumns], int, int]:
    """Returns what each other signal is asked about, and (of all pairs) how many are tested and are accounts."""
    seen = graph.bypassing(own.names)
    delays = delays_of(own, seen)
    clocks = clocks_of(own)
    every = tuple(implied(seen, (*own.names, others[0]), delays, own.step, MEMORY))  # each other stands alone alike
    lags_of = {effect: lags for cause, effect, lags in every if cause == others[0]}
    effects = [
        EffectColumns(effect, _with_clocks(clocks, effect, _base(seen, delays, effect, own.names)), lags)
        for effect, lags in lags_of.items()
    ]
    pairs = [(cause, effect) for cause, effect, _ in every if cause != others[0]]
    pairs += [(other, effect) for other in others if other in accounts for effect in lags_of]
    booked = sum(bool(accounts.get(cause, frozenset()) & accounts.get(effect, frozenset())) for cause, effect in pairs)
    return effects, len(every) + (len(others) - 1) * len(lags_of) - booked, booked


def couplings(
    series: Series, graph: CausalGraph, *, tests: int = 0, placebo: bool = False,
    accounts: Mapping[str, frozenset[str]] | None = None,
) -> Tested:  # fmt: skip
    """Test every independence that the graph implies between an effect and what is not declared to act on it.

    `tests`: for how many statements errors are held, where they are more than those of this series.
    `accounts`: where signals count requests: that two at one place add up is no coupling.
    """
    seen = graph.bypassing(series.names)
    delays = delays_of(series, seen)
    every = tuple(Pair(*one) for one in implied(seen, series.names, delays, series.step, MEMORY))
    places, nowhere = accounts or {}, frozenset[str]()
    pairs = tuple(pair for pair in every if not places.get(pair.cause, nowhere) & places.get(pair.effect, nowhere))
    bases = {
        effect: _base(seen, delays, effect, series.names) for effect in dict.fromkeys(pair.effect for pair in pairs)
    }
    clocks = clocks_of(series)
    timed = clocks.added(series)
    bases = {effect: _with_clocks(clocks, effect, base) for effect, base in bases.items()}
    couplings_seen, broken = _couplings_among(timed, bases, pairs, max(tests, len(pairs)), clocks.spread)
    moved = _placebo(timed, bases, pairs, clocks.spread) if placebo else None
    return Tested(couplings_seen, len(pairs), moved, broken, len(every) - len(pairs))


def _with_clocks(clocks: Clocks, effect: str, base: tuple[Column, ...]) -> tuple[Column, ...]:
    return (*base, *clocks.beside([(effect, 0), *base], effect))


@dataclass(frozen=True)
class Pair:
    """A signal that by the design has nothing to do with an effect at these delays, given the effect's causes."""

    cause: str
    effect: str
    lags: tuple[int, ...]

    @property
    def columns(self) -> tuple[Column, ...]:
        """The delays, and one more: the signal's own memory must not count as its influence."""
        return tuple((self.cause, lag) for lag in (*self.lags, max(self.lags) + 1))


def _couplings_among(
    series: Series,
    bases: Mapping[str, tuple[Column, ...]],
    pairs: Sequence[Pair],
    tests: int,
    spread: float,
) -> tuple[tuple[UndeclaredCoupling, ...], int]:
    """(direct couplings, number of broken statements)."""
    sums = grams(series, _columns(series.names, bases, pairs))
    stacked = sums.stacked
    passing: list[tuple[float, Pair]] = []
    for effect, base in bases.items():
        for pair in _screened(sums, effect, base, [pair for pair in pairs if pair.effect == effect]):
            beside = _beside(pair, base)
            equation = Equation(effect, beside, controls=_held(sums, base, beside), spread=spread)
            node = node_of(sums, stacked, equation)
            passing.append((_p(node, pair), pair))
    broken = _holm(passing, tests)
    return tuple(_direct(sums, stacked, bases, broken, tests, spread)), len(broken)


def _held(sums: Grams, base: tuple[Column, ...], beside: Iterable[Column]) -> tuple[Column, ...]:
    """Returns what is held fixed beside other signals: the mean days of those that have one, too."""
    there = set(sums.columns)
    return tuple(dict.fromkeys((*base, *(day for day in days_of(beside) if day in there))))


def _beside(pair: Pair, base: Iterable[Column]) -> tuple[Column, ...]:
    held = set(base)
    return tuple(column for column in pair.columns if column not in held)


def _p(node: FittedNode, pair: Pair) -> float:
    """Bonferroni over the delays of one pair."""
    asked = {(pair.cause, lag) for lag in pair.lags}
    p = [p for column, p in zip(node.equation.columns, node.p.tolist(), strict=True) if column in asked]
    return min(min(p, default=1.0) * len(p), 1.0)


def _base(
    graph: CausalGraph, delays: Mapping[tuple[str, str], tuple[int, ...]], effect: str, names: Sequence[str]
) -> tuple[Column, ...]:
    """The declared causes at their delays and a little further back, and the effect's own past."""
    own = tuple((effect, lag) for lag in range(1, MEMORY + 1))
    causes = [
        (cause, lag) for cause in graph.causes(effect) if cause in names for lag in delays.get((cause, effect), ())
    ]
    further = [(cause, lag + more) for cause, lag in causes for more in range(MEMORY + 1)]
    return tuple(dict.fromkeys(column for column in (*own, *further) if column != (effect, 0)))


def _columns(
    names: Iterable[str], bases: Mapping[str, tuple[Column, ...]], pairs: Iterable[Pair]
) -> tuple[Column, ...]:
    looked = [column for pair in pairs for column in pair.columns]
    based = [column for base in bases.values() for column in base]
    days = [day for day in days_of(looked) if day[0] in set(names)]
    return tuple(dict.fromkeys([*((name, 0) for name in names), *based, *looked, *days]))


def _screened(sums: Grams, effect: str, base: tuple[Column, ...], pairs: Sequence[Pair]) -> Iterator[Pair]:
    """Pairs whose partial correlation is not plainly nothing, by the ordinary test."""
    looked = tuple(dict.fromkeys(column for pair in pairs for column in _beside(pair, base)))
    held, wanted = [0, *sums.index(base)], [*sums.index([(effect, 0)]), *sums.index(looked)]
    whole = sums.whole
    left = unexplained(whole, held, wanted)
    at = {column: number for number, column in enumerate(looked, start=1)}
    free, limit = least_squared_t(float(whole[0, 0]), len(held), MEMORY, SCREEN)
    spread = np.diagonal(whole)[wanted] - whole[0, wanted] ** 2 / max(float(whole[0, 0]), 1.0)
    moves = np.diagonal(left) > EXACT * np.maximum(spread, 1e-300)
    if not moves[0]:
        return  # the declared causes say everything: there is nothing that another could explain
    blocks = {pair: [at[column] for column in _beside(pair, base) if moves[at[column]]] for pair in pairs}
    largest = largest_of_blocks(left, list(blocks.values()), free)
    yield from (pair for pair, value in zip(blocks, largest, strict=True) if value > limit)


def _holm(passing: Iterable[tuple[float, Pair]], tests: int) -> list[tuple[float, Pair]]:
    """Holm 1979: the rejected ones with their adjusted p values."""
    rejected: list[tuple[float, Pair]] = []
    largest = 0.0
    for rank, (p, pair) in enumerate(sorted(passing, key=lambda one: one[0])):
        largest = max(largest, min(p * (tests - rank), 1.0))
        if largest > FAMILYWISE:
            break
        rejected.append((largest, pair))
    return rejected


def _direct(
    sums: Grams, stacked: Floats, bases: Mapping[str, tuple[Column, ...]], rejected: Sequence[tuple[float, Pair]],
    tests: int, spread: float,
) -> Iterator[UndeclaredCoupling]:  # fmt: skip
    """Of everything found for one effect, what remains beside the others: the rest acts through them."""
    for effect in dict.fromkeys(pair.effect for _, pair in rejected):
        base = bases[effect]
        mine = {pair: p for p, pair in rejected if pair.effect == effect}
        while True:
            columns = tuple(dict.fromkeys(column for pair in mine for column in _beside(pair, base)))
            equation = Equation(effect, columns, controls=_held(sums, base, columns), spread=spread)
            node = node_of(sums, stacked, equation)
            weakest = max(mine, key=lambda pair: _p(node, pair))
            if len(mine) == 1 or _p(node, weakest) * tests <= FAMILYWISE:
                break
            del mine[weakest]
        alone = node_of(sums, stacked, Equation(effect, base))
        explains = (node.explained - alone.explained) / max(1 - alone.explained, 1e-12)
        yield from (_coupling_of(node, pair, p, explains) for pair, p in mine.items())


def _coupling_of(node: FittedNode, pair: Pair, p: float, explains: float) -> UndeclaredCoupling:
    """The delay at which the pair is seen best."""
    places = [number for number, (name, lag) in enumerate(node.equation.columns) if (name, lag) in _columns_of(pair)]
    best = min(places, key=lambda number: float(node.p[number]))
    low, high, error = float(node.low[best]), float(node.high[best]), float(node.error[best])
    strength = Estimate(float(node.coefficients[0, best]), low, high, error)
    return UndeclaredCoupling(pair.cause, pair.effect, node.equation.columns[best][1], strength, p, explains)


def _columns_of(pair: Pair) -> set[Column]:
    return {(pair.cause, lag) for lag in pair.lags}


def _placebo(series: Series, bases: Mapping[str, tuple[Column, ...]], pairs: Sequence[Pair], spread: float) -> int:
    """How many are found where none can be: every candidate stands half a record away."""
    shifted = {f"{name} (moved)": np.roll(series[name], len(series) // 2) for name in sorted({p.cause for p in pairs})}
    values = np.column_stack([series.values, *shifted.values()])
    moved = Series((*series.names, *shifted), values, series.step, series.start)
    renamed = [Pair(f"{pair.cause} (moved)", pair.effect, pair.lags) for pair in pairs]
    return len(_couplings_among(moved, bases, renamed, len(renamed), spread)[0])
