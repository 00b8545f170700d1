"""Converts components into stations: how many serve, and how long a service takes."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from coherence.base.errors import Problem
from coherence.base.graphs import reached
from coherence.base.places import Place
from coherence.base.units import ONE, SECOND
from coherence.language.design import Component, Design, Limit
from coherence.language.distributions import quantile_points
from coherence.language.entries.limit_numbers import most_allowed
from coherence.language.entries.member_slots import closing, is_shut, limits_of_all, member_slots, total_in_work
from coherence.language.expressions.tree import Name
from coherence.language.roles import time_of
from coherence.language.schema_kinds import Formula, Quantity
from coherence.language.workloads import Spread2, Workload
from coherence.simulate.processes.agents import is_agent
from coherence.simulate.processes.flow import RequestFlow
from coherence.simulate.processes.gates import is_bucket
from coherence.simulate.processes.numbers import lower
from coherence.simulate.processes.restarts import restarts_of
from coherence.simulate.processes.service_times import uniform_service
from coherence.simulate.processes.sources import arrivals_of_workload
from coherence.simulate.requests.first_tries import mean_rate
from coherence.simulate.requests.program import BatchRule, Service, Station
from coherence.simulate.requests.service_means import mean_of, mean_of_quantiles, scaled

READY = ("ready", "desired", "replicas", "copies")  # signals that say how many serve, best first
RATES_EACH = ("rate_per_replica", "rate_per_copy")
RATES = ("capacity", "throughput")
FOR_ALL = 1_000_000  # servers of a thing that only passes requests on
WAITING = ("backlog", "queue", "waiting", "queued")

Found = tuple[tuple[Station, ...], Mapping[str, str]]


def stations_of(design: Design, flow: RequestFlow, notes: list[str], problems: list[Problem]) -> Found:
    """Returns every station that requests reach, and which signals scale them."""
    stations, signals = [], {}
    for name in flow.stations:
        component = design.components.get(name)
        if component is None:
            problems.append(_undeclared(design, flow, name))
            continue
        if is_agent(component):  # its model and its tool are the stations
            stations.append(Station(name, FOR_ALL, Service(0.0, "constant", 0.0)))
            continue
        pool = served_by(design, component)
        stations.append(_station(design, flow, component, pool, notes, problems))
        signal = _scaling(design, pool)
        if signal is not None:
            signals[name] = signal
    return tuple(stations), signals


def _undeclared(design: Design, flow: RequestFlow, name: str) -> Problem:
    call = next((c for r, c in flow.calls.items() if flow.ends[r][1] == name and c is not None), None)
    place = call.callee.place if call is not None and call.callee is not None else Place(design.file, 1, 1, 1, 1)
    remedy = f"declare it: `components: {{{name}: {{copies: 4, rate_per_copy: 25 req/s}}}}`"
    return Problem(place, f"nothing says how many {name} are and how fast they serve", remedy)


def served_by(design: Design, component: Component) -> Component:
    """Returns what serves: the component itself, or what a queue is served by."""
    stated = component.constants.get("served_by")
    if isinstance(stated, Formula) and isinstance(stated.tree, Name):
        return design.components.get(stated.tree.path, component)
    return component


def _scaling(design: Design, pool: Component) -> str | None:
    """Returns the signal that says how many of the pool serve, if a loop writes any of its numbers."""
    written = {loop.written for loop in design.loops.values()}
    if not any(path in written for path in (f"{pool.name}.{word}" for word in READY)):
        return None
    stated = pool.part is not None and pool.part.text == "replica_pool"
    if stated or "ready" in pool.constants:
        return f"{pool.name}.ready"
    return next(f"{pool.name}.{word}" for word in READY if f"{pool.name}.{word}" in written)


def _station(
    design: Design, flow: RequestFlow, component: Component, pool: Component, notes: list[str], problems: list[Problem]
) -> Station:
    name, onward = component.name, flow.onward.get(component.name, ())
    if component.part is not None and component.part.text == "batcher":
        return Station(name, 1, Service(0.0, "constant"), batch=_batch(component, notes), plan=onward)
    servers = _servers(design, pool, notes)
    if is_bucket(component):
        return Station(name, FOR_ALL, Service(0.0, "constant", 0.0), plan=onward, cases=flow.cases.get(name, ()))
    problems += _unusable_rates(pool)
    service = _service(design, flow, component, pool, servers, notes)
    if servers is not None and (onward or (service is not None and time_of(pool, "answer") is not None)):
        notes += _member_notes(design, pool, calls=bool(onward))
    if service is None and onward:
        room = "it takes no time" if servers is not None else "it takes no time and has room for all"
        notes.append(f"{name} only passes requests on: {room}")
        return Station(
            name, servers or FOR_ALL, Service(0.0, "constant"), plan=onward, cases=flow.cases.get(name, ()),
            **_discipline(component),
        )  # fmt: skip
    if service is None:
        remedy = f"state `rate_per_copy: 25 req/s` of {pool.name}, or `service: {{mean: 40 ms, cv: 1}}` of the workload"
        problems.append(Problem(component.place, f"nothing says how long a service of {name} takes", remedy))
        service = Service(1.0)
    own = _by_source(design, flow, component, service)
    if servers is None:
        servers, factor = _of_capacity(pool, service, notes)
        service, own = scaled(service, factor), {name: scaled(one, factor) for name, one in own.items()}
    return Station(
        component.name, servers, service, room=_room(design, name), plan=onward, by_source=own,
        shed_above=_shed(design, name, notes), cases=flow.cases.get(name, ()), **_discipline(component),
        restarts=restarts_of(design, pool, notes, refused=_refused(design, component, pool)),
        at_once=slots_of(design, pool, []),
    )  # fmt: skip


def _unusable_rates(pool: Component) -> list[Problem]:
    """Returns the rates of one member that are no number of requests per second above 0."""
    stated = [(key, pool.constants[key]) for key in RATES_EACH if key in pool.constants]
    return [
        Problem(value.place, f"`{key}: {value}` of {pool.name} is no rate", "write a number above 0, as in `25 req/s`")
        for key, value in stated
        if not isinstance(value, Quantity) or value.low <= 0 or value.dimension.physical != ONE / SECOND
    ]


def _refused(design: Design, component: Component, pool: Component) -> str:
    """Returns why members of a station cannot begin anew in a run; nothing where they can."""
    if component.discipline is not None and component.discipline.text.startswith("preemptive"):
        return f"requests of {component.name} change between members (preemptive)"
    if slots_of(design, pool, []) > 1:
        return f"a member of {pool.name} works on several requests at once, and all of them would begin anew"
    if _scaling(design, pool) is not None:
        return f"loops set how many of {pool.name} there are, and do not see which of them start"
    return ""


def _discipline(component: Component) -> dict[str, Any]:
    """Returns whose turn it is at a station, and whether who loses a server begins again."""
    word = component.discipline.text if component.discipline is not None else "fifo"
    return {"discipline": word.removesuffix(" repeat"), "redo": word.endswith(" repeat")}


def _shed(design: Design, name: str, notes: list[str]) -> float:
    """Returns the least wait beyond which a limit turns requests away."""
    waits = [limit for limit in design.limits.values() if _counts(limit) == f"{name}.wait" and limit.rejects]
    notes += [f"{limit.name} turns away what would wait longer by the queue and the mean service" for limit in waits]
    return min((float(most.low) for limit in waits if (most := most_allowed(design, limit))), default=math.inf)


def _of_capacity(pool: Component, service: Service, notes: list[str]) -> tuple[int, float]:
    """Returns as many servers as make the stated capacity, and by what their services are longer; else one server."""
    stated = next((pool.constants[key] for key in RATES if key in pool.constants), None)
    mean = mean_of(service)
    if not isinstance(stated, Quantity) or stated.low <= 0 or not mean:
        notes.append(f"{pool.name} is one server (no copies are stated)")
        return 1, 1.0
    capacity = lower(stated, f"capacity of {pool.name}", notes)
    servers = max(1, round(capacity * mean))
    notes.append(f"{pool.name} is so many servers as together serve {capacity:g} req/s: {servers}")
    return servers, servers / capacity / mean


def _servers(design: Design, pool: Component, notes: list[str]) -> int | None:
    """Returns how many requests the members of a pool work on at once; None where no number of members is stated."""
    members, slots = _members(design, pool, notes), slots_of(design, pool, notes)
    if members is None and slots > 1 and not any(key in pool.constants for key in RATES):
        return slots
    return None if members is None else int(min(members * slots, _most_of_all(design, pool, notes)))


def _totals(design: Design, name: str) -> list[Limit]:
    """Returns the limits on what is in the work of all members of a thing together."""
    return [limit for limit in design.limits.values() if total_in_work(design, limit) == name]


def _most_of_all(design: Design, pool: Component, notes: list[str]) -> float:
    """Returns how many requests limits let be in the work of all members of a pool together, and notes it."""
    unsaid = (limit.name for limit in limits_of_all(design, pool.name))
    notes += [f"{name} is not run: how much of it each member of {pool.name} works on is not stated" for name in unsaid]
    numbers = {limit.name: most_allowed(design, limit) for limit in _totals(design, pool.name)}
    stated = {name: int(most.low) for name, most in numbers.items() if most is not None}
    notes += [f"{name} lets {most} requests of {pool.name} be in work at once" for name, most in stated.items()]
    return min(stated.values(), default=math.inf)


def slots_of(design: Design, pool: Component, notes: list[str]) -> int:
    """Returns how many requests each member of a pool works on at once, where their time is stated, and notes it."""
    shut = closing(design, pool.name)
    if shut is not None and is_shut(*shut):
        notes.append(f"{shut[0].name} lets no member of {pool.name} work on a request")
        return 0
    slots = member_slots(design, pool.name)
    if slots is None or not slots.limits or any(key in pool.constants for key in RATES_EACH):
        return 1
    notes.append(f"a member of {pool.name} works on {int(slots.low)} at once, each of which takes its own time")
    return int(slots.low)


def _member_notes(design: Design, pool: Component, *, calls: bool) -> Iterator[str]:
    """Yields how long a member is kept by a request, where no limit says how many it works on at once."""
    until = ", and is kept by it until what it calls has ended" if calls else ""
    slots = member_slots(design, pool.name)
    if any(key in pool.constants for key in RATES_EACH):
        until_ended = f"a member of {pool.name} is kept by a request until what it calls has ended"
        yield from [f"{until_ended}: it may serve less than its rate"] if calls else []
    elif slots is not None and slots.limits:
        yield from [f"a request stays in the work of {pool.name} until what it calls has ended"] if calls else []
    else:
        yield f"a member of {pool.name} works on one request at a time{until}"


def _members(design: Design, pool: Component, notes: list[str]) -> int | None:
    if isinstance(pool.copies, Quantity):
        return max(0, int(lower(pool.copies, f"copies of {pool.name}", notes)))
    for loop in design.loops.values():
        act = loop.actuation
        if act is None or act.signal is None or act.signal.text not in {f"{pool.name}.{w}" for w in READY}:
            continue
        if isinstance(act.initial, Quantity):
            return int(act.initial.low)
        lows = [bound for bound in act.bounds[:1] if isinstance(bound, Quantity)]
        if lows:  # the run says at which number of them it begins
            return int(lows[0].low)
    return None


def _service(
    design: Design, flow: RequestFlow, component: Component, pool: Component, servers: int | None, notes: list[str]
) -> Service | None:
    """By a rate per copy, the workloads' service, an activity that serves, or a capacity: the first that stands."""
    for key in RATES_EACH:
        rate = pool.constants.get(key)
        if isinstance(rate, Quantity) and rate.low > 0:
            notes.append(f"service times of {pool.name} are exponential with mean 1 / {key}")
            return Service(1.0 / lower(rate, f"{key} of {pool.name}", notes))
    mixed, answer = _mixed(design, flow, component, notes), time_of(pool, "answer")
    if mixed is not None and answer is not None:
        notes.append(f"{pool.name} serves for the time that the workloads state, not for its own ({answer})")
    if mixed is not None:
        return mixed
    if answer is not None:
        return uniform_service(answer)
    for key in RATES:
        rate = pool.constants.get(key)
        if isinstance(rate, Quantity) and rate.low > 0:
            notes.append(f"{pool.name} serves exponential times, {servers or 1} at once, up to its {key}")
            return Service((servers or 1) / lower(rate, f"{key} of {pool.name}", notes))
    return None


def _mixed(design: Design, flow: RequestFlow, component: Component, notes: list[str]) -> Service | None:
    """Returns the service time that the workloads bring: one, or one with the mean and variance of all."""
    users = _users(design, flow, component)
    if len(users) == 1:
        return _own_service(users[0], notes)
    parts = [(mean_rate(arrivals_of_workload(w, [], [], 0.0)), *_moments(w, notes)) for w in users]
    total = sum(rate for rate, _, _ in parts)
    if not parts or total <= 0:
        return None
    mean = sum(rate * mean for rate, mean, _ in parts) / total
    second = sum(rate * square for rate, _, square in parts) / total
    return _by_moments(mean, math.sqrt(max(0.0, second / mean**2 - 1)) if mean else 0.0)


def _users(design: Design, flow: RequestFlow, component: Component) -> list[Workload]:
    """Returns the workloads with a service of their own that is done here: the end of the chain."""
    if component.name in flow.onward:
        return []
    return [w for name in flow.plans if component.name in _reach(flow, name) and (w := design.workload[name]).service]


def _by_source(design: Design, flow: RequestFlow, component: Component, service: Service) -> dict[str, Service]:
    """Returns the service of each workload, where several bring one, in place of that of all together."""
    users = _users(design, flow, component)
    if len(users) < 2 or service != _mixed(design, flow, component, []):
        return {}
    return {workload.name: _own_service(workload, []) for workload in users}


def _moments(workload: Workload, notes: list[str]) -> tuple[float, float]:
    """Returns the mean of a workload's service and of its square."""
    service = _own_service(workload, notes)
    mean = mean_of(service)
    return mean, mean**2 * (1 + service.cv**2)


def _own_service(workload: Workload, notes: list[str]) -> Service:
    """Returns the service that a workload brings: by quantiles, by a law, or by mean and cv alone."""
    stated, what = workload.service, f"service of {workload.name}"
    if isinstance(stated, Quantity):
        return Service(lower(stated, what, notes), "constant", 0.0)
    assert isinstance(stated, Spread2)
    assert isinstance(stated.mean, Quantity)
    mean = lower(stated.mean, what, notes)
    most = lower(stated.max, f"max of {what}", notes) if isinstance(stated.max, Quantity) else math.inf
    if stated.quantiles:
        return replace(_measured(stated, what, notes), most=most)
    cv = lower(stated.cv, f"cv of {what}", notes) if stated.cv is not None else 1.0
    if stated.law is None:
        return replace(_by_moments(mean, cv), most=most)
    law = stated.law.text
    return Service(mean, law, 0.0 if law == "constant" else 1.0 if law == "exponential" else cv, most=most)


def _measured(stated: Spread2, what: str, notes: list[str]) -> Service:
    """Returns the service of measured quantiles, with their own mean and coefficient of variation."""
    points = tuple((float(share), lower(time, what, notes)) for share, time in quantile_points(stated))
    mean = mean_of_quantiles(points)
    pieces = ((after - before, low, high) for (before, low), (after, high) in itertools.pairwise(points))
    square = sum(share * (low * low + low * high + high * high) / 3 for share, low, high in pieces)
    cv = math.sqrt(max(0.0, square / mean**2 - 1)) if mean else 0.0
    return Service(mean, "quantiles", cv, quantiles=points)


def _by_moments(mean: float, cv: float) -> Service:
    if math.isclose(cv, 1.0, rel_tol=1e-9):
        return Service(mean)
    return Service(mean, "constant", 0.0) if cv < 1e-9 else Service(mean, "gamma", cv)


def _reach(flow: RequestFlow, workload: str) -> set[str]:
    def callees(caller: str) -> list[str]:
        return [callee for by, callee in flow.ends.values() if by == caller]

    return reached(callees(workload), callees)


def _room(design: Design, name: str) -> float:
    """Returns how many may wait here: a limit that rejects counts what waits, or what is in work, and then none may."""
    slots = member_slots(design, name)
    in_work = (*(slots.limits if slots is not None else ()), *_totals(design, name))
    if any(limit.rejects for limit in in_work):
        return 0.0
    for limit in design.limits.values():
        waiting = _counts(limit) in {f"{name}.{word}" for word in WAITING}
        if waiting and limit.rejects and (most := most_allowed(design, limit)) is not None:
            return float(most.low)
    return math.inf


def _counts(limit: Limit) -> str:
    """Returns the signal that a limit counts; nothing where it is an expression."""
    return limit.counts.tree.path if limit.counts is not None and isinstance(limit.counts.tree, Name) else ""


def _batch(component: Component, notes: list[str]) -> BatchRule:
    stated = {key: component.constants.get(key) for key in ("max_batch", "max_delay", "fixed", "each")}
    numbers = {key: lower(value, f"{key} of {component.name}", notes) for key, value in stated.items()
               if isinstance(value, Quantity)}  # fmt: skip
    return BatchRule(int(numbers["max_batch"]), numbers.get("max_delay", 0.0), numbers["fixed"], numbers["each"])
