"""Finds the answer to each promise of a design among the findings."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

from coherence.base.places import Place
from coherence.findings.finding import Finding, Verdict
from coherence.language.design import Design

# the worst that any question says is the answer
ORDER = (Verdict.CONFLICT, Verdict.VACUOUS, Verdict.PROVED, Verdict.UNDECIDED)
Spot = tuple[str, int, int]
TOGETHER = frozenset({"COH231", "COH234"})  # their proofs say that promises can hold, not that they do


def promise_answers(design: Design, findings: Iterable[Finding]) -> dict[str, Finding]:
    """Returns the finding that answers each promise that has one, by the name of the promise."""
    worst: dict[str, Finding] = {}
    spots: dict[Spot, list[str]] = {}
    for name, promise in design.promises.items():
        spots.setdefault(_spot(promise.place), []).append(name)
    lines = {line for _, line, _ in spots}
    named = design.promises.keys() - design.loops.keys() - design.components.keys()
    for finding in findings if spots else ():
        if named.isdisjoint(finding.of) and lines.isdisjoint([place.line for place in finding.places]):
            continue
        possible = finding.code in TOGETHER and finding.verdict is Verdict.PROVED
        for name in _promises_of(named, finding, spots, lines) if finding.verdict in ORDER and not possible else ():
            known = worst.get(name)
            if known is None or ORDER.index(finding.verdict) < ORDER.index(known.verdict):
                worst[name] = finding
    return worst


def _promises_of(
    named: Collection[str], finding: Finding, spots: Mapping[Spot, Sequence[str]], lines: Collection[int]
) -> Iterator[str]:  # fmt: skip
    """Yields the promises that a finding points at, or names where nothing else has the name (`named`)."""
    yield from (name for name in finding.of if name in named)
    for place in finding.places:
        if place.line in lines:
            yield from spots.get(_spot(place), ())


def _spot(place: Place) -> Spot:
    return place.file, place.line, place.column
