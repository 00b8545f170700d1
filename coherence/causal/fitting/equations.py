"""Chooses the regressors of each signal: its declared causes, at the delays that design and data allow."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

import numpy as np

from coherence.causal.data.series import Floats, Series
from coherence.causal.fitting.gram import Column
from coherence.causal.fitting.graph import CausalGraph, Influence

MOST_SPREAD = 30  # delays of a mean that are all estimated
MOST_LAGS = 3  # a wider range of delays is searched for its best one


@dataclass(frozen=True)
class Equation:
    """What a signal is regressed on, and how.

    `lost`: columns whose coefficients cannot be told, `refused` why, and `measure` what would tell them.  `exact`: the
    signal is a known linear function of its columns (a loss made of others), and these are its coefficients.
    `replaced`: causes for which their own causes stand; what is theirs alone stays with the effect's own part.
    `memory`: samples of its own past that the effect's own part remembers, to be filtered out.  `clocks`: what is held
    fixed of the time itself; `spread`: by how much that widens what chance alone would leave.
    """

    effect: str
    columns: tuple[Column, ...]
    instruments: tuple[Column, ...] = ()
    controls: tuple[Column, ...] = ()
    lost: tuple[Column, ...] = ()
    refused: str = ""
    measure: tuple[str, ...] = ()
    method: str = "its causes"
    exact: tuple[float, ...] = ()
    replaced: tuple[str, ...] = ()
    memory: int = 0
    clocks: tuple[Column, ...] = ()
    spread: float = 1.0

    @property
    def used(self) -> tuple[Column, ...]:
        """Every column that the estimate reads."""
        shown = ((self.effect, 0), *self.columns, *self.controls, *self.instruments)
        return tuple(dict.fromkeys((*shown, *self.clocks)))


def delays_of(series: Series, graph: CausalGraph) -> dict[tuple[str, str], tuple[int, ...]]:
    """(cause, effect) -> delays in steps: all that the design allows if few, else those that the data point at."""
    delays: dict[tuple[str, str], tuple[int, ...]] = {}
    for influence in graph.influences:
        if influence.cause in series and influence.effect in series:
            lags = _possible(influence, series)
            most = MOST_SPREAD if influence.spread else MOST_LAGS
            either = influence.either and len(lags) > 1 and influence.cause != influence.effect
            free = len(lags) > most or either
            best = _best if len(lags) > MOST_LAGS else _beside_its_past
            chosen = best(series, influence, lags) if free else tuple(lags)
            pair = (influence.cause, influence.effect)
            delays[pair] = tuple(sorted({*delays.get(pair, ()), *chosen}))
    return _later(series, graph, delays)


def _later(
    series: Series, graph: CausalGraph, delays: Mapping[tuple[str, str], tuple[int, ...]]
) -> dict[tuple[str, str], tuple[int, ...]]:
    """Without what cannot be: a sampled loop that sees, within a step, the effect of what it writes."""
    later = dict(delays)
    for influence in graph.influences:
        pair = (influence.cause, influence.effect)
        if 0 in later.get(pair, ()) and float(influence.period) >= series.step * (1 - 1e-9):
            now = CausalGraph((), tuple(Influence(*ends) for ends, lags in later.items() if 0 in lags and ends != pair))
            if influence.effect in now.ancestors(influence.cause):
                later[pair] = tuple(lag for lag in later[pair] if lag) or (1,)
    return later


def _possible(one: Influence, series: Series) -> range:
    lags = one.lags(series.step)
    first = max(lags.start, 1) if one.cause == one.effect else lags.start
    return range(first, max(min(lags.stop, max(len(series) // 4, first + 1)), first + 1))


def _best(series: Series, one: Influence, lags: range) -> tuple[int, ...]:
    """The delay at which the change of the effect follows the change of the cause most closely."""
    cause, effect = _changes(series[one.cause]), _changes(series[one.effect])
    score = [abs(float(np.dot(cause[: len(cause) - lag or None], effect[lag:]))) for lag in lags]
    return (lags[int(np.argmax(score))],)


def _beside_its_past(series: Series, influence: Influence, lags: range) -> tuple[int, ...]:
    """The delay at which the cause explains most of what the effect's own past does not."""
    cause, effect = series[influence.cause], series[influence.effect]
    deepest = max(*lags, 1)
    past, now = effect[deepest - 1 : -1], effect[deepest:]
    left = {}
    for lag in lags:
        rows = np.column_stack([past, cause[deepest - lag : len(cause) - lag], np.ones(len(past))])
        whole = np.isfinite(rows).all(axis=1) & np.isfinite(now)
        coefficients = np.linalg.lstsq(rows[whole], now[whole], rcond=None)[0]
        left[lag] = float(((now[whole] - rows[whole] @ coefficients) ** 2).sum())
    return (min(left, key=lambda lag: left[lag]),)


def _changes(values: Floats) -> Floats:
    """First differences, for slow signals agree at every delay; missing values count as no change."""
    steps = np.diff(values)
    steps = np.where(np.isfinite(steps), steps, 0.0)
    return np.asarray(steps - steps.mean(), np.float64)


def default_equations(
    graph: CausalGraph, names: Iterable[str], delays: Mapping[tuple[str, str], tuple[int, ...]]
) -> Iterator[Equation]:
    """For each observed signal with observed causes: a regression on all of them."""
    for effect in names:
        causes = [cause for cause in graph.causes(effect) if (cause, effect) in delays]
        columns = tuple((cause, lag) for cause in causes for lag in delays[cause, effect])
        columns = tuple(column for column in columns if column != (effect, 0))
        if columns:
            yield Equation(effect, columns)
