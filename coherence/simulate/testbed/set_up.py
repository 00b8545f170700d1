"""Derives what is run on real processes from a design with one workload, one callee, and the calls on the way to it.

Everything that real proxies in a row, one back end and one load cannot show is refused with its place and a remedy.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from coherence.base.errors import InputError, Problem, UsageError
from coherence.base.places import Place
from coherence.language.design import Call, Design
from coherence.simulate.processes import processes
from coherence.simulate.requests.program import Program, Route, Source, Station

MOST_TRIES = 2000.0  # per second: a test, not an attack, and within what the programs of the testbed keep up with
MOST_PER_REQUEST = 100  # tries: nginx wants a line for each
FAMILIES = ("exponential", "gamma", "constant", "uniform", "lognormal")
PROTOCOLS = ("http", "grpc")  # HTTP/1.1, and unary calls of gRPC
NOT_RUN = ("loops", "timers", "jobs")


@dataclass(frozen=True)
class SetUp:
    """One source, and a chain of routes: each but the last goes to a hop that only passes requests on.

    `places`: key of the last call -> where it stands; `notes`: what was assumed; `protocol`: of PROTOCOLS.
    """

    program: Program
    notes: tuple[str, ...] = ()
    places: Mapping[str, Place] = field(default_factory=dict, compare=False)
    protocol: str = PROTOCOLS[0]

    def on(self, proxy: str) -> str:
        """Returns the name of a proxy, with the protocol where it is not HTTP/1.1."""
        return proxy if self.protocol == PROTOCOLS[0] else f"{proxy} over gRPC"

    @property
    def source(self) -> Source:
        return self.program.sources[0]

    @property
    def station(self) -> Station:
        return self.program.stations[-1]

    @property
    def route(self) -> Route:
        """The last route: to the back end."""
        return self.program.routes[-1]

    @property
    def hops(self) -> tuple[Route, ...]:
        """The routes before the last one, in the order in which a request takes them."""
        return self.program.routes[:-1]

    @property
    def most_sends(self) -> int:
        """Sends of one request: each try of each hop, and its second copy where the route hedges."""
        copies = (route.tries * (2 if route.hedge_after < math.inf else 1) for route in self.program.routes)
        return math.prod(copies)

    @property
    def rate(self) -> float:
        """Requests per second, bursts aside."""
        return self.source.arrivals.rate

    @property
    def highest_rate(self) -> float:
        """Requests per second, bursts included."""
        return max([self.rate, *(burst.rate for burst in self.source.arrivals.bursts)])

    @property
    def capacity(self) -> float:
        """Tries per second that the station can serve."""
        return self.station.servers / self.station.service.mean

    @property
    def longest(self) -> float:
        """Seconds after which a request has been answered or given up by the proxy; unlimited pauses aside."""
        longest = math.inf
        for route in reversed(self.program.routes):
            pause = route.pause
            waits = [min(pause.cap, pause.base * pause.factor**k) for k in range(min(route.tries, 100) - 1)]
            longest = min(route.deadline, route.tries * min(route.per_try, longest) + sum(waits))
        return longest


@dataclass(frozen=True)
class RunTiming:
    """When things happen: seconds before the trigger, of the pause (0: the burst of the design), and in all."""

    before: float
    pause: float
    lasts: float
    seed: int = 1

    @property
    def trigger(self) -> tuple[float, float]:
        """Start and end of the pause."""
        return self.before, self.before + self.pause


def course(*, pause: float, lasts: float, seed: int) -> RunTiming:
    """A quarter of the time before the trigger, at most 12 s.  Raises UsageError where too little time is left."""
    before = min(12.0, lasts / 4)
    if not (0 <= pause < math.inf and 0 < lasts < math.inf):
        raise UsageError("a pause of 0 s or more and an observation of more than 0 s are needed")
    if lasts - before < 2 * pause or lasts < 2:
        raise UsageError(
            f"an observation of {lasts:g} s shows too little after a pause of {pause:g} s: "
            f"use --for {max(20, math.ceil(8 * pause))}s"
        )
    return RunTiming(before, pause, lasts, seed)


def set_up(design: Design, *, before: float, pause: float) -> SetUp:
    """Returns the set-up of a design; with a pause the bursts of the design are left out.

    Raises InputError with every reason why it cannot be reproduced.
    """
    if not _is_chain(design):
        raise InputError([_calls(design)])
    call = design.calls[-1]
    quiet = {name: one.replace(burst=None) for name, one in design.workload.items()}
    requests = processes(design.replace(workload=quiet) if pause else design, first_burst=before)
    program, notes = requests.program, list(requests.assumptions)
    notes += [f"{kind} of the design are not run: {', '.join(getattr(design, kind))}" for kind in NOT_RUN
              if getattr(design, kind)]  # fmt: skip
    calls = len(design.calls)
    if len(program.sources) != 1 or len(program.stations) != calls or len(program.routes) != calls:
        raise InputError([_chain(design, call, program)])
    if pause and any(one.burst is not None for one in design.workload.values()):
        notes.append("the burst is left out: the pause is the trigger (--pause 0s runs the burst)")
    setup = SetUp(program, tuple(notes), _places(design, call))
    problems = list(_problems(setup, pause=pause))
    if problems:
        raise InputError(problems)
    return setup


def _is_chain(design: Design) -> bool:
    """Decides whether each call is made by the callee of the one before it, which has no members of its own."""
    ends = [(call.caller.text, call.callee.text) for call in design.calls if call.caller and call.callee]
    passed = [design.components[callee] for _, callee in ends[:-1] if callee in design.components]
    in_a_row = all(before[1] == after[0] for before, after in itertools.pairwise(ends))
    passes = len(passed) == len(ends) - 1 and not any(one.copies or one.constants or one.takes for one in passed)
    return bool(ends) and len(ends) == len(design.calls) and in_a_row and passes


def _calls(design: Design) -> Problem:
    if not design.calls:
        place = Place(design.file, 1, 1, 1, 1)
        return Problem(place, "the design has no call to reproduce", "add `calls: [{from: clients, to: workers, ...}]`")
    names = ", ".join(call.name for call in design.calls)
    place = design.calls[1].place or Place(design.file, 1, 1, 1, 1)
    remedy = "leave one call in a copy of the design, or hops in a row that state nothing: `components: {edge: {}}`"
    return Problem(place, f"{len(design.calls)} calls ({names}): proxies in a row reproduce a chain of calls", remedy)


def _chain(design: Design, call: Call, program: Program) -> Problem:
    names = [*(source.name for source in program.sources), *(station.name for station in program.stations)]
    place = call.place or Place(design.file, 1, 1, 1, 1)
    message = f"one workload that calls one component is reproduced; here are {', '.join(names)}"
    return Problem(place, message, "leave one workload and one component in a copy of the design")


def _places(design: Design, call: Call) -> dict[str, Place]:
    """Returns where the keys stand; the call itself for those that are absent."""
    own = call.place or Place(design.file, 1, 1, 1, 1)
    keys = ("deadline", "per_try", "pause", "budget", "on_timeout", "retry_when", "tries", "hedge_after")
    places = {key: getattr(getattr(call, key), "place", None) or own for key in keys}
    caller, callee = (end.text if end else "" for end in (call.caller, call.callee))
    places["call"] = own
    places["workload"] = design.workload[caller].place if caller in design.workload else own
    places["component"] = design.components[callee].place if callee in design.components else own
    limits = [limit.place for name, limit in design.limits.items() if not call.budget or name != call.budget.text]
    return places | {"breaker": limits[0] if limits else places["budget"]}


def _problems(setup: SetUp, *, pause: float) -> Iterator[Problem]:
    for route in setup.program.routes:
        yield from _route_problems(setup, route)
    for route in setup.hops:
        yield from _hop_problems(setup, route)
    yield from _source_problems(setup, pause=pause)
    yield from _station_problems(setup)


def _hop_problems(setup: SetUp, route: Route) -> Iterator[Problem]:
    """Yields what a hop cannot be: a proxy ends the tries of a caller that has left, and answers with what failed."""
    place = setup.places["call"]
    if not route.cancel:
        message = f"{route.name}: a proxy ends the tries of a caller that has left"
        yield Problem(place, message, "write `on_timeout: cancel` for calls before the last one")
    if route.tries > 1 and "failed" not in route.retry_on:
        message = f"{route.name}: the next proxy answers a time-out as a failure, which is tried again too"
        yield Problem(place, message, "leave `retry_when` out, or add `unavailable`")


def _route_problems(setup: SetUp, route: Route) -> Iterator[Problem]:
    places = setup.places
    if route.per_try == math.inf:
        yield Problem(places["call"], f"{route.name} needs per_try: how long one try may take", "add `per_try: 250 ms`")
    if route.tries > 1 and "timeout" not in route.retry_on:
        message = f"{route.name} does not try again after a timeout, the only failure of a slow back end"
        yield Problem(places["retry_when"], message, "add `timeout` to retry_when, or state `tries: 1`")
    if route.opening:
        message = f"the breaker of {route.name} opens after failures: none of the proxies is set up for it here"
        yield Problem(places["call"], message, "leave it out of a copy of the design")


def _source_problems(setup: SetUp, *, pause: float) -> Iterator[Problem]:
    arrivals, place = setup.source.arrivals, setup.places["workload"]
    if arrivals.kind != "poisson":
        yield Problem(place, f"arrivals of kind {arrivals.kind}: the load is Poisson", "state `rate`, and no other law")
    if not pause and not arrivals.bursts:
        yield Problem(
            place, "without a pause a burst must be the trigger, and there is none", "add `burst`, or --pause"
        )
    if setup.source.deadline < math.inf:
        message = f"a deadline of {setup.source.name} is not reproduced: the load waits for every answer"
        yield Problem(place, message, "state it as the deadline of the call")
    for gate in setup.program.gates:
        message = f"{gate.name} limits the sends in a window: none of the proxies is set up for it here"
        yield Problem(setup.places["breaker"], message, "leave it out of a copy of the design")
    most = setup.highest_rate * setup.most_sends
    if setup.route.tries > MOST_PER_REQUEST:
        message = f"more than {MOST_PER_REQUEST} tries of a request are not reproduced"
        yield Problem(setup.places["tries"], message, "state fewer tries in a copy of the design")
    elif most > MOST_TRIES:
        remedy = f"at most {MOST_TRIES:.0f} are sent: scale rate and copies down together"
        yield Problem(place, f"up to {most:.0f} tries per second is more than a test on loopback should make", remedy)


def _station_problems(setup: SetUp) -> Iterator[Problem]:
    station, place = setup.station, setup.places["component"]
    if station.service.family not in FAMILIES:
        message = f"service times of the family {station.service.family} are not reproduced"
        yield Problem(place, message, f"known: {', '.join(FAMILIES)}")
    if station.service.most < math.inf:
        yield Problem(place, "service times that are cut at a longest one are not reproduced", "leave `max` out")
    plain = (station.discipline, station.batch, station.plan) == ("fifo", None, ())
    if not plain or station.room < math.inf or station.shed_above < math.inf or station.servers < 1:
        remedy = "leave out what bounds, reorders or batches the queue in a copy of the design"
        yield Problem(place, f"{station.name} is more than workers behind one unbounded FIFO queue", remedy)
