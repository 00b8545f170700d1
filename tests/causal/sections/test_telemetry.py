"""What was read, and everything that was left out, by reason."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from coherence.causal.sections import telemetry as section_of
from coherence.causal.session.context import Context, FitSettings
from coherence.causal.telemetry import aligned, read, render_report, report
from coherence.language.reading import read_text
from tests.causal.sections.contexts import CHAIN, chain, context, lines


def read_context(folder: Path) -> Context:
    """Returns a context of telemetry from a file, in which one signal never changes."""
    path = folder / "telemetry.csv"
    rows = [f"{10 * n},{n % 7},{2 * (n % 7)},3" for n in range(50)]
    path.write_text("\n".join(["time,disk.reads,loader.wait,trainer.step_time", *rows]) + "\n")
    telemetry = read(path)
    series = aligned(telemetry, step=10, keep=("constant", "copies"))
    session = Context(read_text(CHAIN, "design.yaml"), series, FitSettings())
    session.telemetry_report = report(telemetry, series)
    return session


def test_the_report_of_reading_comes_first(tmp_path: Path) -> None:
    session = read_context(tmp_path)
    told = lines(section_of.answer(session))
    assert session.telemetry_report is not None
    written = render_report(session.telemetry_report)
    assert told[: len(written)] == written
    assert told[0] == "3 signals, 50 times every 10 s"


def test_a_signal_that_cannot_be_fitted_is_told_with_its_reason(tmp_path: Path) -> None:
    session = read_context(tmp_path)
    section = section_of.answer(session)
    assert section is not None
    left = session.usable[1]
    assert [one["what"] for one in section.data["not_fitted"]] == [one.what for one in left] == ["trainer.step_time"]
    last = lines(section)[-1]
    assert last.startswith(f"left out: trainer.step_time: {left[0].why}")
    assert last.endswith(left[0].remedy)


def test_a_series_that_was_given_directly_has_no_report() -> None:
    assert section_of.answer(context(CHAIN, chain())) is None
    assert section_of.answer(context(CHAIN, {"disk.reads": np.zeros(10)})) is None
