"""Finds the numbers that a conflict depends on: for another value of each, the conflict is gone.

A value belongs to the core of a conflict if, with all others as they stand, the question no longer finds the conflict
for some other value (a tenth, a half, twice or ten times of it, of a count the whole numbers there; of zero one).
Where the conflict stands at each of these and is told otherwise at two that are next to each other (another
certainty, another way in which it happens), the values between them are halved.  What a question points at already
stays as it is, with its label; what it leaves out is added behind.  Settings and facts count alike: blame is not
repair.

A conflict that stays certain when all values that it does not point at become ranges, from a tenth to ten times, hangs
on none of them: one ask shows it.  Else each is tried by itself.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import partial
from itertools import pairwise, zip_longest

from coherence.base.places import Place
from coherence.base.records import Record
from coherence.base.units import Dimension
from coherence.checking.repair.adjustable_numbers import adjustable_numbers
from coherence.checking.repair.nearest_repair import Asks
from coherence.checking.repair.rechecks import RecheckContext, charged, key_of, slow
from coherence.findings import repairs
from coherence.findings.finding import Edit, Finding, Verdict
from coherence.findings.question_input import Subject, details_unasked
from coherence.findings.registry import QuestionModule
from coherence.language.design import Design
from coherence.language.schema_kinds import Quantity

HALVINGS = 4
FACTORS = (Fraction(2), Fraction(1, 2), Fraction(10), Fraction(1, 10))
MOST_ASKS = 48  # of a finding
MOST_ASKS_OF_DESIGN = 96
NAMED_SECTIONS = (
    "workload", "components", "claims", "loops", "timers", "limits", "jobs", "places", "placement", "prices",
)  # fmt: skip
_NUMBER = re.compile(r"[-+]?[0-9][0-9.,/]*(?: [A-Za-z%]+)?")
LABEL = "this value decides too"


@dataclass(frozen=True)
class Stated:
    """A number of the text: where it stands, what it is (SI), and whose it is."""

    place: Place
    value: Fraction
    dimension: Dimension
    owners: frozenset[str]


def blamed(context: RecheckContext, *, thorough: bool = False) -> list[Finding]:
    """Returns the findings, each conflict with the places of all values that it depends on.

    Questions that execute loops may take seconds each time: they are left to `thorough`.
    """
    every = stated(context.subject) if any(f.verdict is Verdict.CONFLICT for f in context.findings) else ()
    asks = Asks(MOST_ASKS_OF_DESIGN)
    return [_blamed(finding, context, every, asks, thorough=thorough) for finding in context.findings]


def _blamed(
    finding: Finding, context: RecheckContext, every: Sequence[Stated], of_all: Asks, *, thorough: bool
) -> Finding:
    own = [module for module in context.modules if any(q.code == finding.code for q in module.questions)]
    if finding.verdict is not Verdict.CONFLICT or (any(map(slow, own)) and not thorough):
        return finding
    near = [one for one in every if one.owners & set(finding.of) and not _named(one.place, finding.places)]
    if not near or (of_all.take() and _certain_whatever(near, finding, context, own)):
        return finding
    asks = Asks(min(MOST_ASKS, of_all.left))
    before = asks.left
    extra = [one.place.labelled(LABEL) for one in _deciding(near, finding, context, own, asks)]
    of_all.left -= before - max(0, asks.left)
    return replace(finding, places=(*finding.places, *extra)) if extra else finding


def _named(place: Place, places: Iterable[Place]) -> bool:
    """Returns whether a place of the finding points into the value, or stands around little more than it."""
    return any(
        p.file == place.file and p.line == place.line == p.end_line and p.column <= place.column < p.end_column
        for p in places
    )


def _certain_whatever(
    near: Sequence[Stated], finding: Finding, context: RecheckContext, own: Sequence[QuestionModule]
) -> bool:
    """Returns whether the conflict stays certain when these values become ranges."""
    edits = [_ranged(one, context.subject) for one in near]
    if finding.certainty != "certain" or context.subject.design.imported or None in edits:
        return False
    ranges = tuple(edit for edit in edits if edit is not None)
    with nullcontext() if any(map(slow, own)) else details_unasked():  # runs alone show that all are in conflict
        after = context.again(ranges, own)
    return any(key_of(f) == key_of(finding) and f.certainty == "certain" for f in after or ())


def _ranged(number: Stated, subject: Subject) -> Edit | None:
    """Returns the edit that replaces a value by a range from a tenth to ten times of it."""
    low, high = sorted((number.value / 10, number.value * 10 or Fraction(1)))
    if _counts(number):
        low, high = Fraction(math.ceil(low)), Fraction(math.ceil(high))
    ends = [repairs.rewrite(subject, number.place, end, number.dimension) for end in (low, high)]
    if ends[0] is None or ends[1] is None:
        return None
    return replace(ends[0], new=f"{ends[0].new} .. {ends[1].new}")


def _deciding(
    near: Sequence[Stated], finding: Finding, context: RecheckContext, own: Sequence[QuestionModule], asks: Asks
) -> list[Stated]:
    """Returns the numbers with another value for which the conflict is gone.

    Each is asked at a first other value before any at a second one, and between two of them last: asks are few.
    """
    telling = {number: {number.value: _telling([finding])} for number in near}

    def goes(number: Stated, other: Fraction) -> bool:
        edit = repairs.rewrite(context.subject, number.place, other, number.dimension)
        if edit is None or not asks.take():
            return False
        after = charged(asks, partial(context.again, (edit,), own))
        if after is not None:
            telling[number][other] = _telling(f for f in after if key_of(f) == key_of(finding))
        return _gone(finding, after)

    deciding: set[Stated] = set()
    for round_of_others in zip_longest(*map(_others, near)):
        pairs = (pair for pair in zip(near, round_of_others, strict=True) if pair[0] not in deciding)
        deciding |= {number for number, other in pairs if other is not None and goes(number, other)}
    halved = (number for number in near if number not in deciding)
    deciding |= {n for n in halved if any(goes(n, other) for other in _between(telling[n], whole=_counts(n)))}
    return [number for number in near if number in deciding]


def _telling(findings: Iterable[Finding]) -> frozenset[tuple[object, ...]]:
    """Returns how findings are told, whatever the numbers in them."""
    return frozenset((f.verdict, f.certainty, *_NUMBER.split(f.message)) for f in findings)


def _between(telling: Mapping[Fraction, object], *, whole: bool) -> Iterator[Fraction]:
    """Yields the values half way, as factors count, between two next to each other that are told otherwise.

    Each stands in the mapping when the next one is taken.
    """
    for _ in range(HALVINGS):
        known = sorted(telling)
        for low, high in pairwise(known):
            if telling[low] != telling[high] and low * high > 0:
                middle = Fraction(f"{math.sqrt(low * high):.2g}") * (1 if low > 0 else -1)
                middle = Fraction(math.floor(middle)) if whole else middle
                if low < middle < high:
                    yield middle


def _others(number: Stated) -> tuple[Fraction, ...]:
    """Returns the values that are tried instead; whole numbers for a count."""
    if not number.value:
        return (Fraction(1),)
    others = [number.value * factor for factor in FACTORS]
    if _counts(number):
        others = [Fraction(math.floor(other)) for other in others]
        others = [other or Fraction(1) for other in others]
    return tuple(other for other in dict.fromkeys(others) if other != number.value)


def _counts(number: Stated) -> bool:
    """Returns whether the number is a whole one without a unit."""
    return number.value.denominator == 1 and not number.dimension.powers


def _gone(finding: Finding, after: Sequence[Finding] | None) -> bool:
    """Returns whether the answers are without this conflict, and none about the same policies is open.

    A question about others of them, or about fewer, is another one: the conflict no longer stands.
    """
    same = [f for f in after or () if key_of(f) == key_of(finding)]
    return after is not None and not any(f.verdict is Verdict.CONFLICT or not f.verdict.decides for f in same)


def stated(subject: Subject) -> tuple[Stated, ...]:
    """Returns every number of the reader's own text, with the policies and things that it belongs to."""
    if subject.design.imported:
        return tuple(
            Stated(k.place, k.value, k.dimension, frozenset({k.owner}))
            for k in adjustable_numbers(subject)
            if k.anchor is None
        )
    numbers = {one.place: one for one in _scalars(subject)}
    for number in adjustable_numbers(subject):
        if number.anchor is None and number.place not in numbers:
            numbers[number.place] = Stated(number.place, number.value, number.dimension, frozenset({number.owner}))
    return tuple(numbers[place] for place in sorted(numbers))


def _scalars(subject: Subject) -> Iterator[Stated]:
    """Yields the exact quantities of the entries, as they were read, that stand plainly in the reader's own files."""
    lines = {file: repairs.lines_of(text) for file, text in subject.sources.items()}
    for owner, entry in _owned_entries(subject.design):
        for quantity in _quantities(entry):
            place = quantity.place
            if quantity.exact and place.file in lines and _is_plain(lines[place.file][place.line - 1], place.column):
                yield Stated(place, quantity.low, quantity.dimension, frozenset({owner}))


def _is_plain(line: str, column: int) -> bool:
    """Returns whether a value stands there, and without quotes."""
    first = line[column - 1 : column]
    return bool(first) and first not in "'\""


def _owned_entries(design: Design) -> Iterator[tuple[str, object]]:
    for section in NAMED_SECTIONS:
        yield from getattr(design, section).items()
    yield from ((call.name, call) for call in design.calls)


def _quantities(node: object) -> Iterator[Quantity]:
    if isinstance(node, Quantity):
        yield node
    elif isinstance(node, Record):
        for name in node.fields:
            yield from _quantities(getattr(node, name))
    elif isinstance(node, dict | tuple):
        for inner in node.values() if isinstance(node, dict) else node:
            yield from _quantities(inner)
