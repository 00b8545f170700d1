"""Barriers, restarts and checkpoints: what is measured on random runs is never below the floor."""

from __future__ import annotations

import math
import random
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from coherence.base.errors import UsageError
from coherence.minimums.bound import Status
from coherence.minimums.floors import Number, at
from coherence.minimums.registry import entry
from coherence.simulate.jobs.closed_forms import best_interval, normal_excess
from tests.paths import DATA, read_yaml

CASES = DATA / "minimums-numeric.yaml"
DAY, HOUR, YEAR = 86400, 3600, 365 * 86400
H100 = {"units": 16384, "peak": 989e12}
# case -> (bound, inputs, SI of one unit of the case)
TABLE: dict[str, tuple[str, dict[str, Any], float]] = {
    "A01": ("barrier_exponential", {"n": 1024, "mean": 1}, 1),
    "A02": ("barrier_normal", {"n": 1024, "mean": 0, "sigma": 1}, 1),
    "A04": ("barrier_lognormal", {"n": 1024, "sigma": Fraction(1, 10)}, 1),
    "A05": ("tail_at_scale", {"p": Fraction(99, 100), "n": 100}, 1),
    "A06": ("tail_budget", {"q": Fraction(1, 100), "n": 100}, 1),
    "A07": ("pipeline_bubble_share", {"p": 8, "m": 32}, 1),
    "A08": ("pipeline_bubble_interleaved", {"p": 64, "m": 512, "v": 1}, 1),
    "A10": ("pipeline_bubble_interleaved", {"p": 8, "m": 64, "v": 3}, 1),
    "A11": ("pipeline_zero_bubble_h1", {"forward": 1, "input_gradient": 1, "weight_gradient": 1}, 1),
    "A13": ("compute_time", {"operations": 3.8e25, **H100}, DAY),
    "A14": ("model_flops_utilization", {"operations": 400e12, "step": 1, "units": 1, "peak": 989e12}, 1),
    "R01": ("job_failure_time", {"part_mtbf": Fraction(54 * DAY * 16384, 419), "n": 16384}, HOUR),
    "R04": ("checkpoint_interval_young", {"write": 30, "mtbf": 11134.8}, 1),
    "R05": ("checkpoint_interval_exact", {"write": 30, "mtbf": 11134.8}, 1),
    "R07": ("checkpoint_interval_daly", {"write": 30, "mtbf": 11134.8}, 1),
    "R08": ("job_failure_time", {"part_mtbf": Fraction(DAY * 2000, 13), "n": 2048}, HOUR),
    "R09": ("job_failure_time", {"part_mtbf": Fraction(DAY * 2000, 13), "n": 16384}, HOUR),
    "B10": ("kv_bytes_per_token", {"layers": 40, "kv_heads": 40, "head": 128, "number": 2}, 1),
    "B11": ("kv_bytes_per_token", {"layers": 80, "kv_heads": 8, "head": 128, "number": 2}, 1),
    "B13": ("kv_transfer_rate", {"rate": 10, "bytes": Fraction(1125, 1000) * 1024**3}, 1024**3 / 8),
    "B14": ("decode_ridge_batch", {"peak": 989e12, "bandwidth": 3.35e12, "number": 2}, 1),
    "B15": (
        "decode_step_time",
        {"weights": 1412 * 10**8, "batch": 1, "context": 0, "kv_bytes": 0, "units": 8, "bandwidth": 335 * 10**10},
        1e-3,
    ),
}


def value(name: str, **inputs: Any) -> Number:
    return at(entry(name).bound, inputs)


@pytest.mark.parametrize("case", TABLE)
def test_known_answers(case: str) -> None:
    every = {one["id"]: one for one in read_yaml(CASES)["cases"]}
    name, inputs, unit = TABLE[case]
    found = float(value(name, **inputs)) / unit
    assert found == pytest.approx(float(every[case]["expected"]), rel=max(float(every[case]["rtol"]), 1e-9))


tables = st.integers(1, 5).flatmap(
    lambda n: st.lists(st.tuples(*[st.integers(0, 20)] * n), min_size=1, max_size=6).map(tuple)
)


@pytest.mark.slow
@given(tables, st.integers(0, 10**6))
@settings(max_examples=80, deadline=None)
def test_a_run_with_barriers_waits_at_least_what_the_table_says(table: tuple[tuple[int, ...], ...], seed: int) -> None:
    """Members also pause (jitter beside their own work): the share of time that is not own work is never less."""
    draw = random.Random(seed)  # noqa: S311  (a run of a test)
    clock = [Fraction(0)] * len(table[0])
    for row in table:
        clock = [now + own + Fraction(draw.randint(0, 2), 2) for now, own in zip(clock, row, strict=True)]
        clock = [max(clock)] * len(clock)
    work = sum(sum(row) for row in table)
    if clock[0]:
        assert 1 - Fraction(work) / (clock[0] * len(clock)) >= value("barrier_trace", durations=table)


@given(tables)
@settings(max_examples=50, deadline=None)
def test_the_trace_costs_at_least_what_the_means_show(table: tuple[tuple[int, ...], ...]) -> None:
    """Jensen on the table: the mean of the slowest is at least the largest mean."""
    slowest = Fraction(sum(max(row) for row in table), len(table))
    means = sorted((Fraction(sum(column), len(table)) for column in zip(*table, strict=True)), reverse=True)
    assert slowest >= value("barrier_any_dependence", mean=means[0], other_mean=means[min(1, len(means) - 1)])


@pytest.mark.parametrize("wrong", [(), ((),), ((1, 2), (1,)), ((1, -1),), ("x",), ((math.nan,),)])
def test_tables_that_are_none_are_refused(wrong: Any) -> None:
    with pytest.raises(UsageError, match="barrier_trace"):
        value("barrier_trace", durations=wrong)


@pytest.mark.parametrize("n", [2, 7, 40])
def test_members_that_are_drawn_wait_as_the_laws_say(n: int) -> None:
    """20,000 steps of drawn members against the three laws, within four standard errors."""
    import numpy as np

    draw = np.random.default_rng(n)
    for name, inputs, made in (
        ("barrier_exponential", {"n": n, "mean": 2}, draw.exponential(2, (20_000, n))),
        ("barrier_normal", {"n": n, "mean": 5, "sigma": 1}, draw.normal(5, 1, (20_000, n))),
        ("barrier_lognormal", {"n": n, "sigma": 0.5}, np.exp(draw.normal(-0.125, 0.5, (20_000, n)))),
    ):
        slowest = made.max(axis=1)
        error = 4 * slowest.std() / math.sqrt(len(slowest))
        assert slowest.mean() == pytest.approx(float(value(name, **inputs)), abs=error), name


def test_many_members_have_the_excess_of_extreme_values() -> None:
    """e(n) rises in n to sizes no machine has, and stays below sqrt(2 log n); one member has none."""
    found = [normal_excess(10**k) for k in (0, 1, 3, 6, 12, 30, 60, 100)]
    assert found[0] == 0
    assert found == sorted(found)
    assert all(e < math.sqrt(2 * math.log(10**k)) for e, k in zip(found[1:], (1, 3, 6, 12, 30, 60, 100), strict=True))
    assert found[-1] > 0.97 * math.sqrt(2 * math.log(10**100))


@given(st.floats(-15, 4), st.floats(0.5, 2).filter(lambda x: abs(x - 1) > 1e-2))
@settings(max_examples=80, deadline=None)
def test_no_interval_loses_less_than_the_floor(exponent: float, moved: float) -> None:
    """From checkpoints of 1e-15 of the time between failures, where Lambert's W has no digits left, to 1e4 of it."""
    write, mean = 10**exponent * 1e4, 1e4
    floor = float(value("checkpoint_overhead", write=write, mtbf=mean, restart=0))
    interval = best_interval(write, mean) * moved
    if (interval + write) / mean < 600:
        assert 1 - interval / (mean * math.expm1((interval + write) / mean)) >= floor - 1e-12
    assert 0 < floor <= 1


def test_the_best_interval_has_its_first_order_where_checkpoints_are_short() -> None:
    for share in (1e-16, 1e-12, 1e-8, 0.99e-4, 1.01e-4):
        series = 2 * math.sqrt(share / 2) - 4 / 3 * share / 2 + 2 / 9 * (share / 2) ** 1.5
        assert best_interval(share * 1e4, 1e4) / 1e4 == pytest.approx(series, rel=1e-6)


def failing(rng: random.Random, mean: float, write: float, restart: float, segments: int) -> tuple[float, float]:
    """(work, time) of a job that saves after every segment and does a segment again when it fails."""
    interval, clock = best_interval(write, mean), 0.0
    for _ in range(segments):
        while (life := rng.expovariate(1 / mean)) < interval + write:
            clock += life
            while (life := rng.expovariate(1 / mean)) < restart:
                clock += life
            clock += restart
        clock += interval + write
    return segments * interval, clock


def test_a_run_with_failures_loses_the_floor_and_no_less() -> None:
    draw = random.Random(5)  # noqa: S311  (a run of a test)
    runs = [failing(draw, 1000, 20, 60, 2000) for _ in range(24)]
    lost = [1 - work / clock for work, clock in runs]
    mean, spread = sum(lost) / len(lost), math.sqrt(sum((x - sum(lost) / len(lost)) ** 2 for x in lost)) / len(lost)
    assert mean == pytest.approx(float(value("checkpoint_overhead", write=20, mtbf=1000, restart=60)), abs=4 * spread)
    assert mean > float(value("restart_share", mtbf=1000, restart=60))


def test_a_short_job_beats_the_floor_of_a_long_one_so_that_is_assumed() -> None:
    """60 s of work with a failure in 3 h lose far less than 9.6 %: `long_work` is refuted, not the arithmetic."""
    bound = entry("checkpoint_overhead").bound
    alone = 1 - 60 / (11134.8 * math.expm1(60 / 11134.8))
    assert alone < float(at(bound, {"write": 30, "mtbf": 11134.8, "restart": 300}))
    assert {"long_work", "unannounced", "whole_job_stops"} <= set(bound.assumptions)
    assert "long_work" in entry("restart_share").bound.assumptions


@given(st.integers(0, 10**6), st.integers(1, 400), st.integers(0, 100))
@settings(max_examples=60, deadline=None)
def test_the_restart_share_is_below_every_law(seed: int, mean: int, restart: int) -> None:
    """Up times of any law with this mean (here: shares of a whole), a restart after each: the share is exact."""
    draw = random.Random(seed)  # noqa: S311  (a run of a test)
    cuts = [draw.randint(0, 5) for _ in range(9)] + [1]
    up = [Fraction(mean * len(cuts) * one, sum(cuts)) for one in cuts]
    down = restart * len(up)
    share = Fraction(down) / (sum(up, Fraction(0)) + down)
    assert share == value("restart_share", mtbf=Fraction(mean), restart=Fraction(restart))
    exponential = value("checkpoint_overhead", write=0, mtbf=mean, restart=restart)
    assert share <= float(exponential) + 1e-15
    assert value("restart_share", mtbf=mean, restart=restart) <= share


@given(st.integers(1, 6), st.integers(1, 50), st.integers(1, 50), st.lists(st.integers(0, 9), min_size=1, max_size=6))
@settings(max_examples=60, deadline=None)
def test_no_split_of_a_checkpoint_is_written_sooner(n: int, rate: int, storage: int, parts: list[int]) -> None:
    """Writer i takes its share alone at its rate; all of it passes the storage: never below the floor."""
    shares = (parts * n)[:n]
    size = sum(shares)
    taken = max(Fraction(max(shares), rate), Fraction(size, storage))
    assert taken >= value("checkpoint_write_time", size=size, writers=n, bandwidth=rate, storage=storage)


def test_kinds_that_may_be_subtracted_are_those_that_were_proved() -> None:
    for name in ("barrier_trace", "restart_share", "checkpoint_write_time"):
        assert entry(name).bound.kind is Status.TIGHT
        assert entry(name).bound.proved
    assert not entry("barrier_variance").bound.kind.floor
    assert value("checkpoint_overhead", write=1e9, mtbf=1e9, restart=1) < 1
