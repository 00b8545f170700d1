"""Checks a program before it is run: every problem at once, each with its value and remedy."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence

from coherence.base.errors import UsageError, did_you_mean
from coherence.base.graphs import reached
from coherence.simulate.requests.program import (
    Arrivals,
    Gate,
    Plan,
    PlanShare,
    Program,
    Route,
    Service,
    Source,
    Station,
)

KINDS = ("poisson", "regular", "gamma", "mmpp", "trace")
FAMILIES = ("exponential", "constant", "gamma", "lognormal", "uniform", "hyperexponential", "values", "quantiles")
DISCIPLINES = ("fifo", "lifo", "priority", "preemptive", "fair")
MOST_SERVERS = 1_000_000_000
MOST_PLACES = 10_000_000  # of a limit in a window: each is remembered
CAUSES = ("timeout", "rejected", "failed", "refused", "deadline")


def check(program: Program) -> None:
    """Raises UsageError with every problem of the program."""
    problems = [*_names(program), *_members(program), *_cycles(program)]
    if problems:
        raise UsageError("the program cannot be run:", problems)


def _members(program: Program) -> Iterator[str]:
    routes, stations = {r.name for r in program.routes}, {s.name for s in program.stations}
    for source in program.sources:
        yield from _source(source)
        yield from _plan(f"source {source.name}", source.plan, routes)
        yield from _cases(f"source {source.name}", source.cases, routes)
    for station in program.stations:
        yield from _station(station)
        yield from _plan(f"station {station.name}", station.plan, routes)
        yield from _cases(f"station {station.name}", station.cases, routes)
    for route in program.routes:
        yield from _known(f"route {route.name}: station", route.station, stations)
        if route.fallback:
            yield from _known(f"route {route.name}: fallback", route.fallback, routes)
        yield from _route(route)
    for gate in program.gates:
        yield from _gate(gate, routes)
    for outage in program.outages:
        yield from _known("outage: station", outage.station, stations)
        if any(station.name == outage.station and station.discipline == "fair" for station in program.stations):
            yield f"outage of {outage.station}: shared servers have none; help: name a station with a queue"
        yield from _known(f"outage of {outage.station}: kind", outage.kind, ("pause", "refuse"))
        yield from _least(f"outage of {outage.station}", {"start": outage.start, "lasts": outage.lasts}, finite=True)


def _names(program: Program) -> Iterator[str]:
    if not program.sources or not program.stations or not program.routes:
        yield "a program needs at least one source, one station and one route"
    counted = [s.name for s in program.sources] + [r.name for r in program.routes]
    for names in (counted, [s.name for s in program.stations]):
        for name in sorted({n for n in names if names.count(n) > 1}):
            yield f"the name {name!r} is given twice; help: counts are told by name, give each its own"


def _known(what: str, name: str, known: Iterable[str]) -> Iterator[str]:
    if name not in known:
        yield f"{what} {name!r} is not known; help: {did_you_mean(name, known)}"


def _least(what: str, numbers: Mapping[str, float], least: float = 0.0, *, finite: bool = False) -> Iterator[str]:
    for name, number in numbers.items():
        if not number >= least or (finite and not math.isfinite(number)):
            wanted = f"a {'finite ' if finite else ''}number of at least {least:g}"
            yield f"{what}: {name} = {number!r}; help: give {wanted}"


def _plan(what: str, plan: Plan, routes: set[str]) -> Iterator[str]:
    for number, stage in enumerate(plan):
        if not stage:
            yield f"{what}: stage {number + 1} of its plan uses no route; help: leave the stage out"
        for name in stage:
            yield from _known(f"{what}: route", name, routes)


def _cases(what: str, cases: Sequence[PlanShare], routes: set[str]) -> Iterator[str]:
    yield from _least(what, {f"weight of case {share.case}": share.weight for share in cases}, finite=True)
    if cases and sum(share.weight for share in cases) <= 0:
        yield f"{what}: no case has a weight above 0; help: say how many requests are of each"
    for share in cases:
        yield from _plan(f"{what}: case {share.case}", share.plan, routes)


def _gate(gate: Gate, routes: set[str]) -> Iterator[str]:
    what = f"limit {gate.name}"
    yield from _least(what, {"most": gate.most, "window": gate.window, "rate": gate.rate}, finite=True)
    if gate.window > 0 and gate.most > MOST_PLACES:
        yield f"{what}: most = {gate.most:g} in a window; help: at most {MOST_PLACES:,}"
    if gate.waits and not (gate.window > 0 and gate.most >= 1):
        yield f"{what}: tries would wait for ever; help: give a window, and room for one try in it"
    for name in gate.routes:
        yield from _known(f"{what}: route", name, routes)


def _source(source: Source) -> Iterator[str]:
    what = f"source {source.name}"
    if not source.plan:
        yield f"{what}: its plan has no stage; help: name the routes that its requests use"
    low, high = source.turns
    if not 1 <= low <= high or int(low) != low or int(high) != high:
        yield f"{what}: turns = {source.turns!r}; help: give whole numbers, low and high, 1 <= low <= high"
    yield from _least(what, {"deadline": source.deadline})
    yield from _arrivals(f"{what}: arrivals", source.arrivals)


def _arrivals(what: str, arrivals: Arrivals) -> Iterator[str]:
    yield from _known(f"{what}.kind", arrivals.kind, KINDS)
    yield from _least(what, {"rate": arrivals.rate, "cv": arrivals.cv}, finite=True)
    for burst in arrivals.bursts:
        facts = {"rate": burst.rate, "start": burst.start, "lasts": burst.lasts, "every": burst.every}
        yield from _least(f"{what}.bursts", facts, finite=True)
        if 0 < burst.every < burst.lasts:
            yield f"{what}.bursts: lasts {burst.lasts!r} but comes every {burst.every!r}; help: shorten it"
    for rate, stay in arrivals.states:
        yield from _least(f"{what}.states", {"rate": rate}, finite=True)
        if not 0 < stay < math.inf:
            yield f"{what}.states: mean stay = {stay!r}; help: give a positive number of seconds"
    if arrivals.kind == "mmpp" and not any(rate > 0 for rate, _ in arrivals.states):
        yield f"{what}: mmpp needs states (rate, mean stay), one at least with a positive rate"


def _station(station: Station) -> Iterator[str]:
    what = f"station {station.name}"
    yield from _least(what, {"servers": station.servers}, finite=True)
    if station.servers > MOST_SERVERS:
        yield f"{what}: servers = {station.servers:g}; help: at most {MOST_SERVERS:,}"
    yield from _least(what, {"room": station.room, "shed_above": station.shed_above})
    yield from _known(f"{what}: discipline", station.discipline, DISCIPLINES)
    held = station.plan or station.cases or station.batch or station.restarts
    if station.discipline == "fair" and (held or min(station.room, station.shed_above) < math.inf):
        yield f"{what}: of shared servers nobody waits, calls on, is turned away or begins anew; help: drop one"
    for name, service in {"": station.service, **station.by_source}.items():
        yield from _service(f"{what}: service{f' of {name}' if name else ''}", service)
    yield from _restarts(what, station)
    if station.batch:
        facts = {"wait": station.batch.wait, "fixed": station.batch.fixed, "each": station.batch.each}
        yield from _least(f"{what}: batch", facts, finite=True)
        yield from _least(f"{what}: batch", {"largest": station.batch.largest}, 1, finite=True)
        if station.batch.largest > MOST_SERVERS:
            yield f"{what}: batch: largest = {station.batch.largest:g}; help: at most {MOST_SERVERS:,}"
        if station.plan or station.discipline in ("preemptive", "lifo"):
            yield f"{what}: a station that batches cannot call on, preempt or serve the last first; help: drop one"


def _restarts(what: str, station: Station) -> Iterator[str]:
    own = station.restarts
    if own is None:
        return
    if station.batch or station.discipline == "preemptive":
        yield f"{what}: members that begin anew neither batch nor preempt; help: drop one"
    yield from _service(f"{what}: start of its members", own.start)
    for low, high in (*own.working, *own.hung, *own.starting):
        if not 0 <= low <= high:
            yield f"{what}: members begin anew after {low!r} to {high!r} s; help: 0 <= least <= most"


def _service(what: str, service: Service) -> Iterator[str]:
    yield from _known(f"{what}.family", service.family, FAMILIES)
    for index, value in enumerate(service.values):
        yield from _least(what, {f"values[{index}]": value}, finite=True)
    if service.family == "values" and not service.values:
        yield f"{what}: family 'values' without values; help: give the measured service times in seconds"
    if service.values:
        return
    if service.family == "uniform" and service.cv > 0.578:
        yield f"{what}: cv = {service.cv:g} of uniform times would make some negative; help: at most 0.577"
    yield from _least(what, {"cv": service.cv}, 1.0 if service.family == "hyperexponential" else 0.0, finite=True)
    yield from _least(what, {"most": service.most})
    if not 0 <= service.mean < math.inf:
        yield f"{what}.mean = {service.mean!r} s, a service rate of zero or less; help: give a finite time in seconds"


def _route(route: Route) -> Iterator[str]:
    what = f"route {route.name}"
    if not 1 <= route.tries < 2**62 or int(route.tries) != route.tries:
        yield f"{what}: tries = {route.tries!r}; help: give a whole number of at least 1 (1_000_000_000 for no limit)"
    limits = {"per_try": route.per_try, "deadline": route.deadline, "hedge_after": route.hedge_after}
    yield from _least(what, {**limits, "breaker": route.breaker, "most_retries": route.most_retries})
    pause = route.pause
    yield from _least(f"{what}: pause", {"base": pause.base, "factor": pause.factor}, finite=True)
    yield from _least(f"{what}: pause", {"cap": pause.cap})
    if not 0 <= pause.spread[0] <= pause.spread[1] < math.inf:
        yield f"{what}: pause.spread = {pause.spread!r}; help: give the least and the most factor, 0 <= least <= most"
    for cause in route.retry_on:
        yield from _known(f"{what}: retry_on", cause, CAUSES[:4])
    if route.opening:
        counts = {"last": route.opening.last, "least": route.opening.least, "trials": route.opening.trials}
        yield from _least(f"{what}: breaker", counts, 1, finite=True)
        yield from _least(f"{what}: breaker", {"open_for": route.opening.open_for}, finite=True)
        if max(counts.values()) > MOST_PLACES or not 0 < route.opening.share <= 1:
            yield f"{what}: breaker = {route.opening}; help: at most {MOST_PLACES:,} of each, and a share of 0 to 1"
    if route.budget:
        yield from _least(f"{what}: budget", {"share": route.budget.share, "floor": route.budget.floor}, finite=True)
        yield from _known(f"{what}: budget.of", route.budget.of, ("requests", "first"))
    if route.paced:
        paced = {"share": route.paced.share, "floor": route.paced.floor, "window": route.paced.window}
        yield from _least(f"{what}: paced", paced, finite=True)
        yield from _known(f"{what}: paced.of", route.paced.of, ("requests", "first"))
        if route.paced.window == 0:
            yield f"{what}: paced.window = 0; help: give a length above 0 s"


def _cycles(program: Program) -> Iterator[str]:
    """Stations that call on themselves, and routes that fall back on themselves, would never come to an end."""
    station_of = {route.name: route.station for route in program.routes}
    fallbacks = {route.name: {route.fallback} for route in program.routes if route.fallback}
    planned = {
        station.name: {route for plan in _plans(station) for stage in plan for route in stage}
        for station in program.stations
    }
    used = {name: routes.union(*(_reached(route, fallbacks) for route in routes)) for name, routes in planned.items()}
    calls = {name: {station_of[route] for route in routes if route in station_of} for name, routes in used.items()}
    for name in calls:
        if name in _reached(name, calls):
            yield f"station {name}: its plan calls on itself; help: break the circle of calls"
    for name in fallbacks:
        if name in _reached(name, fallbacks):
            yield f"route {name}: falls back on itself; help: name a route that is used after it"


def _plans(station: Station) -> Iterator[Plan]:
    yield station.plan
    yield from (share.plan for share in station.cases)


def _reached(name: str, steps: Mapping[str, Iterable[str]]) -> set[str]:
    """Returns what is reached by one step or more."""
    return reached(steps.get(name, ()), lambda here: steps.get(here, ()))
