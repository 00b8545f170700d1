"""Draws waves in space and time: how each queue and signal of a run rises and falls, beside the bounds of its loops."""

from __future__ import annotations

import itertools

import numpy as np

from coherence.assessment.parts.answers import Assessment
from coherence.assessment.parts.elements import note, pictured, reproduced, rounded, table
from coherence.assessment.parts.runs import curves_of, loop_bounds, means, unit_words
from coherence.base.number_text import render_clock
from coherence.reporting.pictures.heat_map import HeatRow, heat_map
from coherence.reporting.pictures.markup import Child
from coherence.simulate.study.course import CourseCurve

ORDER, TITLE = 64, "Waves in space and time"
PARTS, MOST = 100, 24  # columns, and rows
MOVES = 0.1  # of its range: a curve that has gone so far from where it began has departed


def section(assessment: Assessment) -> tuple[Child, ...]:
    """Returns the map of all queues and signals, and a table of when each departed and how far it came."""
    runs = assessment.runs
    curves = [c for c in curves_of(runs.course, "queue", "signal", "memory") if _moves(c)]
    if runs.refused or not curves:
        return (note(f"No wave: {runs.refused or 'nothing moved in the run'}."),)
    bounds = dict(loop_bounds(assessment.design))
    shown = curves[:MOST]
    rows = [HeatRow(_name(curve), _shares(curve, runs.end, bounds.get(curve.thing))) for curve in shown]
    drawn = heat_map(f"Waves of {assessment.system}", rows, runs.end, ends=("least", "greatest"))
    caption = ("One run: each row from its least to its greatest value, or between the bounds of the loop that moves "
               "it. A strip that leans to the right from row to row is a wave that travels.")  # fmt: skip
    header = (
        "what",
        "from least to greatest",
        "bounds of its loop",
        "departs at",
        "greatest at",
        "waves in its second half",
    )
    left = note(f"{len(curves) - MOST} further curves are left out.") if len(curves) > MOST else ""
    data = [_row(curve, bounds.get(curve.thing)) for curve in shown]
    return (pictured(drawn, caption, wide=True), table("The same in numbers", header, data, numbers="5"), left,
            reproduced("simulate", assessment.path, *runs.command, "--picture", "run.svg"))  # fmt: skip


def _moves(curve: CourseCurve) -> bool:
    finite = curve.values[np.isfinite(curve.values)]
    return len(finite) > 1 and bool(finite.max() > finite.min())


def _name(curve: CourseCurve) -> str:
    return {"queue": f"{curve.thing}: waiting", "memory": f"{curve.thing}: memory"}.get(curve.what, curve.thing)


def _shares(curve: CourseCurve, end: float, bounds: tuple[float, float] | None) -> tuple[float | None, ...]:
    finite = curve.values[np.isfinite(curve.values)]
    low, high = bounds or (float(finite.min()), float(finite.max()))
    span = max(high - low, 1e-300)
    return tuple(None if not np.isfinite(v) else (v - low) / span for v in means(curve, end, PARTS).tolist())


def _row(curve: CourseCurve, bounds: tuple[float, float] | None) -> tuple[str, ...]:
    values = np.nan_to_num(curve.values)
    span = values.max() - values.min()
    gone = np.flatnonzero(np.abs(values - values[0]) > MOVES * span)
    words = (
        "none stated" if bounds is None else f"{rounded(bounds[0])} to {rounded(bounds[1])}{_reached(values, bounds)}"
    )
    return (
        _name(curve), unit_words(values.tolist(), curve.unit), words,
        _clock(curve.times[gone[0]]) if len(gone) else "", _clock(curve.times[values.argmax()]),
        str(_turns(values[curve.times >= curve.times[-1] / 2])),
    )  # fmt: skip


def _reached(values: np.ndarray, bounds: tuple[float, float]) -> str:
    ends = [word for word, at in (("lower", values.min() <= bounds[0]), ("upper", values.max() >= bounds[1])) if at]
    return f", {' and '.join(ends)} one reached" if ends else ""


def _turns(values: np.ndarray) -> int:
    """Returns how often a curve went up and down again by half of its range."""
    if not len(values):
        return 0
    low, high = values.min(), values.max()
    upper, lower = low + 0.75 * (high - low), low + 0.25 * (high - low)
    sides = [1 if v >= upper else -1 for v in values.tolist() if v >= upper or v <= lower]
    return sum(before < 0 < after for before, after in itertools.pairwise(sides))


def _clock(time: float) -> str:
    return render_clock(round(float(time), 3)) if time < 60 else render_clock(round(float(time)))
