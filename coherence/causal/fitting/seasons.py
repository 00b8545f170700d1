"""Finds the periods that several signals have in common: what runs every hour moves all that it touches.

A season is a line of the periodogram: a frequency with far more power than those around it.  One that two signals
share agrees in both without either touching the other.  To find one where there is none costs an estimate four
regressors and nothing else, so the test is a plain one.
SOURCE: Fisher 1929 (the largest ordinate of a periodogram); Harris 1978 (Hann's window).
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

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
    window = np.hanning(count)
    power = np.stack([_ordinates(np.ascontiguousarray(values), window) for values in record.values.T])
    limit = np.log(power.shape[1] / LEVEL)
    near = power > limit
    near[:, 1:] |= power[:, :-1] > limit
    near[:, :-1] |= power[:, 1:] > limit
    width = 1 / (count * record.step)
    lines = []
    for peak in np.flatnonzero(near.sum(axis=0) >= 2).tolist():
        if NEAREST <= peak < power.shape[1] - 1:
            left, top, right = total = np.sort(power[:, peak - 1 : peak + 2], axis=0)[-2:].sum(axis=0)
            if top >= left and top > right:
                lines.append((float(top), (peak + _offset(total)) * width, width))
    return lines


def _ordinates(values: Floats, window: Floats) -> Floats:
    """Returns the power at each frequency over the median power around it, in units of its mean in noise."""
    known = np.isfinite(values)
    count = int(known.sum())
    size = len(values) // 2 + 1
    if count < len(values) / 2 or np.ptp(values[known]) == 0:
        return np.zeros(size)
    left = _without_drift(np.where(known, values, 0.0), known, count)
    power = np.abs(np.fft.rfft(left * window)) ** 2
    width = min(AROUND, size)
    medians = np.median(power[: size // width * width].reshape(-1, width), axis=1) / np.log(2)
    middles = (np.arange(len(medians)) + 0.5) * width
    return np.asarray(power / np.interp(np.arange(size), middles, np.maximum(medians, 1e-300)), np.float64)


def _without_drift(values: Floats, known: npt.NDArray[np.bool_], count: int) -> Floats:
    """Returns the values about their straight line, less what each keeps of the one before; 0 where none is known."""
    clock = np.where(known, np.linspace(-1, 1, len(values)), 0.0)
    clock = np.where(known, clock - clock.sum() / count, 0.0)
    left = np.where(known, values - values.sum() / count, 0.0)
    left -= float(clock @ left) / float(clock @ clock) * clock
    if not left.any():
        return left
    memory = float(left[1:] @ left[:-1]) / float(left @ left)
    left[1:] = left[1:] - memory * left[:-1]
    return left


def _offset(three: Floats) -> float:
    """Returns where between its neighbours the top of a line lies, from -1/2 to 1/2 (parabola through logarithms)."""
    left, top, right = np.log(np.maximum(three, 1e-300))
    bend = left - 2 * top + right
    return float(np.clip(0.5 * (left - right) / bend, -0.5, 0.5)) if bend < 0 else 0.0
