"""Device-seconds from an interval log: (device, state, class, start, end), overlaps resolved by precedence.

A device is one accelerator, written `<kind>/<unit>` (`h100/17`), or the kind alone where there is one.  Where intervals
of one device overlap, the state that comes first in the order of `ledger_states` counts.  Time that no interval covers
is `unlabelled`; so are devices that the log never names.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import zip_longest
from pathlib import Path

import numpy as np

from coherence.base.csv_records import csv_table
from coherence.base.errors import InputError, Problem, UsageError, did_you_mean
from coherence.base.places import Place
from coherence.causal.data.series import Excluded, Floats
from coherence.causal.ledger.capacity import Fleet
from coherence.causal.ledger.of_series import BATCHES
from coherence.causal.ledger.states import UNLABELLED, USEFUL
from coherence.causal.ledger.times import Times, layout

COLUMNS = ("device", "state", "class", "start", "end")


@dataclass(frozen=True)
class Stay:
    """A device in a state from `start` to `end` (seconds); `work`: the class of useful work; `line`: of the file."""

    device: str
    state: str
    work: str
    start: float
    end: float
    line: int = 1


def read_log(path: str | Path) -> tuple[Stay, ...]:
    """The intervals of a CSV file with the columns device, state, class, start, end.  Raises InputError."""
    shown = str(path)
    header, records = csv_table(Path(path))
    rows = [(line, dict(zip_longest(header, row[: len(header)], fillvalue=""))) for line, row in records if row]
    absent = [name for name in COLUMNS if name not in header]
    if absent or not rows:
        message = f"the columns {', '.join(absent)} are missing" if absent else "there is no interval"
        remedy = f"give one line for each interval, under the header {','.join(COLUMNS)}"
        raise InputError([Problem(Place(shown, 1, 1, 1, 1), message, remedy)])
    problems: list[Problem] = []
    stays = tuple(_stay(row, line, shown, problems) for line, row in rows)
    if problems:
        raise InputError(problems)
    return stays


def _stay(row: dict[str, str], line: int, shown: str, problems: list[Problem]) -> Stay:
    at = []
    for name in ("start", "end"):
        try:
            at.append(float(row[name]))
        except ValueError:
            problems.append(Problem(Place(shown, line, 1, line, 1), f"{name} = {row[name]!r}", "give seconds"))
            at.append(0.0)
    device, state, work = (row[name].strip() for name in ("device", "state", "class"))
    return Stay(device, state, work, at[0], at[1], line)


def times_of_log(
    fleet: Fleet,
    stays: Iterable[Stay],
    *,
    start: float | None = None,
    end: float | None = None,
    count: int = BATCHES,
    source: str = "<log>",
) -> Times:
    """Times of `count` batches between `start` and `end` (the first start and the last end where not given).

    Raises InputError: unknown devices, states or classes, intervals that end before they start, more devices of a kind
    than the fleet has.
    """
    given = tuple(stays)
    problems = [
        Problem(Place(source, one.line, 1, one.line, 1), *words) for one in given for words in _wrong(fleet, one)
    ]
    problems += _too_many(fleet, given, source)
    if problems:
        raise InputError(problems)
    low = min((one.start for one in given), default=0.0) if start is None else start
    high = max((one.end for one in given), default=0.0) if end is None else end
    if not (math.isfinite(low) and low < high < math.inf):
        raise UsageError(f"the window from {low!r} s to {high!r} s is empty: give start < end, in seconds")
    edges = np.linspace(low, high, count + 1)
    seconds = np.zeros((count, len(fleet.devices), len(layout(fleet.classes))))
    by_device = _by_device(given)
    for device, mine in by_device.items():
        seconds[:, fleet.devices.index(_kind(device)), :] += _painted(fleet, mine, edges)
    named = np.array([sum(_kind(device) == kind for device in by_device) for kind in fleet.devices])
    unnamed = (fleet.count - named) * np.diff(edges)[:, None]
    seconds[:, :, layout(fleet.classes).index(UNLABELLED)] += unnamed
    return Times(fleet, seconds, np.diff(edges), source, tuple(_excluded_stays(fleet, given, named, low, high)))


def _by_device(stays: Iterable[Stay]) -> dict[str, list[Stay]]:
    found: dict[str, list[Stay]] = {}
    for stay in stays:
        found.setdefault(stay.device, []).append(stay)
    return found


def _twice(stays: Iterable[Stay], low: float, high: float) -> float:
    """Seconds that intervals of one device take from each other, between `low` and `high`."""
    taken, until = 0.0, low
    for stay in sorted(stays, key=lambda stay: stay.start):
        start, end = max(stay.start, low), min(stay.end, high)
        taken += max(min(end, until) - start, 0.0)
        until = max(until, end)
    return taken


def _kind(device: str) -> str:
    return device.split("/", 1)[0]


def _label(fleet: Fleet, one: Stay) -> str:
    if one.state != USEFUL:
        return one.state
    return f"{USEFUL}.{one.work or fleet.classes[0]}" if one.work or len(fleet.classes) == 1 else USEFUL


def _wrong(fleet: Fleet, stay: Stay) -> Iterator[tuple[str, str]]:
    if _kind(stay.device) not in fleet.devices:
        yield f"unknown device '{stay.device}'", did_you_mean(_kind(stay.device), fleet.devices)
    states = {label.split(".")[0] for label in layout(fleet.classes)}
    if stay.state not in states:
        yield f"unknown state '{stay.state}'", did_you_mean(stay.state, states) or "see the states of the loss types"
    elif _label(fleet, stay) not in layout(fleet.classes):
        yield f"unknown class '{stay.work}' of useful work", did_you_mean(stay.work, fleet.classes)
    if not (math.isfinite(stay.start) and math.isfinite(stay.end)):
        yield f"{stay.device} is '{stay.state}' from {stay.start} s to {stay.end} s", "give finite seconds"
    elif stay.end < stay.start:
        yield f"{stay.device} is '{stay.state}' from {stay.start:.12g} s to {stay.end:.12g} s", "end must be >= start"


def _too_many(fleet: Fleet, stays: Sequence[Stay], source: str) -> Iterator[Problem]:
    named = {stay.device for stay in stays}
    for kind, count in zip(fleet.devices, fleet.count, strict=True):
        units = sum(_kind(device) == kind for device in named)
        if units > count:
            message = f"the log names {units} devices of {kind}, and the fleet has {count:.6g}"
            remedy = f"correct the count of {kind}, or the names of the devices"
            yield Problem(Place(source, 1, 1, 1, 1), message, remedy)


def _painted(fleet: Fleet, stays: Sequence[Stay], batches: Floats) -> Floats:
    """(batches, states) seconds of one device: intervals painted over each other, the first in precedence last."""
    labels = layout(fleet.classes)
    order = {label: i for i, label in enumerate(labels)}
    starts = np.clip([stay.start for stay in stays], batches[0], batches[-1])
    ends = np.clip([stay.end for stay in stays], batches[0], batches[-1])
    edges = np.unique(np.concatenate([batches, starts, ends]))
    first, last = np.searchsorted(edges, starts), np.searchsorted(edges, ends)
    state = np.full(len(edges) - 1, order[UNLABELLED])
    codes = [order[_label(fleet, stay)] for stay in stays]
    for i in sorted(range(len(stays)), key=lambda i: -codes[i]):
        state[first[i] : last[i]] = codes[i]
    batch = np.searchsorted(batches, edges[:-1], side="right") - 1
    seconds = np.zeros((len(batches) - 1, len(labels)))
    np.add.at(seconds, (batch, state), np.diff(edges))
    return seconds


def _excluded_stays(fleet: Fleet, stays: Sequence[Stay], named: Floats, low: float, high: float) -> Iterator[Excluded]:
    for kind, count, units in zip(fleet.devices, fleet.count, named, strict=True):
        if units < count:
            what = f"{count - units:.6g} of {count:.6g} {kind}"
            yield Excluded(what, "the log never names them", "all their time is unlabelled")
    twice = sum(_twice(mine, low, high) for mine in _by_device(stays).values())
    if twice > 0:
        why = "the log has two states for them: the first in the order of the states counts"
        yield Excluded(f"{twice:.6g} device-seconds in a further state", why, "end a state before the next one starts")
    outside = sum(stay.start < low or stay.end > high for stay in stays)
    if outside:
        yield Excluded(f"{outside} intervals in part", f"outside {low:.6g} s to {high:.6g} s", "widen the window")
