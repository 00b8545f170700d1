"""The request-level engine by example: one feature a test, with times that can be followed by hand."""

from __future__ import annotations

import math
from dataclasses import replace
from itertools import pairwise
from typing import Any

import numpy as np
import pytest

from bench._simulate_requests import COUNTS, Peer, closed_forms, retrying
from coherence.base.errors import UsageError
from coherence.simulate.requests.engine import ACTIONS, OUTCOMES, PLACES, Limits, RequestResult, RequestRun, simulate
from coherence.simulate.requests.program import (
    Arrivals,
    BatchRule,
    Outage,
    Program,
    RateBurst,
    RetryBudget,
    RetryPause,
    Route,
    Service,
    Source,
    Station,
)
from coherence.simulate.telemetry.measures import amplification, attempts, mean, percentile
from tests.simulate.requests.programs import one_call

ONE_SECOND = Service(1.0, "constant")


def at(*times: float) -> dict[str, Any]:
    return {"kind": "trace", "times": times}


def ends(result: RequestResult) -> list[float]:
    return [round(float(end), 9) for end in result.requests.end]


def outcomes(result: RequestResult) -> list[str]:
    return [OUTCOMES[number] for number in result.requests.outcome]


def test_first_come_first_served() -> None:
    result = simulate(one_call(station=Station("pool", 1, ONE_SECOND), **at(0, 0.5, 0.6)), seed=1, until=10)
    assert ends(result) == [1, 2, 3]
    assert result.work["pool.queue_seconds"] == pytest.approx(0.5 + 1.4)
    assert result.work["pool.busy_seconds"] == pytest.approx(3)


def test_last_come_first_served() -> None:
    station = Station("pool", 1, ONE_SECOND, discipline="lifo")
    result = simulate(one_call(station=station, **at(0, 0.5, 0.6)), seed=1, until=10)
    assert list(result.requests.start) == [0, 0.6, 0.5]


def test_replayed_services_are_used_in_turn() -> None:
    station = Station("pool", 1, Service(9.0, values=(0.25, 0.5)))
    assert ends(simulate(one_call(station=station, **at(0, 1, 2)), seed=1, until=10)) == [0.25, 1.5, 2.25]


def two_classes(station: Station, low: tuple[float, ...], high: tuple[float, ...]) -> Program:
    sources = tuple(
        Source(name, Arrivals("trace", times=times), (("call",),), priority=level)
        for name, times, level in (("low", low, 0), ("high", high, 5))
    )
    return Program(sources, (station,), (Route("call", "pool"),))


def test_priority_goes_before_those_that_wait() -> None:
    station = Station("pool", 1, ONE_SECOND, discipline="priority")
    result = simulate(two_classes(station, (0, 0.1), (0.2,)), seed=1, until=10)
    assert list(result.requests.source) == [0, 1, 0]
    assert ends(result) == [1, 2, 3]


@pytest.mark.parametrize(("redo", "end"), [(False, 2.0), (True, 2.4)])
def test_preemption_resumes_or_begins_again(redo: bool, end: float) -> None:
    station = Station("pool", 1, ONE_SECOND, discipline="preemptive", redo=redo)
    result = simulate(two_classes(station, (0,), (0.4,)), seed=1, until=10)
    assert ends(result) == [1.4, end]
    assert result.counters["pool.preempted"] == 1
    assert result.work["pool.redone"] == pytest.approx(0.4 if redo else 0)


def test_a_time_out_that_does_not_cancel_leaves_the_work_to_be_done() -> None:
    route = Route("call", "pool", tries=2, per_try=0.4)
    result = simulate(one_call(route, Station("pool", 1, ONE_SECOND), **at(0)), seed=1, until=10)
    assert outcomes(result) == ["timeout"]
    assert ends(result) == [0.8]
    assert (result.counters["pool.served"], result.counters["pool.wasted"]) == (2, 2)
    assert (result.work["pool.useful"], result.work["pool.redone"]) == (0, 0)
    assert result.work["pool.wasted"] > 0


def test_a_time_out_that_cancels_frees_the_server() -> None:
    route = Route("call", "pool", tries=3, per_try=0.4, cancel=True, pause=RetryPause(0.1))
    result = simulate(one_call(route, Station("pool", 1, ONE_SECOND), **at(0)), seed=1, until=10)
    assert ends(result) == [pytest.approx(0.4 + 0.1 + 0.4 + 0.2 + 0.4)]
    assert result.work["pool.discarded"] == pytest.approx(3 * 0.6)
    assert result.work["pool.wasted"] == pytest.approx(3 * 0.4)


def test_an_answer_at_the_instant_of_the_time_out_counts() -> None:
    result = simulate(
        one_call(Route("call", "pool", per_try=1.0), Station("pool", 1, ONE_SECOND), **at(0)), seed=1, until=5
    )
    assert outcomes(result) == ["completed"]


def test_the_deadline_covers_tries_and_pauses() -> None:
    route = Route("call", "pool", tries=10, per_try=0.4, deadline=1.0, cancel=True, pause=RetryPause(0.3, factor=1))
    result = simulate(one_call(route, Station("pool", 1, ONE_SECOND), **at(0)), seed=1, until=10)
    assert (outcomes(result), ends(result)) == (["deadline"], [1.0])
    assert result.counters["call.tries"] == 2


def test_a_full_room_rejects_and_the_cause_can_be_retried() -> None:
    station = Station("pool", 1, ONE_SECOND, room=0)
    never = Route("call", "pool", tries=3, retry_on=("timeout",), pause=RetryPause(0.3, factor=1))
    assert outcomes(simulate(one_call(never, station, **at(0, 0.5)), seed=1, until=9)) == ["rejected", "completed"]
    again = replace(never, retry_on=("rejected",))
    result = simulate(one_call(again, station, **at(0, 0.5)), seed=1, until=9)
    assert ends(result) == [1.0, 2.1]
    assert attempts(result) == {1: 1, 3: 1}


def test_shedding_looks_at_the_expected_wait() -> None:
    station = Station("pool", 2, ONE_SECOND, shed_above=0.5)
    result = simulate(one_call(station=station, **at(0, 0, 0, 0, 0)), seed=1, until=9)
    assert result.counters["call.rejected"] == 1  # two are served, two may wait: the second sees 1 x 1 s / 2


def test_the_breaker_counts_tries_in_flight() -> None:
    result = simulate(
        one_call(Route("call", "pool", breaker=2), Station("pool", 9, ONE_SECOND), **at(0, 0, 0)), seed=1, until=9
    )
    assert sorted(outcomes(result)) == ["completed", "completed", "rejected"]


@pytest.mark.parametrize(
    ("most", "budget"), [(1, None), (math.inf, RetryBudget(0.0, 1.0)), (math.inf, RetryBudget(0.5, of="first"))]
)
def test_retries_in_flight_are_limited(most: float, budget: RetryBudget | None) -> None:
    route = Route("call", "pool", tries=2, per_try=0.5, most_retries=most, budget=budget, pause=RetryPause(0.1))
    result = simulate(one_call(route, Station("pool", 9, ONE_SECOND), **at(0, 0, 0)), seed=1, until=9)
    # at 0.5 s the three time out one after the other; with half of the first tries: the two left allow one retry
    assert result.counters["call.retries"] == 1
    assert result.counters["call.denied"] == 2


@pytest.mark.parametrize(
    ("service", "per_try", "end", "hedges"),
    [(0.5, math.inf, 0.5, 0), (2.0, 0.5, 0.5, 0), (2.0, 1.0, 1.5, 1), (1.25, 1.0, 1.5, 1), (1.0, 1.0, 1.0, 1)],
)
def test_what_ends_when_a_second_copy_is_due_comes_first_and_each_copy_has_its_limit(
    service: float, per_try: float, end: float, hedges: int
) -> None:
    station = Station("pool", 2, Service(service, "constant", 0.0))
    result = simulate(
        one_call(Route("call", "pool", hedge_after=0.5, per_try=per_try), station, **at(0)), seed=1, until=9
    )
    assert (result.counters["call.hedges"], result.requests.end.tolist()) == (hedges, [end])


def test_a_hedge_wins_and_the_other_copy_is_given_up() -> None:
    station = Station("pool", 2, Service(0.0, values=(5.0, 1.0)))
    result = simulate(one_call(Route("call", "pool", hedge_after=0.5, cancel=True), station, **at(0)), seed=1, until=9)
    assert ends(result) == [1.5]
    assert (result.counters["call.hedges"], result.counters["pool.cancelled"]) == (1, 1)
    assert amplification(result) == 2


def test_a_fork_waits_for_both_and_stages_follow_each_other() -> None:
    stations = (Station("a", 1, ONE_SECOND), Station("b", 1, Service(2.0, "constant")))
    source = Source("web", Arrivals("trace", times=(0.0,)), (("to a", "to b"), ("to a",)), turns=(2, 2))
    program = Program((source,), stations, (Route("to a", "a"), Route("to b", "b")))
    assert ends(simulate(program, seed=1, until=20)) == [6.0]


def nested(**front: Any) -> Program:
    stations = (
        Station("front", 1, Service(0.1, "constant"), plan=(("inner",),)),
        Station("back", 1, ONE_SECOND),
    )
    routes = (Route("outer", "front", **front), Route("inner", "back", cancel=True))
    return Program((Source("web", Arrivals("trace", times=(0.0, 0.0)), (("outer",),)),), stations, routes)


def test_a_nested_call_holds_the_server() -> None:
    assert ends(simulate(nested(), seed=1, until=9)) == pytest.approx([1.1, 2.2])


def test_giving_up_a_try_gives_up_what_it_called_on() -> None:
    result = simulate(nested(per_try=0.5, cancel=True), seed=1, until=9, trace=True)
    assert result.counters["inner.dropped"] == 1
    assert result.counters["back.cancelled"] == 1
    assert result.trace is not None
    failed = result.trace.action == ACTIONS.index("try_failed")
    assert [PLACES[where] for where in result.trace.where[failed]] == ["downstream", "service"]
    # the second got the server at the instant of its own limit, just before it


def test_a_failed_nested_call_fails_the_try() -> None:
    program = nested()
    routes = (program.routes[0], replace(program.routes[1], per_try=0.5))
    result = simulate(replace(program, routes=routes), seed=1, until=9)
    assert set(outcomes(result)) == {"failed"}
    assert result.counters["outer.failed"] == 2


def test_batches_fill_up_or_go_after_their_wait() -> None:
    station = Station("pool", 1, Service(9.0), batch=BatchRule(3, 0.5, 1.0, 0.1))
    result = simulate(one_call(station=station, **at(0, 0.1, 2, 2, 2)), seed=1, until=9)
    assert ends(result) == pytest.approx([1.7, 1.7, 3.3, 3.3, 3.3])


@pytest.mark.parametrize(("kind", "ended"), [("pause", [4.0, 5.0]), ("refuse", [1.0, 4.0])])
def test_an_outage_freezes_the_work_and_may_refuse(kind: str, ended: list[float]) -> None:
    program = replace(
        one_call(station=Station("pool", 1, ONE_SECOND), **at(0, 1)), outages=(Outage("pool", 0.5, 3.0, kind),)
    )
    result = simulate(program, seed=1, until=9)
    assert ends(result) == ended
    assert outcomes(result) == (["completed"] * 2 if kind == "pause" else ["refused", "completed"])


@pytest.mark.parametrize("kind", ["pause", "refuse"])
def test_an_outage_of_no_time_changes_nothing(kind: str) -> None:
    program = one_call(station=Station("pool", 1, ONE_SECOND), **at(0, 1))
    stopped = simulate(replace(program, outages=(Outage("pool", 0.5, 0.0, kind),)), seed=1, until=9)
    assert ends(stopped) == ends(simulate(program, seed=1, until=9)) == [1.0, 2.0]


def test_servers_come_and_go() -> None:
    run = RequestRun(one_call(station=Station("pool", 0, ONE_SECOND), **at(0, 0, 0)), seed=1, trace=True)
    run.advance(1.0)
    assert run.observe()["pool.queue"] == 3
    run.set_servers("pool", 2)
    run.advance(2.5)
    run.set_servers("pool", 0)
    run.advance(9.0)
    assert ends(run.result()) == [2, 2, 3]
    with pytest.raises(UsageError, match="did you mean 'pool'"):
        run.set_servers("poll", 2)


def test_counts_after_the_warm_up() -> None:
    result = simulate(one_call(station=Station("pool", 1, ONE_SECOND), **at(0, 1, 5, 6)), seed=1, until=10, warmup=4)
    assert (result.counters["web.arrivals"], result.counters["web.completed"]) == (2, 2)
    assert list(result.requests.start) == [5, 6]
    assert list(result.series["time"]) == [4, 5, 6, 7, 8, 9, 10]


def test_progress_is_told() -> None:
    shares: list[float] = []
    simulate(one_call(rate=3.0), seed=1, until=10, progress=shares.append)
    assert shares[-1] == 1.0
    assert all(before < after for before, after in pairwise(shares))


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize(("rate", "per_try"), [(6.0, 3.0), (9.5, 2.0), (12.0, 1.0)])
def test_simpy_counts_the_same_on_the_same_draws(seed: int, rate: float, per_try: float) -> None:
    pytest.importorskip("simpy")
    program = retrying(rate=rate, per_try=per_try)
    peer = Peer(program, seed)
    peer.run(60.0)
    result = simulate(program, seed=seed, until=60.0)
    assert {name: result.counters[name] for name in COUNTS} == peer.counts
    good = result.requests.completed
    assert np.array_equal(np.array(peer.ends)[:, 0], result.requests.start[good])
    np.testing.assert_allclose(np.array(peer.ends)[:, 1], result.requests.end[good], rtol=1e-12)


@pytest.mark.slow
def test_closed_forms_lie_in_their_intervals() -> None:
    for name, (estimate, exact) in closed_forms().items():
        assert estimate.holds(exact), (name, estimate, exact)
        assert estimate.high - estimate.low < 0.25 * exact, name


def test_percentiles_have_intervals_from_order_statistics() -> None:
    values = np.random.default_rng(3).permutation(np.arange(1.0, 1001.0))
    found, low, high = percentile(values, 50)
    assert (found, low, high) == (500, 459, 542)
    assert percentile(values[:10], 99)[2] == math.inf


def test_intervals_of_means_widen_with_dependence() -> None:
    random = np.random.default_rng(5)
    free = random.standard_normal(32_000)
    walk = np.convolve(free, np.ones(50) / 50, "valid")
    assert mean(free).holds(0.0)
    assert mean(walk).high - mean(walk).low > 0.8 * (mean(free).high - mean(free).low)


BAD = [
    (one_call(station=Station("pool", 1, Service(math.inf))), "service rate of zero"),
    (one_call(station=Station("pool", 1, Service(-1.0))), r"mean = -1.0 s"),
    (one_call(Route("call", "pool", tries=math.inf)), "tries = inf; help"),  # type: ignore[arg-type]
    (one_call(Route("call", "pol")), "'pol' is not known; help: did you mean 'pool'"),
    (one_call(Route("call", "pool", per_try=math.nan)), "per_try = nan"),
    (one_call(rate=-1.0), "rate = -1.0"),
    (one_call(kind="trace", times=(0.0, 2.0, 1.0)), r"times\[2\] = 1.0 comes before times\[1\] = 2.0; help: sort"),
    (one_call(kind="trace", times=(0.0, -2.0)), r"times\[1\] = -2.0 is negative"),
    (one_call(kind="trace", times=(0.0, math.nan)), r"times\[1\] = nan is missing or not a finite number"),
    (one_call(kind="trace", times=(0.0, None)), r"times\[1\] = None is missing"),
    (one_call(station=Station("pool", 1, ONE_SECOND, plan=(("call",),))), "calls on itself"),
]


@pytest.mark.parametrize(("program", "message"), BAD, ids=[message for _, message in BAD])
def test_bad_programs_are_refused_with_value_and_remedy(program: Program, message: str) -> None:
    with pytest.raises(UsageError, match=message):
        simulate(program, seed=1, until=1.0)


def test_all_problems_are_told_at_once() -> None:
    with pytest.raises(UsageError) as caught:
        simulate(one_call(Route("call", "pol", tries=0), Station("pool", -1, Service(-1.0))), seed=1, until=1.0)
    assert len(str(caught.value).splitlines()) == 5


def test_a_cascade_within_one_instant_is_stopped_and_what_was_seen_is_kept() -> None:
    route = Route("call", "pool", tries=10**9, pause=RetryPause(0.0))
    result = simulate(one_call(route, Station("pool", 1, Service(1.0), room=0), rate=5.0), seed=1, until=100)
    assert "1,000,000 events happened without the clock going on; route call sent" in result.stopped
    assert result.counters["web.completed"] + result.counters["web.in_flight"] == result.counters["web.arrivals"]


def test_a_storm_of_retries_stops_at_its_limit_of_memory() -> None:
    route = Route("call", "pool", tries=10**9, per_try=0.01, pause=RetryPause(0.0))
    program = one_call(route, Station("pool", 1, Service(1.0)), rate=100.0)
    result = simulate(program, seed=1, until=100, limits=Limits(live=20_000))
    assert "more than 20,000 requests, calls or tries were alive" in result.stopped
    assert 0 < result.end < 100
    assert 20_000 < result.counters["call.at_station"] < 45_000


def test_a_run_stops_at_its_limit_of_events_and_can_be_read() -> None:
    route = Route("call", "pool", tries=10**9, pause=RetryPause(1e-9, factor=1.0))
    program = one_call(route, Station("pool", 1, Service(1.0), room=0), rate=5.0)
    result = simulate(program, seed=1, until=100, limits=Limits(events=50_000))
    assert "the limit of 50,000 events was reached" in result.stopped
    assert result.events == 50_000


def test_bursts_replace_the_rate() -> None:
    bursts = (RateBurst(10.0, 2.0, 1.0, every=5.0),)
    result = simulate(one_call(kind="regular", rate=1.0, bursts=bursts), seed=1, until=10)
    come = np.diff(result.series["web.arrivals"])
    assert list(come) == [1, 1, 10, 1, 1, 1, 1, 10, 1, 1]


def test_bursts_of_nothing_and_rates_of_zero() -> None:
    result = simulate(one_call(rate=0.0), seed=1, until=10)
    assert result.counters["web.arrivals"] == 0
    quiet = simulate(one_call(kind="regular", rate=1.0, bursts=(RateBurst(0.0, 2.0, 5.0),)), seed=1, until=10)
    assert list(quiet.series["web.arrivals"]) == [0, 1, 2, 2, 2, 2, 2, 2, 3, 4, 5]
