"""Adds to each answer, as assumptions, what the parts that it is about leave out of the programs they stand for."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace

from coherence.base.queries import cached
from coherence.base.reads import unnoted
from coherence.findings.finding import Finding
from coherence.language import catalogue
from coherence.language.design import Call, Component, Design, Limit, Loop, Timer
from coherence.language.schema_kinds import Word


def with_omissions(finding: Finding, design: Design) -> Finding:
    """Returns an answer that decides with the omissions of the parts that it names; any other as it is."""
    if not finding.verdict.decides:
        return finding
    known = omissions_of(design)
    words = dict.fromkeys([*finding.assumptions, *(text for name in finding.of for text in known.get(name, ()))])
    return replace(finding, assumptions=tuple(words)) if len(words) > len(finding.assumptions) else finding


@cached
def omissions_of(design: Design) -> Mapping[str, tuple[str, ...]]:
    """Returns what the part of each policy and component leaves out, by name; nothing of what uses no part."""
    with unnoted():
        return {name: catalogue.omissions(section, part) for section, name, part in _parts(design)}


def _parts(design: Design) -> Iterator[tuple[str, str, str]]:
    sections: Mapping[str, Iterator[Call | Component | Limit | Loop | Timer]] = {
        "loops": iter(design.loops.values()),
        "calls": iter(design.calls),
        "timers": iter(design.timers.values()),
        "limits": iter(design.limits.values()),
        "components": iter(design.components.values()),
    }
    for section, entries in sections.items():
        for entry in entries:
            if isinstance(entry.part, Word):
                yield section, entry.name, entry.part.text
