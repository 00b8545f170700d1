"""What requests hold of servers: the stations count it by themselves, over all requests together."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import assume, given, settings

from coherence.simulate.requests.engine import Limits, RequestResult, simulate
from coherence.simulate.requests.program import Arrivals, BatchRule, Program, Route, Service, Source, Station
from coherence.simulate.requests.station_times import held_by_number, held_times
from tests.draws import few
from tests.simulate.requests.programs import one_call, programs

LIMITS = Limits(live=5_000, at_once=2_000, events=200_000)


def traced(program: Program, until: float = 25.0) -> RequestResult:
    return simulate(program, seed=1, until=until, limits=LIMITS, trace=True)


@pytest.mark.slow
@settings(max_examples=few(100), deadline=None)
@given(programs())
def test_requests_together_hold_what_stations_are_busy(program: Program) -> None:
    assume(all(station.discipline != "fair" for station in program.stations))
    result = traced(program)
    assert result.trace is not None
    busy = sum(result.work[f"{station.name}.busy_seconds"] for station in program.stations)
    assert held_by_number(result.trace, result.end).sum() == pytest.approx(busy, abs=1e-9)


@pytest.mark.slow
@settings(max_examples=few(100), deadline=None)
@given(programs())
def test_a_request_holds_no_less_than_its_need(program: Program) -> None:
    result = traced(program)
    held = held_times(result)
    if held is not None:
        assert (held >= result.requests.need).all()


def test_a_request_that_is_served_once_holds_its_need() -> None:
    result = traced(one_call(station=Station("pool", 2, Service(0.3))))
    held = held_times(result)
    assert held is not None
    assert held == pytest.approx(result.requests.need)


def test_a_server_goes_on_for_a_request_that_gave_up() -> None:
    result = traced(one_call(Route("call", "pool", per_try=0.5), Station("pool", 1, Service(2.0, "constant")),
                             kind="trace", times=(1.0,)))  # fmt: skip
    held = held_times(result)
    assert held is not None
    assert held.tolist() == pytest.approx([2.0])
    assert not result.requests.completed.any()


def test_a_try_that_is_withdrawn_holds_nothing_more() -> None:
    route = Route("call", "pool", per_try=0.5, cancel=True)
    result = traced(one_call(route, Station("pool", 1, Service(2.0, "constant")), kind="trace", times=(1.0,)))
    held = held_times(result)
    assert held is not None
    assert held.tolist() == pytest.approx([0.5])


def test_of_a_batch_each_request_holds_its_part() -> None:
    station = Station("pool", 1, Service(1.0), batch=BatchRule(2, 5.0, fixed=1.0, each=0.5))
    result = traced(one_call(station=station, kind="trace", times=(1.0, 1.0)))
    held = held_times(result)
    assert held is not None
    assert held.tolist() == pytest.approx([1.0, 1.0])


def test_a_server_is_held_while_it_waits_for_what_it_calls() -> None:
    pool = Station("pool", 1, Service(1.0, "constant"), plan=(("below",),))
    program = Program(
        (Source("web", Arrivals("trace", times=(0.0,)), (("call",),)),),
        (pool, Station("store", 1, Service(0.25, "constant"))),
        (Route("call", "pool"), Route("below", "store")),
    )
    held = held_times(traced(program))
    assert held is not None
    assert held.tolist() == pytest.approx([1.5])


def test_what_is_still_held_counts_until_the_run_ends() -> None:
    result = traced(one_call(Route("call", "pool", per_try=0.5), Station("pool", 1, Service(20.0, "constant")),
                             kind="trace", times=(1.0,)), until=3.0)  # fmt: skip
    held = held_times(result)
    assert held is not None
    assert held.tolist() == pytest.approx([2.0])


def test_shared_servers_and_runs_without_a_trace_tell_nothing() -> None:
    fair = one_call(station=Station("pool", 1, Service(1.0), discipline="fair"))
    assert held_times(traced(fair)) is None
    assert held_times(simulate(one_call(), seed=1, until=5.0)) is None
    assert np.isfinite(traced(fair).requests.end).all()
