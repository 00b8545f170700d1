"""Hours of a day in a record of under two days are seen where they are, and not in what only remembers."""

from __future__ import annotations

import numpy as np
import pytest

from coherence.causal.data.series import Floats, Series
from coherence.causal.fitting.days import DAY
from coherence.causal.fitting.single_days import hours_of_day
from tests.causal.systems import wandering

STEP = 300.0


def rows(days: float) -> int:
    return int(days * DAY / STEP)


def working(days: float, ramp: float = 0.0) -> Floats:
    """3 from 8 to 17, reached within `ramp` hours; else 0."""
    hour = np.arange(rows(days)) * STEP % DAY / 3600
    rise = np.minimum(hour - 8, 17 - hour)
    return np.asarray(3.0 * (np.clip(rise / ramp, 0, 1) if ramp else (rise > 0)), np.float64)


def seen(values: Floats, step: float = STEP) -> bool:
    return hours_of_day(Series(("a",), values[:, None], step, 0.0)) == {"a"}


@pytest.mark.parametrize("ramp", [0.0, 0.5, 2.0])
@pytest.mark.parametrize("days", [1.0, 1.25, 1.5, 1.95])
def test_working_hours_are_seen(days: float, ramp: float) -> None:
    drawn = (np.random.default_rng(seed).normal(size=rows(days)) for seed in range(20))
    assert sum(seen(working(days, ramp) + noise) for noise in drawn) >= 18  # fewer: 0 of 60 draws are missed


@pytest.mark.parametrize("memory", [0.6, 0.9, 0.99, 0.999])
@pytest.mark.parametrize("days", [0.5, 1.0, 1.95])
def test_what_only_remembers_keeps_no_hours(days: float, memory: float) -> None:
    found = sum(seen(wandering(np.random.default_rng(seed), rows(days), memory)) for seed in range(40))
    assert found <= 8  # at 5 % of draws, more come once in 7,000 choices of seeds


def test_records_of_two_days_or_under_half_a_day_are_left_alone() -> None:
    noise = np.random.default_rng(1).normal(size=rows(3))
    for days in (0.49, 2.0, 3.0):
        assert not seen(working(days) + noise[: rows(days)])


def test_a_trend_a_constant_gaps_and_few_rows_are_no_error() -> None:
    rng = np.random.default_rng(2)
    assert not seen(np.linspace(0, 5, 300) + rng.normal(size=300))
    assert not seen(np.ones(300))
    assert not seen(np.full(300, np.nan))
    assert not seen(rng.normal(size=20), 3600.0)
    assert not seen(rng.normal(size=9), 10_000.0)
    gaps = working(1.5) + rng.normal(size=rows(1.5))
    gaps[40:60], gaps[::7] = np.nan, np.nan
    assert seen(gaps)
