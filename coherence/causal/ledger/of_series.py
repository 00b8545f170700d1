"""Device-seconds from telemetry: signals `<device>.<state>` in devices, integrated over time.

Names: `h100.barrier`, `h100.useful.chat` (or `h100.useful` where there is one class), `h100.idle_slack` and so on for
every state of `ledger_states`; and `h100.count`, the devices provisioned, where it is measured.  A state without a
signal takes no time; whether that is so shows where the states must add up to N T.  Finished work, where it is
counted, is `h100.work.chat` in work units per second: useful time is then W / r, and what it took beyond that `slowed`.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import numpy.typing as npt

from coherence.base.errors import InputError, Problem, did_you_mean
from coherence.base.places import Place
from coherence.causal.answers.intervals import batches
from coherence.causal.data.series import Excluded, Floats, Series
from coherence.causal.ledger.capacity import Fleet
from coherence.causal.ledger.rounded_states import evened, rounding
from coherence.causal.ledger.states import USEFUL
from coherence.causal.ledger.times import ROUNDING, Times, layout, with_rest_unlabelled, with_work

BATCHES = 12


def signals(fleet: Fleet) -> tuple[str, ...]:
    """Every signal that a ledger of this fleet reads where it is there."""
    words = (*layout(fleet.classes), *([USEFUL] if len(fleet.classes) == 1 else []), "count")
    return tuple(f"{d}.{one}" for d in fleet.devices for one in (*words, *(f"work.{k}" for k in fleet.classes)))


def times_of_series(
    fleet: Fleet, series: Series, *, count: int = BATCHES, rest_unlabelled: bool = False, source: str = "<telemetry>"
) -> Times:
    """Times of `count` batches from exclusive state signals; rows with a missing value are left out, and told.

    `rest_unlabelled` counts time that no state signal covers as `unlabelled`.  Raises InputError: signals of no known
    state, a provisioned count that is not the fleet's, states that add up to more than the devices at some time.
    """
    named = set(signals(fleet))
    present = tuple(name for name in series.names if name in named)
    problems = list(_unknown(fleet, series, named, source))
    whole: npt.NDArray[np.bool_] = np.asarray(~np.isnan(series.of(present).values).any(axis=1))
    complete = Series(series.names, series.values[whole], series.step, series.start, series.units, series.excluded)
    problems += _absent(present, complete, fleet, source) or list(
        _wrong(fleet, complete, present, series, whole, source)
    )
    if problems:
        raise InputError(problems)
    excluded = (*series.excluded, *_left_out(series, present, whole))
    rows = np.where(whole)[0]
    parts = batches(len(rows), count)
    values, rounded = _evened(fleet, complete, present)
    excluded = (*excluded, *rounded)
    seconds = np.array([values[part].sum(axis=0) * series.step for part in parts])
    windows = np.array([(part.stop - part.start) * series.step for part in parts])
    ledger_times = Times(fleet, seconds, windows, source, excluded)
    ledger_times = _with_work(ledger_times, complete, parts)
    return with_rest_unlabelled(ledger_times) if rest_unlabelled else ledger_times


def _problem(source: str, message: str, remedy: str) -> Problem:
    return Problem(Place(source, 1, 1, 1, 1), message, remedy)


def _unknown(fleet: Fleet, series: Series, named: set[str], source: str) -> Iterator[Problem]:
    """Signals that begin as a device of the fleet and name no state."""
    for name in series.names:
        if name not in named and name.split(".")[0] in fleet.devices:
            yield _problem(source, f"'{name}' names no state of a device", did_you_mean(name, named) or "rename it")


def _absent(present: tuple[str, ...], complete: Series, fleet: Fleet, source: str) -> list[Problem]:
    if not present:
        example = f"{fleet.devices[0]}.{USEFUL}.{fleet.classes[0]}"
        return [_problem(source, "no signal is the state of a device", f"give signals such as '{example}', in devices")]
    if not len(complete):
        return [_problem(source, "no time has a value of every state signal", "align the signals to one clock")]
    return []


def _wrong(
    fleet: Fleet, complete: Series, present: tuple[str, ...], series: Series, whole: npt.NDArray[np.bool_], source: str
) -> Iterator[Problem]:
    """Values no device count can be, provisioned counts unlike the fleet's, and times at which states overlap."""
    times = series.times[whole]
    for name in present:
        bad = ~np.isfinite(complete[name]) | (complete[name] < 0)
        if bad.any():
            at = int(np.argmax(bad))
            yield _problem(source, f"{name} = {complete[name][at]} at {times[at]:.6g} s", "give devices, at least 0")
    total = _evened(fleet, complete, present)[0].sum(axis=2)
    for d, device in enumerate(fleet.devices):
        provisioned = complete[f"{device}.count"] if f"{device}.count" in present else None
        if provisioned is not None and (off := abs(provisioned - fleet.count[d]) > ROUNDING * fleet.count[d]).any():
            at = int(np.argmax(off))
            seen = f"{device}.count = {provisioned[at]:.6g} at {times[at]:.6g} s"
            message = f"{seen}, and the fleet has {fleet.count[d]:.6g}"
            yield _problem(source, message, "make one ledger for each stretch of a constant count")
        over = total[:, d] - fleet.count[d]
        worst = int(np.argmax(over))
        if over[worst] > 1e-6 * max(fleet.count[d], 1.0):
            message = f"the states of {device} add up to {total[worst, d]:.9g} devices at {times[worst]:.6g} s"
            yield _problem(source, message, f"there are {fleet.count[d]:.6g}: a device must be in one state at a time")


def _values(fleet: Fleet, complete: Series, present: tuple[str, ...]) -> Floats:
    """(times, devices, states) in devices."""
    labels = layout(fleet.classes)
    shares = np.zeros((len(complete), len(fleet.devices), len(labels)))
    for d, device in enumerate(fleet.devices):
        for s, label in enumerate(labels):
            if f"{device}.{label}" in present:
                shares[:, d, s] = complete[f"{device}.{label}"]
        if len(fleet.classes) == 1 and f"{device}.{USEFUL}" in present:
            shares[:, d, labels.index(f"{USEFUL}.{fleet.classes[0]}")] += complete[f"{device}.{USEFUL}"]
    return shares


def _evened(fleet: Fleet, complete: Series, present: tuple[str, ...]) -> tuple[Floats, tuple[Excluded, ...]]:
    """Returns the same without what the decimals of the signals add or take, and how much that was."""
    values, left_out = _values(fleet, complete, present), list[Excluded]()
    for d, device in enumerate(fleet.devices):
        logged = [name for name in present if name.startswith(f"{device}.") and name != f"{device}.count"]
        off = sum(rounding(complete[name]) for name in logged if ".work." not in name)
        values[:, d], number = evened(values[:, d], float(fleet.count[d]), off)
        if number:
            what = f"up to {off:.3g} devices of {device} at {number} of {len(values)} times"
            why = "its signals have so few decimals that the sum is off"
            left_out.append(Excluded(what, why, "log more decimals"))
    return values, tuple(left_out)


def _with_work(ledger_times: Times, complete: Series, parts: tuple[slice, ...]) -> Times:
    """Useful time by finished work, where every class that a device was useful for has its count."""
    fleet = ledger_times.fleet
    names = [[f"{d}.work.{k}" for k in fleet.classes] for d in fleet.devices]
    if not any(name in complete for row in names for name in row):
        return ledger_times
    place = ledger_times.labels.index(f"{USEFUL}.{fleet.classes[0]}")
    useful = ledger_times.seconds[:, :, place : place + len(fleet.classes)]
    work = useful * fleet.rate
    for d, row in enumerate(names):
        for k, name in enumerate(row):
            if name in complete:
                work[:, d, k] = [complete[name][part].sum() * complete.step for part in parts]
    return with_work(ledger_times, work)


def _left_out(series: Series, present: tuple[str, ...], whole: npt.NDArray[np.bool_]) -> Iterator[Excluded]:
    if whole.all():
        return
    holes = [name for name in present if np.isnan(series[name]).any()]
    yield Excluded(
        f"{int((~whole).sum())} of {len(whole)} times",
        f"no value of {', '.join(holes[:4])}" + (f" and {len(holes) - 4} more" if len(holes) > 4 else ""),
        "the window is shorter by as much; nothing is filled in",
    )
