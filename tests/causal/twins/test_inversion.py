"""Inversion of functions of the slowdown: the place of a value, the ends of a step, and what is never reached."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from coherence.causal.twins.inversion import bracket, largest_at_least, smallest_at_most, solve_rising
from tests.causal.twins.test_coordinated_twin import random_twin


@pytest.mark.parametrize(("turn", "near"), [(1.5, 1.0), (0.2, 1.0), (1.0, 1.0), (1e6, 1.0), (3.0, 100.0)])
def test_a_bracket_encloses_the_turn(turn: float, near: float) -> None:
    low, high = bracket(lambda gamma: gamma >= turn, near=near)
    assert low < turn <= high


def test_a_bracket_of_what_never_turns_is_open() -> None:
    assert bracket(lambda gamma: gamma < 0)[1] == math.inf
    assert bracket(lambda gamma: gamma > 0)[0] == 0.0


@pytest.mark.parametrize(("wanted", "gamma"), [(8.0, 2.0), (0.001, 0.1), (1.0, 1.0), (1e9, 1000.0)])
def test_the_cube_is_inverted_to_its_root(wanted: float, gamma: float) -> None:
    assert solve_rising(lambda x: x**3, wanted) == pytest.approx(gamma, rel=1e-9)


def test_the_ends_of_a_step_are_the_largest_and_the_smallest_gamma_with_its_value() -> None:
    def falling(gamma: float) -> float:
        return 1.0 if gamma <= 2.0 else 0.5 if gamma <= 3.0 else 0.0

    assert largest_at_least(falling, 0.5, near=1.0) == pytest.approx(3.0, rel=1e-8)
    assert smallest_at_most(falling, 0.5, near=1.0) == pytest.approx(2.0, rel=1e-8)


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 10**6), st.integers(1, 9), st.floats(0.3, 3.0))
def test_the_mean_delay_is_inverted(seed: int, servers: int, gamma: float) -> None:
    twin = random_twin(seed, servers)
    assert solve_rising(twin.mean_delay, twin.mean_delay(gamma)) == pytest.approx(gamma, rel=1e-8)


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 10**6), st.integers(1, 9), st.floats(0.3, 3.0))
def test_the_slowdowns_of_a_share_enclose_the_one_that_made_it(seed: int, servers: int, gamma: float) -> None:
    twin = random_twin(seed, servers)
    share = twin.share_in_time(gamma)
    low = smallest_at_most(twin.share_in_time, share, near=1.0)
    high = largest_at_least(twin.share_in_time, share, near=1.0)
    assert low <= gamma * (1 + 1e-8)
    assert gamma <= high * (1 + 1e-8)


def test_a_value_that_no_slowdown_reaches_gives_zero_or_infinity() -> None:
    twin = random_twin(1, 2)
    assert solve_rising(twin.mean_delay, -2.0 * float(np.mean(twin.needs))) == 0.0
    assert solve_rising(twin.mean_delay, math.inf) == math.inf
    assert smallest_at_most(twin.share_in_time, 1.0, near=1.0) == 0.0
    assert largest_at_least(twin.share_in_time, 0.0, near=1.0) == math.inf
