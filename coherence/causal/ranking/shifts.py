"""Ranks signals by how far they shifted from normal, for an incident of which no graph is known.

A signal's shift is the distance of its median in the incident from its normal median, in the usual size of that
distance over normal windows of the same length.  The largest shift of normal windows says how often so large a one
comes without any incident.  SOURCE: Pham, Ha, Zhang 2024, BARO (robust scores); Phipson and Smyth 2010 (p values).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from coherence.base.errors import UsageError
from coherence.causal.data.series import Floats, Series

WINDOWS = 200  # normal windows at most
FLOOR = 1e-9  # of the largest value: a spread below it is rounding


@dataclass(frozen=True)
class Shifts:
    """Signals with their shift, largest first; `p`: of so large a one by chance, over `windows` normal windows."""

    shifts: tuple[tuple[str, float], ...]
    p: float
    windows: int


def shifts(normal: Series, incident: Series) -> Shifts:
    """Returns the shift of every signal that both windows have.  Raises UsageError where one is too short."""
    names = tuple(name for name in normal.names if name in incident and np.isfinite(incident[name]).any())
    if len(incident) < 2 or len(normal) < 4 * len(incident):
        raise UsageError(
            f"{len(normal)} normal and {len(incident)} incident samples: give at least 2 of the incident and four "
            "times as many of normal operation, or a shorter --incident"
        )
    before, now = normal.of(names).values, incident.of(names).values
    level = np.nanmedian(before, axis=0)
    calm = np.array(list(_calm(before, len(now)))) - level
    usual = np.sqrt(np.nanmean(calm**2, axis=0))
    usual = np.maximum(usual, np.nanmedian(np.abs(before - level), axis=0) / np.sqrt(len(now)))
    usual = np.maximum(usual, FLOOR * np.nanmax(np.abs(before), axis=0, initial=1e-300))
    far = np.nan_to_num(np.abs(np.nanmedian(now, axis=0) - level) / usual)
    largest = np.nan_to_num(np.abs(calm) / usual).max(axis=1)
    top = float(far.max(initial=0.0))
    p = (1 + int((largest >= top).sum())) / (1 + len(calm))
    p = max(p, by_spread(top, len(names), len(before) / len(now)))
    order = np.argsort(-far, kind="stable").tolist()
    return Shifts(tuple((names[at], float(far[at])) for at in order), p, len(calm))


def by_spread(distance: float, signals: int, windows: float) -> float:
    """The chance that one of some signals is so many usual sizes away, where these come from few windows.

    Windows that overlap say little: by Student's t, with as many windows as lie side by side.
    """
    from scipy.special import stdtr

    return min(1.0, 2 * signals * float(stdtr(max(windows - 1, 1.0), -abs(distance))))


def _calm(before: Floats, length: int) -> Iterator[Floats]:
    """The medians of normal windows, overlapping where they would be few."""
    last = len(before) - length
    for start in range(0, last + 1, max(1, min(length, last // 100), last // WINDOWS)):
        yield np.nanmedian(before[start : start + length], axis=0)
