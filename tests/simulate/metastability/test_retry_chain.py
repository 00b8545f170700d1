"""The retry chain, solved without subtraction: closed forms, exact fractions, scipy and the published numbers."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from coherence.base.errors import UsageError
from coherence.simulate.metastability.load_map import Retrying
from coherence.simulate.metastability.retry_chain import (
    Mode,
    RetryChain,
    chain,
    classify,
    generator,
    hitting_time,
    modes,
    second_eigenvalue,
    stationary,
)
from coherence.simulate.metastability.retry_chain_models import (
    Published,
    fits,
    following,
    late_behind,
    noise,
    overload_lasts,
    published,
    published_modes,
)
from coherence.simulate.metastability.waits import Server, lateness

README = Published(rate=9.5, service=10.0, timeout=3.0, retries=4)
BETWEEN = Published(rate=7.0, service=10.0, timeout=3.0, retries=3)
LIGHT = Published(rate=3.0, service=10.0, timeout=3.0, retries=4)


def queue(arrivals: float, services: float, room: int) -> RetryChain:
    """M/M/1 with `room` places: one phase."""
    return chain(room + 1, 1, lambda level, phase: {(1, 0): arrivals + 0 * phase, (-1, 0): services + 0 * level})


def scattered(seed: int, levels: int, phases: int) -> RetryChain:
    """Every step of at most one level and one phase, at random rates of many sizes."""
    made = np.random.default_rng(seed)
    steps = [(dq, do) for dq in (-1, 0, 1) for do in (-1, 0, 1) if (dq, do) != (0, 0)]
    rates = {step: 10.0 ** made.uniform(-3, 3, (levels, phases)) for step in steps}
    return chain(levels, phases, lambda level, phase: rates)  # noqa: ARG005


# --- the published chain


@pytest.mark.parametrize(
    ("model", "eigenvalue", "to_low", "to_high", "mode"),
    [
        (README, -0.0245, 5.565e13, 61.45, Mode.COLLAPSED),
        (BETWEEN, -5.88e-05, 1.642e6, 17210.0, Mode.METASTABLE),
        (LIGHT, -0.17, 32.7, 2.146e23, Mode.HEALTHY),
    ],
)
def test_published_numbers(model: Published, eigenvalue: float, to_low: float, to_high: float, mode: Mode) -> None:
    """To the digits that were published, but for two times beyond 1e13 s.

    A dense solver gave 5.478e13 and 2.2e15 s for those: its rounding error, the reciprocal of the condition.
    """
    found = published_modes(model)
    assert second_eigenvalue(published(model)).real == pytest.approx(eigenvalue, rel=3e-3)
    assert found.high_to_low == pytest.approx(to_low, rel=1.5e-3)
    assert found.low_to_high == pytest.approx(to_high, rel=5e-4)
    assert found.mode is mode


@pytest.mark.slow
def test_a_dense_solver_stops_at_its_rounding_error() -> None:
    """Where the answer is below 1e13 s both agree; beyond, the solver is off by a tenth or by orders of magnitude."""
    target = np.zeros((100, 20), dtype=bool)
    target[90:, 15:] = True
    assert dense_time(published(BETWEEN), 0, target) == pytest.approx(17210.5, rel=1e-5)
    assert dense_time(published(LIGHT), 0, target) < 1e17 < hitting_time(published(LIGHT), (0, 0), target)


@pytest.mark.parametrize("horizon", [62.0, 600.0, 3600.0, 17_000.0])
def test_the_classes_do_not_hang_on_the_horizon(horizon: float) -> None:
    found = [published_modes(model) for model in (README, BETWEEN, LIGHT)]
    kinds = [classify(one.low_to_high, one.high_to_low, horizon=horizon) for one in found]
    assert kinds == [Mode.COLLAPSED, Mode.METASTABLE, Mode.HEALTHY]


def test_stationary_mass_lies_where_the_class_says() -> None:
    assert published_modes(README).congested > 0.999
    assert published_modes(LIGHT).congested < 1e-12
    assert 0.01 < published_modes(BETWEEN).congested < 0.999


def test_modes_that_both_pass_are_restless() -> None:
    assert classify(10.0, 10.0) is Mode.RESTLESS
    assert classify(1e6, 10.0) is Mode.HEALTHY


# --- solving


def dense_time(made: RetryChain, start: int, target: Any) -> float:
    matrix, keep = generator(made).toarray(), ~target.ravel()
    times = np.zeros(made.states)
    times[keep] = np.linalg.solve(matrix[np.ix_(keep, keep)], -np.ones(keep.sum()))
    return float(times[start])


@pytest.mark.parametrize(("arrivals", "services"), [(5.0, 10.0), (10.0, 10.0), (1.0, 40.0)])
def test_first_passage_of_a_queue_is_its_closed_form(arrivals: float, services: float) -> None:
    """Mean time from 0 to n of a birth-death chain: sum over k < n of sum over j <= k of (mu / la)^(k - j) / la."""
    n, ratio = 30, Fraction(services) / Fraction(arrivals)
    exact = sum(sum(ratio**j for j in range(k + 1)) for k in range(n)) / Fraction(arrivals)
    target = np.zeros((n + 1, 1), dtype=bool)
    target[n] = True
    assert hitting_time(queue(arrivals, services, n), (0, 0), target) == pytest.approx(float(exact), rel=1e-12)


def test_times_far_beyond_rounding_are_exact() -> None:
    """4.8e43 s: an M/M/1 queue of ratio 32 that has to fill 30 places."""
    target = np.zeros((31, 1), dtype=bool)
    target[30] = True
    exact = sum(sum(Fraction(32) ** j for j in range(k + 1)) for k in range(30))
    assert float(exact) > 4e43
    assert hitting_time(queue(1.0, 32.0, 30), (0, 0), target) == pytest.approx(float(exact), rel=1e-12)


def test_stationary_queue_is_geometric() -> None:
    shares = stationary(queue(6.0, 10.0, 12))[:, 0]
    assert shares == pytest.approx(np.array([0.6**n for n in range(13)]) / sum(0.6**n for n in range(13)), rel=1e-12)


def test_the_second_eigenvalue_of_a_queue_is_its_closed_form() -> None:
    """-(la + mu) + 2 sqrt(la mu) cos(pi / (n + 1)) for n + 1 states 0 .. n (here n = 20)."""
    expected = -(6.0 + 10.0) + 2 * math.sqrt(60.0) * math.cos(math.pi / 21)
    assert second_eigenvalue(queue(6.0, 10.0, 20)).real == pytest.approx(expected, rel=1e-9)


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 10**6), st.integers(2, 6), st.integers(1, 5), st.data())
def test_hitting_times_agree_with_a_linear_solver(seed: int, levels: int, phases: int, data: st.DataObject) -> None:
    made = scattered(seed, levels, phases)
    flags = data.draw(st.lists(st.booleans(), min_size=made.states, max_size=made.states).filter(any))
    target = np.array(flags).reshape(levels, phases)
    start = data.draw(st.integers(0, made.states - 1))
    found = hitting_time(made, divmod(start, phases), target)
    assert found == pytest.approx(dense_time(made, start, target), rel=1e-6)


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 10**6), st.integers(2, 6), st.integers(1, 5))
def test_the_stationary_distribution_balances(seed: int, levels: int, phases: int) -> None:
    made = scattered(seed, levels, phases)
    shares, matrix = stationary(made).ravel(), generator(made)
    assert shares.min() >= 0
    assert shares.sum() == pytest.approx(1.0)
    assert np.abs(matrix.T @ shares).max() <= 1e-9 * np.abs(matrix.diagonal()).max()
    assert np.abs(np.asarray(matrix.sum(axis=1))).max() <= 1e-9 * np.abs(matrix.diagonal()).max()


def test_a_start_inside_the_target_takes_no_time() -> None:
    assert hitting_time(queue(1.0, 2.0, 3), (2, 0), np.ones((4, 1), dtype=bool)) == 0.0


def test_a_target_out_of_reach_takes_for_ever() -> None:
    still = chain(3, 1, lambda level, phase: {(-1, 0): 1.0 + 0 * (level + phase)})
    target = np.array([[False], [False], [True]])
    assert math.isinf(hitting_time(still, (0, 0), target))


def test_a_mode_of_another_shape_is_refused() -> None:
    with pytest.raises(UsageError, match="4 levels by 1 phases"):
        modes(queue(1.0, 2.0, 3), np.ones((2, 1), dtype=bool), np.ones((4, 1), dtype=bool))


# --- the chain that follows the load map


def test_one_try_is_mm1() -> None:
    call = Retrying(5.0, 1, Server(1, 0.1, 0.5))
    shares = stationary(following(call, room=80, orbit=2))
    assert shares[:, 0] == pytest.approx(np.array([0.5**n * 0.5 for n in range(80)]), rel=1e-9, abs=1e-15)


@pytest.mark.parametrize("server", [Server(1, 0.1, 0.5), Server(4, 0.04, 0.25), Server(3, 0.2, 0.1)])
def test_late_tries_by_what_they_find_average_to_the_sojourn(server: Server) -> None:
    """Arrivals see time averages: sum of P(n) P(late | n) of M/M/c is the tail of the sojourn."""
    load = 0.6 * server.capacity
    call = Retrying(load, 1, server)
    shares = stationary(following(call, room=200, orbit=2))[:, 0]
    late = late_behind(call, np.arange(200.0))
    assert float(shares @ late) == pytest.approx(lateness(server, load).late, rel=1e-9)
    assert np.all(np.diff(late) >= -1e-12)


def test_retries_at_half_load_wait_for_a_disturbance() -> None:
    quiet, busy = (noise(Retrying(rate, 3, Server(4, 0.04, 0.25))) for rate in (50.0, 80.0))
    assert quiet.low_to_high > 86_400 * 7
    assert busy.low_to_high < 60
    assert busy.chance(3600.0) > 0.999
    assert 0 < quiet.chance(3600.0) < 0.01


@pytest.mark.slow
@settings(max_examples=15, deadline=None)
@given(st.floats(30.0, 75.0), st.integers(1, 3))
def test_noise_needs_longer_at_less_load_and_fewer_tries(rate: float, tries: int) -> None:
    server = Server(4, 0.04, 0.25)
    less, more = noise(Retrying(rate, tries, server)), noise(Retrying(rate * 1.1, tries + 1, server))
    assert more.low_to_high <= less.low_to_high


def test_what_the_chain_does_not_count_is_refused() -> None:
    server = Server(4, 0.04, 0.25)
    for call in (
        Retrying(50.0, 3, server, share=0.2),
        Retrying(50.0, 3, Server(4, 0.04, 0.25, cancel=True)),
        Retrying(50.0, 3, Server(4, 0.04, 0.25, cv=0.5)),
    ):
        with pytest.raises(UsageError, match="without cancellation"):
            noise(call)
    large = Retrying(50_000.0, 3, Server(4000, 0.04, 0.25))
    assert not fits(large)
    with pytest.raises(UsageError, match="simulate instead"):
        noise(large)


def abandoning(rate: float, per_try: float, tries: int, most_retries: float) -> Retrying:
    return Retrying(rate, tries, Server(1, 0.1, per_try, 1.0), most_retries=most_retries)


def test_an_overload_whose_room_is_hardly_longer_than_the_limit_of_a_try_is_over_soon() -> None:
    """8 + 20 / 9 of 10 requests a second while all are late; but in a queue of 99 not all of them are."""
    thin = overload_lasts(abandoning(8, 9, 4, most_retries=20), waiting=99)
    assert thin is not None
    assert 60 < thin < 180  # an independent solution of such a chain leaves after 113 s
    firm = overload_lasts(abandoning(7, 3, 4, most_retries=20), waiting=99)
    assert firm is not None
    assert firm > 1e9


def test_a_longer_backlog_takes_longer_to_drain_and_what_no_chain_stands_for_has_no_time() -> None:
    call = abandoning(8, 9, 4, most_retries=20)
    times = [overload_lasts(call, waiting=room) for room in (90, 99, 150, 300)]
    assert times == sorted(times, key=lambda time: time or 0)
    assert overload_lasts(call, backlog=1e6) is None
    assert overload_lasts(Retrying(8, 4, Server(1, 0.1, 9, 1.0), pause=1.0)) is None
