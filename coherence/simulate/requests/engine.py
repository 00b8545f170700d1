"""Runs a request-level program, event by event, with explicit seeds.

    result = simulate(program, seed=1, until=600.0, warmup=60.0)
    run = Run(program, seed=1); run.advance(until=10.0); run.set_servers("pool", 5); run.result()

The same program, seed and times give the same bits, however `advance` is divided, with or without
numba.  At one instant: answers of stations, ends and beginnings of outages, limits of tries, of
calls and of hedges, retries, batches that waited long enough, deadlines of requests, tries that a limit made
wait, arrivals, then the sample.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from coherence.base.errors import UsageError, did_you_mean
from coherence.simulate.requests import events_layout as at
from coherence.simulate.requests.events import advance as compiled_loop
from coherence.simulate.requests.events_arrivals import Coming
from coherence.simulate.requests.events_checks import check
from coherence.simulate.requests.events_memory import KINDS
from coherence.simulate.requests.events_records import Kept, counters_of, names_of, series_of
from coherence.simulate.requests.events_world import EventWorld
from coherence.simulate.requests.program import Program

OUTCOMES = ("completed", "timeout", "rejected", "failed", "refused", "deadline")
PLACES = (
    "breaker",
    "room",
    "shed",
    "queue",
    "service",
    "downstream",
    "outage",
    "answer",
    "pause",
    "limit",
    "open breaker",
)
ACTIONS = ("sent", "try_failed", "retried", "denied", "hedged", "ended", "stopped", "resumed", "servers_set",
           "begins_anew", "taken", "freed")  # fmt: skip
Array = NDArray[Any]
Loop = Callable[[at.Ints, at.Floats], int]


@dataclass(frozen=True)
class Limits:
    """What a run may use.  When it would need more, it stops, says so, and keeps what it has.

    `live`: requests, calls, and tries alive at one time, each (about 200 bytes apiece); `at_once`: events
    without the clock going on; `events`: events in all.
    """

    live: int = 2_000_000
    at_once: int = 1_000_000
    events: float = math.inf


@dataclass(frozen=True)
class RequestRecords:
    """Every finished request, in the order of their ends: `source` and `outcome` are numbers of names.

    `outcome` counts in OUTCOMES (0: completed); `tries` are those that the request itself sent; `need` is the service
    time of the answers it used, at all stations (s): what it takes alone, where its stages follow one another.
    """

    source: Array
    start: Array
    end: Array
    tries: Array
    outcome: Array
    need: Array

    @property
    def latency(self) -> Array:
        """Seconds from start to end."""
        taken: Array = self.end - self.start
        return taken

    @property
    def completed(self) -> Array:
        """Which requests were answered well."""
        good: Array = self.outcome == 0
        return good


@dataclass(frozen=True)
class RequestTrace:
    """What was done and why, in order: `action` counts in ACTIONS, `cause` in OUTCOMES, `where` in PLACES.

    `which` is the number of the route (sent, try_failed, retried, denied, hedged), of the source (ended) or of
    the station (stopped, resumed, servers_set, taken, freed); `number` is that of the try, the new number of servers,
    or how many requests share the server that is taken or freed.
    `where` tells what a failed try was held up by: the true cause of a time-out.
    """

    time: Array
    action: Array
    which: Array
    request: Array
    number: Array
    cause: Array
    where: Array


@dataclass(frozen=True)
class RequestResult:
    """A run so far.  `stopped` says why it ended before its time, else it is empty."""

    program: Program
    seed: int
    start: float
    end: float
    counters: Mapping[str, int]
    work: Mapping[str, float]
    requests: RequestRecords = field(compare=False)
    series: Mapping[str, Array] = field(compare=False)
    trace: RequestTrace | None = field(default=None, compare=False)
    events: int = 0
    stopped: str = ""


class RequestRun:
    """A run in progress.  Every `sample_every` seconds all counts are written down (infinite: never).

    `sink` is given the columns of finished requests as they end; the run then keeps none, and its memory stays flat.
    """

    def __init__(
        self,
        program: Program,
        *,
        seed: int,
        sample_every: float = 1.0,
        trace: bool = False,
        limits: Limits | None = None,
        loop: Loop = compiled_loop,
        sink: Callable[[tuple[Array, ...]], None] | None = None,
    ) -> None:
        check(program)
        if not sample_every > 0:
            raise UsageError(f"sample_every = {sample_every!r} s; help: give a positive number of seconds")
        self.program, self.seed, self.limits, self.stopped = program, seed, limits or Limits(), ""
        self._loop = loop
        self._world = EventWorld(program, seed=seed, sample_every=sample_every, trace=trace)
        self._memory = self._world.memory
        self._memory.n[at.MOST_AT_ONCE] = self.limits.at_once
        self._memory.n[at.MOST_EVENTS] = min(self.limits.events, 2**62)
        self._coming = Coming(program, seed, self._world)
        self._kept = Kept(self._world, sink)
        self._start, self._most_bands = 0.0, 0
        self._before, self._work_before = np.zeros_like(self._counts()), np.zeros((len(program.stations), len(at.WORK)))

    @property
    def time(self) -> float:
        """Seconds since the start."""
        return float(self._memory.x[at.NOW])

    def advance(self, until: float) -> bool:
        """Run until a time; false where a watched count has left its band before, after all that happened at `time`.

        A run that was stopped stays where it is.
        """
        if not self.time <= until < math.inf:
            raise UsageError(f"until = {until!r} s, and it is {self.time!r} s; help: give a later, finite time")
        self._memory.x[at.UNTIL] = until
        while not self.stopped:
            reason = self._loop(self._memory.n, self._memory.x)
            if reason in (at.REACHED, at.LEFT_BAND):
                return bool(reason == at.REACHED)
            self._provide(reason)
        return True

    def _provide(self, reason: int) -> None:
        """Give the loop what it returned for, or stop."""
        if reason == at.NEEDS_ARRIVALS:
            self._coming.supply()
        elif reason == at.NEEDS_DRAWS:
            self._memory.fill()
        elif reason == at.NEEDS_EMPTYING:
            self._kept.empty()
        elif reason == at.NEEDS_ROOM:
            self._make_room()
        elif self._memory.n[at.AT_ONCE] > self.limits.at_once:
            self._stop(f"more than {self.limits.at_once:,} events happened without the clock going on")
        else:
            self._stop(f"the limit of {self.limits.events:,} events was reached", "a shorter run, or more --events")

    def _make_room(self) -> None:
        memory = self._memory
        alive = [count - int(memory.n[left]) for count, (_, left, _) in zip(memory.records, KINDS, strict=True)]
        if max(*alive, int(memory.n[at.TAIL] - memory.n[at.HEAD])) > self.limits.live:
            self._stop(f"more than {self.limits.live:,} requests, calls or tries were alive", "a larger --live")
        else:
            memory.make_room(events=int(memory.n[np.array(self._world.stations) + at.N_BUSY].sum()))

    def _stop(self, why: str, more: str = "no pause of 0 s") -> None:
        """Stop for good, and say what there is most of."""
        tries, route = max((int(self._memory.n[address + at.N_TRIES]), address) for address in self._world.routes)
        name = self.program.routes[self._world.routes.index(route)].name
        calls, there = (int(self._memory.n[route + count]) for count in (at.N_CALLS, at.N_AT_STATION))
        self.stopped = (
            f"stopped at {self.time:g} s: {why}; route {name} sent {tries:,} tries for {calls:,} calls, {there:,} are "
            f"at its station; help: fewer tries, a pause before retries, less room, a breaker, {more}"
        )

    def set_servers(self, station: str, servers: int) -> None:
        """From now on a station has so many servers; those taken away finish what they do."""
        names = [s.name for s in self.program.stations]
        if station not in names:
            raise UsageError(f"no station {station!r}; help: {did_you_mean(station, names)}")
        if servers < 0 or int(servers) != servers:
            raise UsageError(f"servers of {station} = {servers!r}; help: give a whole number of at least 0")
        if self.program.stations[names.index(station)].discipline == "fair":
            raise UsageError(f"servers of {station} are shared; help: only those of a station with a queue change")
        self._memory.make_room()
        n, address = self._memory.n, self._world.stations[names.index(station)]
        n[address + at.WANTED] = servers
        n[address + at.N_SERVERS] = max(0, servers - int(n[address + at.N_AWAY]))
        task = n[at.TASKS_AT] + at.A_WIDTH * n[at.TAIL]
        n[task : task + at.A_WIDTH] = at.START, address, 0, 0
        n[at.TAIL] += 1
        self._kept.note(at.SERVERS_SET, address, servers)

    def set_weights(self, owner: str, weights: Sequence[float]) -> None:
        """From now on requests of a source or a station choose among its cases by these weights, in their order."""
        self._world.weigh(self._world.plans_of(owner), weights)

    def watch_counts(self, bands: Mapping[str, tuple[int, int]]) -> None:
        """From now on `advance` stops where one of these counts is below the least or above the most of its band."""
        if len(bands) > self._most_bands:
            self._most_bands = len(bands)
            self._memory.n[at.WATCHED_AT] = self._memory.region(at.W_WIDTH * len(bands))
        n = self._memory.n
        for number, (name, band) in enumerate(bands.items()):
            row = n[at.WATCHED_AT] + at.W_WIDTH * number
            n[row : row + at.W_WIDTH] = (self._addresses[name], *band)
        n[at.WATCHED] = len(bands)

    def counts_of(self, names: Iterable[str]) -> dict[str, int]:
        """Returns some counts now."""
        return {name: int(self._memory.n[self._addresses[name]]) for name in names}

    def observe(self) -> dict[str, float]:
        """Returns all counts now, the time, and by station the server-seconds and the waiting so far (`work`)."""
        return {"time": self.time, **counters_of(self.program, self._counts()), **self._named(self._work())}

    def begin_measuring(self) -> None:
        """Forget what was counted and kept until now (the warm-up); levels stay."""
        self._kept.empty()
        self._kept = self._kept.fresh(self.time)
        self._start, self._before, self._work_before = self.time, self._counts(), self._work()

    @cached_property
    def _addresses(self) -> dict[str, int]:
        n = self._memory.n
        columns = n[n[at.COLUMNS_AT] : n[at.COLUMNS_AT] + n[at.COLUMNS]]
        return dict(zip(names_of(self.program), map(int, columns), strict=True))

    def _counts(self) -> at.Ints:
        n = self._memory.n
        columns: at.Ints = n[n[at.COLUMNS_AT] : n[at.COLUMNS_AT] + n[at.COLUMNS]]
        return n[columns]

    def _work(self) -> at.Floats:
        """Server-seconds by station and kind, carried on to now."""
        memory, stations = self._memory, np.array(self._world.stations)
        passed = self.time - memory.x[stations + at.SINCE]
        work: at.Floats = memory.x[stations[:, None] + at.DEMANDED + np.arange(len(at.WORK))]
        work[:, at.QUEUE_SECONDS - at.DEMANDED] += passed * memory.n[stations + at.N_QUEUE]
        work[:, at.BUSY_SECONDS - at.DEMANDED] += passed * memory.n[stations + at.N_BUSY]
        return work

    def _named(self, work: at.Floats) -> dict[str, float]:
        return {
            f"{station.name}.{name}": float(work[row, column])
            for row, station in enumerate(self.program.stations)
            for column, name in enumerate(at.WORK)
        }

    def hand_over(self) -> None:
        """Takes finished requests out of the memory of the loop."""
        self._kept.empty()

    def result(self) -> RequestResult:
        """Returns what the run has shown so far; the run can go on."""
        self._kept.empty()
        work = self._work() - self._work_before
        return RequestResult(
            program=self.program,
            seed=self.seed,
            start=self._start,
            end=self.time,
            counters=counters_of(self.program, self._counts(), since=self._before),
            work=self._named(work),
            requests=RequestRecords(*self._kept.requests(self._start)),
            series=series_of(self.program, *self._kept.samples(self._start)),
            trace=RequestTrace(*self._kept.trace()) if self._memory.n[at.TRACING] else None,
            events=int(self._memory.n[at.EVENTS]),
            stopped=self.stopped,
        )


def simulate(  # noqa: PLR0913  (options, by name only)
    program: Program,
    *,
    seed: int,
    until: float,
    warmup: float = 0.0,
    sample_every: float = 1.0,
    trace: bool = False,
    limits: Limits | None = None,
    progress: Callable[[float], None] | None = None,
) -> RequestResult:
    """Run a program from 0 to `until` seconds; what began before `warmup` is not counted.

    `progress` is called with the share that is done, about a hundred times.
    """
    if not 0 <= warmup <= until:
        raise UsageError(f"warmup = {warmup!r} s and until = {until!r} s; help: 0 <= warmup <= until")
    run = RequestRun(program, seed=seed, sample_every=sample_every, trace=trace, limits=limits)
    if warmup > 0:
        run.advance(warmup)
        run.begin_measuring()
    steps = 100 if progress else 1
    for step in range(1, steps + 1):
        run.advance(max(run.time, until * step / steps))
        if progress:
            progress(step / steps)
    return run.result()
