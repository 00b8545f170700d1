"""What is missing of each signal and between design and telemetry; by hand."""

from __future__ import annotations

import numpy as np

from coherence.causal.telemetry.alignment import aligned
from coherence.causal.telemetry.missing import SignalGaps, TelemetryReport, render_report, report, report_to_dict
from coherence.simulate.telemetry.contract import Signal, Telemetry, telemetry

NAN, INFINITE = float("nan"), float("inf")
TIMES = [float(n) for n in range(11)]


def record(**more: tuple[list[float], list[float]]) -> Telemetry:
    rows = {
        Signal("whole"): (TIMES, [float(n % 3) for n in range(11)]),
        Signal("gaps"): ([0.0, 1.0, 2.0, 6.0, 7.0, 8.0, 9.0, 10.0], [1.0, NAN, 3.0, INFINITE, 5.0, 6.0, 7.0, 9.0]),
        Signal("count", "1", "counter"): (TIMES, [0, 5, 9, 2, 6, 9, 1, 3, 5, 7, 8.0]),
        Signal("seldom"): ([0.0, 5.0, 10.0], [1.0, 2.0, 4.0]),
    }
    return telemetry({**rows, **{Signal(name): pair for name, pair in more.items()}})


def told(wanted: tuple[str, ...] = (), **more: tuple[list[float], list[float]]) -> TelemetryReport:
    data = record(**more)
    return report(data, aligned(data, step=1.0), wanted=wanted)


def row(name: str, **more: tuple[list[float], list[float]]) -> SignalGaps:
    return next(one for one in told((), **more).rows if one.name == name)


def test_a_whole_signal_lacks_nothing() -> None:
    found = row("whole")
    assert (found.samples, found.expected, found.missing, found.not_a_number, found.infinite) == (11, 11, 0, 0, 0)
    assert (found.spacing, found.longest_gap, found.empty, found.of) == (1, 1, 0, 11)


def test_gaps_are_counted_at_the_spacing_of_the_signal() -> None:
    found = row("gaps")
    assert (found.samples, found.expected, found.missing) == (8, 11, 3)  # nothing at 3, 4 and 5
    assert (found.not_a_number, found.infinite) == (1, 1)
    assert found.longest_gap == 4  # from 2 to 6


def test_falls_of_a_counter_are_resets_and_of_a_gauge_are_none() -> None:
    assert row("count").resets == 2
    assert row("gaps").resets == row("whole").resets == 0


def test_a_signal_that_is_sampled_seldom_is_told() -> None:
    assert row("seldom").spacing == 5
    assert row("seldom").missing == 0
    (note,) = [note for note in told().notes if "seldom" in note]
    assert note == "1 signal is sampled more seldom than every 1 s: seldom; a step of 5 s would lose no time"


def test_copies_and_counters_that_wrap_are_told() -> None:
    copy = (TIMES, [float(n % 3) for n in range(11)])
    assert "same and whole are equal at every time: their shares cannot be told apart" in told(same=copy).notes
    wraps = telemetry({Signal("c", "1", "counter"): (TIMES[:4], [0.0, 65_000.0, 10.0, 20.0])})
    notes = report(wraps, aligned(wraps, step=1.0)).notes
    assert notes == ("c: falls just below 2^16; if it goes on from 0 there, state wraps=16",)
    falls = telemetry({Signal("c", "1", "counter"): (TIMES[:4], [0.0, 50_000.0, 10.0, 20.0])})
    assert report(falls, aligned(falls, step=1.0)).notes == ()


def test_the_design_and_the_telemetry_are_compared() -> None:
    found = told(("whole", "gapz", "far"))
    assert [name for name, _ in found.without_column] == ["gapz", "far"]
    assert "gaps" in found.without_column[0][1]
    assert set(found.without_signal) == {"gaps", "count", "seldom"}
    assert told().without_signal == ()
    assert (found.step, found.times, found.start, found.end) == (1, 11, 0, 10)


def test_the_report_shows_what_lacks_something_first() -> None:
    lines = render_report(told(("whole", "gapz")))
    assert lines[0] == "4 signals, 11 times every 1 s"
    table = [line.split()[0] for line in lines if line.startswith("  ")][:6]
    assert table[:5] == ["signal", "count", "gaps", "seldom", "whole"]
    assert "signals of the design without a column:" in lines
    assert "columns that are no signal of the design:" in lines
    short = render_report(told(), most=2)
    assert "  and 2 more signals" in short


def test_data_has_the_same() -> None:
    data = report_to_dict(told(("whole", "far")))
    assert [signal["name"] for signal in data["signals"]] == ["count", "gaps", "seldom", "whole"]
    assert data["without_column"] == ["far"]
    assert data["signals"][1]["missing"] == 3
    assert np.isfinite(data["step"])
