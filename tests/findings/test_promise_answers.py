"""Which finding answers a promise."""

from __future__ import annotations

from dataclasses import replace

from coherence.findings.finding import Evidence, Finding, Grade, Severity, Verdict
from coherence.findings.promise_answers import promise_answers
from coherence.language.reading import read_text

DESIGN = read_text("coherence: 1\npromises: {p: always x.a <= 1, q: always x.b <= 1}\n", "design.yaml")
PROOF = Finding("COH220", "", Verdict.PROVED, Severity.INFO, "", (), ("p",), Evidence(Grade.PROVED, ""))


def test_a_promise_is_answered_by_name_or_by_place() -> None:
    at = replace(PROOF, of=("other",), places=(DESIGN.promises["q"].place,))
    assert promise_answers(DESIGN, [PROOF, at]) == {"p": PROOF, "q": at}


def test_the_worst_answer_counts() -> None:
    unclear, broken = (replace(PROOF, verdict=verdict) for verdict in (Verdict.UNDECIDED, Verdict.CONFLICT))
    assert promise_answers(DESIGN, [unclear, PROOF]) == {"p": PROOF}
    assert promise_answers(DESIGN, [unclear, PROOF, broken]) == {"p": broken}


def test_that_promises_can_hold_together_says_not_that_one_does() -> None:
    assert promise_answers(DESIGN, [replace(PROOF, code="COH231", of=("p", "q"))]) == {}
