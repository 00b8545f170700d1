"""Tests the form of declared influences: whether causes act at other delays, along a bend, or together.

The design says when a cause acts and, where its expression is a sum of causes with factors, that it acts along a
straight line.  Further columns are laid beside each such equation: the cause at delays that are not declared, its
square, hinges at its quantiles, products of two causes.  Errors are held below 1 % for all of them together, and what
explains less than `MATERIAL` of the rest is let stand.  After each column that is found the others are tested again
beside it, so that one fault is told once.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from coherence.base.number_text import render_decimal, render_number
from coherence.causal.data.series import Floats, Series
from coherence.causal.fitting.fit import Fitted, FittedNode
from coherence.causal.session.filtered_rows import ColumnTest, FilteredRows, filtered_rows, shifted

FAMILYWISE = 0.005  # half of what is promised, for t quantiles are approximate
MATERIAL = 0.02  # of what the equation leaves unexplained
FURTHER = 6  # steps beyond the declared delays at which a cause is looked for
KNOTS = (0.2, 0.4, 0.6, 0.8)  # quantiles of a cause at which a hinge is looked for
MOST_PAIRED = 6  # causes up to which products are looked for
MOST_MISFITS = 3  # of one effect


@dataclass(frozen=True)
class Misfit:
    """A term that an equation lacks.  `term`: as a design says it; `kind`: "delay", "bend" or "together"."""

    effect: str
    causes: tuple[str, ...]
    kind: str
    term: str
    lag: int
    slope: float
    low: float
    high: float
    p: float  # family-wise
    explains: float  # share of what the equation leaves unexplained


@dataclass(frozen=True)
class Specification:
    """The terms that are lacking; `tests`: columns tested; `untested`: effects whose form was not tested."""

    misfits: tuple[Misfit, ...]
    tests: int
    untested: tuple[str, ...]


@dataclass(frozen=True)
class _Candidate:
    kind: str
    causes: tuple[str, ...]
    term: str
    lag: int
    column: Floats


def specification(series: Series, fitted: Fitted) -> Specification:
    """Tests every equation that was estimated by plain regression on its causes."""
    straight = [node for node in fitted.nodes.values() if testable(fitted, node)]
    timed = fitted.plan.clocks.added(series)
    sets = {}
    for node in straight:
        rows = filtered_rows(timed, node)
        sets[node.effect] = (rows, list(_candidates(fitted, node, rows)))
    tests = sum(len(candidates) for _, candidates in sets.values())
    misfits = tuple(one for effect, each in sets.items() for one in _misfits(effect, *each, tests))
    rest = tuple(n.effect for n in fitted.nodes.values() if n.effect not in sets and not n.equation.exact)
    return Specification(misfits, tests, rest)


def testable(fitted: Fitted, node: FittedNode) -> bool:
    """Decides whether an equation is a straight line of causes at delays, outside of circles, and was estimated so.

    Counts of requests follow each other through lines, which no design declares as straight.
    """
    equation, graph = node.equation, fitted.graph
    if not equation.memory or equation.lost or equation.refused or equation.exact or node.effect in graph.curved:
        return False
    in_circle = any(node.effect in graph.ancestors(cause) for cause, _ in equation.columns)
    return not in_circle and not any(one.flow or one.spread or one.counted for one in graph.into(node.effect))


def _misfits(
    effect: str, rows: FilteredRows, candidates: list[_Candidate], tests: int
) -> Iterator[Misfit]:  # fmt: skip
    for _ in range(MOST_MISFITS):
        results = rows.tests([one.column for one in candidates])
        passing = [
            (result, candidate) for result, candidate in zip(results, candidates, strict=True)
            if result.p * tests <= FAMILYWISE and result.explains >= MATERIAL
        ]  # fmt: skip
        if not passing:
            return
        result, best = max(passing, key=lambda one: one[0].explains)
        yield _misfit(effect, result, best, tests)
        rows = rows.holding(best.column)
        candidates = [one for one in candidates if one is not best]


def _misfit(effect: str, result: ColumnTest, best: _Candidate, tests: int) -> Misfit:
    reach = 2 * result.error
    slope, p = result.slope, min(result.p * tests, 1.0)
    return Misfit(
        effect, best.causes, best.kind, best.term, best.lag, slope, slope - reach, slope + reach, p, result.explains
    )


def _candidates(fitted: Fitted, node: FittedNode, rows: FilteredRows) -> Iterator[_Candidate]:
    lags: dict[str, list[int]] = {}
    for cause, lag in node.equation.columns:
        lags.setdefault(cause, []).append(lag)
    ranges: dict[str, set[int]] = {name: set(used) for name, used in lags.items()}
    for influence in fitted.graph.into(node.effect):
        ranges.setdefault(influence.cause, set()).update(influence.lags(fitted.step))
    for cause, used in lags.items():
        values = rows.series[cause]
        for lag in sorted(set(range(max(ranges[cause]) + FURTHER + 1)) - ranges[cause]):
            yield _Candidate("delay", (cause,), _text(cause, lag, fitted.step), lag, rows.column(values, lag))
        yield from _bends(cause, used[0], fitted.step, rows)
    if len(lags) <= MOST_PAIRED:
        for first, second in combinations(lags, 2):
            parts = [(rows.series[name] - np.nanmean(rows.series[name]), lags[name][0]) for name in (first, second)]
            product = np.prod([shifted(values, lag) for values, lag in parts], axis=0)
            term = f"{_text(first, lags[first][0], fitted.step)} * {_text(second, lags[second][0], fitted.step)}"
            yield _Candidate("together", (first, second), term, 0, rows.column(product, 0))


def _bends(cause: str, lag: int, step: float, rows: FilteredRows) -> Iterator[_Candidate]:
    values, name = rows.series[cause], _text(cause, lag, step)
    known = values[np.isfinite(values)]
    if not len(known):
        return
    square = (values - known.mean()) ** 2
    yield _Candidate("bend", (cause,), f"{name} * {name}", lag, rows.column(square, lag))
    for knot in dict.fromkeys(np.quantile(known, KNOTS).tolist()):
        hinge = np.maximum(values - knot, 0.0)
        yield _Candidate("bend", (cause,), f"max({name} - {render_number(knot)}, 0)", lag, rows.column(hinge, lag))


def _text(cause: str, lag: int, step: float) -> str:
    return f"delayed({cause}, {render_decimal(lag * step)} s)" if lag else cause
