"""What crosses the edge, the way back, the safe region; and the request-level engine as the referee of all three."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bench.references.metastable_calls import chance, escapes, healthy, program, safe_region, study
from coherence.base.errors import UsageError
from coherence.base.queueing import erlang_b
from coherence.simulate.metastability import fluid
from coherence.simulate.metastability.fluid import Disturbance, course, smallest_burst, smallest_pause
from coherence.simulate.metastability.load_map import PortraitVerdict, Retrying
from coherence.simulate.metastability.retry_chain_models import noise
from coherence.simulate.metastability.waits import Server
from tests.draws import few

WORKERS = Server(4, 0.04, 0.25)
HALF_LOAD = Retrying(50.0, 3, WORKERS)
PAUSE = Disturbance(3.0)
MEASURED: dict[str, tuple[dict[str, Any], bool]] = {  # on nginx, HAProxy and Envoy: does it collapse?
    "three tries": ({}, True),
    "one try": ({"tries": 1}, False),
    "Envoy's breaker": ({"most_retries": 3.0}, False),
    "budget of 20 %": ({"share": 0.2, "floor": 3.0}, False),
}


# --- the fluid


@pytest.mark.parametrize("name", MEASURED)
def test_a_pause_of_three_seconds_does_what_was_measured(name: str) -> None:
    change, collapses = MEASURED[name]
    assert course(replace(HALF_LOAD, **change), PAUSE).collapses is collapses


def test_one_try_drains_at_the_spare_capacity() -> None:
    """150 tries wait, 50 a second are to spare, and 25 of them are served within 250 ms: 2.5 s."""
    found = course(replace(HALF_LOAD, tries=1), PAUSE)
    assert found.backlog == pytest.approx(150.0)
    assert found.recovery == pytest.approx(2.5, abs=0.02)


def test_a_pause_collects_first_tries_and_their_retries() -> None:
    """50 a second for 3 s, again from 0.25 s on, again from 0.5 s on: 50 (3 + 2.75 + 2.5)."""
    assert course(HALF_LOAD, PAUSE).backlog == pytest.approx(50 * (3 + 2.75 + 2.5))


def test_the_shortest_pause_by_hand() -> None:
    """A pause of s in (T, 2 T) leaves 50 (2 s - T) tries: a delay of T at s = (100 T / 50 + T) / 2 = 375 ms."""
    assert smallest_pause(HALF_LOAD).seconds == pytest.approx(0.375, abs=0.007)


def test_the_shortest_burst_is_one_that_delays_by_the_limit() -> None:
    """150 a second exceed the capacity by 50: 25 tries, or 250 ms of queue, after 0.5 s."""
    assert 0.5 <= smallest_burst(HALF_LOAD, 150.0).seconds <= 0.6
    assert math.isinf(smallest_burst(HALF_LOAD, 90.0).seconds)


def test_what_cannot_last_is_never_reached() -> None:
    for change, collapses in MEASURED.values():
        assert math.isinf(smallest_pause(replace(HALF_LOAD, **change)).seconds) is not collapses


def test_a_breaker_bounds_first_tries_too() -> None:
    found = course(replace(HALF_LOAD, breaker=20.0), PAUSE)
    assert found.backlog <= 20.0 * 3 / 0.25 + 20
    assert not found.collapses


def test_tries_without_end_are_followed() -> None:
    assert course(replace(HALF_LOAD, tries=math.inf), PAUSE).collapses


@pytest.mark.parametrize(
    ("tries", "per_try", "between", "lasts"), [(2, 0.21408157709575015, 0.0, 1.0), (4, 0.4685526133391362, 0.5, 2.0)]
)
def test_retries_that_just_fill_the_capacity_keep_a_backlog(
    tries: int, per_try: float, between: float, lasts: float
) -> None:
    """Rounded sums of a cycle lie one digit below what is served; the backlog stands all the same."""
    call = Retrying(100.0 / tries, tries, replace(WORKERS, per_try=per_try), pause=between)
    found = course(call, Disturbance(lasts))
    assert found.followed
    assert found.collapses


@pytest.mark.slow
def test_a_backlog_that_is_not_followed_decides_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    """A pause of 1 s is cut before it settles: whether it collapses is open, and longer ones settle no sooner."""
    settled = smallest_pause(HALF_LOAD)
    monkeypatch.setattr(fluid, "_MOST_CYCLES", 2)
    cut = course(HALF_LOAD, Disturbance(1.0))
    assert (cut.followed, cut.collapses) == (False, False)
    found = smallest_pause(HALF_LOAD)
    assert found.undecided
    assert found.seconds >= settled.seconds


def test_cancelled_tries_are_not_followed() -> None:
    with pytest.raises(UsageError, match="abandon"):
        course(replace(HALF_LOAD, server=replace(WORKERS, cancel=True)), PAUSE)


calls = st.builds(
    lambda use, tries, patience: Retrying(use * 100.0, tries, replace(WORKERS, per_try=patience)),
    st.floats(0.1, 0.9),
    st.integers(1, 5),
    st.floats(0.1, 1.0),
)


@settings(max_examples=30, deadline=None)
@given(calls, st.floats(0.05, 4.0), st.floats(1.1, 3.0))
def test_a_longer_pause_never_helps(call: Retrying, lasts: float, longer: float) -> None:
    """What makes bisection for the shortest one sound."""
    one, other = course(call, Disturbance(lasts)), course(call, Disturbance(lasts * longer))
    assert other.backlog >= one.backlog - 1e-9
    assert one.followed
    assert other.followed
    assert other.collapses or not one.collapses


@settings(max_examples=30, deadline=None)
@given(calls, st.floats(0.05, 4.0))
def test_more_tries_never_help(call: Retrying, lasts: float) -> None:
    one, other = (course(replace(call, tries=call.tries + more), Disturbance(lasts)) for more in (0, 1))
    assert other.recovery >= one.recovery - call.server.per_try / 10


@settings(max_examples=30, deadline=None)
@given(calls)
def test_a_collapse_needs_an_overload_that_lasts(call: Retrying) -> None:
    found = smallest_pause(call)
    assert not found.undecided
    assert math.isfinite(found.seconds) is (call.tries * call.rate >= call.capacity)


# --- study and region


def test_a_study_of_half_load() -> None:
    found = study(HALF_LOAD)
    assert found.portrait.verdict is PortraitVerdict.METASTABLE
    assert found.margin == pytest.approx(-0.5)
    assert found.pause == smallest_pause(HALF_LOAD)
    assert study(replace(HALF_LOAD, share=0.2)).margin == pytest.approx(0.375)
    assert study(replace(HALF_LOAD, rate=120.0)).pause.seconds == 0.0


def test_the_safe_region_of_half_load_by_hand() -> None:
    """An overload of less than 100 a second: 1 try (2 would touch), 33.3 first tries, half of the tries as retries,
    7 workers; of 25 retries or 37.5 tries wanted in flight as many places as carry less; no patience helps."""
    found = safe_region(HALF_LOAD)
    retries = max(n for n in range(40) if 100 * (1 - erlang_b(n, 25.0)) < 50)
    tries = max(n for n in range(40) if 150 * (1 - erlang_b(n, 37.5)) < 100)
    assert found.tries == 1
    assert found.rate == pytest.approx(100 / 3, rel=1e-5)
    assert found.share == pytest.approx(0.5, rel=1e-5)
    assert (found.most_retries, found.breaker) == (retries, tries)
    assert (found.servers, found.per_try) == (7, None)


def test_a_safe_call_has_no_bound_on_what_is_capped() -> None:
    """Of first tries so many are safe as leave room for three retries in flight: 100 - 12 a second, and little more."""
    found = safe_region(replace(HALF_LOAD, most_retries=3.0))
    assert found.tries == math.inf
    assert found.rate is not None
    assert 88.0 <= found.rate < 88.5


@pytest.mark.slow
@settings(max_examples=few(15), deadline=None)
@given(calls)
def test_each_bound_is_safe_and_the_next_step_is_not(call: Retrying) -> None:
    found = safe_region(call)
    if found.tries is not None and math.isfinite(found.tries):
        assert healthy(replace(call, tries=found.tries))
        assert not healthy(replace(call, tries=found.tries + 1))
    if found.servers is not None and found.servers > 1:
        assert healthy(replace(call, server=replace(call.server, servers=int(found.servers))))
        assert not healthy(replace(call, server=replace(call.server, servers=int(found.servers) - 1)))
    if found.most_retries is not None and math.isfinite(found.most_retries):
        assert healthy(replace(call, most_retries=found.most_retries))
        assert not healthy(replace(call, most_retries=found.most_retries + 1))


def test_wilsons_interval_has_its_textbook_values() -> None:
    share, low, high = chance([1.0] * 10 + [9.0] * 10, 5.0, deviations=1.96)
    assert (share, low, high) == pytest.approx((0.5, 0.2993, 0.7007), abs=1e-4)
    with pytest.raises(UsageError, match="no runs"):
        chance([], 1.0)


# --- the request-level engine


@pytest.mark.parametrize("name", MEASURED)
def test_requests_do_what_was_measured(name: str) -> None:
    """Noise and all: after a pause at 20 s, amplification and answers over the last 20 of 80 s."""
    from coherence.simulate.requests.engine import simulate

    change, collapses = MEASURED[name]
    call = replace(HALF_LOAD, **change)
    found = simulate(program(call, pause=3.0, at=20.0), seed=1, until=80.0)
    late = found.requests.end >= 60.0
    tries, good = found.requests.tries[late].mean(), found.requests.completed[late].mean()
    if collapses:
        assert tries > 2.95
        assert good == 0.0
    else:
        assert tries < 1.05
        assert good > 0.95


@pytest.mark.parametrize(("pause", "collapses"), [(0.5, True), (2.0, True), (10.0, False)])
def test_pauses_between_tries_count(pause: float, collapses: bool) -> None:
    """Retries that come 10 s later find the queue of a 3 s outage drained; those that come 2 s later do not."""
    from coherence.simulate.requests.engine import simulate

    call = replace(HALF_LOAD, pause=pause)
    assert course(call, PAUSE).collapses is collapses
    found = simulate(program(call, pause=3.0, at=20.0), seed=1, until=120.0)
    late = found.requests.end >= 90.0
    assert bool(found.requests.completed[late].mean() < 0.05) is collapses


@pytest.mark.parametrize("name", ["one try", "Envoy's breaker", "budget of 20 %"])
def test_requests_recover_when_the_fluid_does(name: str) -> None:
    """From the end of the pause until the last late try of the disturbance, within a fifth (the mean of 20 runs)."""
    from coherence.simulate.requests.engine import simulate

    call = replace(HALF_LOAD, **MEASURED[name][0])
    times = []
    for seed in range(20):
        found = simulate(program(call, pause=3.0, at=5.0), seed=seed, until=20.0, sample_every=0.05)
        long = found.series["workers.queue"] >= call.capacity * call.server.per_try
        times.append(float(found.series["time"][long & (found.series["time"] < 16.0)].max()) - 8.0)
    assert sum(times) / len(times) == pytest.approx(course(call, PAUSE).recovery, rel=0.2)


@pytest.mark.parametrize("tries", [2, pytest.param(3, marks=pytest.mark.slow)])
def test_noise_escapes_as_the_chain_says(tries: int) -> None:
    """80 % load: the chance within 20 s and a minute lies in the 99 % interval of 120 request-level runs."""
    call = replace(HALF_LOAD, rate=80.0, tries=tries)
    times, found = escapes(call, seeds=range(120), until=60.0), noise(call)
    for within in (20.0, 60.0):
        _, low, high = chance(times, within)
        assert low <= found.chance(within) <= high


@pytest.mark.slow
def test_noise_at_less_load_is_within_the_factor_that_is_stated() -> None:
    """70 % load: retries come back together after a constant time, not spread: at most a factor of two sooner."""
    call = replace(HALF_LOAD, rate=70.0, tries=2)
    times, found = escapes(call, seeds=range(30), until=300.0), noise(call)
    _, low, high = chance(times, 300.0)
    faster = -math.expm1(-300.0 / (found.low_to_high / 2))
    assert low <= faster
    assert found.chance(300.0) <= high
