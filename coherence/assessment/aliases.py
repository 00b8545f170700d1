"""Replaces the names that a design declares, so that a page can be shown to others: `loop 1`, `signal 2`.

Every text of the page passes through one function, and so does every name in it.  Numbers stay.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from coherence.assessment.parts.answers import Assessment
from coherence.base.outside_text import visible
from coherence.language.design import Component, Design
from coherence.language.entries.leaves import leaves
from coherence.language.expressions import names as names_of
from coherence.language.names import loop_formulas
from coherence.reporting.pictures.markup import Shown

KINDS = {
    "workload": "workload", "tiers": "tier", "components": "component", "loops": "loop", "timers": "timer",
    "limits": "limit", "jobs": "job", "promises": "promise", "boundaries": "boundary", "places": "place",
    "claims": "claim", "prices": "price",
}  # fmt: skip


def aliases(assessment: Assessment) -> Shown:
    """Returns what shows a text with each declared name replaced by its kind and a number."""
    table: dict[str, str] = {}
    for kind, name in _names(assessment):
        if name and name not in table:
            table[name] = f"{kind} {1 + sum(alias.startswith(f'{kind} ') for alias in table.values())}"
    words = "|".join(map(re.escape, sorted(table, key=len, reverse=True)))
    pattern = re.compile(rf"(?<![\w-])(?:{words})(?![\w-])") if words else None

    def shown(text: str) -> str:
        safe = visible(text)
        return pattern.sub(lambda match: table[match[0]], safe) if pattern else safe

    return shown


def _names(assessment: Assessment) -> Iterator[tuple[str, str]]:
    """Yields the kind and the name of all that is somebody's own."""
    design = assessment.design
    yield "system", visible(assessment.system)
    for path in (assessment.path, *(file.path for file in assessment.report.inputs)):
        yield "design", visible(path)
    if assessment.before:
        yield "design", visible(assessment.before[0])
    for path in assessment.measured.series if assessment.measured else ():
        yield "telemetry", visible(path)
    for leaf in leaves(design):
        if leaf.section in KINDS:
            yield KINDS[leaf.section], leaf.entry
    for call in design.calls:
        yield from (("component", str(end)) for end in (call.caller, call.callee) if end)
    yield from _signals(design)


def _signals(design: Design) -> Iterator[tuple[str, str]]:
    """Yields the signals that formulas of loops name, and the own words of components."""
    for loop in design.loops.values():
        for formula in loop_formulas(loop):
            for path in names_of(formula.tree):
                yield "component", path.split(".")[0]
                yield from (("signal", word) for word in path.split(".")[1:])
        yield from (("signal", word) for word in loop.written.split(".")[1:])
        if loop.contact:
            yield "owner", visible(loop.contact.text)
    for leaf in leaves(design):
        word = leaf.key.split(".")[0]
        if leaf.section == "components" and leaf.own and word not in Component.keys:
            yield "signal", word
