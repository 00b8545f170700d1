"""Signals on one clock: gauges, counters, gaps, resets, skew; nothing is filled, nothing leaves without a name."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from coherence.base.errors import UsageError
from coherence.causal.telemetry import aligned, render_report, report, report_to_dict
from coherence.causal.telemetry.resampling import Grid, increases, mean, resets
from coherence.causal.telemetry.skew import offset
from coherence.simulate.telemetry.contract import Origin, Samples, Signal, Telemetry, telemetry

QUICK = settings(max_examples=80, deadline=None)


def gauges(**signals: tuple[Sequence[float], Sequence[float]]) -> Telemetry:
    return telemetry({Signal(name): pair for name, pair in signals.items()})


def counted(times: list[float], values: list[float]) -> Telemetry:
    return telemetry({Signal("n", "req", "counter"): (times, values)})


def test_a_regular_table_is_itself() -> None:
    values = np.random.default_rng(1).normal(size=50)
    series = aligned(gauges(x=((100 + 15 * np.arange(50)).tolist(), values.tolist())))
    assert (series.start, series.step) == (100, 15)
    assert series["x"].tolist() == values.tolist()


@given(st.integers(0, 10**6), st.sampled_from([0.1, 1.0, 15.0, 60.0]), st.floats(0, 2e9))
@QUICK
def test_times_that_jitter_about_the_clock_are_neither_lost_nor_taken_twice(
    seed: int, step: float, start: float
) -> None:
    rng = np.random.default_rng(seed)
    times = start + step * (np.arange(200) + rng.uniform(-0.2, 0.2, 200))
    series = aligned(gauges(x=(times.tolist(), list(range(200)))), step=step)
    assert series["x"].tolist() == list(range(200))


def test_gaps_stay_gaps() -> None:
    series = aligned(gauges(x=([0, 1, 2, 6, 7], [0, 1, 4, 3, 9]), y=([*range(8)], [*range(8)])))
    assert np.isnan(series["x"]).tolist() == [False, False, False, True, True, True, False, False]
    assert not np.isnan(series["y"]).any()


def test_the_step_is_the_median_of_the_signals_and_coarser_ones_are_told() -> None:
    told = gauges(
        a=([*range(0, 60, 5)], [*range(12)]), b=([*range(0, 60, 5)], [*range(12)]), c=([0, 20, 40], [1, 2, 3])
    )
    series = aligned(told)
    assert series.step == 5
    assert np.isfinite(series["c"]).sum() == 3
    assert "1 signal is sampled more seldom than every 5 s: c; a step of 20 s" in report(told, series).notes[0]


def test_a_longer_step_takes_the_last_value_or_the_mean() -> None:
    told = gauges(x=([*range(12)], [float(i % 4) for i in range(12)]))
    last = aligned(told, step=4, keep=("constant",))
    assert last.times.tolist() == [0, 4, 8, 12]
    assert last["x"].tolist()[:3] == [0, 0, 0]
    means = aligned(told, step=4, means=True, keep=("constant",))
    assert means["x"].tolist()[1:3] == [1.5, 1.5]


@given(st.lists(st.tuples(st.floats(0.2, 1.4), st.floats(-5, 5)), min_size=20, max_size=60))
@QUICK
def test_the_mean_is_the_integral_of_the_stairs(pairs: list[tuple[float, float]]) -> None:
    times = np.cumsum([gap for gap, _ in pairs])
    values = np.array([level for _, level in pairs])
    grid = Grid(float(times[0]) + 5.0, 2.5, 3)
    found = mean(Samples(times, values), grid, 1.0)
    for edge, level in zip(grid.times(), found, strict=True):
        fine = np.linspace(edge - 2.5, edge, 4_001)[1:] - 2.5 / 8_000
        index = np.searchsorted(times, fine, "right") - 1
        held = (index >= 0) & (fine - times[index] < 1.5)
        if held.mean() > 0.51:
            assert level == pytest.approx(values[index][held].mean(), abs=2e-2)
        elif held.mean() < 0.49:
            assert math.isnan(level)


def test_a_counter_is_a_rate_and_a_fall_is_a_reset() -> None:
    series = aligned(counted([0, 10, 20, 30, 40], [100, 150, 170, 30, 60]))
    assert series["n"].tolist()[1:] == [5, 2, 3, 3]
    assert math.isnan(series["n"][0])
    assert series.units == {"n": "req/s"}
    assert report(counted([0, 10, 20], [5, 9, 2]), series).rows[0].resets == 1


def test_a_counter_that_wraps_goes_on_where_its_width_is_stated() -> None:
    told = counted([0, 1, 2, 3], [2**32 - 5, 2**32 - 1, 3, 9])
    assert aligned(told, wraps={"n": 32})["n"].tolist()[1:] == [4, 4, 6]
    assert aligned(told)["n"].tolist()[1:] == [4, 3, 6]
    assert "falls just below 2^32" in report(told, aligned(told)).notes[0]
    with pytest.raises(UsageError, match="no signal 'm'"):
        aligned(told, wraps={"m": 32})
    with pytest.raises(UsageError, match="must be 16, 32, 53 or 64 bits"):
        aligned(told, wraps={"n": 31})


@given(st.lists(st.integers(0, 1000), min_size=2, max_size=50), st.data())
@QUICK
def test_resets_lose_no_increase_that_was_counted(steps: list[int], data: st.DataObject) -> None:
    at = data.draw(st.sets(st.integers(1, len(steps) - 1)))
    level, seen, true = 0, [], [0]
    for index, step in enumerate(steps):
        if index in at:
            level = 0
        level += step
        seen.append(float(level))
        if index:
            hidden = index in at and level >= seen[-2]  # nobody can see this one
            true.append(true[-1] + (level - int(seen[-2]) if hidden else step))
    assert increases(np.array(seen)).tolist() == true
    assert resets(np.array(seen)) <= len(at)


def test_a_gap_of_a_counter_is_a_gap_of_its_rate() -> None:
    series = aligned(counted([0, 1, 2, 5, 6, 7], [0, 1, 3, 9, 10, 14]), step=1)
    assert np.isnan(series["n"]).tolist() == [True, False, False, True, True, True, False, False]


def test_units_become_si() -> None:
    told = telemetry({Signal("a", "ms"): ([0, 1], [500, 250]), Signal("b", "GB", "counter"): ([0, 2], [0, 4]),
                      Signal("c", "rank*s"): ([0, 1], [1, 2]), Signal("d", "parsec"): ([0, 1], [1, 3])})  # fmt: skip
    series = aligned(told, step=1, keep=("constant",))
    assert series.units["a"] == "s"
    assert series["a"].tolist()[:2] == [0.5, 0.25]
    assert series.units["c"] == "rank*s"
    assert "d: the unit 'parsec' is not known, its values stay as they are" in report(told, series).notes
    assert (series.units["d"], series["d"].tolist()[:2]) == ("parsec", [1, 3])


def test_what_says_nothing_is_left_out_by_name_or_kept_where_asked() -> None:
    nan, inf = math.nan, math.inf
    told = gauges(
        flat=([*range(6)], [3] * 6), none=([*range(6)], [nan] * 6), same=([*range(6)], [1, 2, 3, 1, 2, 3]),
        copy=([*range(6)], [1, 2, 3, 1, 2, 3]), big=([*range(6)], [1, 2, inf, 4, -inf, 6]), bare=([], []),
    )  # fmt: skip
    series = aligned(told)
    assert series.names == ("big", "copy", "same")
    why = {one.what: one.why for one in series.excluded}
    assert why["flat"] == "it is always 3: nothing follows its changes"
    assert "no value that is a number" in why["none"]
    assert "no value" in why["bare"]
    assert why["big at 2 times"] == "infinite: counted as missing"
    assert np.isnan(series["big"]).tolist() == [False, False, True, False, True, False]
    assert any("copy and same are equal" in note for note in report(told, series).notes)
    assert aligned(told, keep=("constant", "copies")).names == ("big", "copy", "flat", "same")
    alone = aligned(told, keep=())
    assert alone.names == ("big", "copy")
    assert {one.what: one.why for one in alone.excluded}["same"] == "equal to 'copy' at every time"


def test_nothing_leaves_without_a_name() -> None:
    rng = np.random.default_rng(3)
    signals = {
        f"s{i}": (
            [*range(30)],
            np.where(rng.random(30) < 0.3, [math.nan, 1.0, math.inf][i % 3], rng.normal(size=30) * (i % 2)),
        )
        for i in range(30)
    }
    told = telemetry({Signal(name): pair for name, pair in signals.items()})
    series = aligned(told)
    gone = {one.what.split(" at ")[0] for one in series.excluded}
    assert set(series.names) | gone == set(signals)


def two_clocks(ahead: float, *, noise: float = 0.05, periodic: bool = False) -> Telemetry:
    rng = np.random.default_rng(5)
    times: Any = np.arange(2000) * 5.0
    truth = np.sin(times / 40) if periodic else np.convolve(rng.normal(size=2100), np.ones(20) / 5, "valid")[:2000]
    names = ("a.load", "b.load")
    signals = tuple(Signal(name) for name in names)
    samples = {"a.load": Samples(times, truth), "b.load": Samples(times + ahead, truth + noise * rng.normal(size=2000))}
    origins = tuple(Origin(f"{end}.csv", "wide CSV", "", (f"{end}.load",), 2000) for end in "ab")
    return Telemetry(signals, samples, np.union1d(times, times + ahead), (), origins)


@pytest.mark.parametrize("ahead", [0.0, 12.0, -30.0, 251.0, 3.0])
def test_clock_skew_is_estimated_from_a_shared_signal_told_and_corrected_where_stated(ahead: float) -> None:
    told = two_clocks(ahead)
    (skew,) = report(told, aligned(told)).skews
    assert skew.seconds == pytest.approx(ahead, abs=skew.within)
    assert not skew.ambiguous
    series = aligned(told, offsets={"b.csv": -ahead})
    both = np.isfinite(series.values).all(axis=1)
    assert np.asarray(np.corrcoef(series.values[both].T))[0, 1] > 0.99


def test_a_periodic_signal_does_not_tell_the_clocks_apart() -> None:
    told = two_clocks(12.0, periodic=True)
    (skew,) = report(told, aligned(told)).skews
    assert skew.ambiguous
    assert "repeats itself" in str(skew)


def test_two_signals_that_only_share_a_name_give_no_skew() -> None:
    told = two_clocks(0.0, noise=50.0)
    assert report(told, aligned(told)).skews == ()


def test_too_short_for_a_skew() -> None:
    one = Samples(np.arange(5.0), np.arange(5.0))
    assert offset(one, one, 1.0) is None


def test_an_unknown_source_of_an_offset() -> None:
    with pytest.raises(UsageError, match=r"no source is called 'c\.csv'"):
        aligned(two_clocks(0.0), offsets={"c.csv": 1.0})


@pytest.mark.parametrize("step", [0, -1, math.nan, math.inf])
def test_a_step_that_is_none(step: float) -> None:
    with pytest.raises(UsageError, match="seconds > 0"):
        aligned(gauges(x=([0, 1], [1, 2])), step=step)


def test_the_report_counts_and_prints() -> None:
    told = telemetry({
        Signal("queue\nlen", "req"): ([0, 1, 2, 6, 7], [1, math.nan, math.inf, 4, 5]),
        Signal("n_total", "req", "counter"): ([*range(8)], [1, 2, 1, 3, 4, 2, 3, 4]),
    })  # fmt: skip
    series = aligned(told)
    found = report(told, series, wanted=["queue\nlen", "q_total"])
    rows = {row.name: row for row in found.rows}
    queue = rows["queue\nlen"]
    assert (queue.samples, queue.expected, queue.missing, queue.not_a_number, queue.infinite) == (5, 8, 3, 1, 1)
    assert (queue.longest_gap, queue.empty, queue.of) == (4, 5, 8)
    assert rows["n_total"].resets == 2
    assert found.without_column == (("q_total", "did you mean 'n_total'?"),)
    assert found.without_signal == ("n_total",)
    text = "\n".join(render_report(found))
    assert "queue len" in text
    assert "q_total: did you mean 'n_total'?" in text
    assert report_to_dict(found)["signals"][1]["missing"] == 3
