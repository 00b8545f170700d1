"""Defines how a run went: its quantities over time, and what its loops wrote, as pictures show them.

Long exact runs are thinned so that the first, the last, the least and the greatest value of each part stay.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from coherence.model.model import unit_of
from coherence.simulate.execute.affine import plain
from coherence.simulate.study.readings import unit_text

if TYPE_CHECKING:
    from coherence.model.model import Model
    from coherence.simulate.execute.exact import Instant
    from coherence.simulate.requests.program import Program
    from coherence.simulate.serving.engine import Served
    from coherence.simulate.telemetry.contract import Telemetry

Array = NDArray[np.float64]
PARTS = 300  # of a long exact run: each keeps at most four points
BUSY_WINDOW = 15  # samples of which the mean of busy servers is taken
WINDOW = 5  # samples of a run of requests over which rates and shares are counted


@dataclass(frozen=True)
class CourseCurve:
    """A quantity of a thing over time (s), each value until the next; `what` says which."""

    thing: str
    what: str
    unit: str
    times: Array
    values: Array


@dataclass(frozen=True)
class WriteMark:
    """A write of a loop: when (s), by whom, on what, and from what to what."""

    time: float
    loop: str
    signal: str
    before: float
    after: float


@dataclass(frozen=True)
class RunCourse:
    """Curves of a run and the writes of its loops; `every`: the time between samples of requests (s)."""

    curves: tuple[CourseCurve, ...] = ()
    writes: tuple[WriteMark, ...] = ()
    every: float = 0.0

    def joined(self, other: RunCourse) -> RunCourse:
        """Returns both."""
        return RunCourse((*self.curves, *other.curves), (*self.writes, *other.writes), self.every or other.every)


def course_of_requests(program: Program, parts: Sequence[Mapping[str, Any]], end: float) -> RunCourse:
    """Returns the course of a run of requests from its samples, before and after its warm-up; counts only grow."""
    series = {name: np.concatenate([part[name] for part in parts]).astype(float) for name in parts[0]}
    times = series["time"]
    if len(times) < 2:
        return RunCourse()
    curves: list[CourseCurve] = []
    for source in program.sources:
        came, good, bad = (_per_window(series, f"{source.name}.{n}") for n in ("arrivals", "completed", "failed"))
        spans = np.diff(_window_ends(times))
        curves += [
            _windowed(source.name, "arrive", "1/s", times, came / spans),
            _windowed(source.name, "answered", "1/s", times, good / spans),
            _windowed(source.name, "succeed", "%", times, _share(good, good + bad)),
        ]
    for route in program.routes:
        sent = _per_window(series, f"{route.name}.tries") / np.diff(_window_ends(times))
        curves.append(_windowed(route.name, "sends", "1/s", times, sent))
    for station in program.stations:
        for what, unit in (("queue", "req"), ("servers", "server")):
            values = series[f"{station.name}.{what}"]
            curves.append(CourseCurve(station.name, what, unit, np.append(times, end), np.append(values, values[-1])))
        curves.append(_busy(station.name, times, series[f"{station.name}.busy"]))
    return RunCourse(tuple(curves), every=float(times[1] - times[0]))


def _window_ends(times: Array) -> Array:
    ends = times[::WINDOW]
    whole: Array = ends if ends[-1] == times[-1] else np.append(ends, times[-1])
    return whole


def _per_window(series: Mapping[str, Array], name: str) -> Array:
    counts, times = series[name], series["time"]
    gained: Array = np.diff(counts[np.searchsorted(times, _window_ends(times))])
    return gained


def _busy(name: str, times: Array, values: Array) -> CourseCurve:
    """Returns how many servers were busy, as the mean of the samples of each of some windows."""
    firsts = np.arange(0, len(values) - 1, BUSY_WINDOW)
    sizes = np.diff(np.append(firsts, len(values)))
    means = np.add.reduceat(values, firsts) / sizes
    return CourseCurve(name, "busy", "server", np.append(times[firsts], times[-1]), np.append(means, means[-1]))


def _share(good: Array, all_: Array) -> Array:
    share: Array = np.where(all_ > 0, 100.0 * good / np.where(all_ > 0, all_, 1.0), np.nan)
    return share


def _windowed(thing: str, what: str, unit: str, times: Array, values: Array) -> CourseCurve:
    return CourseCurve(thing, what, unit, _window_ends(times), np.append(values, values[-1]))


def course_of_instants(model: Model, instants: Sequence[Instant], end: float) -> RunCourse:
    """Returns states, commands and writes of an exact run."""
    if not instants:
        return RunCourse()
    times = np.append([float(instant.time) for instant in instants], end)
    curves = []
    for path in (*model.states, *model.commands):
        if path in instants[0].after:
            values = np.array([float(plain(instant.after[path])) for instant in instants])
            curves.append(thinned(CourseCurve(path, "signal", unit_text(unit_of(model, path)), times,
                                        np.append(values, values[-1]))))  # fmt: skip
    return RunCourse(tuple(curves), tuple(_writes(instants)))


def _writes(instants: Iterable[Instant]) -> Iterator[WriteMark]:
    for instant in instants:
        for action in instant.actions:
            before, after = float(plain(action.before)), float(plain(action.after))
            if before != after:
                yield WriteMark(float(instant.time), action.loop, action.signal, before, after)


def course_of_server(name: str, served: Served, end: float) -> RunCourse:
    """Returns how many requests an inference server ran and kept waiting, and its memory in use."""
    shown = served.series["time"] <= end
    times = np.append(np.asarray(served.series["time"], dtype=float)[shown], end)
    kinds = (("running", "running", "req"), ("queue", "waiting", "req"), ("memory", "blocks", "block"))
    columns = ((what, np.asarray(served.series[key], dtype=float)[shown], unit) for what, key, unit in kinds)
    return RunCourse(
        tuple(thinned(CourseCurve(name, what, unit, times, np.append(v, v[-1]))) for what, v, unit in columns if len(v))
    )


def course_of_job(telemetry: Telemetry) -> RunCourse:
    """Returns the gauges of a job: whether it is up, and how far it is."""
    gauges = [signal for signal in telemetry.signals if signal.kind == "gauge"]
    return RunCourse(tuple(
        thinned(CourseCurve(s.name, "signal", "" if s.unit == "1" else s.unit, telemetry[s.name].times,
                      telemetry[s.name].values)) for s in gauges
    ))  # fmt: skip


def thinned(curve: CourseCurve) -> CourseCurve:
    """Returns a curve of at most four points in each of PARTS; no extreme is lost, nor when it was reached."""
    count = len(curve.times)
    if count <= 4 * PARTS:
        return curve
    edges = np.searchsorted(curve.times, np.linspace(curve.times[0], curve.times[-1], PARTS + 1)[1:-1])
    chosen: set[int] = set()
    for part in np.split(np.arange(count), edges):
        if len(part):
            values = curve.values[part]
            chosen |= {int(part[0]), int(part[-1]), int(part[values.argmin()]), int(part[values.argmax()])}
    places = sorted(chosen)
    return CourseCurve(curve.thing, curve.what, curve.unit, curve.times[places], curve.values[places])
