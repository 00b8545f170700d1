"""Lines that two signals share are found at their period, in any noise, and rarely where there are none."""

from __future__ import annotations

import numpy as np
import pytest

from coherence.causal.data.series import Floats, Series
from coherence.causal.fitting.seasons import shared_periods
from tests.causal.systems import wandering


def series(*columns: Floats, step: float = 15.0) -> Series:
    return Series(tuple(f"s{place}" for place in range(len(columns))), np.column_stack(columns), step)


@pytest.mark.parametrize("memory", [0.0, 0.9])
@pytest.mark.parametrize("period", [8.0, 37.3, 240.0])
def test_a_shared_line_is_found_at_its_period(period: float, memory: float) -> None:
    rng, turn = np.random.default_rng(3), 2 * np.pi * np.arange(2_000) / period
    size = 3 / (1 - memory)
    one, other = size * np.sin(turn), -2 * size * np.sin(turn + 1)
    record = series(one + wandering(rng, 2_000, memory), other + wandering(rng, 2_000, memory))
    assert shared_periods(record)[:1] == pytest.approx([period * 15.0], rel=0.003)


def test_spikes_at_a_period_are_its_harmonics() -> None:
    rng, spikes = np.random.default_rng(4), 20.0 * (np.arange(2_000) % 100 == 0)
    periods = shared_periods(series(spikes + rng.normal(size=2_000), spikes + rng.normal(size=2_000)))
    harmonics = 1_500.0 / np.array(periods)
    assert len(periods) >= 2
    assert harmonics == pytest.approx(np.round(harmonics), abs=0.01)


@pytest.mark.parametrize("memory", [0.0, 0.99])
def test_noise_has_none(memory: float) -> None:
    seen = 0
    for seed in range(100):
        rng = np.random.default_rng(seed)
        seen += bool(shared_periods(series(wandering(rng, 500, memory), wandering(rng, 500, memory))))
    assert seen <= 5


def test_short_records_and_rest_have_none() -> None:
    assert shared_periods(series(np.sin(np.arange(40.0)), np.sin(np.arange(40.0)))) == ()
    assert shared_periods(series(np.full(200, 2.0), np.sin(np.arange(200.0)))) == ()
    missing = np.where(np.arange(400) % 7 == 0, np.nan, np.sin(np.arange(400.0)))
    assert shared_periods(series(missing, np.sin(np.arange(400.0)))) == pytest.approx([2 * np.pi * 15], rel=0.01)
