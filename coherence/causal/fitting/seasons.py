"""Finds the periods that several signals have in common: what runs every hour moves all that it touches.

A season is a line of the periodogram: a frequency with far more power than those around it.  One that two signals
share agrees in both without either touching the other.  To find one where there is none costs an estimate four
regressors and nothing else, so the test is a plain one.
SOURCE: Fisher 1929 (the largest ordinate of a periodogram); Harris 1978 (Hann's window).
"""

from __future__ import annotations

import numpy as np

from coherence.causal.data.series import Floats, Series

FEWEST = 60  # samples
MOST = 6  # seasons of one record
LEVEL = 0.001  # of finding a line in noise, for each signal
AROUND = 32  # ordinates among which a line stands out
NEAREST = 3  # cycles in a record, at least: what is slower is a drift
SAME = 1.5  # ordinates between lines of the same season
ROWS_EACH = 25  # samples for each season that is looked for


def shared_periods(*records: Series) -> tuple[float, ...]:
    """Returns the periods in s that two signals of one of the records share, those with most power first."""
    lines = [line for record in records for line in _shared(record)]
    periods: list[float] = []
    for _, frequency, width in sorted(lines, reverse=True):
        if all(abs(frequency - 1 / period) > SAME * width for period in periods):
            periods.append(1 / frequency)
    fewest = min((len(record) for record in records), default=0)
    return tuple(periods[: min(MOST, fewest // ROWS_EACH)])


def _shared(record: Series) -> list[tuple[float, float, float]]:
    """Returns (power, frequency in Hz, distance of ordinates in Hz) of each line that two signals have."""
    count = len(record)
    if count < FEWEST or len(record.names) < 2:
        return []
    power = np.stack([_ordinates(record.values[:, place]) for place in range(len(record.names))])
    limit = np.log(power.shape[1] / LEVEL)
    near = np.maximum(np.maximum(power, np.roll(power, 1, axis=1)), np.roll(power, -1, axis=1))
    common = np.sort(near, axis=0)[-2]  # what at least two signals have
    total = np.sort(power, axis=0)[-2:].sum(axis=0)
    peaks = np.flatnonzero((common > limit) & (total >= np.roll(total, 1)) & (total > np.roll(total, -1)))
    width = 1 / (count * record.step)
    return [
        (float(common[peak]), (peak + _offset(total[peak - 1 : peak + 2])) * width, width)
        for peak in peaks.tolist()
        if NEAREST <= peak < len(total) - 1
    ]


def _ordinates(values: Floats) -> Floats:
    """Returns the power at each frequency over the median power around it, in units of its mean in noise."""
    known = np.isfinite(values)
    if known.mean() < 0.5 or np.ptp(values[known]) == 0:
        return np.zeros(len(values) // 2 + 1)
    clock = np.linspace(-1, 1, len(values))
    filled = np.where(known, values, 0.0)
    slope, level = np.polyfit(clock[known], values[known], 1)
    left = np.where(known, filled - level - slope * clock, 0.0)
    left[1:] -= float(left[1:] @ left[:-1]) / float(left @ left) * left[:-1]  # what drifts has less of a slope
    power = np.abs(np.fft.rfft(left * np.hanning(len(values)))) ** 2
    blocks = np.array_split(power, max(len(power) // AROUND, 1))
    middles = np.cumsum([len(block) for block in blocks]) - len(blocks[0]) / 2
    medians = np.array([np.median(block) for block in blocks]) / np.log(2)
    around = np.exp(np.interp(np.arange(len(power)), middles, np.log(np.maximum(medians, 1e-300))))
    return np.asarray(power / around, np.float64)


def _offset(three: Floats) -> float:
    """Returns where between its neighbours the top of a line lies, from -1/2 to 1/2 (parabola through logarithms)."""
    left, top, right = np.log(np.maximum(three, 1e-300))
    bend = left - 2 * top + right
    return float(np.clip(0.5 * (left - right) / bend, -0.5, 0.5)) if bend < 0 else 0.0
