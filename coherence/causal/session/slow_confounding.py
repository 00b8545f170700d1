"""Refuses influences that vanish or change when what is slow is held fixed: the past of both signals, a trend, the day.

Two signals that drift, or that follow the day, agree without touching each other, and their short-term movements then
do not.  Each declared influence is estimated a second time beside the controls with which undeclared couplings are
tested; where the two estimates are further apart than chance allows, neither is told.  And where what is left of the
effect, beside a cause, remembers longer than a batch of the record, the intervals would be too narrow: none is told.
In a record that shows no day twice, what keeps to hours of a day in both cannot be held fixed: it is refused as well.

SOURCE: Granger and Newbold 1974, Spurious regressions in econometrics; Hausman 1978, Specification tests.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from coherence.base.number_text import render_number
from coherence.causal.data.series import Series
from coherence.causal.fitting.clocks import Clocks
from coherence.causal.fitting.equations import Equation
from coherence.causal.fitting.fit import Fitted, FittedNode, node_of
from coherence.causal.fitting.gram import Column, grams
from coherence.causal.fitting.single_days import hours_of_day
from coherence.causal.session.couplings import MEMORY

APART = 3.5  # standard errors of the difference
MATERIAL = 0.1  # of the estimate: a smaller difference is let stand
ROWS = 5  # for each regressor, at least
LEAST, EXACT = 40, 1e-9
HOUR = 3600.0  # s
LONGEST = 0.7  # of a batch: memory of what an estimate averages


def without_slow_confounding(series: Series, fitted: Fitted) -> Fitted:
    """Returns the fit with equations refused whose coefficients do not stand beside the controls."""
    fitted = fitted.having(_with_one_day(series, fitted))
    clocks = fitted.plan.clocks
    timed = clocks.added(series)
    return fitted.having(
        refused for node in fitted.nodes.values() for refused in _refused(timed, node, clocks, fitted.batches)
    )


def _with_one_day(series: Series, fitted: Fitted) -> Iterator[Equation]:
    """Yields the equations without the influence of causes that have hours of a day, as their effect has."""
    of_hours = hours_of_day(series)
    for effect, node in fitted.nodes.items():
        equation = node.equation
        lost = tuple(column for column in equation.columns if column[0] in of_hours and column[0] != effect)
        if effect in of_hours and lost and not equation.exact and not equation.lost:
            names = " and ".join(dict.fromkeys(name for name, _ in lost))
            record = f"a record of {render_number(len(series) * series.step / HOUR)} hours"
            why = f"{names} and {effect} keep to hours of a day, which cannot be told from an influence in {record}"
            yield replace(equation, lost=lost, refused=why, measure=("two days or more",))


def _refused(timed: Series, node: FittedNode, clocks: Clocks, batches: int) -> Iterator[Equation]:
    equation = node.equation
    if equation.exact or equation.instruments or equation.lost:
        return
    longest = 0.0 if equation.memory else max(_memories(timed, node), default=0.0)
    if longest > LONGEST * len(timed) / batches:
        why = f"what is left of {node.effect} remembers {longest:.0f} rows, and the batches of the record are shorter"
        yield replace(equation, lost=equation.columns, refused=why, measure=("a longer record",))
        return
    held = Equation(equation.effect, equation.columns, controls=_controls(equation), spread=equation.spread)
    held = replace(held, clocks=clocks.beside(held.used, held.effect))
    if len(timed) < ROWS * len(held.used):
        return
    sums = grams(timed, held.used)
    beside = node_of(sums, sums.stacked, held)
    for place, (cause, _) in enumerate(equation.columns):
        alone, among = float(node.coefficients[0, place]), float(beside.coefficients[0, place])
        error = math.hypot(float(node.error[place]), float(beside.error[place]))
        if cause != equation.effect and abs(alone - among) > max(APART * error, MATERIAL * abs(alone)):
            why = (
                f"{cause} seems to do {render_number(alone)}, and {render_number(among)} with the past of both, a "
                "trend and the day held fixed: something slow moves both"
            )
            measure = ("what moves both slowly", "a stretch in which it rests")
            yield replace(equation, lost=equation.columns, refused=why, measure=measure)
            return


def _memories(series: Series, node: FittedNode) -> Iterator[float]:
    """Yields for each column how many rows of (cause x what is left of the effect) are worth one that is new."""
    from coherence.loops.identification.effective_samples import effective_size

    columns, count = node.equation.columns, len(series)
    most = max((lag for _, lag in columns), default=0)
    parts = [series[name][most - lag : count - lag] for name, lag in columns]
    effect = series[node.effect][most:]
    left = effect - sum(
        (float(weight) * part for weight, part in zip(node.coefficients[0], parts, strict=True)), np.zeros(len(effect))
    )
    known = np.isfinite(left)
    left = left[known] - left[known].mean() if known.any() else left[known]
    if len(left) < LEAST or left.std() <= EXACT * effect[known].std():
        return
    for part in parts:
        if part[known].std() > 0:
            product = (part[known] - part[known].mean()) * left
            yield len(product) / effective_size(product / product.std())


def _controls(equation: Equation) -> tuple[Column, ...]:
    """Returns the past of the effect and of its causes behind their delays."""
    own = [(equation.effect, lag) for lag in range(1, MEMORY + 1)]
    past = [(cause, lag + more) for cause, lag in equation.columns for more in range(1, MEMORY + 1)]
    every = dict.fromkeys([*equation.controls, *own, *past])
    return tuple(column for column in every if column not in equation.columns)
