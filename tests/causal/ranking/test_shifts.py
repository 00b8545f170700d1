"""Shifts of signals: the farthest first, by what is usual, and rarely so far by chance."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import t

from coherence.base.errors import UsageError
from coherence.causal.data.series import Series
from coherence.causal.ranking.shifts import by_spread, shifts


def series(rows: int, seed: int, shift: float = 0.0) -> Series:
    values = np.random.default_rng(seed).normal(size=(rows, 3)) + np.array([0.0, shift, 0.0])
    return Series(("a", "b", "c"), values * np.array([1.0, 1.0, 100.0]), 1.0)


def test_the_farthest_by_what_is_usual_comes_first() -> None:
    found = shifts(series(400, 1), series(20, 2, 3.0))
    assert found.shifts[0][0] == "b"
    assert found.p <= 0.01


@pytest.mark.slow
def test_calm_windows_are_rarely_far() -> None:
    far = [shifts(series(400, seed), series(20, 1000 + seed)).p <= 0.05 for seed in range(60)]
    assert sum(far) <= 8  # mean 3


def test_few_windows_say_little() -> None:
    assert by_spread(5.0, 10, 8.0) == pytest.approx(20 * t.sf(5.0, 7))
    assert by_spread(1.0, 100, 8.0) == 1.0
    assert by_spread(50.0, 1, 1.0) > 0.01


def test_a_signal_that_rests_and_one_without_values_are_never_far() -> None:
    still = Series(("a", "b"), np.column_stack([np.ones(100), np.full(100, np.nan)]), 1.0)
    assert [far for _, far in shifts(still, still.between(0, 10)).shifts] == [0.0]
    with pytest.raises(UsageError, match="shorter --incident"):
        shifts(still.between(0, 20), still.between(0, 10))
