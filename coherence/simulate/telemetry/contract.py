"""Defines the telemetry contract: samples (time, signal, value), a unit for each signal, and the true causes.

Times are seconds from the start of a run.  A value may be any float: infinities and signed zeros are kept, and a
NaN is a value that is not a number.  A missing value is something else: a time at which other signals have a
value and this one has none.  Missing values are counted, never filled.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
import numpy.typing as npt

if TYPE_CHECKING:
    from coherence.model.model import Model
    from coherence.simulate.execute.exact import Instant

Floats: TypeAlias = npt.NDArray[np.float64]
KINDS = ("counter", "gauge")


def _writable(text: str) -> None:
    if not text.isascii() and any("\ud800" <= letter <= "\udfff" for letter in text):
        raise ValueError(f"{text!r} has half a surrogate pair, which no file can hold")


@dataclass(frozen=True)
class Signal:
    """One row of the table of signals.  `kind`: counter (only grows, but for resets) or gauge; `unit` 1: none."""

    name: str
    unit: str = "1"
    kind: str = "gauge"
    source: str = ""

    def __post_init__(self) -> None:
        if not self.name:
            raise ValueError("a signal needs a name")
        _writable(self.name + self.unit + self.source)
        if self.kind not in KINDS:
            raise ValueError(f"kind(={self.kind}) of {self.name} must be counter or gauge")


@dataclass(frozen=True)
class Samples:
    """Values of one signal at ascending times."""

    times: Floats
    values: Floats

    def __len__(self) -> int:
        return len(self.times)


@dataclass(frozen=True)
class LossCause:
    """Known truth: `amount` of the loss `loss` came from `cause`, up to `time` seconds."""

    time: float
    loss: str
    cause: str
    amount: float
    unit: str

    def __post_init__(self) -> None:
        _writable(self.loss + self.cause + self.unit)
        if not math.isfinite(self.time):
            raise ValueError(f"time(={self.time}) of {self.loss} must be finite")


@dataclass(frozen=True)
class Origin:
    """A source of signals and how it was read; `left_out`: (what, why, remedy) of what is no signal of it."""

    name: str
    form: str
    clock: str
    signals: tuple[str, ...]
    rows: int
    notes: tuple[str, ...] = ()
    left_out: tuple[tuple[str, str, str], ...] = ()


@dataclass(frozen=True)
class Telemetry:
    """Signals and causes in a fixed order; `grid`: every time at which anything was looked at."""

    signals: tuple[Signal, ...]
    samples: Mapping[str, Samples]
    grid: Floats
    causes: tuple[LossCause, ...] = field(default=())
    origins: tuple[Origin, ...] = field(default=())

    def __getitem__(self, name: str) -> Samples:
        return self.samples[name]


@dataclass(frozen=True)
class Gaps:
    """How much of one signal is there: samples, those that are not a number, times of the grid without a sample."""

    samples: int
    not_a_number: int
    missing: int


def telemetry(
    samples: Mapping[Signal, tuple[Iterable[float], Iterable[float]]],
    *,
    causes: Iterable[LossCause] = (),
    grid: Iterable[float] = (),
) -> Telemetry:
    """Telemetry of signals with their times and values, sorted.

    Raises ValueError where two signals have one name, a time is not finite, or a signal has two values at one time.
    """
    ordered = sorted(samples, key=lambda signal: signal.name)
    names = [signal.name for signal in ordered]
    if len(set(names)) < len(names):
        twice = next(name for name in names if names.count(name) > 1)
        raise ValueError(f"two signals are called {twice!r}")
    sampled = {signal.name: _sorted(signal.name, *samples[signal]) for signal in ordered}
    return Telemetry(tuple(ordered), sampled, _grid(sampled, grid), tuple(sorted(causes, key=_cause_order)))


def _sorted(name: str, times: Iterable[float], values: Iterable[float]) -> Samples:
    at, what = _floats(times) + 0.0, _floats(values)  # -0.0 + 0.0 = 0.0: one time, one spelling
    if len(at) != len(what):
        raise ValueError(f"{name!r} has {len(at)} times and {len(what)} values")
    if not np.isfinite(at).all():
        raise ValueError(f"{name!r} has a time that is not finite")
    order = np.argsort(at, kind="stable")
    at, what = at[order], what[order]
    if len(at) > 1 and (again := at[1:] == at[:-1]).any():
        raise ValueError(f"{name!r} has two values at {float(at[1:][again][0])!r} s")
    return Samples(at, what)


def _floats(numbers: Iterable[float]) -> Floats:
    return np.asarray(numbers if hasattr(numbers, "__len__") else list(numbers), np.float64)


def _grid(samples: Mapping[str, Samples], more: Iterable[float]) -> Floats:
    extra = _floats(more) + 0.0
    if not np.isfinite(extra).all():
        raise ValueError("a time of the grid is not finite")
    return np.unique(np.concatenate([extra, *(sample.times for sample in samples.values())]))


def _cause_order(cause: LossCause) -> tuple[float, str, str, str, str, str]:
    return cause.time, cause.loss, cause.cause, cause.unit, repr(cause.amount), repr(cause.time)


def gaps(record: Telemetry) -> dict[str, Gaps]:
    """Returns what is missing of each signal."""
    return {
        name: Gaps(len(samples), int(np.isnan(samples.values).sum()), len(record.grid) - len(samples))
        for name, samples in record.samples.items()
    }


def joined(*parts: Telemetry) -> Telemetry:
    """Telemetry of several sources on one clock.  Raises ValueError where two have a signal of one name."""
    names = [signal.name for part in parts for signal in part.signals]
    if len(set(names)) < len(names):
        raise ValueError(f"two sources have a signal {next(n for n in names if names.count(n) > 1)!r}")
    samples = {signal: (part[signal.name].times, part[signal.name].values) for part in parts for signal in part.signals}
    causes = [cause for part in parts for cause in part.causes]
    return telemetry(samples, causes=causes, grid=np.concatenate([np.zeros(0), *(part.grid for part in parts)]))


# -- sources ------------------------------------------------------------------------------------

REQUESTS: Mapping[str, tuple[str, str]] = {
    **dict.fromkeys(
        ("arrivals", "completed", "failed", "tries", "retries", "timeouts", "rejected", "refused", "served", "wasted",
         "hedges", "cancelled"), ("req", "counter"),
    ),
    **dict.fromkeys(("queue", "in_flight"), ("req", "gauge")),
    **dict.fromkeys(("busy", "servers"), ("server", "gauge")),
}  # fmt: skip
"""Last word of a series of the request engine -> (unit, kind)."""


def of_requests(
    series: Mapping[str, Any], *, source: str = "request engine", causes: Iterable[LossCause] = ()
) -> Telemetry:
    """Telemetry of `result.series` of the request engine: its key `time` and one array for each signal."""
    at = series["time"]
    samples = {}
    for name, values in series.items():
        if name != "time":
            unit, kind = REQUESTS.get(name.rpartition(".")[2], ("1", "gauge"))
            samples[Signal(name, unit, kind, source)] = (at, values)
    return telemetry(samples, causes=causes, grid=at)


def of_instants(model: Model, instants: Iterable[Instant], *, source: str = "exact executor") -> Telemetry:
    """Telemetry of an exact run: states, commands and inputs as sampled, and loops as 1 while triggered.

    Exact values become the nearest floats; constants are not signals.
    """
    from coherence.simulate.execute.affine import plain

    seen = list(instants)
    units = {path: str(state.dimension) for path, state in model.states.items()}
    units |= {path: str(command.dimension) for path, command in model.commands.items()}
    at = [float(instant.time) for instant in seen]
    samples = {}
    for name in seen[0].sampled if seen else ():
        if name not in model.constants:
            unit = units.get(name, "1")
            signal = Signal(name, "1" if unit == "a bare number" else unit, "gauge", source)
            samples[signal] = (at, [_number(plain(instant.sampled[name])) for instant in seen])
    return telemetry(samples, grid=at)


def _number(exact: Any) -> float:
    try:
        return float(exact)
    except OverflowError:
        return math.inf if exact > 0 else -math.inf
