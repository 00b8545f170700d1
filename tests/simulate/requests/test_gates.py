"""Limits on tries, deadlines of requests and cases in the request-level engine, by hand and by closed forms."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from scipy.stats import gamma, lognorm

from coherence.base.errors import UsageError
from coherence.base.queueing import erlang_b
from coherence.simulate.requests.draws import unit_service
from coherence.simulate.requests.engine import OUTCOMES, RequestResult, simulate
from coherence.simulate.requests.program import (
    Arrivals,
    Gate,
    PlanShare,
    Program,
    RetryPause,
    Route,
    Service,
    Source,
    Station,
)
from coherence.simulate.requests.service_means import mean_of
from tests.simulate.requests.programs import one_call

QUICK = Station("pool", 1000, Service(0.0, "constant"))
SECOND = Station("pool", 1, Service(1.0, "constant"))


def gated(gate: Gate, route: Route | None = None, **arrivals: Any) -> RequestResult:
    program = replace(one_call(route, QUICK, **arrivals), gates=(gate,))
    return simulate(program, seed=1, until=100)


def ends(result: RequestResult) -> list[float]:
    return [round(float(end), 9) for end in result.requests.end]


def outcomes(result: RequestResult) -> list[str]:
    return [OUTCOMES[number] for number in result.requests.outcome]


def test_any_window_lets_so_many_through() -> None:
    gate = Gate("quota", ("call",), most=2, window=10)
    result = gated(gate, kind="trace", times=(1.0, 2.0, 3.0, 9.9, 10.0, 11.0, 12.0))
    assert outcomes(result) == ["completed", "completed", "rejected", "rejected", "rejected", "completed", "completed"]
    assert result.counters["call.rejected"] == 3


def test_a_window_that_counts_what_it_refuses_stays_full() -> None:
    gate = Gate("quota", ("call",), most=2, window=10, counts_refused=True)
    result = gated(gate, kind="trace", times=(1.0, 2.0, 9.0, 11.5, 18.0, 28.5, 29.0))
    assert outcomes(result) == ["completed", "completed", "rejected", "rejected", "rejected", "completed", "completed"]


def test_random_arrivals_at_a_window_are_lost_as_at_as_many_servers_of_constant_time() -> None:
    # a place is taken for one window: Erlang's loss formula, which holds whatever the law of the times
    result = simulate(
        replace(one_call(station=QUICK, rate=10.0), gates=(Gate("q", ("call",), 5, 1.0),)), seed=1, until=4000
    )
    assert float((result.requests.outcome == 0).mean()) == pytest.approx(1 - erlang_b(5, 10.0), abs=0.005)


def test_what_waits_is_sent_in_its_turn_as_soon_as_there_is_room() -> None:
    gate = Gate("quota", ("call",), most=2, window=10, waits=True)
    result = gated(gate, kind="trace", times=(1.0, 2.0, 3.0, 4.0, 5.0, 21.0, 22.0))
    assert ends(result) == [1, 2, 11, 12, 21, 22, 31]


def test_a_refusal_of_a_window_is_tried_again() -> None:
    gate, route = (
        Gate("quota", ("call",), most=1, window=10),
        Route("call", "pool", tries=3, pause=RetryPause(6.0, 1.0)),
    )
    result = gated(gate, route, kind="trace", times=(0.0, 1.0))
    assert outcomes(result) == ["completed", "completed"]
    assert ends(result) == [0, 13]


def test_a_bucket_lets_a_burst_through_and_then_the_rate() -> None:
    gate = Gate("bucket", ("call",), most=2, rate=0.5)
    result = gated(gate, kind="trace", times=(0.0, 0.0, 0.0, 1.9, 2.0, 3.9, 4.0))
    good, bad = "completed", "rejected"
    assert outcomes(result) == [good, good, bad, bad, good, bad, good]


def test_a_bucket_of_one_under_random_arrivals_lets_through_what_a_dead_time_would() -> None:
    # a bucket of one that fills at rate r is busy for 1/r after each request: r / (r + lambda) are let through
    program = replace(one_call(station=QUICK, rate=20.0), gates=(Gate("b", ("call",), most=1, rate=5.0),))
    result = simulate(program, seed=3, until=4000)
    share = float((result.requests.outcome == 0).mean())
    # tokens beyond a full bucket are lost and parts of one are kept: it is between the dead time of a whole filling and
    # the rate itself
    assert 5 / (5 + 20) < share < 5 / 20


def test_a_large_bucket_lets_everything_through_below_its_rate_and_the_rate_above() -> None:
    program = replace(one_call(station=QUICK, rate=4.0), gates=(Gate("b", ("call",), most=50, rate=5.0),))
    assert float((simulate(program, seed=4, until=4000).requests.outcome == 0).mean()) > 0.999
    heavy = replace(program, gates=(Gate("b", ("call",), most=50, rate=3.0),))
    assert float((simulate(heavy, seed=4, until=4000).requests.outcome == 0).mean()) == pytest.approx(0.75, abs=0.01)


def test_a_request_that_has_not_ended_by_its_deadline_fails_and_its_work_is_withdrawn_or_left() -> None:
    for cancel, served in ((True, 1), (False, 3)):
        base = one_call(Route("call", "pool", cancel=cancel), SECOND, kind="trace", times=(0.0, 0.1, 0.2))
        program = replace(base, sources=(replace(base.sources[0], deadline=1.0),))
        result = simulate(program, seed=1, until=10)
        assert outcomes(result) == ["completed", "deadline", "deadline"]
        assert ends(result) == [1.0, 1.1, 1.2]
        assert result.counters["pool.served"] == served
        assert result.counters["web.in_flight"] == 0


def test_a_deadline_gives_up_both_branches_of_a_fork_and_pauses() -> None:
    source = Source("web", Arrivals("trace", times=(0.0,)), (("a", "b"),), deadline=2.5)
    routes = (Route("a", "pool", cancel=True), Route("b", "none", tries=9, pause=RetryPause(1.0, 1.0)))
    stations = (Station("pool", 1, Service(9.0, "constant")), Station("none", 0, Service(1.0), room=0))
    result = simulate(Program((source,), stations, routes), seed=1, until=20)
    assert outcomes(result) == ["deadline"]
    assert ends(result) == [2.5]
    assert result.counters["b.tries"] == 3
    assert result.counters["a.open"] == result.counters["b.open"] == 0


def test_deadlines_under_load_are_those_of_impatient_customers() -> None:
    # M/D/1 with services longer than the deadline: nobody is served in time
    base = one_call(Route("call", "pool", cancel=True), SECOND, rate=0.5)
    result = simulate(replace(base, sources=(replace(base.sources[0], deadline=0.99),)), seed=2, until=500)
    assert set(outcomes(result)) == {"deadline"}


def test_requests_follow_their_cases_as_often_as_their_weights_say() -> None:
    cases = (PlanShare("hit", 3.0, (("near",),)), PlanShare("miss", 1.0, (("near",), ("far",))))
    program = Program(
        (Source("web", Arrivals(rate=50.0), cases[0].plan, cases=cases),),
        (Station("cache", 1000, Service(0.0)), Station("store", 1000, Service(0.0))),
        (Route("near", "cache"), Route("far", "store")),
    )
    counters = simulate(program, seed=5, until=1000).counters
    assert counters["near.calls"] == counters["web.arrivals"]
    assert counters["far.calls"] / counters["near.calls"] == pytest.approx(0.25, abs=0.006)


def test_a_station_draws_a_case_for_each_try() -> None:
    cases = (PlanShare("a", 1.0, (("left",),)), PlanShare("b", 1.0, (("right",),)))
    program = Program(
        (Source("web", Arrivals(rate=20.0), (("in",),)),),
        (
            Station("front", 1000, Service(0.0), plan=cases[0].plan, cases=cases),
            Station("l", 1, Service(0.05)), Station("r", 1, Service(0.05)),
        ),
        (Route("in", "front"), Route("left", "l"), Route("right", "r")),
    )  # fmt: skip
    result = simulate(program, seed=5, until=4000)
    # halves of a Poisson stream are Poisson: M/M/1 with 10/s at 20/s
    assert float(result.requests.latency.mean()) == pytest.approx(1 / (20 - 10), rel=0.03)


QUANTILES = ((0.0, 0.01), (0.5, 0.03), (0.99, 0.2), (1.0, 0.4))
LAWS = [
    Service(0.04, most=0.05),
    Service(0.04, "gamma", 2.0, most=0.05),
    Service(0.04, "lognormal", 1.5, most=0.05),
    Service(0.04, "uniform", 0.4, most=0.05),
    Service(0.04, "hyperexponential", 2.0, most=0.05),
    Service(0.04, "constant", 0.0, most=0.03),
    Service(0.068, "quantiles", quantiles=QUANTILES, most=0.1),
    Service(1.0, values=(0.1, 0.5), most=0.2),
]


@pytest.mark.parametrize("service", LAWS, ids=lambda service: service.family)
def test_the_mean_of_times_that_are_cut_is_that_of_draws(service: Service) -> None:
    scale = 1.0 if service.values else service.mean
    drawn = unit_service(1, "x", service)(400_000) * scale
    assert drawn.max() <= service.most * (1 + 1e-12)
    assert float(drawn.mean()) == pytest.approx(mean_of(service), rel=0.006)


def test_means_of_cut_times_agree_with_the_distributions_of_scipy() -> None:
    cut = mean_of(Service(1.0, "gamma", 0.5, most=1.2))
    assert cut == pytest.approx(gamma(4, scale=0.25).expect(lambda x: np.minimum(x, 1.2)), rel=1e-6)
    sigma = math.sqrt(math.log1p(0.25))
    wide = lognorm(sigma, scale=math.exp(-(sigma**2) / 2))
    assert mean_of(Service(1.0, "lognormal", 0.5, most=1.2)) == pytest.approx(
        wide.expect(lambda x: np.minimum(x, 1.2)), rel=1e-6
    )


def test_draws_have_the_quantiles_that_were_measured() -> None:
    drawn = unit_service(2, "x", Service(0.068, "quantiles", quantiles=QUANTILES))(400_000) * 0.068
    for share, time in QUANTILES[1:3]:
        assert float(np.quantile(drawn, share)) == pytest.approx(time, rel=0.02)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"gates": (Gate("q", ("nowhere",), 1, window=1),)}, "is not known"),
        ({"gates": (Gate("q", ("call",), 0.5, window=1, waits=True),)}, "wait for ever"),
        ({"gates": (Gate("q", ("call",), -1, window=1),)}, "most = -1"),
        ({"gates": (Gate("q", ("call",), 1e8, window=1),)}, "at most 10,000,000"),
    ],
)
def test_gates_that_cannot_be_meant_are_refused(change: dict[str, Any], message: str) -> None:
    with pytest.raises(UsageError, match=message):
        simulate(replace(one_call(), **change), seed=1, until=1)


def test_cases_without_a_weight_are_refused() -> None:
    base = one_call()
    source = replace(base.sources[0], cases=(PlanShare("hit", 0.0, (("call",),)),))
    with pytest.raises(UsageError, match="no case has a weight above 0"):
        simulate(replace(base, sources=(source,)), seed=1, until=1)
