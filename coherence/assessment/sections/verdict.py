"""Says in one sentence what the design's answers come to, and counts them."""

from __future__ import annotations

from collections.abc import Sequence

from coherence.assessment.parts.answers import Assessment, counted_lines
from coherence.assessment.parts.elements import note, reproduced, table
from coherence.findings.finding import Finding, Verdict
from coherence.reporting._words import plural
from coherence.reporting.pictures.design_map import SIGNS
from coherence.reporting.pictures.markup import Child, Element, h

ORDER, TITLE = 10, "Verdict"


def section(assessment: Assessment) -> tuple[Child, ...]:
    """Returns the headline, a tile for each kind of answer, and how the pairs of policies stand."""
    sums, report = assessment.report.accounting, assessment.report
    tiles = [_tile(v, len(assessment.of_verdict(v))) for v in (Verdict.CONFLICT, Verdict.UNDECIDED, Verdict.PROVED)]
    tiles += [_count("policies", sums.policies), _count("pairs of them", sums.pairs)]
    tiles.append(_count("not read", len(counted_lines(report.not_read))))
    promises = (
        f"{plural(sums.promises, 'promise')}: {sums.promises_conflict} broken, {sums.promises_proved} proved, "
        f"{sums.promises_undecided} undecided, {sums.promises_vacuous} vacuous."
    )
    pairs = table(
        "Pairs of policies by what is known of them",
        ("in conflict", "safe", "undecided", "not modelled", "unrelated"),
        [tuple(map(str, (sums.conflict, sums.safe, sums.undecided, sums.not_modelled, sums.unrelated)))],
        numbers="0 1 2 3 4",
    )
    alone = note("Safe: proved together. Not modelled: they share a thing, and no question is about them.")
    shown = [h("p", promises)] if sums.promises else []
    return (h("p", headline(assessment), class_="headline"), h("ul", *tiles, class_="tiles"), *shown, pairs, alone,
            reproduced("check", assessment.path))  # fmt: skip


def headline(assessment: Assessment) -> str:
    """Returns the sentence that a reader takes away."""
    conflicts = assessment.of_verdict(Verdict.CONFLICT)
    undecided, proved = (len(assessment.of_verdict(v)) for v in (Verdict.UNDECIDED, Verdict.PROVED))
    if conflicts:
        if len(conflicts) == 1:
            return f"One {conflicts[0].certainty} conflict: {conflicts[0].message}.".replace("  ", " ")
        return f"{len(conflicts)} conflicts{_certainty(conflicts)}. The gravest: {conflicts[0].message}."
    if undecided:
        return f"No conflict was found: {plural(undecided, 'question')} open, {proved} proved."
    if proved:
        return f"No conflict was found: {plural(proved, 'answer')}, all proved."
    return "Nothing is decided: no question answers about this design."


def _certainty(conflicts: Sequence[Finding]) -> str:
    """Returns how many conflicts come whatever the design leaves open, and how many for some of it."""
    counts = {word: sum(f.certainty == word for f in conflicts) for word in ("certain", "possible")}
    every = next((f", all {word}" for word, count in counts.items() if count == len(conflicts)), "")
    return every or f", {' and '.join(f'{count} {word}' for word, count in counts.items() if count)}".rstrip(", ")


def _tile(verdict: Verdict, count: int) -> Element:
    words = h("span", f"{SIGNS[verdict]} {verdict.value}")
    return h("li", h("strong", str(count)), words, class_=f"tile {verdict.value if count else ''}".rstrip())


def _count(words: str, count: int) -> Element:
    return h("li", h("strong", str(count)), h("span", words), class_="tile")
