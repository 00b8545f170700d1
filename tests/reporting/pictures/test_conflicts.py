"""Timelines of all conflicts of a report, and what is said where one has no run."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

from coherence.findings.finding import Accounting, Evidence, Finding, Grade, Report, Severity, Step, Verdict
from coherence.reporting.pictures.conflicts import MOST, conflicts_drawing

RUN = Finding(
    "COH203", "x", Verdict.CONFLICT, Severity.ERROR, "drained too early", (), (),
    Evidence(Grade.PROVED, "by hand", witness=(Step(Fraction(0), "it starts"), Step(Fraction(3), "it ends"))),
)  # fmt: skip
BARE = replace(RUN, code="COH999", evidence=Evidence(Grade.PROVED, "by hand"))


def _drawn(*findings: Finding) -> str:
    return conflicts_drawing(Report(findings, Accounting(), ()), "a shop").standalone()


def test_each_conflict_has_its_run_and_one_without_is_named() -> None:
    text = _drawn(RUN, BARE)
    assert "2 conflicts of a shop" in text
    assert "COH203: drained too early" in text
    assert "3 s: it ends" in text
    assert "1 without a run: COH999" in text


def test_without_a_conflict_the_picture_says_so() -> None:
    assert "no conflict was found" in _drawn()


def test_what_is_not_drawn_is_counted() -> None:
    assert "2 more conflicts are not drawn" in _drawn(*(replace(RUN, message=f"number {k}") for k in range(MOST + 2)))


def test_errors_are_drawn_before_warnings() -> None:
    warnings = [replace(RUN, severity=Severity.WARNING, message=f"number {k}") for k in range(MOST)]
    assert "COH203: drained too early" in _drawn(*warnings, RUN)
