"""Closed forms of queues against tables, recurrences and sums."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from coherence.base.queueing import erlang_b, erlang_c, erlang_c_of_all, two_phases


def test_erlang_formulas_have_their_textbook_values() -> None:
    assert erlang_b(1, 1.0) == pytest.approx(0.5)
    assert erlang_b(5, 3.0) == pytest.approx((3**5 / 120) / sum(3**n / math.factorial(n) for n in range(6)))
    assert erlang_c(1, 0.7) == pytest.approx(0.7)
    assert erlang_c(2, 1.0) == pytest.approx(1 / 3)
    assert erlang_c(3, 3.0) == 1.0


@given(st.floats(0.05, 40), st.integers(1, 80))
def test_one_number_of_servers_and_all_of_them_agree(offered: float, most: int) -> None:
    found = dict(erlang_c_of_all(offered, most))
    assert set(found) == {servers for servers in range(1, most + 1) if servers > offered}
    for servers, wait in found.items():
        assert wait == pytest.approx(erlang_c(servers, offered), rel=1e-9)


@given(st.floats(0.1, 20), st.floats(0.05, 3), st.floats(0.01, 3))
def test_two_phases_are_a_convolution(decay: float, mean: float, time: float) -> None:
    """P(X > t) + the integral of the density of X times P(Y > t - x), by Simpson."""
    steps = 2000
    width = time / steps
    weights = [1 if k in (0, steps) else 4 if k % 2 else 2 for k in range(steps + 1)]
    inside = sum(w * math.exp(-decay * k * width - (time - k * width) / mean) for k, w in enumerate(weights))
    assert two_phases(decay, mean, time) == pytest.approx(
        math.exp(-decay * time) + decay * inside * width / 3, rel=1e-6, abs=1e-12
    )


def test_two_phases_of_one_rate_are_erlang_2() -> None:
    assert two_phases(2.0, 0.5, 1.0) == pytest.approx(3 * math.exp(-2))
    assert two_phases(2.0, 0.0, 1.0) == pytest.approx(math.exp(-2))
