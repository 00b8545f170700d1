"""Asks about a design on each side of its boundaries where a loop does not say on which it runs.

What is answered alike on all sides stands.  Where the sides differ, the answer is undecided and asks for `inside`.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

from coherence.base.reads import unnoted
from coherence.base.solver import joined
from coherence.findings.finding import Evidence, Finding, Grade, Severity, Verdict
from coherence.findings.influences import acts_on_the_way
from coherence.findings.question_input import Subject
from coherence.language.design import Design
from coherence.language.schema_kinds import Word
from coherence.model.boundaries import unplaced

MOST_SIDES = 8
OUTSIDE = "none"

Ask = Callable[[Subject], Iterable[Finding]]
Sides = Mapping[str, str]  # loop -> where it runs
Key = tuple[str, tuple[str, ...]]


def on_every_side(ask: Ask, subject: Subject) -> Iterable[Finding]:
    """Returns the answers of a question wherever the loops run that do not say it; of few sides alone."""
    with unnoted():
        sides = _sides(subject.design)
    if len(sides) < 2:
        return ask(subject)
    answers = [tuple(ask(replace(subject, design=_placed(subject.design, side)))) for side in sides]
    return _joined(sides, answers)


def _sides(design: Design) -> Sequence[Sides]:
    """Returns the ways in which loops can stand at boundaries that do something to what crosses them."""
    if not design.boundaries:
        return ()
    places: dict[str, list[str]] = {}
    for boundary, loops in unplaced(design).items():
        if acts_on_the_way(design.boundaries[boundary]):
            for loop in loops:
                places.setdefault(loop, [OUTSIDE]).append(boundary)
    if math.prod(map(len, places.values())) > MOST_SIDES:
        return ()
    return [dict(zip(places, chosen, strict=True)) for chosen in itertools.product(*places.values())] if places else ()


def _placed(design: Design, side: Sides) -> Design:
    """Returns the design with loops that say where they run; neither side is a value of the text.

    It is kept: what one question has computed of it, the next takes.
    """
    return design.queries.get((_placed, *side.items()), lambda: _with_places(design, side))


def _with_places(design: Design, side: Sides) -> Design:
    with unnoted():
        loops = {
            name: loop.replace(inside=(Word(side[name], loop.place),)) if name in side else loop
            for name, loop in design.loops.items()
        }
        return design.replace(loops=loops)


def _joined(sides: Sequence[Sides], answers: Sequence[tuple[Finding, ...]]) -> Iterator[Finding]:
    """Yields what is answered on every side, in the order of the first; else that it needs to know the side."""
    tables = [_by_key(findings) for findings in answers]
    for key in dict.fromkeys(key for table in tables for key in table):
        rows = [table.get(key, ()) for table in tables]
        verdicts = {tuple(finding.verdict for finding in row) for row in rows}
        if len(verdicts) == 1:
            yield from _alike(sides, rows)
        elif all(verdict is Verdict.NOTE for row in verdicts for verdict in row):
            yield from _noted(sides, rows)
        else:
            yield _apart(sides, rows)


def _by_key(findings: Iterable[Finding]) -> dict[Key, tuple[Finding, ...]]:
    table: dict[Key, tuple[Finding, ...]] = {}
    for finding in findings:
        key = (finding.code, finding.of)
        table[key] = (*table.get(key, ()), finding)
    return table


def _alike(sides: Sequence[Sides], rows: Sequence[tuple[Finding, ...]]) -> Iterator[Finding]:
    """Yields findings with one verdict on all sides: a proof with the certificates of all, a conflict of the first."""
    for findings in zip(*rows, strict=True):
        first = findings[0]
        if first.verdict is Verdict.PROVED:
            yield _proved(sides, findings)
        elif first.verdict is Verdict.CONFLICT:
            yield _conflict(sides, findings)
        else:
            yield first


def _noted(sides: Sequence[Sides], rows: Sequence[tuple[Finding, ...]]) -> Iterator[Finding]:
    """Yields the facts of each side, once each, with the first side where it is one."""
    known: dict[str, Finding] = {}
    for side, row in zip(sides, rows, strict=True):
        for note in row:
            known.setdefault(note.message, replace(note, assumptions=(*note.assumptions, _words(side))))
    yield from known.values()


def _proved(sides: Sequence[Sides], proofs: Sequence[Finding]) -> Finding:
    """Returns the proof on all sides, which says what holds on each where that is not the same."""
    first = proofs[0]
    scripts = dict.fromkeys(proof.evidence.certificate for proof in proofs)
    script = None if None in scripts else joined(filter(None, scripts))
    loops = [loop for loop in sides[0] if loop in first.of]
    stated = (f"wherever {' and '.join(loops)} runs: on each side of the boundaries",) if loops else ()
    known = dict.fromkeys(words for proof in proofs for words in proof.assumptions)
    evidence = replace(first.evidence, certificate=script)
    return replace(first, message=_message(sides, proofs), evidence=evidence, assumptions=(*known, *stated))


def _conflict(sides: Sequence[Sides], conflicts: Sequence[Finding]) -> Finding:
    """Returns the conflict of the first side, as sure as on all, with the repairs that each of them offers."""
    first = conflicts[0]
    repairs = tuple(
        replace(repair, proved=all(r.proved for other in others for r in other))
        for repair in first.repairs
        if all(others := [[r for r in conflict.repairs if r.edits == repair.edits] for conflict in conflicts])
    )
    if any(conflict.message != first.message for conflict in conflicts):
        first = replace(first, assumptions=(*first.assumptions, _words(sides[0])))
    if unsure := next((conflict for conflict in conflicts if conflict.certainty != "certain"), None):
        first = replace(first, certainty=unsure.certainty, severity=unsure.severity)
    return replace(first, repairs=repairs)


def _message(sides: Sequence[Sides], findings: Sequence[Finding]) -> str:
    """Returns what is said on all sides, once where it is the same."""
    if len({finding.message for finding in findings}) == 1:
        return findings[0].message
    return "; ".join(f"{finding.message} ({_words(side)})" for side, finding in zip(sides, findings, strict=True))


def _apart(sides: Sequence[Sides], rows: Sequence[tuple[Finding, ...]]) -> Finding:
    """Returns the undecided answer about what differs with the side on which loops run."""
    messages = [row[0].message if row else "nothing is found" for row in rows]
    first = next(finding for row in rows for finding in row)
    loops = " and ".join(sides[0])
    ways = "; ".join(f"{_words(side)}: {message}" for side, message in zip(sides, messages, strict=True))
    evidence = Evidence(Grade.BOUNDED, "not decided", bound=ways)
    return replace(
        first, verdict=Verdict.UNDECIDED, severity=Severity.INFO, certainty="", repairs=(), evidence=evidence,
        message=f"needs `inside` of {loops} (a boundary, or `none`): {messages[0]}, or {_first_other(messages)}",
    )  # fmt: skip


def _first_other(messages: Sequence[str]) -> str:
    return next((message for message in messages if message != messages[0]), "with another verdict")


def _words(side: Sides) -> str:
    return ", ".join(
        f"{loop} runs outside of all boundaries" if where == OUTSIDE else f"{loop} runs inside {where}"
        for loop, where in side.items()
    )
