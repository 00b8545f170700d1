"""Servers that all tries share evenly, beside a fluid that is followed step by step, and beside a closed form."""

from __future__ import annotations

import heapq

import numpy as np
import pytest

from coherence.base.errors import UsageError
from coherence.simulate.requests.engine import RequestResult, RequestRun, simulate
from coherence.simulate.requests.program import Arrivals, Outage, Program, Route, Service, Source, Station
from tests.simulate.requests.programs import one_call


def shared(works: tuple[float, ...], times: tuple[float, ...], servers: int = 1) -> RequestResult:
    station = Station("pool", servers, Service(0.0, "values", values=works), discipline="fair")
    return simulate(one_call(station=station, kind="trace", times=times), seed=1, until=10_000)


def fluid(works: tuple[float, ...], times: tuple[float, ...], servers: int) -> list[float]:
    """Returns when each transfer ends: at each instant all get the same part, by progressive filling up to one each."""
    left, ends, now = dict[int, float](), [0.0] * len(works), 0.0
    coming = list(zip(times, range(len(works)), strict=True))
    heapq.heapify(coming)
    while coming or left:
        rates, spare, unfilled = dict.fromkeys(left, 0.0), float(servers), set(left)
        while unfilled and spare > 1e-15:
            step = min(spare / len(unfilled), *(1.0 - rates[k] for k in unfilled))
            rates = {k: rate + (step if k in unfilled else 0.0) for k, rate in rates.items()}
            spare -= step * len(unfilled)
            unfilled = {k for k in unfilled if rates[k] < 1.0 - 1e-15}
        over = min((now + left[k] / rates[k] for k in left), default=np.inf)
        until = min(over, coming[0][0] if coming else np.inf)
        left = {k: work - rates[k] * (until - now) for k, work in left.items()}
        now = until
        for k in [k for k, work in left.items() if work <= 1e-12]:
            ends[k] = now
            del left[k]
        while coming and coming[0][0] <= now:
            number = heapq.heappop(coming)[1]
            left[number] = works[number]
    return ends


def test_two_transfers_get_half_each_while_both_are_under_way() -> None:
    result = shared((2.0, 1.0), (0.0, 1.0))
    assert sorted(result.requests.end) == pytest.approx([3.0, 3.0])  # one has half left, the other two halves
    assert result.work["pool.busy_seconds"] == pytest.approx(3.0)
    assert result.counters["pool.queue"] == 0


def test_the_shorter_one_leaves_first_however_late_it_comes() -> None:
    result = shared((10.0, 1.0), (0.0, 4.0))
    assert list(result.requests.start) == [4.0, 0.0]
    assert list(result.requests.end) == pytest.approx([6.0, 11.0])


@pytest.mark.parametrize("servers", [1, 2, 3])
def test_ends_are_those_of_a_fluid(servers: int) -> None:
    chance = np.random.default_rng(servers)
    times = tuple(np.cumsum(chance.exponential(0.5, 120)).tolist())
    works = tuple((chance.gamma(0.7, 0.6 * servers, 120) + 0.01).tolist())
    result = shared(works, times, servers)
    expected = dict(zip(times, fluid(works, times, servers), strict=True))
    assert len(result.requests.start) == 120
    for start, end in zip(result.requests.start, result.requests.end, strict=True):
        assert end == pytest.approx(expected[float(start)], abs=1e-7)


def test_what_is_given_up_leaves_its_part_to_the_others() -> None:
    route = Route("call", "link", per_try=1.0, retry_on=(), cancel=True)
    works = Service(0.0, "values", values=(4.0, 1.5))
    program = Program(
        (Source("users", Arrivals("trace", times=(0.0, 0.5)), (("call",),)),),
        (Station("link", 1, works, discipline="fair"),), (route,),
    )  # fmt: skip
    result = simulate(program, seed=1, until=10)
    assert result.work["link.wasted"] == pytest.approx(0.75 + 0.25 + 0.5)  # cut at 1 and at 1.5
    assert result.work["link.busy_seconds"] == pytest.approx(1.5)


def test_the_mean_time_depends_on_the_mean_size_alone() -> None:
    """SOURCE: Kleinrock, Queueing Systems II (1976), 4.4: the mean time is service / (1 - load), for every law."""
    chance = np.random.default_rng(5)
    times = tuple(np.cumsum(chance.exponential(1.0, 60_000)).tolist())
    works = tuple(np.where(chance.random(60_000) < 0.9, 0.2, 3.2).tolist())  # mean .5, CV 1.8
    result = shared(works, times)
    assert result.requests.latency[2000:].mean() == pytest.approx(0.5 / (1 - 0.5), rel=0.05)


def test_what_needs_a_queue_is_refused() -> None:
    plain = Station("pool", 1, Service(1.0), discipline="fair", room=3)
    with pytest.raises(UsageError, match="nobody waits"):
        simulate(one_call(station=plain, kind="trace", times=(0.0,)), seed=1, until=1)
    link = Station("pool", 1, Service(1.0), discipline="fair")
    program = one_call(station=link, kind="trace", times=(0.0,))
    broken = Program(program.sources, program.stations, program.routes, (Outage("pool", 0.0, 1.0),))
    with pytest.raises(UsageError, match="shared servers have none"):
        simulate(broken, seed=1, until=1)
    with pytest.raises(UsageError, match="are shared"):
        RequestRun(program, seed=1).set_servers("pool", 2)
