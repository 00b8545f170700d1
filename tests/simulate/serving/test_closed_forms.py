"""The inference server where queueing theory has a formula, and where the parts of the catalogue do."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.stats import t as student

from coherence.simulate.serving.engine import serve
from coherence.simulate.serving.server import InferenceServer, StepTime, TokenLoad, load

RUNS, REQUESTS = 30, 4000
ALONE = InferenceServer(1, 10_000, 1000)  # one request at a time, its prompt in one step: a single-server queue


def mean_wait(step: StepTime, rate: float, prompts: int) -> tuple[float, float]:
    """Mean wait with its 99 % half width over independent runs of Poisson arrivals; prompts uniform in 1..prompts."""
    draw = np.random.default_rng(11)
    means = []
    for _ in range(RUNS):
        arrival = np.cumsum(draw.exponential(1 / rate, REQUESTS))
        made = TokenLoad(arrival, draw.integers(1, prompts + 1, REQUESTS), np.ones(REQUESTS, np.int64))
        means.append(float(serve(ALONE, step, made).wait[REQUESTS // 4 :].mean()))
    return float(np.mean(means)), float(student.ppf(0.995, RUNS - 1) * np.std(means, ddof=1) / math.sqrt(RUNS))


@pytest.mark.parametrize("load_share", [0.3, 0.7])
def test_one_at_a_time_with_equal_requests_is_an_m_d_1_queue(load_share: float) -> None:
    mean, width = mean_wait(StepTime(1, 0, 0, 0), load_share, 1)
    assert mean == pytest.approx(load_share / (2 * (1 - load_share)), abs=width)
    assert width < 0.1


def test_one_at_a_time_with_uniform_prompts_is_an_m_g_1_queue() -> None:
    # S = 0.5 + 0.1 p, p uniform in 1..10: Pollaczek and Khinchine, W = rate E[S2] / (2 (1 - rate E[S]))
    rate, times = 0.6, 0.5 + 0.1 * np.arange(1, 11)
    mean, width = mean_wait(StepTime(0.5, 0.1, 0, 0), rate, 10)
    assert mean == pytest.approx(rate * (times**2).mean() / (2 * (1 - rate * times.mean())), abs=width)


def test_a_full_server_decodes_at_the_capacity_of_the_batcher() -> None:
    # models/components/batcher.yaml: capacity = max_batch / (fixed + max_batch * each)
    largest, fixed, each = 8, 0.25, 0.03125
    made = load([0.0] * 80, [1] * 80, [101] * 80)
    result = serve(InferenceServer(largest, 64, 10_000), StepTime(fixed, 0, each, 0), made)
    assert 80 * 101 / result.end == pytest.approx(largest / (fixed + largest * each), rel=1e-9)


def test_as_many_run_as_fit_into_the_cache() -> None:
    # models/components/kv_cache.yaml: fits = floor(blocks / blocks_each), here 4 blocks of 16 for 64 tokens held
    made = load([0.0] * 20, [60] * 20, [5] * 20)
    result = serve(InferenceServer(64, 4096, 27), StepTime(1, 0, 0, 0), made, sample_every=1e-9)
    assert result.series["running"].max() == 27 // 4
    assert result.preemptions.sum() == 0
