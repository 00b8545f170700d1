"""Rows of the request-level engine: speed beside SimPy on the same draws, and distance from closed forms.

The peer is a SimPy model of the same call (time-outs that withdraw the try, retries after a pause),
fed with the draws of our streams, so that every count must be the same.
"""

from __future__ import annotations

import math
import time
from collections.abc import Generator, Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from bench.harness import Row
from coherence.simulate.requests.arrivals import blocks
from coherence.simulate.requests.draws import BLOCK, unit_service
from coherence.simulate.requests.engine import RequestResult, simulate
from coherence.simulate.requests.program import Arrivals, Program, RetryPause, Route, Service, Source, Station
from coherence.simulate.telemetry.measures import IntervalEstimate, mean, share

COUNTS = ("web.arrivals", "web.completed", "web.failed", "call.tries", "call.timeouts", "pool.served", "pool.cancelled")


def retrying(*, rate: float, servers: int = 10, per_try: float = 3.0, tries: int = 3) -> Program:
    """M/M/c with time-outs and retries; a try given up is withdrawn."""
    return Program(
        sources=(Source("web", Arrivals(rate=rate), (("call",),)),),
        stations=(Station("pool", servers, Service(1.0)),),
        routes=(Route("call", "pool", tries=tries, per_try=per_try, pause=RetryPause(0.1, cap=0.1), cancel=True),),
    )


@dataclass
class Peer:
    """The same program in SimPy, on the same draws."""

    program: Program
    seed: int
    counts: dict[str, int] = field(default_factory=lambda: dict.fromkeys(COUNTS, 0))
    ends: list[tuple[float, float]] = field(default_factory=list)
    events: int = 0

    def run(self, until: float) -> None:
        import simpy

        self.env = simpy.Environment()
        station = self.program.stations[0]
        self.pool = simpy.Resource(self.env, capacity=station.servers)
        self.demands = _endless(unit_service(self.seed, f"service of {station.name}", station.service))
        self.env.process(self.arrive())
        while self.env.peek() <= until:
            self.env.step()
            self.events += 1

    def arrive(self) -> Generator[Any, Any, None]:
        source = self.program.sources[0]
        for block in blocks(source.arrivals, self.seed, source.name):
            for instant in block.tolist():
                yield self.env.timeout(instant - self.env.now)
                self.counts["web.arrivals"] += 1
                self.env.process(self.request(instant))

    def request(self, begun: float) -> Generator[Any, Any, None]:
        route = self.program.routes[0]
        for number in range(1, route.tries + 1):
            self.counts["call.tries"] += 1
            served = self.env.process(self.serve())
            late = self.env.timeout(route.per_try)
            yield served | late
            if served.triggered:
                self.counts["web.completed"] += 1
                self.ends.append((begun, self.env.now))
                return
            self.counts["call.timeouts"] += 1
            served.interrupt()
            if number < route.tries:
                yield self.env.timeout(route.pause.base)
        self.counts["web.failed"] += 1

    def serve(self) -> Generator[Any, Any, None]:
        import simpy

        with self.pool.request() as turn:
            try:
                yield turn
                yield self.env.timeout(next(self.demands) * self.program.stations[0].service.mean)
                self.counts["pool.served"] += 1
            except simpy.Interrupt:
                self.counts["pool.cancelled"] += 1


def _endless(sampler: Any) -> Iterator[float]:
    while True:
        yield from sampler(BLOCK).tolist()


def heap_events(result: RequestResult) -> int:
    """What a plain loop over one heap pops: arrivals, ends of service, a time limit for each try, retries."""
    counts = result.counters
    return counts["web.arrivals"] + counts["pool.served"] + counts["call.tries"] + counts["call.retries"]


def rows() -> Iterable[Row]:
    """Speed and equality beside SimPy (both in time of the processor), then the closed forms."""
    yield from _speed()
    yield from _closed_forms()


def _speed() -> Iterator[Row]:
    program, until = retrying(rate=9.0), 400.0
    simulate(program, seed=1, until=1.0)  # compiled, or read from the cache
    peer = Peer(program, 1)
    begun = time.process_time()
    peer.run(until)
    theirs = time.process_time() - begun
    ours = simulate(program, seed=1, until=until)
    different = sum(ours.counters[name] != count for name, count in peer.counts.items())
    yield Row("counters that differ from SimPy on the same draws", different, "== 0", "of 7", "SimPy")
    long = 100 * until
    best, result = min((_timed(program, long) for _ in range(3)), key=lambda timed: timed[0])
    per_request = peer.counts["web.arrivals"] / theirs
    rate = heap_events(result) / best / 1e6
    simpy_rate = f"SimPy {peer.events / theirs / 1e6:.2f} M of its own events/s"
    yield Row("M/M/10 with time-outs and retries", rate, ">= 2", "M events/s", simpy_rate)
    ratio = len(result.requests.start) / best / per_request
    plain = one_station(Station("pool", 10, Service(1.0)), rate=9.0)
    taken, seen = min((_timed(plain, long) for _ in range(3)), key=lambda timed: timed[0])
    ciw_rate = _ciw(until)
    quicker = len(seen.requests.start) / taken / ciw_rate
    yield Row("M/M/10: requests per second, times Ciw's", quicker, ">= 8", "times", f"Ciw {ciw_rate / 1e3:.1f} k/s")
    yield Row("requests per second, times SimPy's", ratio, ">= 8", "times", f"SimPy {per_request / 1e3:.1f} k/s")


def _ciw(until: float) -> float:
    """Requests per second of Ciw on M/M/10 without time-outs (it has no retries)."""
    import ciw

    network = ciw.create_network(
        arrival_distributions=[ciw.dists.Exponential(rate=9.0)],
        service_distributions=[ciw.dists.Exponential(rate=1.0)],
        number_of_servers=[10],
    )
    ciw.seed(1)
    begun = time.process_time()
    simulation = ciw.Simulation(network)
    simulation.simulate_until_max_time(until)
    return len(simulation.get_all_records()) / (time.process_time() - begun)


def _timed(program: Program, until: float) -> tuple[float, RequestResult]:
    begun = time.process_time()
    result = simulate(program, seed=1, until=until, sample_every=10.0)
    return time.process_time() - begun, result


def erlang_c(servers: int, load: float) -> float:
    """The share of arrivals that wait in M/M/c with `load` erlangs.  SOURCE: Kleinrock, Queueing Systems 1, 3.5."""
    blocked = erlang_b(servers, load)
    return servers * blocked / (servers - load * (1 - blocked))


def erlang_b(servers: int, load: float) -> float:
    """The share of arrivals that M/M/c/c loses.  SOURCE: Kleinrock, Queueing Systems 1, 3.6."""
    lost = 1.0
    for number in range(1, servers + 1):
        lost = load * lost / (number + load * lost)
    return lost


def one_station(station: Station, *, rate: float) -> Program:
    """Requests that use one station once."""
    source = Source("web", Arrivals(rate=rate), (("call",),))
    return Program((source,), (station,), (Route("call", station.name),))


def fork_of_two(*, rate: float) -> Program:
    """Requests that use two stations of one server at once and wait for both."""
    stations = (Station("left", 1, Service(1.0)), Station("right", 1, Service(1.0)))
    source = Source("web", Arrivals(rate=rate), (("to left", "to right"),))
    return Program((source,), stations, (Route("to left", "left"), Route("to right", "right")))


def closed_forms() -> dict[str, tuple[IntervalEstimate, float]]:
    """Measured mean or share with its 99 % interval, and the exact value."""
    found: dict[str, tuple[IntervalEstimate, float]] = {}

    def latency(program: Program, seed: int) -> IntervalEstimate:
        result = simulate(program, seed=seed, until=60_000.0, warmup=2_000.0, sample_every=math.inf)
        order = np.argsort(result.requests.start, kind="stable")
        return mean(result.requests.latency[order])

    wait = erlang_c(5, 4.0) / (5 - 4.0)
    found["M/M/5, mean time"] = (latency(one_station(Station("pool", 5, Service(1.0)), rate=4.0), 1), 1 + wait)
    found["M/D/1, mean time"] = (
        latency(one_station(Station("pool", 1, Service(1.0, "constant")), rate=0.7), 2),
        1 + 0.7 / (2 * (1 - 0.7)),
    )
    service = Service(1.0, "hyperexponential", cv=1.5)
    found["M/G/1, mean time"] = (
        latency(one_station(Station("pool", 1, service), rate=0.6), 3),
        1 + 0.6 * (1 + 1.5**2) / (2 * (1 - 0.6)),
    )
    full = simulate(one_station(Station("pool", 5, Service(1.0), room=0), rate=4.0), seed=4, until=60_000.0)
    found["Erlang B, M/M/5/5, share lost"] = (share(~full.requests.completed), erlang_b(5, 4.0))
    seen = simulate(one_station(Station("pool", 5, Service(1.0)), rate=4.0), seed=5, until=60_000.0)
    waits = seen.series["pool.busy"][1000:] >= 5
    found["Erlang C, M/M/5, share that waits"] = (share(waits), erlang_c(5, 4.0))
    rho = 0.6
    found["fork-join of two M/M/1, mean time"] = (latency(fork_of_two(rate=rho), 6), (12 - rho) / 8 / (1 - rho))
    return found


def _closed_forms() -> Iterator[Row]:
    found = closed_forms()
    outside = [name for name, (estimate, exact) in found.items() if not estimate.holds(exact)]
    peer = "M/M/c, M/D/1, M/G/1, Erlang B and C, fork-join of two (Flatto and Hahn 1984)"
    yield Row("closed forms outside the 99 % interval", len(outside), "== 0", f"of {len(found)}", peer)
