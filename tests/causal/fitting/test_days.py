"""Days of signals: what is left beside them has nothing in common with any shape of a day, nor at the size of dates."""

from __future__ import annotations

import numpy as np
import pytest

from coherence.causal.data.series import Floats, Series
from coherence.causal.fitting.days import DAY, day_shapes, places


def working(days: float, step: float = 600.0) -> tuple[Floats, Floats]:
    """Times from a Monday on, and 1 from 8 to 17 on five days of seven."""
    times = np.arange(0, days * DAY, step)
    hours = times / 3600 % 24
    return times, np.asarray((hours >= 8) & (hours < 17) & (times // DAY % 7 < 5), np.float64)


def series_of(**signals: Floats) -> Series:
    return Series(tuple(signals), np.column_stack([*signals.values()]), 600.0)


def test_what_is_left_has_no_mean_day_and_none_at_the_size_of_dates() -> None:
    times, work = working(14)
    values = 5 + 3 * work + np.random.default_rng(3).normal(0, 1, len(times))
    values[40:60] = np.nan
    series = series_of(a=values)
    shapes = day_shapes(lambda: [series])
    mean, more = shapes.of(series)
    left = values - 5 - (mean + more)[:, 0]
    slots, dates = places(series, 144)
    sizes = shapes.size[dates, 0]
    known = np.isfinite(values)
    for weight in (np.ones(len(sizes)), sizes):
        sums = np.bincount(slots[known], (weight * (left - np.nanmean(left)))[known], 144)
        assert sums == pytest.approx(0, abs=1e-8)


def test_a_day_of_rest_is_smaller_and_the_same_on_every_date_has_no_bend() -> None:
    times, work = working(14)
    every = np.asarray(times % DAY < DAY / 2, np.float64)
    noise = np.random.default_rng(1).normal(0, 0.5, (2, len(times)))
    shapes = day_shapes(lambda: [series_of(work=work + noise[0], every=every + noise[1])])
    assert shapes.dated == ("work",)
    rest = np.isin(np.arange(14) % 7, (5, 6))
    assert shapes.size[~rest, 0].min() > 0 > shapes.size[rest, 0].max()


def test_a_day_that_does_not_vary_seems_to_at_the_stated_chance() -> None:
    """At 5 % more than 12 of 100 signals seem to once in 700 choices of seeds."""
    noise = np.random.default_rng(5).normal(0, 1, (1008, 100))
    names = tuple(f"s{number}" for number in range(100))
    assert len(day_shapes(lambda: [Series(names, noise, 600.0)]).dated) <= 12


def test_any_cut_gives_the_same_days() -> None:
    times, work = working(9.3)
    series = series_of(a=1e6 + work + np.random.default_rng(2).normal(0, 1, len(times)))
    parts = [series.between(k, k + 12_345) for k in np.arange(0, 9.3 * DAY, 12_345)]
    whole, cut = day_shapes(lambda: [series]), day_shapes(lambda: parts)
    for name in ("mean", "bend", "size", "middle"):
        assert getattr(cut, name) == pytest.approx(getattr(whole, name), abs=1e-6)


def test_a_signal_that_is_its_day_is_told_apart() -> None:
    times, work = working(7)
    day = np.sin(2 * np.pi * times / DAY)
    shapes = day_shapes(lambda: [series_of(day=day, work=work)])
    assert shapes.follow == ("day",)


def test_one_date_has_a_mean_day_alone() -> None:
    work = working(1)[1]
    shapes = day_shapes(lambda: [series_of(a=work)])
    assert not shapes.bend.any()
    assert shapes.mean[:, 0] + shapes.middle[0] == pytest.approx(work)


def test_what_drifts_has_a_mean_day_and_no_day_in_its_changes() -> None:
    times, work = working(14)
    rng = np.random.default_rng(4)
    series = series_of(
        work=work + rng.normal(0, 0.3, len(times)), walk=rng.normal(0, 1, len(times)).cumsum(), trend=times / DAY
    )
    shapes = day_shapes(lambda: [series])
    assert shapes.shown == ("work",)
    mean, more = shapes.of_shown().of(series)
    assert np.ptp(mean[:, 0]) > 0.5
    assert not mean[:, 1:].any()
    assert not more[:, 1:].any()
    assert np.ptp(shapes.of(series)[0][:, 1]) > 1
