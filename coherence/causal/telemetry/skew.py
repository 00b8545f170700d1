"""Estimates how far the clocks of two sources differ, from a signal that both have.

The cross-correlation of the two on one clock is largest at the offset; a parabola through its top gives a part of a
step.  It is told, never applied: state `offsets` to correct.  A periodic signal cannot tell one period from the
next, and is told as such.

SOURCE: C. Knapp, G. Carter, The generalized correlation method for estimation of time delay, IEEE Transactions on
Acoustics, Speech and Signal Processing 24 (1976).
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from coherence.base.number_text import render_decimal
from coherence.causal.data.series import Floats
from coherence.causal.telemetry.alignment import spacings_of
from coherence.causal.telemetry.joining import stems
from coherence.causal.telemetry.resampling import Grid, increases, latest, sampled, slack
from coherence.simulate.telemetry.contract import Samples, Telemetry

ALIKE, RIVAL = 0.8, 0.95  # correlation at the top; another top as high as this part of it
FEWEST, MOST = 32, 1 << 17  # times compared


@dataclass(frozen=True)
class Skew:
    """Tells by the signal `shared` that `other` is `seconds` ahead of `reference`; `within` is half a step (s)."""

    reference: str
    other: str
    shared: str
    seconds: float
    within: float
    correlation: float
    ambiguous: bool = False

    def __str__(self) -> str:
        if self.ambiguous:
            both = f"{self.other} and {self.reference}"
            return f"{both}: '{self.shared}' repeats itself, so their clocks cannot be compared by it"
        if abs(self.seconds) <= self.within:
            return f"{self.other} and {self.reference} agree within {render_decimal(self.within)} s, by '{self.shared}'"
        ahead = "ahead of" if self.seconds > 0 else "behind"
        return (
            f"the clock of {self.other} is {abs(self.seconds):.3g} s {ahead} that of {self.reference}, within "
            f"{render_decimal(self.within)} s, by '{self.shared}' (correlation {self.correlation:.2f}); "
            f"to correct it: offsets {self.other}={-self.seconds:.3g}"
        )


def skews(telemetry: Telemetry, *, longest: float | None = None) -> tuple[Skew, ...]:
    """The offset of every pair of sources that share a signal, by the signal that correlates best.

    `longest`: the largest offset looked for (s); default a quarter of the time in common.
    """
    spacings = spacings_of(telemetry)
    best: dict[tuple[str, str], Skew] = {}
    for first_name, other, shared, first, second in _pairs(telemetry):
        step = max(spacings.get(first, math.inf), spacings.get(second, math.inf))
        if math.isinf(step):
            continue
        kinds = {signal.name: signal.kind for signal in telemetry.signals}
        samples = [_increasing(telemetry[name], kinds[name]) for name in (first, second)]
        shift = offset(samples[0], samples[1], step, longest=longest)
        if shift is None or shift[1] < ALIKE:
            continue
        skew = Skew(first_name, other, shared, shift[0], step / 2, shift[1], shift[2])
        if (first_name, other) not in best or skew.correlation > best[first_name, other].correlation:
            best[first_name, other] = skew
    return tuple(best.values())


def _pairs(telemetry: Telemetry) -> Iterator[tuple[str, str, str, str, str]]:
    """(source, source, shared name, signal, signal) of signals that are called alike in two sources."""
    ends = stems([origin.name for origin in telemetry.origins])
    bare = [
        {name.removeprefix(f"{stem}."): name for name in origin.signals if name.startswith(f"{stem}.")}
        for stem, origin in zip(ends, telemetry.origins, strict=True)
    ]
    for first_index, other in combinations(range(len(bare)), 2):
        for name in sorted(bare[first_index].keys() & bare[other].keys()):
            yield (
                telemetry.origins[first_index].name,
                telemetry.origins[other].name,
                name,
                bare[first_index][name],
                bare[other][name],
            )


def _increasing(one: Samples, kind: str) -> Samples:
    """A counter by the increase from each sample to the next, at the later one."""
    if kind != "counter" or len(one) < 2:
        return one
    return Samples(one.times[1:], np.diff(increases(one.values)))


def offset(
    samples: Samples, other: Samples, step: float, *, longest: float | None = None
) -> tuple[float, float, bool] | None:
    """(seconds that the other's times are ahead, correlation, has it a rival?), None where too little is shared."""
    low = min(samples.times[0], other.times[0]) if len(samples) and len(other) else 0.0
    high = max(samples.times[-1], other.times[-1]) if len(samples) and len(other) else 0.0
    count = min(int((high - low) / step) + 1, MOST)
    if count < FEWEST:
        return None
    grid = Grid(float(low), step, count)
    on = [sampled(s.values, latest(s.times, grid, slack(step, step))) for s in (samples, other)]
    if any(
        np.isfinite(levels).sum() < FEWEST or not np.nanstd(np.where(np.isinf(levels), np.nan, levels)) for levels in on
    ):
        return None
    reach = min(count // 4 if longest is None else int(longest / step) + 1, count - 1)
    seen = _correlation(on[0], on[1], reach)
    top = int(np.argmax(seen))
    return (top - reach + _peak(seen, top)) * step, float(seen[top]), _rival(seen, top)


def _correlation(first: Floats, second: Floats, reach: int) -> Floats:
    """Of the second later than the first by -reach .. reach steps, over the times that both have."""
    size = 1 << (2 * len(first) - 1).bit_length()

    def lagged(x: Floats, y: Floats) -> Floats:
        whole = np.fft.irfft(np.conj(np.fft.rfft(x, size)) * np.fft.rfft(y, size), size)
        return np.concatenate([whole[size - reach :], whole[: reach + 1]])

    here, there = (np.isfinite(levels).astype(np.float64) for levels in (first, second))
    a, b = (np.where(np.isfinite(x), x - np.mean(x[np.isfinite(x)]), 0.0) for x in (first, second))
    with np.errstate(invalid="ignore", divide="ignore"):
        scale = np.sqrt(lagged(a * a, there) * lagged(here, b * b))
        both = lagged(here, there)
        return np.where(both >= FEWEST - 0.5, np.nan_to_num(lagged(a, b) / scale, nan=-1.0), -1.0)


def _peak(seen: Floats, top: int) -> float:
    if not 0 < top < len(seen) - 1:
        return 0.0
    left, middle, right = seen[top - 1 : top + 2]
    bend = left - 2 * middle + right
    return float(0.5 * (left - right) / bend) if bend < 0 else 0.0


def _rival(seen: Floats, top: int) -> bool:
    """Is there another top, with a valley between, almost as high?"""
    high = seen >= RIVAL * seen[top]
    starts = np.flatnonzero(np.diff(np.concatenate([[0], high.astype(np.int8)])) == 1)
    return len(starts) > 1
