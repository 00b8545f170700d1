"""The load map: closed forms of waiting, all fixed points, and what more or less of everything does."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from coherence.base.errors import UsageError
from coherence.base.queueing import erlang_b, erlang_c
from coherence.simulate.metastability.load_map import Portrait, PortraitVerdict, Retrying, load_map, overload, portrait
from coherence.simulate.metastability.waits import Server, lateness
from tests.draws import few

WORKERS = Server(4, 0.04, 0.25)
HALF_LOAD = Retrying(50.0, 3, WORKERS)


# --- waiting


def test_one_server_is_late_as_the_sojourn_of_mm1() -> None:
    found = lateness(Server(1, 0.1, 3.0), 7.0)
    assert found.late == pytest.approx(math.exp(-(10 - 7) * 3.0), rel=1e-12)
    assert found.in_flight == pytest.approx((1 - math.exp(-9.0)) / 3, rel=1e-12)


@pytest.mark.parametrize("load", [0.0, 30.0, 75.0, 75.0 + 1e-9, 90.0, 99.99])
def test_many_servers_are_late_as_the_tail_of_mmc(load: float) -> None:
    """P(W + S > T) by numerical convolution of the wait (an atom at 0 and an exponential) with the service."""
    waits, decay, mean, limit, steps = erlang_c(4, load * 0.04), 100.0 - load, 0.04, 0.25, 20_000
    width = limit / steps
    within = [
        math.exp(-decay * (k + 0.5) * width) * math.exp(-(limit - (k + 0.5) * width) / mean) for k in range(steps)
    ]
    waited = math.exp(-decay * limit) + decay * width * sum(within)
    expected = (1 - waits) * math.exp(-limit / mean) + waits * waited
    assert lateness(WORKERS, load).late == pytest.approx(expected, rel=1e-6)


def test_at_saturation_everything_is_late() -> None:
    assert lateness(WORKERS, 100.0 - 1e-7).late == pytest.approx(1.0, abs=1e-6)
    assert lateness(WORKERS, 100.0).late == 1.0
    assert lateness(WORKERS, 100.0).in_flight == 0.25


def test_service_without_spread_is_late_when_the_wait_is() -> None:
    constant = replace(WORKERS, cv=0.0)
    assert lateness(constant, 60.0).late == pytest.approx(erlang_c(4, 2.4) * math.exp(-2 * 40.0 * (0.25 - 0.04)))
    assert lateness(replace(constant, per_try=0.03), 1.0).late == 1.0


def test_more_spread_is_later() -> None:
    late = [lateness(replace(WORKERS, cv=cv), 80.0).late for cv in (0.0, 0.5, 1.0, 2.0)]
    assert late == sorted(late)


def test_cancelled_tries_of_one_server_follow_the_truncated_wait() -> None:
    """By integrating the density of the virtual wait of M/M/1 on [0, T]."""
    load, mean, limit, steps = 12.0, 0.1, 0.5, 20_000
    width = limit / steps
    at = [(k + 0.5) * width for k in range(steps)]
    density = [load * math.exp((load - 10.0) * x) for x in at]
    idle = 1 / (1 + width * sum(density))
    late = idle * (
        math.exp(-limit / mean)
        + width * sum(d * math.exp(-(limit - x) / mean) for d, x in zip(density, at, strict=True))
    )
    assert lateness(Server(1, mean, limit, cancel=True), load).late == pytest.approx(late, rel=1e-6)


def test_cancelled_tries_never_take_more_than_the_capacity() -> None:
    server = replace(WORKERS, cancel=True)
    assert lateness(server, 1000.0).late == pytest.approx(0.9, rel=1e-6)
    assert lateness(server, 1e6).late == pytest.approx(1 - 1e-4, rel=1e-6)


def test_cancelled_services_of_many_servers_want_a_limit_of_several_services() -> None:
    with pytest.raises(UsageError, match="simulate"):
        lateness(Server(2, 0.1, 0.2, cancel=True), 5.0)


def test_a_limit_that_never_ends_makes_nothing_late() -> None:
    for cancel in (False, True):
        assert lateness(Server(4, 0.04, 1e6, cancel=cancel), 80.0).late == pytest.approx(0.0, abs=1e-12)


# --- the map


def test_half_load_has_three_operating_points() -> None:
    found = portrait(HALF_LOAD)
    assert [point.stable for point in found.points] == [True, False, True]
    assert [point.sends for point in found.points] == pytest.approx([1.002, 1.955, 3.0], abs=5e-4)
    assert found.verdict is PortraitVerdict.METASTABLE
    healthy, edge, collapsed = found.points
    assert found.basin(healthy) == (0.0, edge.load)
    assert found.basin(collapsed) == (edge.load, math.inf)
    assert collapsed.late == 1.0


def test_one_try_is_the_queue_itself() -> None:
    found = portrait(replace(HALF_LOAD, tries=1))
    (point,) = found.points
    assert point.load == 50.0
    assert point.late == lateness(WORKERS, 50.0).late
    assert found.verdict is PortraitVerdict.HEALTHY


def test_patience_without_end_needs_no_retry_but_keeps_the_overload() -> None:
    found = portrait(replace(HALF_LOAD, server=replace(WORKERS, per_try=1e4)))
    assert found.points[0].load == pytest.approx(50.0)
    assert found.points[0].late == pytest.approx(0.0, abs=1e-12)


@pytest.mark.parametrize(
    ("change", "load"),
    [
        ({"share": 0.2}, 62.5),
        ({"share": 0.2, "of_first": True}, 60.0),
        ({"share": 0.0}, 50.0),
        ({"share": 0.2, "floor": 3.0}, 62.5),
        ({"share": 0.1, "floor": 3.0}, 50 + 100 * (1 - erlang_b(3, 25.0))),
        ({"most_retries": 3.0}, 50 + 100 * (1 - erlang_b(3, 25.0))),
        ({"breaker": 20.0}, 150 * (1 - erlang_b(20, 37.5))),
        ({"tries": math.inf, "most_retries": 3.0}, 50 + 3 / 0.25),
    ],
)
def test_caps_bound_the_overload(change: dict[str, float], load: float) -> None:
    call = replace(HALF_LOAD, **change)  # type: ignore[arg-type]
    assert overload(call) == pytest.approx(load)
    assert portrait(call).verdict is PortraitVerdict.HEALTHY


def test_a_count_in_flight_carries_less_than_it_allows() -> None:
    """Erlang's loss: 3 places for 3.6 wanted ones hold 2.1 retries on average, 8.8 a second of 240 ms each."""
    call = Retrying(15.0, 2, Server(1, 0.04, 0.24), most_retries=3.0)
    assert overload(call) == pytest.approx(15 + 3.6 * (1 - erlang_b(3, 3.6)) / 0.24)
    assert 23.0 < overload(call) < 25.0 < 15 + 3 / 0.24


def test_nothing_to_retry_within_a_budget_of_nothing() -> None:
    found = portrait(replace(HALF_LOAD, share=0.0))
    assert [point.load for point in found.points] == pytest.approx([50.0], abs=1e-6)


@pytest.mark.parametrize(
    ("rate", "verdict"),
    [(80.0, PortraitVerdict.METASTABLE), (90.0, PortraitVerdict.COLLAPSED), (120.0, PortraitVerdict.COLLAPSED)],
)
def test_more_load_has_no_healthy_point(rate: float, verdict: PortraitVerdict) -> None:
    assert portrait(replace(HALF_LOAD, rate=rate)).verdict is verdict


def test_at_80_percent_the_mean_field_sees_little() -> None:
    healthy = portrait(replace(HALF_LOAD, rate=80.0)).healthy
    assert healthy is not None
    assert healthy.sends == pytest.approx(1.022, abs=1e-3)


@pytest.mark.parametrize("rate", [10.0, 50.0, 95.0])
def test_cancelled_tries_have_one_operating_point(rate: float) -> None:
    found = portrait(Retrying(rate, 3, replace(WORKERS, cancel=True)))
    assert len(found.points) == 1
    assert found.verdict is PortraitVerdict.HEALTHY


def test_verdicts_rest_on_the_overload_not_on_points_below_the_capacity() -> None:
    call = Retrying(3.0, 5, Server(1, 0.1, 3.0), most_retries=19)
    assert overload(call) < call.capacity
    assert portrait(call).verdict is PortraitVerdict.HEALTHY
    assert portrait(replace(call, most_retries=40)).verdict is PortraitVerdict.METASTABLE


# --- laws

servers = st.builds(
    Server,
    st.integers(1, 12),
    st.floats(0.01, 1.0),
    st.floats(0.02, 10.0),
    st.sampled_from([0.0, 0.5, 1.0, 1.5]),
)
calls = st.builds(
    lambda server, use, tries: Retrying(use * server.capacity, tries, server),
    servers,
    st.floats(0.05, 0.95),
    st.integers(1, 6),
)


@settings(max_examples=100, deadline=None)
@given(servers, st.floats(0.0, 1.2), st.floats(0.0, 1.2), st.booleans())
@example(Server(1, 1.0, 0.5), 1.0, 5e-324, True)
def test_late_tries_and_time_in_flight_grow_with_the_load(
    server: Server, one: float, other: float, cancel: bool
) -> None:
    """What makes the enclosure of the map, and with it the list of fixed points, complete."""
    if cancel:
        patient = server.per_try if server.servers == 1 else max(server.per_try, 5 * server.mean)
        server = replace(server, cancel=True, cv=1.0, per_try=patient)
    low, high = sorted((one * server.capacity, other * server.capacity))
    below, above = lateness(server, low), lateness(server, high)
    assert 0 <= below.late <= above.late + 1e-9 <= 1 + 2e-9
    assert 0 <= below.in_flight <= above.in_flight * (1 + 1e-9) + 1e-12
    assert above.in_flight <= server.per_try * (1 + 1e-12)


@settings(max_examples=few(60), deadline=None)
@given(calls)
def test_every_sign_change_is_a_listed_point(call: Retrying) -> None:
    """An independent, even scan finds no crossing of the diagonal that the portrait lacks."""
    found = portrait(call)
    grid = [call.rate + (call.capacity - call.rate) * k / 400 for k in range(400)]
    signs = [load_map(call, load) > load for load in grid]
    for before, after, left, right in zip(signs, signs[1:], grid, grid[1:], strict=False):
        if before != after:
            assert any(
                left - 1e-6 * call.capacity <= point.load <= right + 1e-6 * call.capacity for point in found.points
            )
    inside = [point for point in found.points if point.load < call.capacity * (1 - 1e-6)]
    for point in inside:
        assert load_map(call, point.load) == pytest.approx(point.load, abs=1e-9 * call.capacity)
    kinds = [point.stable for point in found.points]
    if found.verdict is not PortraitVerdict.UNRESOLVED:
        assert kinds == [k % 2 == 0 for k in range(len(kinds))]


def _order(found: Portrait) -> int:
    return [PortraitVerdict.HEALTHY, PortraitVerdict.METASTABLE, PortraitVerdict.COLLAPSED].index(found.verdict)


@settings(max_examples=60, deadline=None)
@given(calls, st.sampled_from(["tries", "rate", "servers", "share", "per_try"]))
def test_more_of_what_helps_never_hurts(call: Retrying, what: str) -> None:
    server = call.server
    worse = {
        "tries": replace(call, tries=call.tries + 1),
        "rate": replace(call, rate=call.rate * 1.1),
        "servers": call,
        "share": replace(call, share=0.5),
        "per_try": call,
    }[what]
    better = {
        "servers": replace(call, server=replace(server, servers=server.servers + 1)),
        "share": replace(call, share=0.2),
        "per_try": replace(call, server=replace(server, per_try=server.per_try * 1.5)),
    }.get(what, call)
    one, other = portrait(better), portrait(worse)
    if PortraitVerdict.UNRESOLVED not in (one.verdict, other.verdict):
        assert _order(one) <= _order(other)


def test_erlang_of_millions_of_servers_is_soon_known() -> None:
    blocked = 1.0
    for n in range(1, 3001):
        blocked = 2900.0 * blocked / (n + 2900.0 * blocked)
    assert erlang_b(3000, 2900.0) == pytest.approx(blocked, rel=1e-11)
    assert erlang_b(4_000_000_000, 2e9) == 0.0
    assert erlang_b(4_000_000, 4e6) == pytest.approx(math.sqrt(2 / (math.pi * 4e6)), rel=1e-3)  # Stirling
