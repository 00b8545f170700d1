"""Intervals of means and percentiles of dependent requests: by hand, and how often they hold the true value."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from coherence.simulate.study.latencies import Array, Latencies
from coherence.simulate.study.pooled_intervals import Clusters, clusters, pooled_mean, pooled_quantile

EDGES = np.linspace(0.0, 600.0, 121)
MEAN = 0.2  # s: M/M/1 at half load with services of 0.1 s


def counted(start: Array, latency: Array) -> Latencies:
    latencies = Latencies(EDGES)
    latencies.add(start, start + latency, np.ones(len(start), dtype=bool))
    latencies.arrived = latencies.counts.sum(axis=1)
    return latencies


def queues(runs: int, random: np.random.Generator) -> list[Latencies]:
    """Runs of M/M/1 at half load, each from its steady state (Lindley's recursion)."""
    count = 3400
    gaps, services = random.exponential(0.2, (count, runs)), random.exponential(0.1, (count, runs))
    time, free, shown = np.zeros(runs), np.zeros(runs), []
    free += np.where(random.random(runs) < 0.5, random.exponential(0.2, runs), 0.0)
    for gap, service in zip(gaps, services, strict=True):
        time += gap
        free = np.maximum(time, free) + service
        shown.append((time.copy(), free - time))
    starts, latencies = (np.array(column) for column in zip(*shown, strict=True))
    return [counted(starts[starts[:, run] < 600, run], latencies[starts[:, run] < 600, run]) for run in range(runs)]


def alike(values: list[float], arrived: int) -> Clusters:
    within = np.cumsum(np.array([[values]]), axis=2).repeat(2, axis=0)
    uppers = 2.0 ** np.arange(len(values))
    return Clusters(np.array([[arrived]] * 2), np.array([[1.0]] * 2), within, uppers, uppers / 1.5)


def test_a_percentile_that_lies_among_those_without_an_answer_is_infinite() -> None:
    of = alike([60, 30], 100)
    assert pooled_quantile(of, 0.5).value == pytest.approx(1 / 1.5)
    assert pooled_quantile(of, 0.95).value == math.inf
    assert pooled_quantile(of, 0.95, answered=True).value == pytest.approx(2 / 1.5)


def test_a_share_that_is_the_level_itself_has_an_upper_end_beside_it() -> None:
    of = alike([20, 30, 40, 10], 100)  # alike runs, whose residuals do not differ: half of all within the second bin
    assert pooled_quantile(of, 0.5).high == pooled_quantile(of, 0.5, answered=True).high == of.uppers[2]


def test_an_interval_of_no_time_holds_none() -> None:
    runs = [counted(np.arange(1.0, 500.0), np.zeros(499)) for _ in range(3)]
    of = clusters(runs)
    assert of is not None
    assert pooled_quantile(of, 0.5).low == pooled_quantile(of, 0.5).value == 0


@settings(max_examples=30, deadline=None)
@given(st.integers(0, 2**32 - 1), st.floats(0.3, 3.0))
def test_ends_keep_the_range_and_hold_the_value(seed: int, shape: float) -> None:
    random = np.random.default_rng(seed)
    runs = [counted(np.sort(random.random(80) * 600), random.gamma(shape, 1.0, 80) + 1e-6) for _ in range(3)]
    for batches in (1, 15):
        of = clusters(runs, batches)
        assert of is not None
        for estimate in (pooled_mean(of), *(pooled_quantile(of, level) for level in (0.5, 0.95, 0.99))):
            assert 0 <= estimate.low <= estimate.value <= estimate.high


def test_no_end_is_below_all_answers() -> None:
    start = np.linspace(1.0, 599.0, 600)
    of = clusters([counted(start, np.full(600, 0.01))] * 2)
    assert of is not None
    for level in (0.5, 0.95, 0.99):
        estimate = pooled_quantile(of, level)
        assert (estimate.low, estimate.value, estimate.high) == pytest.approx((0.01, 0.01, 0.01), rel=0.005)


def test_scaling_all_latencies_scales_the_intervals_within_a_bin() -> None:
    random = np.random.default_rng(3)
    start, latency = np.sort(random.random(4000) * 600), random.exponential(1.0, 4000)
    one, other = (clusters([counted(start, factor * latency)] * 2) for factor in (1.0, 7.0))
    assert one is not None
    assert other is not None
    for level in (0.5, 0.95):
        first, second = pooled_quantile(one, level), pooled_quantile(other, level)
        assert second.low == pytest.approx(7 * first.low, rel=0.009)
        assert second.high == pytest.approx(7 * first.high, rel=0.009)
    assert pooled_mean(other).low == pytest.approx(7 * pooled_mean(one).low, rel=1e-9)


def covered(studies: int, seed: int) -> Array:
    """Returns how many intervals hold the true mean, P50, P95 and P99."""
    truths = (MEAN, *(-math.log(1 - level) * MEAN for level in (0.5, 0.95, 0.99)))
    every, hits = queues(5 * studies, np.random.default_rng(seed)), np.zeros(4, dtype=int)
    for number in range(studies):
        of = clusters(every[5 * number : 5 * number + 5])
        assert of is not None
        estimates = (pooled_mean(of), *(pooled_quantile(of, level) for level in (0.5, 0.95, 0.99)))
        hits += [e.low <= truth <= e.high for e, truth in zip(estimates, truths, strict=True)]
    return hits


@pytest.mark.slow
def test_intervals_hold_the_true_value_as_often_as_they_say() -> None:
    hits = covered(40, 1)
    assert hits.sum() >= 0.9 * 160  # of nominal 152: five standard deviations of what depends
    assert hits.min() >= 32


@pytest.mark.slow
def test_intervals_hold_the_true_value_as_often_as_they_say_in_many_studies() -> None:
    hits = covered(600, 2)
    assert 0.93 <= hits.sum() / 2400 <= 0.97
    assert hits.min() >= 0.925 * 600
