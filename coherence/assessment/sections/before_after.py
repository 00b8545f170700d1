"""Compares the findings with those about an earlier design."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from coherence.assessment.parts.answers import Assessment
from coherence.assessment.parts.elements import note, reproduced, table
from coherence.findings.finding import Accounting, Finding, Verdict
from coherence.reporting.pictures.markup import Child

ORDER, TITLE = 15, "Before and after"
COUNTED = ("promises", "promises_conflict", "promises_proved", "conflict", "safe", "undecided", "not_modelled")
WORDS = ("promises", "promises broken", "promises proved", "pairs in conflict", "pairs safe", "pairs undecided",
         "pairs not modelled")  # fmt: skip


def section(assessment: Assessment) -> tuple[Child, ...]:
    """Returns counts of both, and the findings that went, came and stayed; nothing where no earlier one is given."""
    if assessment.before is None:
        return ()
    path, earlier = assessment.before
    gone = _without(earlier.findings, assessment.findings)
    come = _without(assessment.findings, earlier.findings)
    rows = [(words, str(before), str(after), f"{after - before:+d}") for words, before, after in
            _counts(earlier.accounting, assessment.report.accounting)]  # fmt: skip
    for verdict in (Verdict.CONFLICT, Verdict.UNDECIDED, Verdict.PROVED):
        before = sum(f.verdict is verdict for f in earlier.findings)
        after = len(assessment.of_verdict(verdict))
        rows.append((f"findings: {verdict.value}", str(before), str(after), f"{after - before:+d}"))
    return (
        table("What is counted", ("", "before", "after", "change"), rows, numbers="1 2 3"),
        _listed("Gone since", gone), _listed("New", come),
        reproduced("check", path), reproduced("check", assessment.path),
    )  # fmt: skip


def _counts(before: Accounting, after: Accounting) -> Iterable[tuple[str, int, int]]:
    return ((words, getattr(before, key), getattr(after, key)) for key, words in zip(COUNTED, WORDS, strict=True))


def _without(findings: Iterable[Finding], others: Iterable[Finding]) -> list[Finding]:
    """Returns the findings whose code, names and verdict no other one has; proofs and notes aside."""
    left = Counter(other.fingerprint for other in others)
    own = [f for f in findings if f.verdict in (Verdict.CONFLICT, Verdict.UNDECIDED, Verdict.VACUOUS)]
    return [finding for finding in own if not left[finding.fingerprint]]


def _listed(title: str, findings: list[Finding]) -> Child:
    if not findings:
        return note(f"{title}: nothing.")
    return table(title, ("question", "verdict", "finding"), [(f.code, str(f.verdict), f.message) for f in findings])
