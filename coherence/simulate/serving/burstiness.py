"""Measures how far arrivals are from a steady stream.

SOURCE: Cox and Lewis, The Statistical Analysis of Series of Events (1966), chapter 4: the index of dispersion
of counts, the variance over the mean of the number of arrivals in windows of one length; 1 for Poisson.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from coherence.base.errors import UsageError


@dataclass(frozen=True)
class Burstiness:
    """`rate` and `peak_rate` (over the shortest window) per second; `cv` of the times between arrivals.

    `dispersion`: (window in seconds, index of dispersion of counts) for each window that fits at least ten times.
    """

    count: int
    rate: float
    peak_rate: float
    cv: float
    dispersion: tuple[tuple[float, float], ...]


def burstiness(times: Sequence[float], *, windows: Sequence[float] = (1.0, 10.0, 60.0)) -> Burstiness:
    """Statistics of ascending arrival times, seconds.  Raises UsageError below three arrivals or without a span."""
    import numpy as np

    moments = np.asarray(times, float)
    gaps = np.diff(moments)
    span = float(moments[-1] - moments[0]) if len(moments) > 2 else 0.0
    if span <= 0 or min(windows, default=0.0) <= 0:
        raise UsageError("burstiness needs at least three arrivals that are not all at once, and windows > 0 s")
    counts = {w: np.histogram(moments, np.arange(moments[0], moments[-1] + w / 2, w))[0] for w in windows}
    fitting = {w: c for w, c in counts.items() if span / w >= 10}
    shortest = min(windows)
    return Burstiness(
        len(moments),
        (len(moments) - 1) / span,
        float(counts[shortest].max(initial=0)) / shortest,
        float(gaps.std() / gaps.mean()),
        tuple((float(w), float(c.var() / c.mean())) for w, c in fitting.items()),
    )
