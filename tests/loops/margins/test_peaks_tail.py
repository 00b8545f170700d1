"""Bounds of a closed loop at all high frequencies."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from coherence.base.errors import UsageError
from coherence.loops.margins.peaks_response import at, response
from coherence.loops.margins.peaks_tail import closing, first_edge, largest_factor, outset, tail
from coherence.loops.networks.network import Block, Coupling, loop, network


def test_the_sensitivity_of_a_lag_tends_to_one() -> None:
    """S - 1 = -L S with |L| <= 3 / sqrt(1 + w^2)."""
    of = response(loop([3.0], [1.0, 1.0]), sensitivity=True)
    high = tail(of, 100.0)
    assert high.limit[0, 0] == 1
    assert high.attained
    assert 3 / 101 <= high.contraction <= 3 / 99 * (1 + 1e-9)
    assert abs(at(of, np.array([100.0]))[0, 0, 0] - 1) <= high.distance < 0.05
    assert tail(of, 1.0).distance == np.inf


def test_feedthrough_without_delay_is_in_the_limit_and_with_delay_in_the_distance() -> None:
    now = tail(response(loop([0.5], [1.0]), sensitivity=True), 10.0)
    assert now.limit[0, 0] == pytest.approx(1 / 1.5)
    assert now.distance == pytest.approx(0.0, abs=1e-12)
    late = tail(response(loop([0.5], [1.0], 1.0), sensitivity=True), 10.0)
    assert late.limit[0, 0] == 1
    assert not late.attained
    assert late.distance == pytest.approx(1.0)  # 1 / (1 - 0.5) - 1


def test_an_algebraic_loop_without_solution_is_refused() -> None:
    of = response(loop([-1.0], [1.0]))
    with pytest.raises(UsageError, match="algebraic loop"):
        closing(of, np.array([-1.0]))


def test_beyond_the_outset_the_feedback_contracts() -> None:
    of = response(loop([3.0], [1.0, 1.0], 2.0), sensitivity=True)
    edge = outset(of)
    assert tail(of, edge).contraction < 1
    assert 1 < edge < 20


def test_the_largest_factor_is_the_one_at_which_the_rest_ceases_to_contract() -> None:
    """|3 k| / (start - 1) = 1 for a lag of gain 3 seen from 301 rad/s on: k = 100."""
    of = response(loop([3.0], [1.0, 1.0], 2.0), sensitivity=True)
    assert largest_factor(of, 301.0, 0, 1000.0) == pytest.approx(100, rel=1e-6)
    assert largest_factor(of, 301.0, 0, 50.0) == 50


def test_the_first_edge_is_a_power_of_two() -> None:
    assert first_edge(lambda start: start >= 1e-9) == 1e-9
    assert first_edge(lambda start: start > 5e-9) == pytest.approx(8e-9)
    assert first_edge(lambda _start: False) is None


@settings(max_examples=25)
@given(st.integers(0, 10**6))
def test_no_frequency_beyond_is_farther_from_the_limit_than_the_distance(seed: int) -> None:
    rng = np.random.default_rng(seed)
    blocks = [
        Block(f"b{k}", tuple(rng.normal(size=2)), (1.0, *rng.uniform(0, 2, 2)), float(rng.choice([0, 0.7])))
        for k in range(3)
    ]
    net = network(blocks, [Coupling(f"b{i}", f"b{j}", rng.normal()) for i in range(3) for j in range(3)])
    of = response(net, sensitivity=bool(seed % 2))
    start = 30.0
    high = tail(of, start)
    if high.contraction < 1:
        sizes = np.linalg.norm(at(of, start * np.geomspace(1, 1e3, 200)) - high.limit, 2, axis=(1, 2))
        assert sizes.max() <= high.distance * (1 + 1e-9) + 1e-12
