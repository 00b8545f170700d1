"""Statistics without each batch, by hand; slowdowns of the twin that give them; intervals by the jackknife."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from coherence.causal.answers.intervals import Estimate
from coherence.causal.twins.jackknife import (
    batch_numbers,
    clipped_estimate,
    jackknife_estimate,
    last_slowdowns,
    log_jackknife_estimate,
    means,
    quantiles,
    ratio,
    slowdowns,
)
from tests.causal.indices.systems import pool
from tests.causal.twins.test_coordinated_twin import random_twin

BATCH = np.array([0, 0, 1, 1, 2])


def test_a_ratio_is_given_whole_and_without_each_batch() -> None:
    found = ratio(np.array([1.0, 2, 3, 4, 5]), np.array([2.0, 2, 2, 2, 2]), BATCH)
    assert found.tolist() == [15 / 10, 12 / 6, 8 / 6, 10 / 8]


def test_a_mean_is_given_whole_and_without_each_batch() -> None:
    assert means(BATCH)(np.array([1.0, 3, 5, 7, 9])).tolist() == [5.0, 7.0, 13 / 3, 4.0]


@pytest.mark.parametrize(
    ("share", "expected"), [(0.5, [5.0, 7.0, 3.0, 3.0]), (0.2, [1.0, 5.0, 1.0, 1.0]), (1.0, [9.0, 9.0, 9.0, 7.0])]
)
def test_a_quantile_is_the_lowest_value_that_the_share_does_not_exceed(share: float, expected: list[float]) -> None:
    assert quantiles(BATCH, share)(np.array([9.0, 7, 5, 3, 1])[::-1]).tolist() == expected


def test_batches_are_stretches_of_time_with_arrivals_counted_without_gaps() -> None:
    log = pool(0.5, until=60.0)
    numbers = batch_numbers(log, 12)
    assert sorted(set(numbers.tolist())) == list(range(12))
    assert (np.diff(numbers) >= 0).all()
    gap = log.where((log.arrival < 10.0) | (log.arrival > 52.0))
    assert sorted(set(batch_numbers(gap, 12).tolist())) == list(range(4))


@settings(max_examples=10, deadline=None)
@given(st.integers(0, 10**6), st.floats(0.6, 1.6), st.booleans())
def test_slowdowns_give_back_the_statistics_that_were_observed(seed: int, gamma: float, smooth: bool) -> None:
    twin = random_twin(seed, 2)
    statistic = means(np.repeat(np.arange(4), 100))
    found = slowdowns(twin, statistic, statistic(twin.delays(gamma)), smooth=smooth)
    assert found == pytest.approx(np.full(5, gamma), rel=2e-3)


def test_the_last_slowdown_still_keeps_the_share_of_work_in_time() -> None:
    twin, batch = random_twin(3, 2), np.repeat(np.arange(4), 100)
    shares = ratio(twin.needs * twin.in_time(1.1), twin.needs, batch)
    gammas = last_slowdowns(twin, batch, shares)
    assert len(gammas) == 5
    assert gammas[0] >= 1.1 * (1 - 1e-8)
    assert twin.share_in_time(gammas[0]) == pytest.approx(shares[0], rel=1e-12)
    assert twin.share_in_time(gammas[0] * (1 + 1e-6)) < shares[0] * (1 - 1e-6)


def test_a_jackknife_interval_by_hand() -> None:
    found = jackknife_estimate(np.array([2.0, 1.0, 3.0]), level=0.5)

    # error^2 = 1/2 * (1 + 1); t(1) at 75 % is 1
    assert (found.value, found.low, found.high, found.error) == pytest.approx((2, 1, 3, 1))
    assert found.level == 0.5


def test_an_interval_of_logarithms_is_a_factor_on_both_sides() -> None:
    found = log_jackknife_estimate(np.exp([0.0, -1.0, 1.0]), level=0.5)
    assert (found.value, found.low, found.high) == pytest.approx((1.0, 1 / math.e, math.e))
    shifted = log_jackknife_estimate(np.exp([0.0, -1.0, 1.0]), level=0.5, minus=1.0)
    assert (shifted.value, shifted.high) == pytest.approx((0.0, math.e - 1))
    inverse = log_jackknife_estimate(np.array([4.0, 4.0, 4.0]), level=0.95, inverse=True)
    assert (inverse.value, inverse.low, inverse.high) == pytest.approx((0.25, 0.25, 0.25))


def test_an_estimate_is_cut_to_what_the_quantity_can_take() -> None:
    wide = Estimate(0.5, -0.2, 1.7, 0.3, 0.9)
    assert clipped_estimate(wide, 0.0, 1.0) == Estimate(0.5, 0.0, 1.0, 0.3, 0.9)
    assert clipped_estimate(wide, 0.0) == Estimate(0.5, 0.0, 1.7, 0.3, 0.9)
