"""The slope of a margin at equal load, and the time to breach."""

from __future__ import annotations

import math

import numpy as np
import pytest

from coherence.causal.data.series import Floats
from coherence.watching.drift import margin_drift

TIMES: Floats = np.asarray(300.0 * np.arange(72), np.float64)


def test_a_straight_margin_is_gone_when_it_says() -> None:
    drift = margin_drift(TIMES, 4.0 - 1e-4 * TIMES, np.ones(72))
    assert drift is not None
    assert drift.shrinks
    assert drift.margin == pytest.approx(4 - 1e-4 * TIMES[-1])
    assert drift.breach[0] == pytest.approx(drift.margin / 1e-4)


def test_a_margin_that_only_load_eats_does_not_drift() -> None:
    load = 10 + 5 * TIMES / TIMES[-1] + np.random.default_rng(1).normal(size=72)
    drift = margin_drift(TIMES, 4.0 - 0.2 * load, load)
    assert drift is not None
    assert abs(drift.slope) < 1e-12
    unheard = margin_drift(TIMES, 4.0 - 0.2 * load, np.ones(72))
    assert unheard is not None
    assert unheard.shrinks


def test_intervals_of_slopes_hold_the_slope_also_where_neighbours_are_alike() -> None:
    rng, misses = np.random.default_rng(3), 0
    for _ in range(200):
        noise = np.zeros(72)
        for k in range(1, 72):
            noise[k] = 0.4 * noise[k - 1] + rng.normal()
        drift = margin_drift(TIMES, noise, np.ones(72))
        assert drift is not None
        misses += not drift.low <= 0 <= drift.high
    assert misses <= 36  # 10 of 200 at best; measured: 24


def test_what_tells_nothing() -> None:
    assert margin_drift(TIMES[:9], np.ones(9), np.ones(9)) is None
    assert margin_drift(TIMES, np.full(72, math.nan), np.ones(72)) is None
    drift = margin_drift(TIMES, -1.0 + 0 * TIMES, np.ones(72))
    assert drift is not None
    assert drift.breach[0] == 0.0
