"""The answers about one design: what a report is made of, without what it takes to ask."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from coherence.findings.finding import Accounting, Finding, NotRead, Severity


@dataclass(frozen=True)
class Answers:
    """All findings about one design, and the accounting of its pairs.

    `cut_short`: a time limit ended a search for one of them, or for a repair; another run may answer otherwise.
    """

    findings: tuple[Finding, ...]
    accounting: Accounting
    assumptions: tuple[str, ...]
    cut_short: bool = False
    not_read: tuple[NotRead, ...] = ()


def order_key(finding: Finding) -> tuple[object, ...]:
    """Returns what findings are sorted by: errors first, then place, code and names; the same in every run."""
    rank = {Severity.ERROR: 0, Severity.WARNING: 1, Severity.INFO: 2}
    place = finding.places[0] if finding.places else None
    where = (place.file, place.line, place.column) if place else ("", 0, 0)
    return (rank[finding.severity], where, finding.code, finding.of, finding.verdict, finding.message)


def passes(code: str, select: Sequence[str], ignore: Sequence[str]) -> bool:
    """Returns whether a code begins with a selected prefix, and with no ignored one."""
    return (not select or any(code.startswith(p) for p in select)) and not any(code.startswith(p) for p in ignore)
