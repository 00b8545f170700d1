"""Tells how much of a signal's variation one period holds, in stretches of scrapes.

The share is Fisher's g: the highest ordinate of the periodogram over the sum of all, the straight line and periods of
more than a third of the stretch taken out.  Beside it stands the period.  Whether a share is unusual decides the test.
SOURCE: Fisher, Tests of significance in harmonic analysis, 1929.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from coherence.causal.data.series import Floats

LENGTH = 128  # scrapes of a stretch: 32 min of 15 s
CYCLES = 3  # in a stretch, at least


@dataclass(frozen=True)
class PeriodShare:
    """The share of the variation at one period, the period (s), and the amplitude there, in the signal's unit."""

    share: float
    period: float
    amplitude: float


def period_share(values: Floats, step: float) -> PeriodShare:
    """Returns the strongest period of samples every `step` seconds; 0 of a signal that does not vary."""
    known = np.isfinite(values)
    if known.sum() < len(values) / 2:
        return PeriodShare(0.0, 0.0, 0.0)
    times = np.arange(len(values))
    whole = np.interp(times, times[known], values[known])
    level = whole - np.polyval(np.polyfit(times, whole, 1), times)
    power = np.abs(np.fft.rfft(level)[CYCLES:]) ** 2
    total, scale = float(power.sum()), float(np.abs(whole).max())
    if total <= (1e-9 * scale * len(values)) ** 2:
        return PeriodShare(0.0, 0.0, 0.0)
    at = int(power.argmax())
    amplitude = 2 * float(np.sqrt(power[at])) / len(values)
    return PeriodShare(float(power[at]) / total, len(values) * step / (at + CYCLES), amplitude)
