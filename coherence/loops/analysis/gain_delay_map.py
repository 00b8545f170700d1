"""Computes where a group of sampled loops is stable, over a factor on the gain of one loop and a later landing.

Each delay is put into the design's own lap, as in `delay_margins`; at each the loop is opened where its gain margin
opens it, and factors are judged by the roots of the closed lap in floats.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable
from dataclasses import dataclass, replace
from fractions import Fraction

import numpy as np

from coherence.base.reads import with_changes
from coherence.loops.analysis.design_analysis import PointFigures
from coherence.loops.analysis.law_margins import family
from coherence.loops.designs.bridged_laps import opened
from coherence.loops.designs.feedback_groups import is_smooth, region
from coherence.loops.designs.groups import Group
from coherence.loops.designs.kinks import branches
from coherence.loops.designs.lap_matrices import by_own_command, closed
from coherence.loops.designs.lap_roots import spectral_radius
from coherence.loops.designs.operating_points import smooth_part
from coherence.model.model import Model

FACTORS, DELAYS = 41, 48  # an odd number of factors: one row is of the factor 1
BEYOND = 2  # times the margin of the landing: how far a map goes; of a loop without one, so many laps
EDGE = 1e-12  # of the unit circle: roots nearer to it do not count as stable


@dataclass(frozen=True)
class GainDelayMap:
    """`rows`: (factor, stretches of stable extra delays in s); `longest`: the last delay, s."""

    rows: tuple[tuple[float, tuple[tuple[float, float], ...]], ...]
    longest: float


def gain_delay_map(group: Group, figures: PointFigures, name: str, check: Callable[[], object]) -> GainDelayMap:
    """Returns the map of one smooth loop at an operating point: stable where every branch of its kinks is.

    Each stretch is as wide as the cells whose middles are stable.  `check` is called between the delays.  Raises
    NotExactError, LapError and ArithmeticError where a lap has no linear form.
    """
    values = figures.point.values
    model, _ = smooth_part(group.model, values)
    start = {path: values[path] for path in (*model.states, *model.commands)}
    paths = region(model, [loop.name for loop in group.loops if is_smooth(loop)])
    longest = _longest(figures, name, next(loop.period for loop in group.loops if loop.name == name))
    factors, stable = np.geomspace(0.1, 10, FACTORS), np.ones((FACTORS, DELAYS), dtype=bool)
    parts = branches(model, start).branches
    for column in range(DELAYS):
        check()
        later = (column + Fraction(1, 2)) * longest / DELAYS
        late = [opened(_landing_later(part.model, name, later), start, check) for part in parts]
        for lap in by_own_command(late, paths, name):
            of = family(closed(lap, paths, left_open=[name]))
            stable[:, column] &= [spectral_radius(of(float(factor))) < 1 - EDGE for factor in factors]
    rows = ((float(factor), _stretches(row, float(longest))) for factor, row in zip(factors, stable, strict=True))
    return GainDelayMap(tuple(rows), float(longest))


def _landing_later(model: Model, name: str, later: Fraction) -> Model:
    loops = (with_changes(loop, lands=loop.lands + later) if loop.name == name else loop for loop in model.loops)
    return replace(model, loops=tuple(loops))


def _longest(figures: PointFigures, name: str, period: Fraction) -> Fraction:
    margin = next((loop.landing for loop in figures.loops if loop.loop == name), None)
    edge = margin.unstable if margin is not None else None
    return (BEYOND * edge).limit_denominator(1000) if edge and edge > period / 10 else 4 * BEYOND * period


def _stretches(row: np.ndarray[tuple[int], np.dtype[np.bool_]], longest: float) -> tuple[tuple[float, float], ...]:
    """Returns runs of stable cells as delays."""
    width, place, spans = longest / len(row), 0, []
    for is_stable, cells in itertools.groupby(row.tolist()):
        count = len(list(cells))
        spans += [(place * width, (place + count) * width)] if is_stable else []
        place += count
    return tuple(spans)
