"""Timelines of conflicts: each step stands at its moment, and its words nowhere on another's."""

from __future__ import annotations

import itertools
import xml.etree.ElementTree as ET
from fractions import Fraction

import pytest

from coherence.findings.finding import Evidence, Finding, Grade, Severity, Step, Verdict
from coherence.reporting.pictures.timeline import MOST, ticks, timeline

SVG = "{http://www.w3.org/2000/svg}"


def _conflict(*steps: Step) -> Finding:
    evidence = Evidence(Grade.PROVED, "by hand", witness=steps)
    return Finding("COH203", "x", Verdict.CONFLICT, Severity.ERROR, "x", (), (), evidence)


def test_there_is_no_timeline_without_a_run() -> None:
    assert timeline(_conflict(), title="x") is None


def test_moments_are_in_proportion_and_words_apart() -> None:
    drawn = timeline(_conflict(*(Step(Fraction(t), f"step {t} " + "long " * 40) for t in (0, 1, 2, 60))), title="x")
    assert drawn is not None
    root = ET.fromstring(drawn.standalone())  # noqa: S314  (our own text)
    dots = [float(c.attrib["cy"]) for c in root.iter(f"{SVG}circle")]
    assert (dots[1] - dots[0]) / (dots[3] - dots[0]) == pytest.approx(1 / 60, abs=1e-3)
    rows = [float(t.attrib["y"]) for t in root.iter(f"{SVG}text") if float(t.attrib["x"]) == 150]
    assert all(b - a >= 14 for a, b in itertools.pairwise(rows))
    strong = [t.text or "" for t in root.iter(f"{SVG}text") if t.attrib.get("class") == "ink strong"]
    assert len(strong) > 1
    assert max(map(len, strong)) * 7.3 <= drawn.width - 150  # heavy letters are wider
    assert max(rows) < drawn.height
    assert max(dots) < drawn.height


def test_what_is_left_out_is_said() -> None:
    drawn = timeline(_conflict(*(Step(Fraction(t), "x") for t in range(MOST + 3))), title="x")
    assert drawn is not None
    assert "3 further steps are left out" in drawn.render()


@pytest.mark.parametrize(("low", "high"), [(0.0, 1e-3), (0.0, 7.0), (3.0, 4000.0), (0.0, 1e9), (0, 1e13)])
def test_ticks_are_round_few_and_inside(low: float, high: float) -> None:
    marks = ticks(low, high)
    assert 1 <= len(marks) <= 8
    assert all(low - 1e-6 * high <= mark <= high * (1 + 1e-6) for mark in marks)
