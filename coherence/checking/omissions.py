"""Adds to each answer, as assumptions, what the parts that it is about leave out of the programs they stand for."""

from __future__ import annotations

from dataclasses import replace

from coherence.findings.finding import Finding
from coherence.language.design import Design
from coherence.language.entries.omissions import merged, omissions_by_place, omissions_of


def with_omissions(finding: Finding, design: Design) -> Finding:
    """Returns an answer that decides with the omissions of the parts that it names or points at; any other as it is."""
    known = omissions_of(design) if finding.verdict.decides else {}
    if not known:
        return finding
    pointed = omissions_by_place(design)
    words = merged(
        finding.assumptions,
        (
            *(text for name in finding.of for text in known.get(name, ())),
            *(text for place in finding.places for text in pointed.get(place.labelled(""), ())),
        ),
    )
    return replace(finding, assumptions=words) if len(words) > len(finding.assumptions) else finding
