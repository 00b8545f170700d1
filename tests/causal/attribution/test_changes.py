"""Changes of level: found at their row with their levels, and none where nothing changed."""

from __future__ import annotations

import numpy as np
import pytest

from coherence.base.errors import UsageError
from coherence.causal.attribution.changes import change_points, changes, memory, statistics
from coherence.causal.data.series import Series
from tests.causal.systems import table, wandering

RNG = np.random.default_rng(5)
NOISE = RNG.standard_normal(600)


@pytest.mark.parametrize("row", [120, 300, 450])
def test_a_step_is_found_at_its_row(row: int) -> None:
    values = NOISE * 0.2 + np.where(np.arange(600) >= row, 3.0, 0.0)
    ((place, excess),) = change_points(values)
    assert abs(place - row) <= 2
    assert excess > 1


def test_two_steps_are_two_changes_with_their_levels() -> None:
    values = NOISE * 0.2 + np.where(np.arange(600) >= 200, 3.0, 0.0) - np.where(np.arange(600) >= 400, 5.0, 0.0)
    series = Series(("a",), values[:, None], 10.0, 1000.0)
    first, second = changes(series)["a"]
    assert abs(first.row - 200) <= 2
    assert abs(second.row - 400) <= 2
    assert (first.signal, first.time) == ("a", 1000 + 10 * first.row)
    assert [round(level) for level in (first.before, first.after, second.before, second.after)] == [0, 3, 3, -2]


@pytest.mark.parametrize("seed", range(8))
def test_nothing_changed_is_nothing_found(seed: int) -> None:
    rng = np.random.default_rng(seed)
    assert change_points(rng.standard_normal(400)) == ()


def test_constant_signals_have_no_change_and_short_ones_are_refused() -> None:
    assert change_points(np.full(100, 7.0)) == ()
    with pytest.raises(UsageError, match="99 samples are too few"):
        change_points(np.arange(99.0))
    with pytest.raises(UsageError, match="99 samples are too few"):
        change_points(np.concatenate([np.arange(99.0), [np.nan] * 50]))
    with pytest.raises(UsageError, match="of so slow a signal"):
        change_points(wandering(np.random.default_rng(1), 200, 0.98))


def test_missing_samples_count_in_no_block() -> None:
    values = NOISE * 0.2 + np.where(np.arange(600) >= 300, 3.0, 0.0)
    values[100:150] = np.nan
    ((place, _),) = change_points(values)
    assert abs(place - 300) <= 2


def test_memory_is_the_integrated_autocorrelation() -> None:
    assert memory(NOISE) == pytest.approx(1, abs=0.5)
    slow = wandering(np.random.default_rng(2), 8000, 0.8)
    assert memory(slow) == pytest.approx((1 + 0.8) / (1 - 0.8), rel=0.3)  # of x(t) = r x(t - 1) + chance
    assert memory(np.zeros(80)) == 1.0


def test_the_statistic_is_largest_at_the_step_of_its_blocks() -> None:
    blocks = np.array([0, 0.1, -0.1, 0.05, -0.05, 0, 3, 3.1, 2.9, 3.05, 2.95, 3.0])
    scores = statistics(blocks, 3)
    assert int(scores.argmax()) == 6
    assert scores[:3].tolist() == [0, 0, 0]
    assert scores[-2:].tolist() == [0, 0]
    # by hand over the whole window: D^2 = (6 * 6 * gap)^2 / 12^3, V of the two sides
    s, k, e = 0, 6, 12
    gap = blocks[s:k].mean() - blocks[k:e].mean()
    contrast = ((k - s) * (e - k) * gap) ** 2 / (e - s) ** 3
    spread = 0.0
    for low, high in ((s, k), (k, e)):
        for i in range(low + 1, high):
            inner = (i - low) * (high - i) * (blocks[low:i].mean() - blocks[i:high].mean())
            spread += inner**2 / (high - low) ** 2
    assert scores[6] >= contrast / (spread / (e - s) ** 2) * (1 - 1e-9)


def test_only_the_signals_that_are_asked_for_are_looked_at() -> None:
    series = table(a=NOISE, b=NOISE)
    assert set(changes(series, signals=("b",))) == {"b"}
    assert set(changes(series)) == {"a", "b"}


@pytest.mark.parametrize("height", [0.0, 3.0, 15.0])
def test_what_returns_each_day_is_no_change_and_hides_none(height: float) -> None:
    """A day of nine working hours, which blocks of half a day would take for levels that go up and down."""
    times = np.arange(28 * 96) * 900.0
    work = height * ((times % 86_400 >= 28_800) & (times % 86_400 < 61_200))
    for seed in range(4):
        values = work + wandering(np.random.default_rng(seed), len(times), 0.3)
        assert changes(Series(("a",), values[:, None], 900.0))["a"] == ()
        values += 2.0 * (np.arange(len(times)) >= 1000)
        (found,) = changes(Series(("a",), values[:, None], 900.0))["a"]
        assert abs(found.row - 1000) <= 50
        assert found.after - found.before == pytest.approx(2, abs=0.3)


def test_changes_are_told_in_their_order() -> None:
    """Places of blocks are refined to rows, and one was refined past the next: a level was the mean of nothing."""
    times = np.arange(28 * 96) * 900.0
    hours = (times + 3600 * (times >= 14 * 86_400)) % 86_400 / 3600
    for seed in range(12):
        values = 15 * ((hours >= 8) & (hours < 17)) + wandering(np.random.default_rng(seed), len(times), 0.5)
        rows = [row for row, _ in change_points(values)]
        assert rows == sorted(set(rows))
