"""Reads series of telemetry from a table and says what they tell of loops: means, periods, delays, with intervals.

The table is CSV with a header: `time` in seconds at equal distances, and a column for each series.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from coherence.base.errors import InputError, Problem, UsageError, did_you_mean
from coherence.base.number_text import render_seconds
from coherence.base.places import Place
from coherence.loops.identification.aliasing import aliases, warnings
from coherence.loops.identification.effective_samples import effective_size, mean
from coherence.loops.identification.oscillation import Oscillation, Silence, oscillation
from coherence.loops.identification.response import TierResponse, response
from coherence.loops.identification.transient import RingDown, ring_down
from coherence.simulate.telemetry.measures import IntervalEstimate
from coherence.simulate.telemetry.tables_csv import load

if TYPE_CHECKING:
    from numpy.typing import NDArray

UNEVEN = 0.01  # of the interval: distances of samples that count as equal
WIDEST = 1e4  # ratio of the ends of an interval that tells something


@dataclass(frozen=True)
class TelemetrySeries:
    """Columns of numbers, sampled every `interval` seconds."""

    interval: float
    columns: Mapping[str, NDArray[np.float64]]

    def column(self, name: str) -> NDArray[np.float64]:
        """Returns a column.  Raises UsageError for an unknown one."""
        if name not in self.columns:
            raise UsageError(f"'{name}' is no column: {did_you_mean(name, list(self.columns))}")
        return self.columns[name]


@dataclass(frozen=True)
class ColumnAnswer:
    """What one column tells: its mean, how many independent samples it is worth, and its swing.

    `alike`: faster periods (s) that look the same at this distance of samples.
    """

    name: str
    count: int
    effective: float
    mean: IntervalEstimate
    swing: Oscillation | Silence | RingDown
    alike: tuple[float, ...] = ()


def read_series(path: Path) -> TelemetrySeries:
    """Returns the series of a table.  Raises InputError."""
    header, rows = load(path)
    if "time" not in header or len(header) < 2:
        hint = "name one column `time` (seconds), and at least one series beside it"
        raise InputError([Problem(Place(str(path), 1, 1, 1, 1), "a table of series has a column `time`", hint)])
    numbers, lines = [], []
    for line, cells in rows:
        numbers.append([_number(path, line, name, cell) for name, cell in zip(header, cells, strict=True)])
        lines.append(line)
    table = np.array(numbers).reshape(len(numbers), len(header))
    interval = _interval(path, table[:, header.index("time")], lines)
    return TelemetrySeries(interval, {name: table[:, k] for k, name in enumerate(header) if name != "time"})


def _number(path: Path, line: int, name: str, cell: str) -> float:
    try:
        number = float(cell)
    except ValueError:
        number = math.nan
    if not math.isfinite(number):
        text = f"`{cell}` of {name} is no number" if cell else f"{name} is missing"
        raise InputError([Problem(Place(str(path), line, 1, line, 1), text, "fill or cut gaps first")])
    return number


def _interval(path: Path, times: NDArray[np.float64], lines: list[int]) -> float:
    if len(times) < 8:
        raise InputError([Problem(Place(str(path), 1, 1, 1, 1), f"{len(times)} samples", "give at least 8")])
    steps = np.diff(times)
    middle = float(np.median(steps))
    uneven = np.flatnonzero(~(np.abs(steps - middle) <= UNEVEN * abs(middle)))
    if not middle > 0 or len(uneven):
        line = lines[int(uneven[0]) + 1] if len(uneven) else lines[0]
        text = (
            f"samples are {middle:g} s apart, and here {steps[uneven[0]]:g} s" if len(uneven) else "time stands still"
        )
        raise InputError([Problem(Place(str(path), line, 1, line, 1), text, "resample the series at equal distances")])
    return middle


def column_answer(series: TelemetrySeries, name: str, *, transient: bool = False) -> ColumnAnswer:
    """Returns what a column tells; `transient`: it is what follows a step or a failure, not steady telemetry."""
    x = series.column(name)
    swing = ring_down(x, series.interval) if transient else oscillation(x, series.interval)
    alike: tuple[float, ...] = ()
    if isinstance(swing, Oscillation):
        own = max(swing.period.value, 2 * series.interval)
        alike = aliases(own, series.interval, shortest=series.interval)[1:]
    return ColumnAnswer(name, len(x), effective_size(x), mean(x), swing, alike)


def pair_response(series: TelemetrySeries, source: str, target: str) -> TierResponse:
    """Returns gain, delay and time constant from one column to another."""
    most = series.interval * min(60, len(series.column(source)) // 4)
    return response(series.column(source), series.column(target), series.interval, most_delay=most)


def render_column(answer: ColumnAnswer) -> list[str]:
    """Renders what a column tells, for people."""
    head = f"{answer.name}: mean {_estimate(answer.mean)}, {answer.count} samples worth {answer.effective:.4g}"
    swing = answer.swing
    if isinstance(swing, Silence):
        return [head, f"  no swing: {swing.reason}"]
    lines = [head, f"  period {_estimate(swing.period)} s, {_decay(swing.decay_time)}"]
    if answer.alike:
        faster = ", ".join(render_seconds(float(f"{period:.4g}")) for period in answer.alike)
        lines.append(f"  a swing of {faster} would look the same: scrape more often to tell them apart")
    return lines


def _decay(decay: IntervalEstimate) -> str:
    return f"{'grows' if decay.value < 0 else 'falls'} by e in {_estimate(decay)} s"


def render_response(source: str, target: str, answer: TierResponse) -> list[str]:
    """Renders a response, for people."""
    parts = f"gain {_estimate(answer.gain)}, delay {_estimate(answer.delay)} s, "
    parts += f"time constant {_estimate(answer.time_constant)} s, {answer.fit:.0%} of the variance"
    return [f"{source} to {target}: {parts}"]


def _estimate(estimate: IntervalEstimate) -> str:
    low, high = sorted(map(abs, (estimate.low, estimate.high)))
    if not math.isfinite(high) or (estimate.low * estimate.high > 0 and high > WIDEST * low):
        return f"about {estimate.value:.4g} (not determined)"
    return f"{estimate.value:.4g} ({estimate.low:.4g} to {estimate.high:.4g})"


def column_json(answer: ColumnAnswer) -> dict[str, Any]:
    """Returns what a column tells, for programs."""
    swing = answer.swing
    more: dict[str, Any] = {"swing": None}
    if isinstance(swing, Silence):
        more["reason"] = swing.reason
    else:
        more["swing"] = {"period": _json(swing.period), "decay_time": _json(swing.decay_time), "unit": "s"}
    return {
        "column": answer.name, "samples": answer.count, "effective_samples": answer.effective,
        "mean": _json(answer.mean), **more, "alike_seconds": list(answer.alike),
    }  # fmt: skip


def response_json(source: str, target: str, answer: TierResponse) -> dict[str, Any]:
    """Returns a response, for programs."""
    parts = {"gain": answer.gain, "delay": answer.delay, "time_constant": answer.time_constant}
    return {"from": source, "to": target, "fit": answer.fit, **{name: _json(part) for name, part in parts.items()}}


def _json(estimate: IntervalEstimate) -> dict[str, float | None]:
    ends = {"value": estimate.value, "low": estimate.low, "high": estimate.high, "confidence": estimate.confidence}
    return {name: number if math.isfinite(number) else None for name, number in ends.items()}


def hidden_from(series: TelemetrySeries, periods: Mapping[str, float], answers: list[ColumnAnswer]) -> list[str]:
    """Returns what these samples hide of loops with these periods (s)."""
    known: list[float | None] = [a.swing.period.value for a in answers if isinstance(a.swing, Oscillation)]
    hidden = [w for apparent in known or [None] for w in warnings(periods, series.interval, apparent=apparent)]
    return list(dict.fromkeys(f"{each.name}: {each.message}" for each in hidden))
