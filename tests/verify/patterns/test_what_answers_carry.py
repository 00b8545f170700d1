"""What every answer of the named patterns carries: labelled places, a witness or a certificate, the figures."""

from __future__ import annotations

import re

import pytest

from coherence.base.solver import unsat
from coherence.findings.finding import Finding, Verdict
from coherence.findings.question_input import Subject
from coherence.findings.registry import question_modules
from coherence.language.reading import read_text
from tests.paths import ROOT

TESTS = ROOT / "tests"
CODES = tuple(f"COH{number}" for number in range(240, 248))
FILES = (
    "blind_sensor", "overlapping_periods", "overload", "quota_retries", "removal_cascade", "response_time",
    "spent_budget", "stated_numbers",
)  # fmt: skip
FENCE = re.compile(r"^```yaml[^\n]*\n(.*?)^```", re.DOTALL | re.MULTILINE)
DESIGNS = [text for name in FILES for text in FENCE.findall(next(TESTS.rglob(f"{name}.md")).read_text())]


def asked(text: str) -> list[Finding]:
    subject = Subject(read_text(text, "d.yaml"), {"d.yaml": text})
    return [f for module in question_modules() if module.questions[0].code in CODES for f in module.ask(subject)]


@pytest.mark.parametrize("text", DESIGNS, ids=range(len(DESIGNS)))
def test_answers_can_be_checked(text: str) -> None:
    for finding in asked(text):
        assert finding.of
        assert finding.places
        assert all(place.label and place.line > 0 for place in finding.places), finding.places
        if finding.verdict is Verdict.CONFLICT:
            assert len(set(finding.places)) >= 2
            assert finding.evidence.witness
            assert finding.evidence.numbers
        if finding.verdict is Verdict.PROVED:
            assert finding.evidence.certificate
            answer = unsat(finding.evidence.certificate, timeout_ms=10_000)
            assert answer.unsat, finding.evidence.certificate
