"""The two programs of the testbed, the load and the back end, and the measures."""

from __future__ import annotations

import asyncio
import itertools
import math
import random
import statistics
import time
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from coherence.simulate.testbed import backend, load
from coherence.simulate.testbed.observe import COLLAPSED, RECOVERED, Request, measure, recovery_time
from coherence.simulate.testbed.reproduction import observation
from coherence.simulate.testbed.set_up import RunTiming
from tests.draws import few
from tests.simulate.testbed.testbed_helpers import made


def test_arrivals_are_poisson_and_depend_on_the_seed_alone() -> None:
    times = load.arrival_times(100.0, [], 100.0, 7)
    assert times == load.arrival_times(100.0, [], 100.0, 7) != load.arrival_times(100.0, [], 100.0, 8)
    gaps = [b - a for a, b in itertools.pairwise(times)]
    assert statistics.fmean(gaps) == pytest.approx(0.01, rel=0.04)  # 4 standard errors
    assert statistics.stdev(gaps) == pytest.approx(0.01, rel=0.06)


def test_a_burst_replaces_the_rate() -> None:
    times = load.arrival_times(50.0, [(500.0, 10.0, 20.0)], 100.0, 1)
    assert sum(10 <= t < 30 for t in times) == pytest.approx(10_000, rel=0.04)
    assert sum(t < 10 or t >= 30 for t in times) == pytest.approx(4_000, rel=0.06)


@given(st.floats(0.1, 50), st.floats(0.1, 20), st.integers(0, 99), st.floats(0, 30), st.floats(0, 30))
@settings(max_examples=50, deadline=None)
def test_arrivals_ascend_within_the_time(rate: float, lasts: float, seed: int, start: float, length: float) -> None:
    times = load.arrival_times(rate, [(2 * rate, start, length)], lasts, seed)
    assert times == sorted(times)
    assert all(0 <= time < lasts for time in times)


@pytest.mark.parametrize(
    ("family", "cv"), [("exponential", 1.0), ("gamma", 0.5), ("gamma", 2.0), ("uniform", 0.4), ("lognormal", 1.5)]
)
def test_service_times_have_their_moments(family: str, cv: float) -> None:
    times = backend.service_times(family, 0.04, cv, 3, 200_000)
    assert min(times) >= 0
    assert statistics.fmean(times) == pytest.approx(0.04, rel=0.02)
    assert statistics.stdev(times) / statistics.fmean(times) == pytest.approx(cv, rel=0.06)
    assert backend.service_times("gamma", 0.04, 0.0, 3, 9) == [0.04]


class Caller:
    """Stands for a connection: remembers when it was answered."""

    def __init__(self) -> None:
        self.answered = 0.0

    def answer(self, body: bytes) -> None:
        assert body
        self.answered = time.monotonic()


def workers(**changes: Any) -> backend.Workers:
    plain = {"copies": 1, "family": "constant", "mean": 0.02, "cv": 0.0, "on_timeout": "abandon", "seed": 1}
    return backend.Workers({**plain, "services": 9, **changes}, asyncio.get_running_loop())


def arrive(pool: backend.Workers, count: int) -> list[backend.Try]:
    now = time.monotonic()
    found = [backend.Try(number, now, Caller()) for number in range(count)]
    for one in found:
        pool.arrive(one)
    return found


def test_services_follow_one_another_without_drift() -> None:
    async def check() -> None:
        pool = workers(mean=0.002)
        tries = arrive(pool, 100)
        await asyncio.sleep(0.4)
        assert [one.outcome for one in tries] == ["served"] * 100
        for turn, one in enumerate(tries, 1):  # in order of arrival, however late the timers were
            assert one.ended - tries[0].arrived == pytest.approx(0.002 * turn, abs=1e-9)

    asyncio.run(check())


def test_abandoned_work_is_done_and_cancelled_work_is_not() -> None:
    async def ends(how: str) -> list[str]:
        pool = workers(on_timeout=how)
        tries = arrive(pool, 4)
        pool.leave(tries[0])  # in service
        pool.leave(tries[2])  # in the queue
        await asyncio.sleep(0.15)
        busy = sum(one.ended - one.began for one in tries if one.outcome != "cancelled")
        assert tries[3].ended - tries[0].arrived == pytest.approx(busy, abs=0.015)
        assert busy == pytest.approx(0.02 * (4 if how == "abandon" else 2), abs=1e-9)
        return [one.outcome for one in tries]

    assert asyncio.run(ends("abandon")) == ["wasted", "served", "wasted", "served"]
    assert asyncio.run(ends("cancel")) == ["cancelled", "served", "cancelled", "served"]


def test_a_pause_freezes_what_is_in_service_and_what_waits() -> None:
    async def check() -> None:
        pool = workers(copies=2, mean=0.05)
        tries = arrive(pool, 4)
        pool.pause(tries[0].arrived + 0.02, 0.1)
        await asyncio.sleep(0.35)
        taken = [one.ended - one.arrived for one in tries]
        assert taken == pytest.approx([0.15, 0.15, 0.2, 0.2], abs=1e-6)

    asyncio.run(check())


def steps(change: float, *, rate: float = 50.0, lasts: float = 40.0, seed: int = 1) -> list[Request]:
    times = load.arrival_times(rate, [], lasts, seed)
    return [Request(t, t + 0.1, 1 if t < 10 or t > change else 3, t < 10 or t > change) for t in times]


def test_the_measures_of_a_step() -> None:
    seen = measure(steps(17.0), RunTiming(10.0, 3.0, 40.0), (10.0, 13.0))
    assert seen.verdict == RECOVERED
    assert seen.recovery == pytest.approx(4.0, abs=0.1)
    assert [seen.windows[name].tries for name in ("before", "during", "end")] == [1.0, 3.0, 1.0]
    assert seen.latency == pytest.approx((0.1, 0.1))
    assert measure(steps(99.0), RunTiming(10.0, 3.0, 40.0), (10.0, 13.0)).verdict == COLLAPSED
    assert measure(steps(99.0), RunTiming(10.0, 3.0, 40.0), (10.0, 13.0)).recovery == math.inf


@given(st.floats(13.0, 25.0), st.integers(0, 50), st.sampled_from([20.0, 60.0, 200.0]))
@settings(max_examples=few(60), deadline=None)
def test_recovery_is_found_within_a_few_requests(change: float, seed: int, rate: float) -> None:
    after = [request for request in steps(change, rate=rate, seed=seed) if request.start >= 13]
    assert abs(recovery_time(after, 13.0) - (change - 13.0)) <= 8 / rate


def test_a_few_late_failures_are_no_relapse() -> None:
    chance = random.Random(5)  # noqa: S311  (reproducible, not secret)
    noisy = [Request(r.start, r.end, r.tries, r.succeeded and chance.random() > 0.1) for r in steps(17.0)]
    assert recovery_time([r for r in noisy if r.start >= 13], 13.0) == pytest.approx(4.0, abs=0.3)


def test_reports_are_joined_by_request() -> None:
    seen = {
        "tries": [[1, 100.2, 100.2, 100.3, "served"], [2, 100.5, 0, 0, "open"], [2, 100.7, 0, 0, "open"]],
        "lags": [0.001, 0.09],
    }
    sent = {"start": 100.0, "requests": [[1, 100.1, 100.1, 100.3, 200], [2, 100.4, 100.4, 100.9, 504]]}
    found = observation(seen, sent, made(), RunTiming(10.0, 3.0, 40.0))
    assert [(r.tries, r.succeeded) for r in found.requests] == [(1, True), (2, False)]
    assert found.requests[0].end == pytest.approx(0.3)
    assert found.outcomes == {"served": 1, "open": 2}
    assert "back end 90 ms late" in found.disturbed
