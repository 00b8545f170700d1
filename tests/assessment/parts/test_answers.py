"""What all engines answer about one design, gathered: in order, and each engine's refusal said."""

from __future__ import annotations

from pathlib import Path

import pytest

from coherence.assessment.parts.answers import VERDICTS, TelemetryFiles, assess
from coherence.base.errors import UsageError
from coherence.findings.finding import Verdict
from tests.paths import SPECS

LOOP = """\
coherence: 1
components: {q: {level: 4, pressure: level}}
loops:
  valve: {layer: runtime, objective: o, trigger: true, timescale: {period: 10 s}, target: {signal: q.pressure},
          actuation: {signal: q.copies, law: step, by: 1, bounds: [1, 9], from: 1}}
"""


def test_the_gravest_finding_comes_first() -> None:
    answers = assess(str(SPECS / "shed-barrier" / "design.yaml"), seconds=20, today="2026-01-01")
    places = [VERDICTS.index(finding.verdict) for finding in answers.findings]
    assert places == sorted(places)
    assert answers.anchor(answers.findings[0]) == "F1"
    assert answers.of_verdict(Verdict.CONFLICT) == answers.findings[: len(answers.of_verdict(Verdict.CONFLICT))]
    assert answers.loops.analysis is not None


def test_several_designs_are_refused(tmp_path: Path) -> None:
    for name in ("a.yaml", "b.yaml"):
        (tmp_path / name).write_text(LOOP, encoding="utf-8")
    with pytest.raises(UsageError, match="holds 2 designs"):
        assess(str(tmp_path), seconds=5, today="2026-01-01")


@pytest.mark.slow
def test_telemetry_is_answered_section_by_section() -> None:
    folder = SPECS / "loss-attribution"
    files = TelemetryFiles((str(folder / "telemetry.csv"),), str(folder / "requests.csv"))
    answers = assess(str(folder / "design.yaml"), seconds=20, today="2026-01-01", telemetry=files)
    assert answers.section("Where device time went") is not None
    assert answers.section("Indices of coordination") is not None
