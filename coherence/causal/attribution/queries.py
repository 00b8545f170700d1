"""Answers do(x = v): the level of every signal if some were set, whatever their causes, and all else stayed."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import numpy as np

from coherence.base.errors import UsageError, did_you_mean
from coherence.causal.answers.intervals import Estimate, estimate
from coherence.causal.attribution.loops_off import UNKNOWN, LoopSwitch, blocked, means_after, simulated
from coherence.causal.attribution.mechanisms import Range, non_linear
from coherence.causal.data.series import Series
from coherence.causal.fitting.fit import Fitted


@dataclass(frozen=True)
class InterventionLevel:
    """The mean of a signal as measured, and under the intervention; `refused`: why the latter cannot be told."""

    signal: str
    measured: float
    level: Estimate
    change: Estimate
    refused: str = ""


def do(
    series: Series, fitted: Fitted, levels: Mapping[str, float], *, on: Iterable[str] | None = None,
    constants: Mapping[str, float | Range] | None = None,
) -> tuple[InterventionLevel, ...]:  # fmt: skip
    """What each signal (default: all) would be on average under do(levels).

    Raises UsageError for unknown signals, levels that are no numbers, and a feedback that would not die out.
    """
    kept_alive = tuple(on) if on is not None else fitted.signals
    for name in (*levels, *kept_alive):
        if name not in fitted.signals:
            raise UsageError(f"'{name}' is not among the fitted signals: {did_you_mean(name, fitted.signals)}")
    strange = [f"{name}={level}" for name, level in levels.items() if not np.isfinite(level)]
    if strange:
        raise UsageError(f"do({', '.join(strange)}): a level must be a finite number")
    curved = non_linear(fitted.graph, series.names, constants or {})
    linear = means_after(fitted, LoopSwitch({}, frozenset()), {}, levels)
    answers = []
    for name in kept_alive:
        measured = float(fitted.levels[name, 0][0])
        why = "" if name in levels else blocked(fitted, levels, name)
        if why:
            answers.append(InterventionLevel(name, measured, UNKNOWN, UNKNOWN, why))
            continue
        levels_of = linear[:, fitted.signals.index(name)]
        if name not in levels and fitted.graph.ancestors(name) & set(curved):
            levels_of = simulated(series, fitted, name, levels, {}, constants)
            measured = float(np.nanmean(series[name]))
        level = estimate(float(levels_of[0]), levels_of[1:])
        answers.append(
            InterventionLevel(name, measured, level, estimate(float(levels_of[0]) - measured, levels_of[1:] - measured))
        )
    return tuple(answers)
