"""Writes a program into the memory of the event loop."""

from __future__ import annotations

import math
from collections.abc import Sequence

from coherence.simulate.requests import events_layout as at
from coherence.simulate.requests.draws import BLOCK, uniform, unit_service
from coherence.simulate.requests.events_memory import EventMemory
from coherence.simulate.requests.program import (
    Gate,
    Outage,
    Plan,
    PlanShare,
    Program,
    RetryPause,
    Route,
    Source,
    Station,
)
from coherence.simulate.requests.restart_times import away, soonest
from coherence.simulate.requests.service_means import mean_of

DISCIPLINES = {
    "fifo": at.FIFO, "lifo": at.LIFO, "priority": at.PRIORITY, "preemptive": at.PREEMPTIVE, "fair": at.FAIR,
}  # fmt: skip
BUDGETS = {"requests": at.OF_REQUESTS, "first": at.OF_FIRST}
CAUSES = {"timeout": at.TIMEOUT, "rejected": at.REJECTED, "failed": at.FAILED, "refused": at.REFUSED}


class EventWorld:
    """The memory of a run, and the addresses of what the program names, in its order."""

    def __init__(self, program: Program, *, seed: int, sample_every: float, trace: bool) -> None:
        self.program, self.seed = program, seed
        self.memory = memory = EventMemory()
        classes = sorted({source.priority for source in program.sources})
        width = at.LANES + at.LANE_WIDTH * len(classes)
        self.sources = [memory.region(at.SOURCE_WIDTH) for _ in program.sources]
        self.stations = [memory.region(width) for _ in program.stations]
        self.routes = [memory.region(at.ROUTE_WIDTH) for _ in program.routes]
        self._gates = [self._gate(gate) for gate in program.gates]
        self._route = {route.name: address for route, address in zip(program.routes, self.routes, strict=True)}
        self._station = {
            station.name: address for station, address in zip(program.stations, self.stations, strict=True)
        }
        for number, (source, address) in enumerate(zip(program.sources, self.sources, strict=True)):
            self._write_source(source, address, number, classes)
        for station, address in zip(program.stations, self.stations, strict=True):
            self._write_station(station, address, len(classes))
        for route, address in zip(program.routes, self.routes, strict=True):
            self._write_route(route, address)
        self._set_registers(len(classes), sample_every, trace=trace)
        self._write_outages()

    def _plans(self, owner: str, plan: Plan, shares: Sequence[PlanShare]) -> int:
        """Returns the plans of an owner, each with the share up to which it is chosen: its one plan, or several."""
        own = shares or (PlanShare("", 1.0, plan),)
        plans = [self._plan(share.plan) for share in own]
        stream = self._uniform(f"cases of {owner}") if shares else at.NOTHING
        address = self.memory.words(len(own), stream, *(word for plan in plans for word in (0, plan)))
        self.weigh(address, [share.weight for share in own])
        return address

    def weigh(self, plans: int, weights: Sequence[float]) -> None:
        """Writes up to which share each plan of an owner is chosen; where all weights are 0, it stays as it was."""
        total = math.fsum(weights)
        for number in range(len(weights) if total > 0 else 0):
            reaches = math.fsum(weights[: number + 1]) / total
            entry = plans + at.PLANS_FIRST + at.PLAN_WIDTH * number
            self.memory.x[entry + at.PLAN_UP_TO] = reaches if number + 1 < len(weights) else math.inf

    def plans_of(self, owner: str) -> int:
        """Returns the plans of a source or a station."""
        sources = zip(self.program.sources, self.sources, strict=True)
        addresses = {source.name: address + at.SOURCE_PLANS for source, address in sources}
        stations = zip(self.program.stations, self.stations, strict=True)
        addresses |= {station.name: address + at.STATION_PLANS for station, address in stations}
        return int(self.memory.n[addresses[owner]])

    def _gate(self, gate: Gate) -> int:
        address = self.memory.region(at.GATE_WIDTH)
        places = int(gate.most) if gate.window > 0 else 0
        own = self.memory.region(places)
        self.memory.x[own : own + places] = -math.inf
        self.memory.write(
            address, {at.GATE_WAITS: int(gate.waits), at.GATE_COUNTS: int(gate.counts_refused), at.GATE_PLACES: own}
        )
        limits = {at.GATE_MOST: gate.most, at.GATE_WINDOW: gate.window, at.GATE_RATE: gate.rate}
        self.memory.write_floats(address, {**limits, at.GATE_FILLED: gate.most})
        return address

    def _gates_of(self, route: Route) -> int:
        """Returns how many gates a route has and their addresses, or NOTHING."""
        own = [a for gate, a in zip(self.program.gates, self._gates, strict=True) if route.name in gate.routes]
        return self.memory.words(len(own), *own) if own else at.NOTHING

    def _circuit(self, route: Route) -> int:
        """Returns the breaker of a route that opens after failures, or NOTHING."""
        opening = route.opening
        if opening is None:
            return at.NOTHING
        address = self.memory.region(at.CIRCUIT_RING + max(opening.last, opening.trials))
        counts = {at.CIRCUIT_LAST: opening.last, at.CIRCUIT_LEAST: opening.least, at.CIRCUIT_TRIALS: opening.trials}
        self.memory.write(address, counts)
        self.memory.write_floats(address, {at.CIRCUIT_SHARE: opening.share, at.CIRCUIT_OPEN_FOR: opening.open_for})
        return address

    def _paced(self, route: Route) -> int:
        """Returns the budget of the retries of a route in a window, or NOTHING."""
        paced = route.paced
        if paced is None:
            return at.NOTHING
        address = self.memory.region(at.PACED_RING + 2 * at.SLICES)
        self.memory.write(address, {at.PACED_FIRST: int(paced.of == "first")})
        limits = {at.PACED_BASE: paced.window / at.SLICES, at.PACED_SHARE: paced.share, at.PACED_FLOOR: paced.floor}
        self.memory.write_floats(address, limits)
        return address

    def _plan(self, plan: Plan) -> int:
        """Returns how many stages, and their addresses; of each stage how many routes, and their addresses."""
        memory = self.memory
        stages = [memory.words(len(stage), *(self._route[name] for name in stage)) for stage in plan]
        return memory.words(len(stages), *stages)

    def _uniform(self, name: str) -> int:
        return self.memory.stream(uniform(self.seed, name))

    def _write_source(self, source: Source, address: int, number: int, classes: Sequence[int]) -> None:
        low, high = source.turns
        facts = {at.SOURCE_NUMBER: number, at.LOW: low, at.HIGH: high, at.AGAIN: int(source.again)}
        facts[at.SOURCE_PLANS] = self._plans(source.name, source.plan, source.cases)
        facts |= {at.REQUEST_TIMER: at.NOTHING, at.REQUEST_TIMER + 1: at.NOTHING}
        facts[at.SOURCE_CLASS] = classes.index(source.priority)
        if high > low:
            facts[at.SOURCE_STREAM] = self._uniform(f"turns of {source.name}")
        self.memory.write(address, facts)
        self.memory.write_floats(address, {at.SOURCE_DEADLINE: source.deadline})

    def _write_station(self, station: Station, address: int, classes: int) -> None:
        stream = self.memory.stream(unit_service(self.seed, f"service of {station.name}", station.service))
        facts = {at.DISCIPLINE: DISCIPLINES[station.discipline], at.REDO: int(station.redo)}
        facts |= {at.STATION_STREAM: stream, at.N_SERVERS: station.servers, at.WANTED: station.servers}
        facts |= self._restarts(station)
        facts[at.STATION_PLANS] = self._plans(station.name, station.plan, station.cases)
        facts[at.SERVICES] = self._services(station)
        facts |= dict.fromkeys(range(at.LANES, at.LANES + at.LANE_WIDTH * classes), at.NOTHING)
        limits = {at.MEAN: 1.0 if station.service.values else station.service.mean, at.ROOM: station.room}
        limits |= {at.SHED: station.shed_above, at.TAKES: takes(station)}
        if station.batch:
            facts[at.LARGEST] = station.batch.largest
            limits |= {at.WAIT: station.batch.wait, at.FIXED: station.batch.fixed, at.EACH: station.batch.each}
        self.memory.write(address, facts)
        self.memory.write_floats(address, limits)

    def _restarts(self, station: Station) -> dict[int, int]:
        """Returns the streams of times after which members begin anew, and for which they are then away."""
        own = station.restarts
        if own is None:
            return {at.LASTS_STREAM: at.NOTHING, at.START_STREAM: at.NOTHING}
        return {
            at.LASTS_STREAM: self.memory.stream(soonest(self.seed, f"watch of {station.name}", own.working))
            if own.working else at.NOTHING,
            at.START_STREAM: self.memory.stream(away(self.seed, f"starts of {station.name}", own)),
        }  # fmt: skip

    def _services(self, station: Station) -> int:
        """Returns the table of services by source, or NOTHING where all are served alike."""
        if not station.by_source:
            return at.NOTHING
        table = self.memory.region(at.SERVICE_WIDTH * len(self.program.sources))
        for number, source in enumerate(self.program.sources):
            own, service = table + at.SERVICE_WIDTH * number, station.by_source.get(source.name, station.service)
            name = f"service of {station.name} for {source.name}"
            stream = self.memory.stream(unit_service(self.seed, name, service))
            self.memory.write(own, {at.SERVICE_STREAM: stream})
            self.memory.write_floats(own, {at.SERVICE_MEAN: 1.0 if service.values else service.mean})
        return table

    def _write_route(self, route: Route, address: int) -> None:
        facts = {at.STATION: self._station[route.station], at.TRIES: route.tries, at.CANCELS: int(route.cancel)}
        facts |= {at.RETRY_ON: sum(1 << CAUSES[cause] for cause in set(route.retry_on))}
        facts |= {at.BUDGET_OF: BUDGETS[route.budget.of] if route.budget else at.NO_BUDGET}
        facts |= {at.JITTER: jitter(route.pause), at.FALLBACK: self._route.get(route.fallback, at.NOTHING)}
        facts |= {at.GATES: self._gates_of(route), at.CIRCUIT: self._circuit(route), at.PACED: self._paced(route)}
        if facts[at.JITTER]:
            facts[at.JITTER_STREAM] = self._uniform(f"jitter of {route.name}")
        for timer in (at.TRY_TIMER, at.CALL_TIMER, at.HEDGE_TIMER):
            facts |= {timer: at.NOTHING, timer + 1: at.NOTHING}
        limits = {at.PER_TRY: route.per_try, at.ROUTE_DEADLINE: route.deadline, at.BREAKER: route.breaker}
        limits |= {at.MOST_RETRIES: route.most_retries, at.HEDGE_AFTER: route.hedge_after}
        limits |= {at.BASE: route.pause.base, at.CAP: route.pause.cap}
        limits |= {at.LEAST: route.pause.spread[0], at.MOST: route.pause.spread[1]}
        if route.budget:
            limits |= {at.SHARE: route.budget.share, at.FLOOR: route.budget.floor}
        limits |= {at.PAUSES + number: pause for number, pause in enumerate(pauses(route))}
        self.memory.write(address, facts)
        self.memory.write_floats(address, limits)

    def _set_registers(self, classes: int, sample_every: float, *, trace: bool) -> None:
        program, memory = self.program, self.memory
        owners: tuple[Source | Station, ...] = (*program.sources, *program.stations)
        plans = [plan for owner in owners for plan in (owner.plan, *(share.plan for share in owner.cases))]
        widest = max(len(stage) for plan in plans for stage in (*plan, ()))
        largest = max((s.batch.largest for s in program.stations if s.batch), default=1)
        memory.n[at.MARGIN] = widest + largest + 16
        memory.n[at.CLASSES], memory.n[at.TRACING] = classes, trace
        memory.x[at.EVERY] = sample_every
        memory.x[at.NEXT_SAMPLE] = 0.0 if math.isfinite(sample_every) else math.inf
        memory.tables(self._columns(), sources=len(program.sources) * BLOCK, trace=trace)

    def _columns(self) -> list[int]:
        """Returns the addresses of all counts, in the order of their names."""
        parts = ((self.sources, at.SOURCE_COUNTS), (self.stations, at.STATION_COUNTS), (self.routes, at.ROUTE_COUNTS))
        return [one + offset for ones, counts in parts for one in ones for offset in range(len(counts))]

    def _write_outages(self) -> None:
        events: list[tuple[float, int, int]] = []
        for outage in self.program.outages:
            if not outage.lasts:
                continue  # at one instant ends come before beginnings: it would never end
            row = self.memory.words(self._station[outage.station], int(outage.kind == "refuse"))
            after = self._hangs(outage)
            ends = at.RESUME if after >= outage.lasts else at.RESTART
            events += [(outage.start, at.PAUSE, row), (outage.start + min(after, outage.lasts), ends, row)]
        self.memory.schedule(sorted(events))

    def _hangs(self, outage: Outage) -> float:
        """Returns after how long the members of a station that stands still begin anew (s)."""
        own = next(station.restarts for station in self.program.stations if station.name == outage.station)
        name = f"looks at {outage.station} from {outage.start!r} s on"
        return float(soonest(self.seed, name, own.hung)(1)[0]) if own is not None and own.hung else math.inf


def jitter(pause: RetryPause) -> int:
    """Returns how chance enters the pause."""
    return at.DECORRELATED if pause.decorrelated else at.SPREAD if pause.spread[0] < pause.spread[1] else at.NO_JITTER


def takes(station: Station) -> float:
    """Mean seconds of a server that one try takes, in full batches if there are batches."""
    if station.batch:
        return station.batch.each + station.batch.fixed / station.batch.largest
    return mean_of(station.service)


def pauses(route: Route) -> list[float]:
    """Returns the pauses before retries 1, 2, ... without jitter, in seconds."""
    lengths, pause = [], route.pause.base
    for _ in range(at.DISTINCT_PAUSES):
        lengths.append(min(route.pause.cap, pause))
        pause = min(pause * route.pause.factor, 1e300)
    return lengths
