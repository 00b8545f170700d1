"""Cycles of smooth laws: published oscillators and delay equations."""

from __future__ import annotations

import numpy as np
import pytest

from coherence.loops.cycles.limit_cycles import CycleSearchResult
from coherence.loops.cycles.relay import Array
from coherence.loops.cycles.smooth import smooth_cycles


def hutchinson(r: float) -> CycleSearchResult:
    return smooth_cycles(lambda n, past: r * n * (1 - past), 1, delay=1.0, starts=[[0.5], [1.1]])


def van_der_pol(eps: float) -> CycleSearchResult:
    def rate(x: Array, _: Array) -> Array:
        return np.stack([x[1], eps * (1 - x[0] ** 2) * x[1] - x[0]])

    return smooth_cycles(rate, 2, starts=[[0.1, 0.0], [4.0, 1.0]], scale=1.0)


@pytest.mark.parametrize(("r", "period", "ratio"), [(1.8, 4.1835, 11.653), (2.0, 4.4027, 42.344)])
def test_hutchinson(r: float, period: float, ratio: float) -> None:
    (cycle,) = hutchinson(r).attracting
    assert cycle.period == pytest.approx(period, rel=2e-5)
    assert cycle.highest[0] / cycle.lowest[0] == pytest.approx(ratio, rel=2e-4)


def test_hutchinson_just_beyond_its_bifurcation() -> None:
    (cycle,) = hutchinson(1.6).attracting
    assert cycle.period == pytest.approx(4.0204, rel=2e-5)
    assert cycle.highest[0] / cycle.lowest[0] == pytest.approx(2.2311, rel=1e-4)
    assert 0.8 < cycle.multiplier < 1


def test_hutchinson_rests_before_its_bifurcation() -> None:
    answer = hutchinson(1.5)
    assert (answer.verdict, answer.cycles) == ("none", ())


@pytest.mark.slow
def test_van_der_pol() -> None:
    (cycle,) = van_der_pol(0.1).attracting
    assert cycle.period == pytest.approx(6.2871113, rel=1e-7)
    assert cycle.highest[0] == pytest.approx(2.000104, rel=1e-6)
    assert cycle.multiplier == pytest.approx(0.533069, rel=1e-4)  # exp of the mean divergence over a period


@pytest.mark.slow
def test_a_damped_oscillator_rests() -> None:
    answer = smooth_cycles(lambda x, _: np.stack([x[1], -0.5 * x[1] - x[0]]), 2, starts=[[1, 0]], scale=1.0)
    assert (answer.verdict, answer.ends) == ("none", {"rest": 1})


def test_growth_without_bound_is_told() -> None:
    answer = smooth_cycles(lambda _, past: -3 * past, 1, delay=1.0, starts=[[0.5]])
    assert answer.ends == {"away": 1}
