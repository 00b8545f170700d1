"""Holds the log of requests that an index reads: when each came, what it needed, when it ended, where its time went.

All times are seconds on one clock.  `need` is the isolated need: the time the request takes alone, on free devices,
with today's kernels.  An index is as good as it: an error of 5 % in needs is 0.05 of the delay index.
Rows stand in the order of arrival.  A column that the source did not have is named in `lacks`; nothing is made up.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from coherence.causal.data.series import Excluded, Floats

Ints: TypeAlias = npt.NDArray[np.int64]
Bools: TypeAlias = npt.NDArray[np.bool_]

COMPLETED = "completed"
IN_FLIGHT = "in flight"

COLUMNS: Mapping[str, str] = {
    "arrival": "time of the first attempt (s)",
    "need": "isolated need: seconds the request takes alone",
    "end": "time of the first accepted answer, or of giving up (s); empty while in flight",
    "outcome": "'completed', or how it ended",
    "deadline": "seconds after arrival within which an answer is of use (`deadline` of its workload)",
    "attempts": "attempts sent, the first one counted",
    "class": "class of work",
    "service": "service or node",
    "devices": "devices that it holds at one time",
    "held": "device-seconds held for it by all its attempts",
}
"""Column -> what it says.  `left.<layer>` and `need.<layer>` stand for each layer, in their order in the header."""


@dataclass(frozen=True)
class RequestLayer:
    """A stage that requests pass: when each left it (NaN: never), and its share of the isolated need (s)."""

    name: str
    left: Floats
    need: Floats


@dataclass(frozen=True)
class RequestLog:
    """Requests in the order of arrival; every column has one entry for each of them.

    `end` is NaN while in flight; `until` is the end of the window.  `service` and `work_class` count in their names.
    `held` is in device-seconds; `need` is in seconds and is held on `devices` at once.
    """

    arrival: Floats
    need: Floats
    end: Floats
    completed: Bools
    deadline: Floats
    attempts: Floats
    work_class: Ints
    service: Ints
    devices: Floats
    held: Floats
    classes: tuple[str, ...]
    services: tuple[str, ...]
    until: float
    layers: tuple[RequestLayer, ...] = ()
    lacks: frozenset[str] = frozenset()
    excluded: tuple[Excluded, ...] = field(default=())

    def __len__(self) -> int:
        return len(self.arrival)

    @property
    def since(self) -> float:
        """The first arrival (s)."""
        return float(self.arrival[0])

    @property
    def sojourn(self) -> Floats:
        """Seconds from the first attempt to the answer, to giving up, or to the end of the window."""
        found: Floats = np.where(np.isnan(self.end), self.until, self.end) - self.arrival
        return found

    @property
    def delay(self) -> Floats:
        """Sojourn less the isolated need (s)."""
        found: Floats = self.sojourn - self.need
        return found

    @property
    def in_flight(self) -> int:
        """Requests that had not ended when the window did; their delays are lower bounds."""
        return int(np.isnan(self.end).sum())

    @property
    def in_time(self) -> Bools:
        """Which were answered well within their deadlines."""
        found: Bools = self.completed & (self.sojourn <= self.deadline)
        return found

    def where(self, chosen: Bools) -> RequestLog:
        """These requests alone."""
        rows = ("arrival", "need", "end", "completed", "deadline", "attempts", "work_class", "service", "devices",
                "held")  # fmt: skip
        layers = tuple(RequestLayer(layer.name, layer.left[chosen], layer.need[chosen]) for layer in self.layers)
        return replace(self, **{name: getattr(self, name)[chosen] for name in rows}, layers=layers)

    def of_class(self, name: str) -> RequestLog:
        """The requests of one class of work."""
        found = self.where(self.work_class == self.classes.index(name))
        return replace(found, classes=(name,), work_class=np.zeros(len(found), np.int64))

    def scaled(self, factor: float) -> RequestLog:
        """The same log in another unit of time: every time and duration `factor` times as large."""
        times = ("arrival", "need", "end", "deadline", "held")
        layers = tuple(RequestLayer(layer.name, layer.left * factor, layer.need * factor) for layer in self.layers)
        columns = {name: getattr(self, name) * factor for name in times}
        return replace(self, **columns, until=self.until * factor, layers=layers)

    def parts(self, count: int) -> Ints:
        """The number of the batch in which each request arrived: `count` stretches of equal time."""
        return batch_numbers(self.arrival, self.since, self.until, count)


def batch_numbers(times: Floats, low: float, high: float, count: int) -> Ints:
    """Which of `count` equal stretches of [low, high] each time lies in."""
    width = (high - low) / count
    if not width > 0:
        return np.zeros(len(times), np.int64)
    numbers: Ints = np.clip(((times - low) / width).astype(np.int64), 0, count - 1)
    return numbers


def request_log(  # noqa: PLR0913  (columns, by name only)
    arrival: npt.ArrayLike,
    need: npt.ArrayLike,
    end: npt.ArrayLike,
    *,
    completed: npt.ArrayLike | None = None,
    deadline: npt.ArrayLike | None = None,
    attempts: npt.ArrayLike | None = None,
    work_class: npt.ArrayLike | None = None,
    service: npt.ArrayLike | None = None,
    devices: npt.ArrayLike | None = None,
    held: npt.ArrayLike | None = None,
    layers: Mapping[str, tuple[npt.ArrayLike, npt.ArrayLike | None]] | None = None,
    until: float | None = None,
    excluded: tuple[Excluded, ...] = (),
) -> RequestLog:
    """A log from columns in any order of rows; a column left out is noted in `lacks`.

    `layers` maps a name to (times of leaving, isolated needs or None); without needs the last layer has all of it.
    Raises ValueError for what no log can hold: an end before its arrival, a need that is not positive, no rows.
    """
    came, needs, ends = (_floats(column) for column in (arrival, need, end))
    order = np.argsort(came, kind="stable")
    size = len(came)
    given = {"deadline": deadline, "attempts": attempts, "class": work_class, "service": service, "devices": devices,
             "held": held, "outcome": completed}  # fmt: skip
    done = ~np.isnan(ends) if completed is None else np.asarray(completed, bool)
    classes, kinds = _named(work_class, size)
    services, places = _named(service, size)
    log = RequestLog(
        came[order], needs[order], ends[order], (done & ~np.isnan(ends))[order],
        _column(deadline, size, math.inf)[order], _column(attempts, size, 1.0)[order], kinds[order], places[order],
        _column(devices, size, 1.0)[order], _column(held, size, math.nan)[order], classes, services,
        _until(came, ends, until), _layers(layers or {}, needs, order),
        frozenset(name for name, column in given.items() if column is None), excluded,
    )  # fmt: skip
    for problem in problems(log):
        raise ValueError(problem)
    return log


def problems(log: RequestLog) -> Iterator[str]:
    """What no log can hold, in words."""
    if not len(log):
        yield "the log has no requests"
        return
    for name, bad in (
        ("arrival must be finite", ~np.isfinite(log.arrival)),
        ("need must be finite and > 0 s", ~(np.isfinite(log.need) & (log.need > 0))),
        ("end lies before arrival", log.end < log.arrival),
        ("end must be finite", np.isinf(log.end)),
        ("deadline must be > 0 s", ~(log.deadline > 0)),
        ("attempts must be >= 1", ~(log.attempts >= 1)),
        ("devices must be > 0", ~(log.devices > 0)),
        ("held must be >= 0 device-seconds", log.held < 0),
    ):
        if bad.any():
            yield f"{name}: request {int(np.argmax(bad)) + 1} of {len(log)} in the order of arrival"
    yield from _layer_problems(log)


def _layer_problems(log: RequestLog) -> Iterator[str]:
    before = log.arrival
    for layer in log.layers:
        if (layer.left < before).any():
            row = int(np.argmax(layer.left < before)) + 1
            yield f"layer {layer.name} was left before the one before it: request {row} in the order of arrival"
        before = np.where(np.isnan(layer.left), before, layer.left)


def _floats(column: npt.ArrayLike) -> Floats:
    return np.atleast_1d(np.asarray(column, np.float64))


def _column(column: npt.ArrayLike | None, size: int, default: float) -> Floats:
    return np.broadcast_to(_floats(default if column is None else column), (size,)).copy()


def _named(column: npt.ArrayLike | None, size: int) -> tuple[tuple[str, ...], Ints]:
    if column is None:
        return ("",), np.zeros(size, np.int64)
    names, numbers = np.unique(np.asarray(column, dtype=str), return_inverse=True)
    return tuple(map(str, names)), np.asarray(numbers, np.int64)


def _until(came: Floats, ends: Floats, until: float | None) -> float:
    known = np.concatenate([came, ends[~np.isnan(ends)]])
    last = float(known.max()) if len(known) else 0.0
    if until is not None and until < last:
        raise ValueError(f"until(={until}) lies before the last time of the log, {last} s")
    return last if until is None else until


def _layers(
    layers: Mapping[str, tuple[npt.ArrayLike, npt.ArrayLike | None]], needs: Floats, order: Ints
) -> tuple[RequestLayer, ...]:
    """Layers with their shares of the need: those without one have none, and the last has what is left."""
    left = needs.copy()
    stages = []
    for number, (name, (times, share)) in enumerate(layers.items()):
        own = np.zeros(len(needs)) if share is None else _column(share, len(needs), 0.0)
        if number == len(layers) - 1:
            own = left.copy()
        left -= own
        stages.append(RequestLayer(name, _floats(times)[order], own[order]))
    if (left < -1e-9 * needs).any() or any((stage.need < -1e-9 * needs[order]).any() for stage in stages):
        raise ValueError("the needs of the layers add up to more than the need of the request")
    return tuple(stages)
