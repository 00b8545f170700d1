"""Members that begin anew: runs beside a plain second interpreter, and beside the availability of renewal-reward."""

from __future__ import annotations

import heapq
import math
import random
from dataclasses import dataclass, field, replace

import pytest

from coherence.base.errors import UsageError
from coherence.simulate.requests.engine import RequestRun, simulate
from coherence.simulate.requests.program import (
    Arrivals,
    BatchRule,
    MemberRestarts,
    Outage,
    Program,
    RetryPause,
    Route,
    Service,
    Source,
    Station,
)
from tests.simulate.requests.programs import one_call

UNTIL = 60.0


@dataclass
class Plain:
    """One queue, its members and their restarts, by a heap of what is to come; it shares nothing with the engine."""

    services: tuple[float, ...]
    members: int
    lasts: float  # a service at most, before its member begins anew
    start: float
    tries: int
    hangs: tuple[float, float, float]  # from, for, and after how long the members begin anew
    heap: list[tuple[float, int, int, str, int]] = field(default_factory=list)
    queue: list[int] = field(default_factory=list)
    working: dict[int, tuple[float, int]] = field(default_factory=dict)  # request -> (end or what is left, number)
    sent: dict[int, int] = field(default_factory=dict)
    ends: dict[int, tuple[float, bool]] = field(default_factory=dict)
    hung: bool = False
    up: int = 0
    restarts: int = 0
    begun: int = 0

    def add(self, time: float, rank: int, what: str, of: int) -> None:
        heapq.heappush(self.heap, (time, rank, len(self.heap) + 1000 * len(self.ends), what, of))

    def run(self, arrivals: tuple[float, ...]) -> dict[int, tuple[float, bool]]:
        self.up = self.members
        for number, time in enumerate(arrivals):
            self.add(time, 9, "come", number)
        begins, lasts, after = self.hangs
        if lasts:
            self.add(begins, 1, "hang", 0)
            self.add(begins + min(after, lasts), 1, "renew" if after < lasts else "go on", 0)
        while self.heap and self.heap[0][0] <= UNTIL:
            time, _, _, what, of = heapq.heappop(self.heap)
            self.happen(time, what, of)
            while self.queue and not self.hung and len(self.working) < self.up:
                self.serve(time, self.queue.pop(0))
        return self.ends

    def happen(self, time: float, what: str, of: int) -> None:
        if what == "come":
            self.queue.append(of)
            self.sent[of] = self.sent.get(of, 0) + 1
        elif what == "back":
            self.up += 1
        elif what == "hang":
            self.hung = True
            self.working = {one: (end - time, number) for one, (end, number) in self.working.items()}
        elif what in ("go on", "renew"):
            self.hung = False
            for one, (left, number) in list(self.working.items()):
                if what == "renew":
                    self.lose(time, one)
                else:
                    self.working[one] = (time + left, number)
                    self.add(time + left, 0, f"end {number}", one)
            for _ in range(self.up if what == "renew" else 0):
                self.renew(time)
        elif of in self.working and self.working[of][1] == int(what.split()[1]):
            end = self.working[of][0]
            if what.startswith("late"):
                self.lose(time, of)
                self.renew(time)
            elif not self.hung and end == time:
                del self.working[of]
                self.ends[of] = (time, True)

    def serve(self, time: float, of: int) -> None:
        end = time + self.services[self.begun % len(self.services)]
        self.begun += 1
        self.working[of] = (end, self.begun)
        self.add(end, 0, f"end {self.begun}", of)
        self.add(time + self.lasts, 5, f"late {self.begun}", of)

    def lose(self, time: float, of: int) -> None:
        del self.working[of]
        if self.sent[of] < self.tries:
            self.add(time + 0.7, 6, "come", of)
        else:
            self.ends[of] = (time, False)

    def renew(self, time: float) -> None:
        self.up -= 1
        self.restarts += 1
        self.add(time + self.start, 5, "back", 0)


def _drawn(chance: random.Random) -> tuple[Program, Plain, tuple[float, ...]]:
    arrivals = tuple(sorted(chance.uniform(0, 40) for _ in range(chance.randint(20, 80))))
    services = tuple(chance.expovariate(1.0) for _ in range(29))
    members, lasts, start = chance.randint(1, 4), chance.uniform(0.5, 3), max(0.0, chance.uniform(-2, 5))
    tries, after = chance.randint(1, 3), chance.uniform(0.5, 6)
    begins, pause = chance.uniform(5, 20), chance.choice([0.0, 4.0])
    restarts = MemberRestarts(((lasts, lasts),), ((after, after),), start=Service(start, "constant", 0.0))
    made = Program(
        (Source("web", Arrivals("trace", times=arrivals), (("call",),)),),
        (Station("pool", members, Service(1.0, "values", values=services), restarts=restarts),),
        (Route("call", "pool", tries=tries, pause=RetryPause(0.7, 1.0)),),
        (Outage("pool", begins, pause),) if pause else (),
    )
    return made, Plain(services, members, lasts, start, tries, (begins, pause, after)), arrivals


def test_a_plain_interpreter_runs_the_same() -> None:
    restarts = 0
    for seed in range(60):
        made, plain, arrivals = _drawn(random.Random(seed))  # noqa: S311  (no secret)
        expected = plain.run(arrivals)
        result = simulate(made, seed=1, until=UNTIL)
        shown = sorted(zip(result.requests.end.tolist(), result.requests.completed.tolist(), strict=True))
        assert shown == [(pytest.approx(end, abs=1e-9), good) for end, good in sorted(expected.values())], seed
        assert result.counters["pool.restarts"] == plain.restarts, seed
        counts = result.counters
        away = counts["call.lost"] + counts["call.at_station"] + counts["call.served"]
        assert counts["call.tries"] == away, seed
        restarts += plain.restarts
    assert restarts > 200


@pytest.mark.slow
@pytest.mark.parametrize(("lasts", "start"), [(2.0, 3.0), (1.0, 0.5)])
def test_availability_is_that_of_renewal_reward(lasts: float, start: float) -> None:
    """Of a member with always work: up min(S, T) a service, down with chance P(S > T), here of exponential services."""
    restarts = MemberRestarts(working=((lasts, lasts),), start=Service(start))
    station = Station("pool", 1, Service(1.0), restarts=restarts)
    result = simulate(one_call(station=station, rate=2.0), seed=5, until=60_000.0)
    fails = math.exp(-lasts)
    up = (1 - fails) / (1 - fails + fails * start)
    # one cycle: geometrically many services, then a start
    assert float(result.series["pool.servers"].mean()) == pytest.approx(up, abs=0.01)
    assert result.counters["pool.served"] / 60_000 == pytest.approx(up, rel=0.02)  # hazard 1 while it works
    assert result.counters["pool.restarts"] / 60_000 == pytest.approx(up * fails / (1 - fails), rel=0.04)


def test_a_start_that_takes_too_long_is_begun_again() -> None:
    crash = MemberRestarts(working=((0.5, 0.5),), start=Service(10.0, "constant", 0.0), starting=((4.0, 4.0),))
    station = Station("pool", 2, Service(1.0, "constant", 0.0), restarts=crash)
    result = simulate(one_call(station=station, rate=5.0), seed=1, until=100.0)
    assert (result.counters["pool.restarts"], result.counters["pool.away"], result.counters["pool.servers"]) == (
        2,
        2,
        0,
    )
    late = replace(crash, start=Service(1.0, "uniform", 0.5), starting=((1.0, 1.0),))
    result = simulate(one_call(station=replace(station, restarts=late), rate=5.0), seed=1, until=1000.0)
    assert result.counters["pool.restarts"] > 200


def test_servers_that_are_taken_away_are_not_begun_again() -> None:
    restarts = MemberRestarts(working=((5.0, 5.0),), start=Service(1.0, "constant", 0.0))
    station = Station("pool", 2, Service(8.0, "constant", 0.0), restarts=restarts)
    run = RequestRun(one_call(station=station, kind="trace", times=(0.0, 0.0, 0.0)), seed=1)
    run.advance(1.0)
    run.set_servers("pool", 1)
    run.advance(5.5)
    seen = run.observe()
    assert (seen["pool.restarts"], seen["pool.away"], seen["pool.servers"], seen["pool.lost"]) == (1, 1, 0, 2)
    run.set_servers("pool", 3)
    run.advance(7.0)
    assert (run.observe()["pool.servers"], run.observe()["pool.busy"]) == (3, 1)


def test_members_that_batch_or_preempt_do_not_begin_anew() -> None:
    restarts = MemberRestarts(working=((5.0, 1.0),))
    station = Station("pool", 2, Service(1.0), restarts=restarts, batch=BatchRule(2, 0.1, 0.1, 0.1))
    with pytest.raises(UsageError) as told:
        simulate(one_call(station=station), seed=1, until=1.0)
    assert "neither batch nor preempt" in str(told.value)
    assert "after 5.0 to 1.0 s" in str(told.value)
