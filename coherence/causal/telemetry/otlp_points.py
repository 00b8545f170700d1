"""Converts points of OTLP metrics to signals: names with attributes, cumulative counters, histograms as counters.

A gauge, and a sum that may fall, is a gauge; a monotonic sum is a counter, a delta one added up; a histogram gives the
counters `name_count`, `name_sum` and `name_bucket{le="..."}` (cumulative over bounds, as in Prometheus); exponential
histograms and summaries give count and sum (summaries their quantiles as gauges).  Attributes of resources and scopes
stand in the name where they tell two series apart.  A new start time is a reset even where the value did not fall.

SOURCE: OpenTelemetry Protocol 1.x, metrics data model: temporality, monotonicity, resets, no recorded value (flag 1).
"""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from coherence.causal.telemetry.header import labelled
from coherence.causal.telemetry.parts import Rows, Story, TelemetryOptions, TelemetryPart, part
from coherence.causal.telemetry.problems import quoted, refuse, several
from coherence.simulate.telemetry.contract import Signal

DELTA, CUMULATIVE, NO_VALUE = 1, 2, 1
UCUM = {"": "1", "1": "1", "By": "B", "kBy": "kB", "MBy": "MB", "GBy": "GB", "KiBy": "KiB", "MiBy": "MiB",
        "GiBy": "GiB",
        "Cel": "C", "bit": "bit", "By/s": "B/s"}  # fmt: skip


@dataclass(frozen=True)
class MetricPoint:
    """One number of one series; times in nanoseconds since 1970; `number` is where it stands in the file."""

    name: str
    unit: str
    kind: str
    resource: Mapping[str, str]
    attributes: Mapping[str, str]
    time: int
    start: int
    level: float
    delta: bool = False
    number: int = 1


@dataclass(frozen=True)
class Notes:
    """Counts what was met in the files and is worth a remark."""

    met: Counter[str] = field(default_factory=Counter)

    def exponential(self) -> None:
        """Counts a point of an exponential histogram."""
        self.met["exponential histograms: count and sum were read, not buckets"] += 1


def bucketed(
    point: MetricPoint,
    count: int,
    total: float | None,
    buckets: Sequence[int],
    bounds: Sequence[float],
    quantiles: Sequence[tuple[float, float]] = (),
) -> list[MetricPoint]:
    """Returns the counters of a histogram's or summary's point, and the gauges of its (share, quantile) pairs.

    Raises ValueError where buckets and bounds do not fit.
    """
    if buckets and len(buckets) != len(bounds) + 1:
        raise ValueError(f"{len(buckets)} buckets do not fit {len(bounds)} bounds")
    points = [_of(point, "_count", float(count), unit="1")]
    if total is not None:
        points.append(_of(point, "_sum", total))
    for edge, below in zip([*bounds, np.inf], itertools.accumulate(buckets), strict=False):
        points.append(_of(point, "_bucket", float(below), unit="1", le="+Inf" if edge == np.inf else f"{edge:.15g}"))
    for share, level in quantiles:
        labels = {**point.attributes, "quantile": f"{share:.15g}"}
        points.append(replace(point, kind="gauge", attributes=labels, level=level, delta=False))
    return points


def _of(
    point: MetricPoint, suffix: str, level: float, *, unit: str | None = None, le: str | None = None
) -> MetricPoint:
    return replace(
        point,
        name=point.name + suffix,
        unit=point.unit if unit is None else unit,
        kind="counter",
        attributes=dict(point.attributes) | ({} if le is None else {"le": le}),
        level=level,
    )


def unit_of(ucum: str) -> str:
    """Our unit of one in UCUM: annotations in braces are words for 1."""
    if ucum in UCUM:
        return UCUM[ucum]
    bare = "1" if ucum.startswith("{") else ucum.partition("{")[0]
    return UCUM.get(bare, bare)


def part_of(
    file: str, form: str, points: Iterable[MetricPoint], notes: Notes, options: TelemetryOptions
) -> TelemetryPart:
    """The series of the points.  Raises InputError."""
    series: dict[tuple[object, ...], list[MetricPoint]] = {}
    for point in points:
        key = (point.name, *sorted(point.attributes.items()), "\0", *sorted(point.resource.items()))
        series.setdefault(key, []).append(point)
    if not series:
        met = f" (only {', '.join(notes.met)})" if notes.met else ""
        raise refuse(file, 1, f"there is no metric in it{met}", "give an export of metrics, not of traces or logs")
    names = _names([many[0] for many in series.values()])
    remarks = [f"{what}: {several(count, 'point')}" for what, count in sorted(notes.met.items())]
    rows, hidden = [], 0
    for name, many in sorted(zip(names, series.values(), strict=True), key=lambda pair: pair[0]):
        row, resets = _rows(file, name, many)
        rows.append(row)
        hidden += resets
    if hidden:
        remarks.append(f"{several(hidden, 'reset')} told by a new start time alone, and taken into account")
    times = np.unique(np.concatenate([row.times for row in rows]))
    count = sum(len(row.times) for row in rows)
    story = Story(count, options.duplicates, remarks, kinds=True)
    return part(file, form, "time_unix_nano: nanoseconds since 1970", rows, times, story)


def _names(firsts: Sequence[MetricPoint]) -> list[str]:
    """Names with attributes, and with those of resources that differ between resources."""
    resources = [first.resource for first in firsts]
    keys = sorted({key for resource in resources for key in resource})
    differ = [key for key in keys if len({resource.get(key) for resource in resources}) > 1]
    names = []
    for point in firsts:
        apart = {key: point.resource[key] for key in differ if key in point.resource and key not in point.attributes}
        names.append(labelled(point.name, {**apart, **point.attributes}))
    again = Counter(names)
    seen: Counter[str] = Counter()
    for index, name in enumerate(names):  # two kinds of one name, or an attribute that hides a resource's
        if again[name] > 1:
            seen[name] += 1
            names[index] = f"{name} #{seen[name]}"
    return names


def _rows(file: str, name: str, points: list[MetricPoint]) -> tuple[Rows, int]:
    points.sort(key=lambda point: point.time)
    first = points[0]
    for point in points:
        if not 0 < point.time < 1 << 63:
            raise refuse(
                file,
                point.number,
                f"a point of {quoted(name)} has no time that can be ({point.time} ns)",
                "export time_unix_nano with each point",
            )
    levels, hidden = _levels(points)
    times = np.array([point.time for point in points], np.int64)
    signal = Signal(name, unit_of(first.unit), first.kind, file)
    return Rows(signal, times // 10**9 + (times % 10**9) / 1e9, levels, [point.number for point in points]), hidden


def _levels(points: Sequence[MetricPoint]) -> tuple[np.ndarray, int]:
    raw = np.array([point.level for point in points], np.float64)
    if points[0].delta:
        return np.cumsum(raw), 0
    if points[0].kind != "counter":
        return raw, 0
    starts = np.array([point.start for point in points], np.float64)
    new = (np.diff(starts) > 0) & (starts[:-1] > 0) & (np.diff(raw) >= 0)
    base = np.concatenate([[0.0], np.cumsum(np.where(new, raw[:-1], 0.0))])
    return raw + base, int(new.sum())
