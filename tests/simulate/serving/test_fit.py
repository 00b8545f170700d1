"""Step times from data sheets and from counters, and curves of load."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest

from bench.references.accelerator import Accelerator, Shape, cache_blocks, step_time
from bench.references.load_curve import burst_curve, faster, knee
from coherence.base.errors import UsageError
from coherence.simulate.serving.engine import Served, serve
from coherence.simulate.serving.fit import Counters, fit_step_time, steps, stretches, until, written_by
from coherence.simulate.serving.server import Experts, InferenceServer, StepTime, TokenLoad, load

SHAPE = Shape(parameters=1000, layers=2, kv_heads=1, head_size=5)
CHIP = Accelerator(memory=10_000, bandwidth=100, flops=4000)
TRUTH = StepTime(0.012, 45e-6, 40e-6, 80e-9)


def crowd(count: int = 400) -> TokenLoad:
    """Requests of a chat at eight per second."""
    draw = np.random.default_rng(5)
    arrival = np.cumsum(draw.exponential(1 / 8, count))
    return load(arrival, draw.integers(50, 1500, count), draw.integers(1, 400, count))


def counters(served: Served) -> Counters:
    """What the server would have logged every second."""
    series, made = served.series, served.load
    edges = np.concatenate(([made.arrival[0]], series["time"]))
    prefilled, written = (np.diff(series[name], prepend=0) for name in ("prefilled", "written"))
    done = np.array([(made.prompt + made.output)[served.last_token <= t].sum() for t in edges])
    held = np.concatenate(([0], series["prefilled"] + series["written"])) - done
    return Counters(edges, prefilled, written, held, served.first_token, served.last_token)


def test_a_data_sheet_gives_the_step_time() -> None:
    # 2,000 bytes of weights at 50 bytes/s; 2,000 operations at 1,000 a second; 2 x 2 x 1 x 5 x 2 = 40 bytes a token
    assert step_time(CHIP, SHAPE, of_bandwidth=0.5, of_flops=0.25, per_sequence=0.5) == StepTime(40, 2, 0.5, 0.8)


def test_the_cache_takes_what_the_weights_leave() -> None:
    assert cache_blocks(CHIP, SHAPE, utilization=0.9, block_size=16) == (9000 - 2000) // 640
    with pytest.raises(UsageError, match="no block fits"):
        cache_blocks(CHIP, SHAPE, utilization=0.26)


@pytest.mark.parametrize("share", [0, -1, 1.1, math.nan])
def test_a_share_of_the_peak_is_a_share(share: float) -> None:
    with pytest.raises(UsageError, match="of_flops"):
        step_time(CHIP, SHAPE, of_bandwidth=1, of_flops=share)


def test_the_counters_of_a_server_give_back_its_step_time() -> None:
    served = serve(InferenceServer(64, 1024, 20_000), TRUTH, crowd())
    found, residual = fit_step_time(counters(served))
    assert residual < 0.01
    assert (found.fixed, found.per_prefill_token) == pytest.approx((TRUTH.fixed, TRUTH.per_prefill_token), rel=0.03)
    again = serve(InferenceServer(64, 1024, 20_000), found, crowd())
    for what in ("wait", "ttft", "latency", "tpot"):
        assert again.percentiles(what) == pytest.approx(served.percentiles(what), rel=0.05, abs=0.002)


def test_copies_share_the_work_that_is_counted() -> None:
    server = InferenceServer(64, 1024, 20_000, copies=2)
    served = serve(server, TRUTH, crowd(800))
    step, residual = fit_step_time(counters(served), server=server)
    assert residual < 0.06
    assert (step.fixed, step.per_prefill_token) == pytest.approx((TRUTH.fixed, TRUTH.per_prefill_token), rel=0.06)


def test_experts_are_fitted_by_the_share_of_them_that_a_step_reads() -> None:
    truth = replace(TRUTH, experts=Experts(64, 4, 0.020))
    served = serve(InferenceServer(64, 1024, 20_000), truth, crowd(800))
    step, residual = fit_step_time(counters(served), experts=Experts(64, 4, 0.0))
    assert residual < 0.03
    assert step.experts is not None
    for requests in (8, 60):  # what many requests share cannot be told from what is fixed, the step as a whole can
        fitted, true = (s.fixed + s.per_sequence * requests + s.experts.seconds * s.experts.share(requests)
                        for s in (step, truth) if s.experts is not None)  # fmt: skip
        assert fitted == pytest.approx(true, rel=0.05)


def test_what_is_computed_again_is_not_charged_to_steps() -> None:
    server = InferenceServer(64, 1024, 3000)
    served = serve(server, TRUTH, crowd(800))
    assert served.recomputed.sum() > 0
    step, _ = fit_step_time(counters(served), server=server)
    assert (step.fixed, step.per_prefill_token) == pytest.approx((TRUTH.fixed, TRUTH.per_prefill_token), rel=0.06)


def test_tokens_written_are_found_from_steps_alone() -> None:
    served = serve(InferenceServer(64, 1024, 20_000), TRUTH, crowd(), sample_every=0.25)
    found = written_by(counters(served))
    assert np.abs(found - served.load.output).max() <= 6
    assert np.median(np.abs(found - served.load.output)) <= 1


def test_what_is_not_known_yet_does_not_count() -> None:
    whole = counters(serve(InferenceServer(64, 1024, 20_000), TRUTH, crowd()))
    cut = until(whole, 20.0)
    assert cut.edges[-1] <= 20 < whole.edges[len(cut.edges)]
    assert len(cut.written) == len(cut.prefilled) == len(cut.held) - 1 == len(cut.edges) - 1
    assert np.array_equal(steps(cut), steps(whole)[: len(cut.written)], equal_nan=True)


def test_idle_intervals_are_no_steps_and_stretches_hold_enough_of_them() -> None:
    times = np.arange(5.0)
    zeros = np.zeros(4)
    nobody = Counters(times, zeros, zeros, np.zeros(5), np.array([]), np.array([]))
    assert np.isnan(steps(nobody)).all()
    assert len(stretches(nobody).done) == 0
    busy = stretches(counters(serve(InferenceServer(64, 1024, 20_000), TRUTH, crowd())), least_steps=100)
    work, seconds = busy.done, busy.seconds
    assert (work[:-1, 0] >= 50).all()
    assert len(work) == len(seconds)


def test_too_little_cannot_be_fitted() -> None:
    with pytest.raises(UsageError, match="cannot determine 4 coefficients"):
        fit_step_time(until(counters(serve(InferenceServer(64, 1024, 20_000), TRUTH, crowd())), 3.0))


def test_the_curve_rises_with_the_load_and_breaks_where_the_server_is_full() -> None:
    multipliers = [0.25, 0.5, 1, 2, 4]
    points = burst_curve(InferenceServer(64, 1024, 20_000), TRUTH, crowd(), reversed(multipliers))
    assert [point.multiplier for point in points] == multipliers
    tails = [point.ttft_p99 for point in points]
    assert tails == sorted(tails)
    below, above = knee(multipliers, tails)
    running = {point.multiplier: point.most_running for point in points}
    assert running[below] <= running[above] == 64


def test_faster_divides_the_times() -> None:
    assert np.array_equal(faster(crowd(), 4).arrival, crowd().arrival / 4)
    with pytest.raises(UsageError, match=r"multiplier\(=0\)"):
        faster(crowd(), 0)


def test_the_knee_is_where_the_tail_grows_fastest() -> None:
    assert knee([1, 2, 4, 8], [0.1, 0.2, 20, 40]) == (2, 4)
