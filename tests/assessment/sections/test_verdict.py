"""The headline of a page: how many conflicts, how sure each is, and the gravest."""

from __future__ import annotations

from dataclasses import replace

import pytest

from coherence.assessment.sections.verdict import headline
from coherence.findings.finding import Accounting, Evidence, Finding, Grade, Report, Severity, Verdict
from tests.assessment.run_assessments import assessed

SWINGS = Finding(
    "COH301", "x", Verdict.CONFLICT, Severity.ERROR, "a never settles", (), ("a",), Evidence(Grade.PROVED, "by hand"),
    certainty="certain",
)  # fmt: skip
LATE = replace(SWINGS, code="COH201", severity=Severity.WARNING, message="b is late", certainty="possible")


@pytest.mark.parametrize(
    ("findings", "sentence"),
    [
        ((SWINGS,), "One certain conflict: a never settles."),
        ((replace(SWINGS, certainty=""),), "One conflict: a never settles."),
        ((LATE, SWINGS, replace(LATE, message="c is late")),
         "3 conflicts, 1 certain and 2 possible. The gravest: a never settles."),
        ((SWINGS, replace(SWINGS, message="b swings")), "2 conflicts, all certain. The gravest: a never settles."),
        ((replace(LATE, verdict=Verdict.UNDECIDED, certainty=""),),
         "No conflict was found: 1 question open, 0 proved."),
        ((replace(LATE, verdict=Verdict.PROVED, certainty=""),), "No conflict was found: 1 answer, all proved."),
        ((), "Nothing is decided: no question answers about this design."),
    ],
)  # fmt: skip
def test_the_headline_says_how_many_how_sure_and_the_gravest(findings: tuple[Finding, ...], sentence: str) -> None:
    assert headline(replace(assessed(), report=Report(findings, Accounting(), ()))) == sentence
