"""The coordinated twin: compiled and plain alike, monotone on every path, inverted to its own slowdown."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from coherence.causal.twins import coordinated_twin as module
from coherence.causal.twins.coordinated_twin import Twin, starts
from coherence.causal.twins.inversion import largest_at_least, smallest_at_most, solve_rising


def random_twin(seed: int, servers: int, size: int = 400) -> Twin:
    rng = np.random.default_rng(seed)
    came = np.cumsum(rng.exponential(1 / servers, size))
    return Twin(came, rng.exponential(0.8, size), np.full(size, 2.0), servers)


def test_two_servers_by_hand() -> None:
    found = starts(np.array([0.0, 1.0, 1.5, 2.0]), np.array([3.0, 3.0, 1.0, 1.0]), 2)
    assert found.tolist() == [0.0, 1.0, 3.0, 4.0]


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 10**6), st.integers(1, 9))
def test_a_heap_in_an_array_and_heapq_give_the_same_bits(seed: int, servers: int) -> None:
    one = random_twin(seed, servers)
    assert np.array_equal(starts(one.arrivals, one.needs, servers), module._heaped(one.arrivals, one.needs, servers))


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 10**6), st.integers(1, 9), st.floats(0.2, 3.0), st.floats(1.0, 2.0))
def test_a_slower_twin_serves_nobody_earlier(seed: int, servers: int, gamma: float, more: float) -> None:
    one = random_twin(seed, servers)
    assert (one.sojourns(gamma * more) >= one.sojourns(gamma) - 1e-9).all()
    assert one.mean_delay(gamma * more) >= one.mean_delay(gamma) - 1e-12
    assert one.share_in_time(gamma * more) <= one.share_in_time(gamma) + 1e-12


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 10**6), st.integers(1, 9), st.floats(0.3, 3.0))
def test_the_mean_delay_is_inverted(seed: int, servers: int, gamma: float) -> None:
    one = random_twin(seed, servers)
    assert solve_rising(one.mean_delay, one.mean_delay(gamma)) == pytest.approx(gamma, rel=1e-8)


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 10**6), st.integers(1, 9), st.floats(0.3, 3.0))
def test_the_slowdowns_of_a_share_enclose_the_one_that_made_it(seed: int, servers: int, gamma: float) -> None:
    one = random_twin(seed, servers)
    share = one.share_in_time(gamma)
    low, high = (
        smallest_at_most(one.share_in_time, share, near=1.0),
        largest_at_least(one.share_in_time, share, near=1.0),
    )
    assert low <= gamma * (1 + 1e-8)
    assert gamma <= high * (1 + 1e-8)


def test_what_is_never_reached_is_told_as_such() -> None:
    one = random_twin(1, 2)
    assert solve_rising(one.mean_delay, -2.0 * float(one.needs.mean())) == 0.0
    assert solve_rising(one.mean_delay, math.inf) == math.inf
    assert smallest_at_most(one.share_in_time, 1.0, near=1.0) == 0.0
    assert largest_at_least(one.share_in_time, 0.0, near=1.0) == math.inf


def test_a_twin_without_servers_is_refused() -> None:
    with pytest.raises(ValueError, match=r"servers\(=0\) must be >= 1"):
        Twin(np.zeros(1), np.ones(1), np.ones(1), 0)
