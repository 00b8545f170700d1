"""Puts all signals on one regular clock in SI units (`aligned`); what is left out is named with its reason.

The step is the median spacing of the signals unless it is stated.  Infinite values become missing at their times and
are named; a signal that never changes, or has no value, is left out by name (or kept, where asked).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path

import numpy as np

from coherence.base.errors import UsageError, did_you_mean
from coherence.base.number_text import render_decimal, render_seconds
from coherence.base.units import SECOND, Dimension, UnitError
from coherence.causal.data.series import Excluded, Floats, Series
from coherence.causal.telemetry.problems import quoted, refuse, several
from coherence.causal.telemetry.quantities import factor, shown
from coherence.causal.telemetry.resampling import Grid, latest, mean, rate, sampled, slack
from coherence.simulate.telemetry.contract import Samples, Signal, Telemetry

MOST_TIMES, MOST_CELLS = 50_000_000, 500_000_000
KEEP = ("constant", "copies")


@dataclass(frozen=True)
class AlignmentSettings:
    """How signals are put on the clock; see `aligned`."""

    means: bool = False
    wraps: Mapping[str, int] = field(default_factory=dict)
    offsets: Mapping[str, float] = field(default_factory=dict)  # of each signal, s


def aligned(
    telemetry: Telemetry, *, step: float | None = None, means: bool = False, offsets: Mapping[str, float] | None = None,
    wraps: Mapping[str, int] | None = None, keep: Sequence[str] = ("copies",),
) -> Series:  # fmt: skip
    """The signals every `step` seconds: gauges as last sampled (`means`: as means over the step), counters as rates.

    `offsets`: seconds to add to the times of a source, by its file; `wraps`: bits of a counter that goes on from 0;
    `keep`: which of "constant" and "copies" (one signal equal to another at every time) stay in.  Raises UsageError,
    InputError where there are not two times.
    """
    settings = AlignmentSettings(means, wraps or {}, _offsets(telemetry, offsets or {}))
    _checked(telemetry, step, settings, keep)
    spacings = spacings_of(telemetry)
    grid = grid_of(telemetry, spacings, settings, step)
    values = np.empty((grid.count, len(telemetry.signals)), order="F")
    on = Placing(grid, settings)
    for column, signal in enumerate(telemetry.signals):
        values[:, column] = on.place(signal, telemetry[signal.name], spacings.get(signal.name, grid.step))
    excluded = [Excluded(*what) for origin in telemetry.origins for what in origin.left_out]
    units = {signal.name: si_unit(signal) for signal in telemetry.signals}
    return reduced(telemetry, values, grid, units, excluded, keep)


def _checked(telemetry: Telemetry, step: float | None, settings: AlignmentSettings, keep: Sequence[str]) -> None:
    names = [signal.name for signal in telemetry.signals]
    if step is not None and not (np.isfinite(step) and step > 0):
        raise UsageError(f"step(={step}) must be a number of seconds > 0")
    for name, bits in settings.wraps.items():
        if name not in names:
            raise UsageError(f"telemetry has no signal '{name}': {did_you_mean(name, names)}")
        if bits not in (16, 32, 53, 64):
            raise UsageError(f"wraps(={bits}) of {name} must be 16, 32, 53 or 64 bits")
    for word in keep:
        if word not in KEEP:
            raise UsageError(f"keep(={word}) must be one of {', '.join(KEEP)}")


def _offsets(telemetry: Telemetry, stated: Mapping[str, float]) -> dict[str, float]:
    """Seconds to add to the times of each signal."""
    sources = {key: origin for origin in telemetry.origins for key in (Path(origin.name).name, origin.name)}
    offsets: dict[str, float] = {}
    for name, shift in stated.items():
        if name not in sources:
            raise UsageError(f"offsets: no source is called '{name}': {did_you_mean(name, sources)}")
        if not np.isfinite(shift):
            raise UsageError(f"offsets: {shift} of {name} is not a number of seconds")
        offsets |= dict.fromkeys(sources[name].signals, float(shift))
    return offsets


# -- the clock ----------------------------------------------------------------------------------------


def spacings_of(telemetry: Telemetry) -> dict[str, float]:
    """Median time between two samples of each signal that has two (s)."""
    known: dict[int, float] = {}
    spacings = {}
    for name, samples in telemetry.samples.items():
        if len(samples) > 1:
            if id(samples.times) not in known:
                known[id(samples.times)] = spacing_of(samples.times)
            spacings[name] = known[id(samples.times)]
    return spacings


def spacing_of(times: Floats) -> float:
    """The median time between neighbours, made exact where all are near whole multiples of it."""
    gaps = np.diff(times)
    middle = float(np.median(gaps))
    laps = np.round(gaps / middle)
    near = np.abs(gaps / middle - laps) < 0.2
    if near.mean() > 0.95 and (count := np.cumsum(laps[near]))[-1] > 2:  # the slope of times over laps
        apart, time = count - count.mean(), np.cumsum(gaps[near])
        middle = float((apart * (time - time.mean())).sum() / (apart**2).sum())
    tidy = round(middle, 3)
    return tidy if tidy and abs(tidy - middle) * len(times) < middle / 10 else middle


def grid_of(
    telemetry: Telemetry, spacings: Mapping[str, float], settings: AlignmentSettings, step: float | None
) -> Grid:
    """The clock of all signals.  Raises InputError without two times, UsageError where it would be endless."""
    shifts = settings.offsets
    there = [(name, sample) for name, sample in telemetry.samples.items() if len(sample)]
    file = telemetry.origins[0].name if telemetry.origins else "telemetry"
    if not there or (step is None and not spacings):
        raise refuse(
            file,
            1,
            f"there is {several(len(telemetry.grid), 'time')} in all, and a step needs two",
            "give more samples, or state the step",
        )
    chosen = step or sorted(spacings.values())[len(spacings) // 2]
    low = min(float(one.times[0]) + shifts.get(name, 0.0) for name, one in there)
    high = max(float(one.times[-1]) + shifts.get(name, 0.0) for name, one in there)
    low += _phase(there, spacings, shifts, chosen, low)
    count = int(np.floor((high - low) / chosen + 0.5)) + 1
    if count > MOST_TIMES or count * len(telemetry.signals) > MOST_CELLS:
        remedy = "state a longer step, take out a stray time, or read it in chunks"
        raise UsageError(
            f"{render_seconds(high - low)} in steps of {render_decimal(chosen)} s are {count:,} times of "
            f"{several(len(telemetry.signals), 'signal')}: {remedy}"
        )
    return Grid(low, chosen, max(count, 1))


def _phase(
    there: Sequence[tuple[str, Samples]],
    spacings: Mapping[str, float],
    shifts: Mapping[str, float],
    step: float,
    low: float,
) -> float:  # fmt: skip
    """Where the middle of the samples stands against a clock that begins with the first (s, within half a step)."""
    alike = [(name, one) for name, one in there if abs(spacings.get(name, 0.0) / step - 1) < 0.01]
    if not alike:
        return 0.0
    name, samples = max(alike, key=lambda pair: len(pair[1]))
    return phase_of(samples.times[:10_000] + shifts.get(name, 0.0), step, low)


def phase_of(times: Floats, step: float, low: float) -> float:
    """The median of the times against the clock `low + k * step`; 0 where that is rounding."""
    middle = float(np.median((times - low + step / 2) % step - step / 2))
    return middle if abs(middle) > 1e-6 * step + 1e-6 else 0.0


# -- the values ---------------------------------------------------------------------------------------


class Placing:
    """Places signals on a clock; signals of one table share their times, which are looked up once."""

    def __init__(self, grid: Grid, settings: AlignmentSettings) -> None:
        self.grid, self.settings = grid, settings
        self._known: tuple[Floats, float, np.ndarray] | None = None

    def place(self, signal: Signal, samples: Samples, spacing: float) -> Floats:
        """The signal at every time of the clock, in SI."""
        size = factor_of(signal)[0]
        late = slack(spacing, self.grid.step)
        shift = self.settings.offsets.get(signal.name, 0.0)
        moved = Samples(samples.times + shift, samples.values) if shift else samples
        if signal.kind == "counter":
            levels = rate(moved, self.grid, late, self.settings.wraps.get(signal.name))
        elif self.settings.means:
            levels = mean(moved, self.grid, spacing)
        else:
            levels = sampled(moved.values, self._index(moved.times, late))
        return levels if size == 1.0 else levels * size

    def _index(self, times: Floats, late: float) -> np.ndarray:
        if self._known is None or self._known[0] is not times or self._known[1] != late:
            self._known = times, late, latest(times, self.grid, late)
        return self._known[2]


def factor_of(signal: Signal) -> tuple[float, Dimension | None]:
    """To SI; (1, None) for a unit of a foreign system that does not parse, which stays as it is."""
    return _factor_of_unit(signal.unit)


@lru_cache(maxsize=1024)
def _factor_of_unit(unit: str) -> tuple[float, Dimension | None]:
    try:
        size, dimension = factor(unit)
    except UnitError:
        return 1.0, None
    return float(size), dimension


def si_unit(signal: Signal) -> str:
    """The unit of the values on the clock: SI, of counters a second."""
    dimension = factor_of(signal)[1]
    if dimension is None:
        return f"{signal.unit}/s" if signal.kind == "counter" else signal.unit
    return shown(dimension / SECOND if signal.kind == "counter" else dimension)


def reduced(
    telemetry: Telemetry,
    values: Floats,
    grid: Grid,
    units: Mapping[str, str],
    excluded: list[Excluded],
    keep: Sequence[str],
) -> Series:
    """The series without the columns that say nothing; infinite values become missing, and are named."""
    stay: list[int] = []
    first: dict[bytes, str] = {}
    for column, signal in enumerate(telemetry.signals):
        levels = values[:, column]
        infinite = np.isinf(levels)
        if infinite.any():
            levels[infinite] = np.nan
            what = f"{signal.name} at {several(int(infinite.sum()), 'time')}"
            excluded.append(Excluded(what, "infinite: counted as missing", "look at the division that gives it"))
        why = _says_nothing(signal, levels, keep) or _copy(signal, levels, first, keep)
        if why is None:
            stay.append(column)
        else:
            excluded.append(why)
    names = tuple(telemetry.signals[column].name for column in stay)
    columns = values if len(stay) == values.shape[1] else values[:, stay]
    return Series(names, columns, grid.step, grid.start, {name: units[name] for name in names}, tuple(excluded))


def _says_nothing(signal: Signal, levels: Floats, keep: Sequence[str]) -> Excluded | None:
    there = levels[~np.isnan(levels)]
    if not len(there) and "empty" not in keep:
        return Excluded(signal.name, "it has no value that is a number", "look whether it is exported at all")
    if "constant" not in keep and len(there) > 1 and np.ptp(there) == 0:
        rate_of = "its rate is" if signal.kind == "counter" else "it is"
        return Excluded(
            signal.name, f"{rate_of} always {there[0]:g}: nothing follows its changes", "a window where it changes"
        )
    return None


def _copy(signal: Signal, levels: Floats, first: dict[bytes, str], keep: Sequence[str]) -> Excluded | None:
    if "copies" in keep:
        return None
    other = first.setdefault(np.ascontiguousarray(levels).tobytes(), signal.name)
    if other == signal.name:
        return None
    return Excluded(signal.name, f"equal to {quoted(other)} at every time", "the two cannot be told apart; keep one")
