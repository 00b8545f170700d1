"""Servers that a latency needs: the closed form against integration, and the edge from both sides."""

from __future__ import annotations

import math
from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from coherence.base.queueing import erlang_c_of_all
from coherence.verify.queues.sojourn import LatencyBound, carried, fewest, tail


def test_one_server_is_exponential() -> None:
    servers, wait = next(erlang_c_of_all(0.9, 1))
    assert servers == 1
    assert wait == pytest.approx(0.9)
    for time in (0.1, 1.0, 46.0517018598809):
        assert tail(1.0, 0.1, wait, time) == pytest.approx(math.exp(-0.1 * time), rel=1e-12)


def test_erlangs_probability_of_waiting_is_the_tables() -> None:
    assert next(w for c, w in erlang_c_of_all(2.5, 3) if c == 3) == pytest.approx(0.702247, abs=1e-6)
    assert next(w for c, w in erlang_c_of_all(8.0, 10) if c == 10) == pytest.approx(0.409180, abs=1e-5)


@settings(max_examples=60, deadline=None)
@given(st.floats(0.2, 30), st.floats(0.05, 20), st.floats(0.01, 1), st.floats(0.01, 3))
def test_the_tail_is_the_integral_over_the_wait(rate: float, spare: float, wait: float, time: float) -> None:
    """P(T > t) = (1 - C) exp(-mu t) + C P(W + S > t), W and S exponential; by Simpson over the wait."""
    steps = 2000
    width = time / steps
    weights = [1 if k in (0, steps) else 4 if k % 2 else 2 for k in range(steps + 1)]
    inside = sum(w * spare * math.exp(-spare * k * width - rate * (time - k * width)) for k, w in enumerate(weights))
    both = inside * width / 3 + math.exp(-spare * time)
    expected = (1 - wait) * math.exp(-rate * time) + wait * both
    assert tail(rate, spare, wait, time) == pytest.approx(expected, rel=1e-6, abs=1e-12)


@settings(max_examples=60, deadline=None)
@given(st.fractions(1, 200), st.fractions(1, 20), st.floats(1.05, 6), st.sampled_from([None, 0.5, 0.9, 0.99]))
def test_one_server_less_breaks_the_demand(arrivals: Fraction, rate: Fraction, factor: float, q: float | None) -> None:
    share = None if q is None else Fraction(str(q))
    unit = 1 / float(rate) if share is None else -math.log1p(-float(share)) / float(rate)
    demand = LatencyBound(Fraction(unit * factor), share)
    count = fewest(demand, arrivals, rate, surely=False)
    sure = fewest(demand, arrivals, rate, surely=True)
    assert count is not None
    assert sure is not None
    assert count <= sure <= count + 1
    table = dict(erlang_c_of_all(float(arrivals) / float(rate), count))
    assert demand.excess(float(arrivals), float(rate), table[count], count) <= 1e-8
    if count - 1 in table:
        assert demand.excess(float(arrivals), float(rate), table[count - 1], count - 1) > 0


def test_no_number_of_servers_is_quicker_than_one() -> None:
    assert fewest(LatencyBound(Fraction(45, 100), Fraction(99, 100)), Fraction(1), Fraction(10), surely=False) is None
    assert (
        fewest(LatencyBound(Fraction(47, 100), Fraction(99, 100)), Fraction(1), Fraction(10), surely=False) is not None
    )
    assert fewest(LatencyBound(Fraction(99, 1000)), Fraction(1), Fraction(10), surely=False) is None


@settings(max_examples=30, deadline=None)
@given(st.integers(1, 30), st.fractions(1, 20), st.floats(1.05, 4), st.sampled_from([None, 0.9, 0.99]))
def test_what_servers_carry_is_the_edge(servers: int, rate: Fraction, factor: float, q: float | None) -> None:
    share = None if q is None else Fraction(str(q))
    unit = 1 / float(rate) if share is None else -math.log1p(-float(share)) / float(rate)
    demand = LatencyBound(Fraction(unit * factor), share)
    edge = carried(demand, servers, rate)
    assert fewest(demand, edge * Fraction(1001, 1000), rate, surely=False) == servers + 1
    assert (fewest(demand, edge * Fraction(999, 1000), rate, surely=False) or 0) <= servers
