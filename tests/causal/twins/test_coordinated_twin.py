"""The coordinated twin: compiled and plain alike, monotone on every path."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from coherence.causal.twins import coordinated_twin as module
from coherence.causal.twins.coordinated_twin import Twin, starts


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


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 10**6), st.integers(1, 9))
def test_all_work_in_time_is_a_share_of_exactly_one(seed: int, servers: int) -> None:
    twin = random_twin(seed, servers)
    assert twin.share_in_time(1e-9) == 1.0
    assert twin.share_in_time(1e9) == 0.0


def test_a_twin_without_servers_is_refused() -> None:
    with pytest.raises(ValueError, match=r"servers\(=0\) must be >= 1"):
        Twin(np.zeros(1), np.ones(1), np.ones(1), 0)
