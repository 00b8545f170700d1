"""Puts links and boundaries into the plans of requests: a transfer waits for its link, and is under way.

Each way of a link is a station: so many servers as links alike, each busy for size / bandwidth of a transfer, first
come, first served, or shared evenly by all that is under way (`shares: fair`).  Its latency, and the `call_delay` of
boundaries between two components, pass for all at once.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial

from coherence.base.errors import InputError, Problem
from coherence.base.graphs import reached
from coherence.language.design import Design
from coherence.language.schema_kinds import Quantity
from coherence.language.shared_rates import boundaries_between
from coherence.model.gangs import exchanging
from coherence.model.routes import Hop, Transfer, transfers
from coherence.simulate.processes.exchanges import notes_of, with_exchanges
from coherence.simulate.processes.flow import RequestFlow
from coherence.simulate.processes.numbers import lower
from coherence.simulate.processes.service_times import uniform_service
from coherence.simulate.requests.program import Plan, PlanShare, Program, Route, Service, Station

FOR_ALL = 1_000_000  # as many at once as there are
ONCE = "what a call carries goes over its links once, before its first try, and nothing of what comes back"
Stops = Mapping[str, tuple[Station, ...]]  # route -> what its requests pass before


def with_links(design: Design, flow: RequestFlow, program: Program, notes: list[str]) -> Program:
    """Returns the program with a station for each way of a link, and for each time on the way, before its route."""
    stops, exchanges = dict(_stops(design, flow, notes)), dict(_exchanges(design, notes))
    if not stops and not exchanges:
        return program
    if stops:
        notes.append(ONCE)
    program = with_exchanges(program, exchanges, exchanging(design))
    every = (*stops.values(), *exchanges.values())
    stations = {station.name: station for own in every for station in own}
    for name, own in stations.items():
        stations[name] = _joined(own, [other for all_ in every for other in all_ if other.name == name], notes)
    passing = partial(_plan, stops)
    return replace(
        program,
        sources=tuple(replace(one, plan=passing(one.plan), cases=_cases(stops, one.cases)) for one in program.sources),
        stations=(
            *(replace(one, plan=passing(one.plan), cases=_cases(stops, one.cases)) for one in program.stations),
            *stations.values(),
        ),
        routes=(*program.routes, *(Route(f"{name} way", name) for name in stations)),
    )


def _joined(station: Station, alike: Sequence[Station], notes: list[str]) -> Station:
    """Returns a way of a link with the time of each source's transfers; of a source of several, the longest."""
    longest = max((other.service for other in alike), key=lambda service: service.mean)
    by_source: dict[str, Service] = {}
    for name, service in (pair for other in alike for pair in other.by_source.items()):
        if by_source.get(name, service).mean != service.mean:
            notes.append(f"{station.name} takes as long for each transfer of {name} as for its longest")
        by_source[name] = max(by_source.get(name, service), service, key=lambda one: one.mean)
    return replace(station, service=longest, by_source=by_source)


def _cases(stops: Stops, cases: Sequence[PlanShare]) -> tuple[PlanShare, ...]:
    return tuple(replace(case, plan=_plan(stops, case.plan)) for case in cases)


def _plan(stops: Stops, plan: Plan) -> Plan:
    """Returns a plan in which what a route passes comes before it."""
    return tuple(
        stage
        for own in plan
        for stage in (*((f"{station.name} way",) for route in own for station in stops.get(route, ())), own)
    )


def _stops(design: Design, flow: RequestFlow, notes: list[str]) -> Iterator[tuple[str, tuple[Station, ...]]]:
    """Yields each route that goes over links or across boundaries, with the stations that stand for them."""
    for route, call in flow.calls.items():
        caller, callee = flow.ends[route]
        sources = _sources(design, caller)
        on_it = [t for t in transfers(design) if (t.call is call if call is not None else t.callee == callee)]
        own = [station for t in on_it[:1] for hop in t.hops for station in _hop(t, hop, sources, notes)]
        notes += [f"{route} passes no link: {t.needs}" for t in on_it if t.needs]
        before = caller if call is not None else on_it[0].caller if on_it else ""
        crossed = boundaries_between(design, before, callee) if before in design.components else ()
        delays = ((boundary.name, boundary.call_delay) for boundary in crossed)
        own += [_delay(f"boundary {name}", delay) for name, delay in delays if delay is not None]
        if own:
            yield route, tuple(own)


def _exchanges(design: Design, notes: list[str]) -> Iterator[tuple[str, tuple[Station, ...]]]:
    """Yields what gangs exchange over links after each step, with the stations that stand for the links."""
    for gang in exchanging(design):
        notes += notes_of(gang)
        for exchange in gang.exchanges:
            own = [station for hop in exchange.hops for station in _hop(exchange, hop, (gang.steps,), notes)]
            if own:
                yield exchange.name, tuple(own)


def _sources(design: Design, caller: str) -> tuple[str, ...]:
    """Returns the workloads whose requests a caller sends on: itself, or those behind its callers."""
    callers: dict[str, list[str]] = {}
    for call in design.calls:
        callers.setdefault(str(call.callee), []).append(str(call.caller))
    return tuple(sorted(reached([caller], lambda name: callers.get(name, ())) & design.workload.keys()))


def _hop(transfer: Transfer, hop: Hop, sources: Sequence[str], notes: list[str]) -> Iterator[Station]:
    rate, latency = hop.link.constants.get("bandwidth"), hop.link.constants.get("latency")
    name = f"link {hop.shared_name}"
    for what, stated in (("bandwidth", rate), ("count", hop.link.count)):
        if isinstance(stated, Quantity) and stated.low <= 0:
            message = f"{what} of {name} is {stated}: {transfer.name} would never arrive"
            raise InputError([Problem(stated.place, message, f"state a {what} above 0, or leave the link out")])
    if isinstance(rate, Quantity) and rate.low > 0 and transfer.carries is not None:
        size = lower(transfer.carries, f"carries of {transfer.name}", notes)
        takes = Service(size / lower(rate, f"bandwidth of {name}", notes), "constant", 0.0)
        many = int(lower(hop.link.count, f"count of {name}", notes)) if hop.link.count is not None else 1
        fair = hop.link.shares is not None and hop.link.shares.text == "fair"
        own = dict.fromkeys(sources, takes)
        yield Station(name, many, takes, by_source=own, discipline="fair" if fair else "fifo")
    else:
        notes.append(f"{transfer.name} takes no time on {name} but its latency: `carries` or `bandwidth` is not stated")
    if isinstance(latency, Quantity) and latency.high > 0:
        yield _delay(f"{name} latency", latency)


def _delay(name: str, takes: Quantity) -> Station:
    return Station(name, FOR_ALL, uniform_service(takes))
