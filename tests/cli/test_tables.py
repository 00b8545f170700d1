"""The table of readings: a block for each thing, whichever of two designs has it, and what a change is."""

from __future__ import annotations

from coherence.cli._tables import OF_CHANGES, readings_table
from coherence.simulate.study.repeated_runs import StudyReading


def _reading(of: str, what: str, value: float = 1.0) -> StudyReading:
    return StudyReading(of, what, "s", value)


def test_what_one_design_alone_has_stands_with_its_thing() -> None:
    before = [_reading("web", "P50"), _reading("pool", "busy")]
    after = [_reading("web", "P50"), _reading("web", "P50 of answered"), _reading("pool", "busy")]
    lines = readings_table([before, after], [_reading("web", "P50", -0.5)])
    heads = [line for line in lines if line in ("web", "pool")]
    assert heads == ["web", "pool"]
    at = {word: next(k for k, line in enumerate(lines) if word in line) for word in ("answered", "pool")}
    assert at["answered"] < at["pool"]
    assert lines[-1] == OF_CHANGES


def test_one_design_has_no_change_to_explain() -> None:
    assert OF_CHANGES not in readings_table([[_reading("web", "P50")]])


def test_a_wait_of_no_time_is_news() -> None:
    lines = readings_table([[_reading("engine", "wait P99", 0.0), _reading("engine", "stalled", 0.0)]])
    assert lines == ["engine", "  wait P99  0 s"]
