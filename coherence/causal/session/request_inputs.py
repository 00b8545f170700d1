"""Gathers what the indices read: the log of requests, the latency class of the design, and the bands of its loops.

Servers that the latency class may claim: `workload.<class>.entitlement`; where the design has one workload, all
devices of its only tier, or the copies of the only thing that requests wait for.  Services of a log without classes are
its classes where the design has a workload of each name; a deadline that the log does not state is that of the
request's workload.  The band that a loop's signal should have been in: the signals `<signal>.low` and `.high`, else
the stated tolerance of the loop.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from pathlib import Path

import numpy as np

from coherence.base.errors import InputError
from coherence.causal.data.index_inputs import IndexInputs, LoopAction, Tube
from coherence.causal.data.request_log import Bools, RequestLog
from coherence.causal.data.request_log_files import read
from coherence.causal.data.series import Series
from coherence.causal.session.tolerance_tubes import tolerance_tubes
from coherence.language.design import Design
from coherence.language.schema_kinds import Quantity
from coherence.language.workloads import Workload
from coherence.model.model import Model

PERIODS = 20  # of the slowest loop, over which control coherence looks back
LOW, HIGH = ".low", ".high"


@dataclass(frozen=True)
class RequestInputs:
    """The facts, and what was taken as true for them."""

    facts: IndexInputs
    notes: tuple[str, ...] = ()


def request_inputs(
    design: Design, model: Model, series: Series, *, log: str | None, window: tuple[float, float] | None = None
) -> RequestInputs | None:
    """The facts; None where there is neither a log nor a band.  Raises InputError for a log that is wrong."""
    tubes, taken = tubes_of(model, series)
    if log is None and not tubes:
        return None
    control = IndexInputs(tubes=tubes, actions=tuple(_actions(model, series, tubes)), horizon=_horizon(model))
    if log is None:
        return RequestInputs(control, taken)
    requests = _with_deadlines(design, _classed(design, read(Path(log))))
    if window is not None and not (inside := _inside(requests, window)).any():
        span = f"the log is from {requests.since:g} to {requests.until:g} s"
        outside = f"no request of the log arrived at {window[0]:g}..{window[1]:g} s: {span}"
        return RequestInputs(control, (*taken, outside))
    requests = replace(requests.where(inside), until=min(requests.until, window[1])) if window else requests
    name = _latency_class(design, requests)
    servers, note = _servers(design, name)
    provisioned = [_number(tier.count) for tier in design.tiers.values()]
    total = sum(float(one) for one in provisioned if one is not None)
    notes = (*taken, *note, *(f"left out: {one.what}: {one.why}" for one in requests.excluded))
    facts = replace(
        control, log=requests, servers=servers, latency_class=name,
        provisioned=total if provisioned and None not in provisioned else None, calls=_calls(design),
    )  # fmt: skip
    return RequestInputs(facts, notes)


def _calls(design: Design) -> tuple[tuple[str, str], ...]:
    """(caller, callee) of every call of the design."""
    return tuple((one.caller.text, one.callee.text) for one in design.calls if one.caller and one.callee)


def _classed(design: Design, log: RequestLog) -> RequestLog:
    """The log with its services as classes where it states no class and each of them is a workload."""
    if "class" not in log.lacks or "service" in log.lacks or not set(log.services) <= set(design.workload):
        return log
    return replace(log, work_class=log.service, classes=log.services, lacks=log.lacks - {"class"})


def _with_deadlines(design: Design, log: RequestLog) -> RequestLog:
    """The log with the deadlines of its classes where it states none; of a log without classes, the only one."""
    stated = {name: float(d) for name, one in design.workload.items() if (d := _number(one.deadline)) is not None}
    if "deadline" not in log.lacks or not stated:
        return log
    only = next(iter(stated.values())) if len(stated) == 1 and not set(log.classes) & set(design.workload) else math.inf
    limits = np.array([stated.get(name, only) for name in log.classes])
    lacks = log.lacks - {"deadline"} if np.isfinite(limits).any() else log.lacks
    return replace(log, deadline=limits[log.work_class], lacks=lacks)


def _number(stated: object) -> Fraction | None:
    return stated.low if isinstance(stated, Quantity) and stated.exact else None


def _entitlement(one: Workload) -> Fraction | None:
    return _number(one.constants.get("entitlement"))


def _latency_class(design: Design, log: RequestLog) -> str | None:
    """The class of the log that the design gives an entitlement, else a deadline; None where that is not one."""
    if len(log.classes) == 1:
        return log.classes[0]
    there = {name: one for name, one in design.workload.items() if name in log.classes}
    for chosen in (_entitlement, lambda one: _number(one.deadline)):
        names = [name for name, one in there.items() if chosen(one) is not None]
        if len(names) == 1:
            return names[0]
    return None


def _servers(design: Design, name: str | None) -> tuple[int | None, tuple[str, ...]]:
    """Servers of the latency class, and what was taken for that."""
    stated = {key: found for key, one in design.workload.items() if (found := _entitlement(one)) is not None}
    count = stated.get(name or "") or (next(iter(stated.values())) if len(stated) == 1 else None)
    if count is not None:
        return (int(count), ()) if count >= 1 else (None, ("an entitlement below 1 serves nothing",))
    tiers = list(design.tiers.items())
    if len(design.workload) == 1 and len(tiers) == 1 and (devices := _number(tiers[0][1].count)) is not None:
        only = next(iter(design.workload))
        words = f"{int(devices)} servers, all {tiers[0][0]}: write workload.{only}.entitlement where it may claim fewer"
        return int(devices), (f"taken for the coordinated system: {words}",)
    if len(design.workload) == 1 and (station := _only_station(design)) is not None:
        where, servers = station
        return servers, (f"taken for the coordinated system: {servers} servers, all of {where}",)
    return None, ("write workload.<class>.entitlement, the servers that the latency class may claim",)


def _only_station(design: Design) -> tuple[str, int] | None:
    """The one thing that requests wait for, with its copies; None where there are more, or their number is open."""
    from coherence.simulate.processes import has_requests, processes

    if not has_requests(design):
        return None
    try:
        run = processes(design)
    except InputError:
        return None  # the indices then ask for the entitlement
    if len(run.program.stations) != 1 or run.scaled:
        return None
    (station,) = run.program.stations
    component = design.components.get(station.name)
    copies = _number(component.copies) if component is not None else None
    return (station.name, station.servers) if copies == station.servers else None


def _inside(log: RequestLog, window: tuple[float, float]) -> Bools:
    chosen: Bools = (log.arrival >= window[0]) & (log.arrival < window[1])
    return chosen


# -- what loops did -----------------------------------------------------------------------------------


def bands(model: Model, series: Series) -> tuple[str, ...]:
    """The signals that are bands of what loops write."""
    ends = (f"{loop.signal}{end}" for loop in model.loops for end in (LOW, HIGH))
    return tuple(name for name in dict.fromkeys(ends) if name in series)


def tubes_of(model: Model, series: Series) -> tuple[tuple[Tube, ...], tuple[str, ...]]:
    """Each signal of a loop with its band, measured or of the loop's tolerance, and what was taken for a band."""
    measured = list(_measured_tubes(model, series))
    named = {tube.name for tube in measured}
    derived = [(tube, loop) for tube, loop in tolerance_tubes(model, series) if tube.name not in named]
    taken = [
        f"taken for the band of {tube.name}: the tolerance of {loop.name}, {float(loop.tolerance):.0%} around what "
        "its law asks for" for tube, loop in derived
    ]  # fmt: skip
    return (*measured, *(tube for tube, _ in derived)), tuple(taken)


def _measured_tubes(model: Model, series: Series) -> Iterator[Tube]:
    """Times at which one of the three signals has no value take no part."""
    for name in dict.fromkeys(loop.signal for loop in model.loops):
        if all(one in series for one in (name, f"{name}{LOW}", f"{name}{HIGH}")):
            columns = series.of([name, f"{name}{LOW}", f"{name}{HIGH}"]).values
            whole = np.isfinite(columns).all(axis=1)
            yield Tube(name, series.times[whole], *columns[whole].T)


def _actions(model: Model, series: Series, tubes: Iterable[Tube]) -> Iterator[LoopAction]:
    """Every change of a signal with a band that one loop alone writes."""
    banded = {tube.name for tube in tubes}
    writers: dict[str, set[str]] = {}
    for loop in model.loops:
        writers.setdefault(loop.signal, set()).add(loop.name)
    for name, loops in writers.items():
        if len(loops) == 1 and name in banded:
            there = np.isfinite(series[name])
            times, steps = series.times[there][1:], np.diff(series[name][there])
            for at in np.flatnonzero(steps).tolist():
                yield LoopAction(float(times[at]), next(iter(loops)), name, float(steps[at]))


def _horizon(model: Model) -> float | None:
    longest = max((loop.period for loop in model.loops), default=None)
    return PERIODS * float(longest) if longest is not None and math.isfinite(longest) else None
