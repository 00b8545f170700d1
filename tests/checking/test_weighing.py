"""Questions asked about a whole design: a proof that an unread entry touches is taken back, as in a check."""

from __future__ import annotations

import pytest

from coherence.checking.design_check import analyse
from coherence.checking.weighing import ask_weighed
from coherence.findings.finding import Verdict
from coherence.findings.question_input import Subject
from coherence.findings.registry import question_modules
from coherence.language.reading import read_text

CALL = """coherence: 1
components: {a: {runs_on: near}, b: {runs_on: far}}
calls: [{from: a, to: b, deadline: 10 s, per_try: 3 s, tries: 3, retry_when: [timeout]}]
infrastructure:
  tiers: {near: {count: 1}, far: {count: 1}}
"""
BOUNDED = CALL + "  boundaries: {vm: {around: [b], added_delay: 1 s}}\n"


def verdicts(text: str, codes: tuple[str, ...] = ()) -> list[tuple[str, Verdict]]:
    modules = [m for m in question_modules() if not codes or any(q.code in codes for q in m.questions)]
    return [(finding.code, finding.verdict) for finding in ask_weighed(Subject(read_text(text)), modules)]


def test_a_proof_that_an_unread_boundary_touches_is_taken_back() -> None:
    assert ("COH201", Verdict.PROVED) in verdicts(CALL)
    assert ("COH201", Verdict.PROVED) not in verdicts(BOUNDED)
    assert ("COH201", Verdict.UNDECIDED) in verdicts(BOUNDED)


def test_a_proof_is_taken_back_whichever_other_questions_are_asked() -> None:
    assert verdicts(CALL, ("COH201",)) == [("COH201", Verdict.PROVED)]
    assert verdicts(BOUNDED, ("COH201",)) == [("COH201", Verdict.UNDECIDED)]


@pytest.mark.parametrize("text", [CALL, BOUNDED])
def test_the_answers_are_those_of_a_check(text: str) -> None:
    checked = analyse(read_text(text), {}, lambda _: read_text(text), verify_repairs=False)
    assert sorted(verdicts(text)) == sorted((f.code, f.verdict) for f in checked.findings)
