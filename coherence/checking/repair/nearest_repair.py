"""Searches the nearest repair: changes one adjustable number, or two, just so far that the finding is gone.

A general method for conflicts whose question proposes nothing that holds.  Each number of a finding is turned up and
down by growing factors; where the question no longer finds the conflict, bisection finds the edge, and the value is
rounded, away from where it stood, to one that a person would write.  Nothing is believed: each repair is asked again.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction

from coherence.base.bisection import halved, mean, whole_mean
from coherence.base.places import Place
from coherence.base.units import SECOND
from coherence.checking.repair.adjustable_numbers import AdjustableNumber, adjustable_numbers
from coherence.findings import repairs
from coherence.findings.finding import Edit, Finding, Repair
from coherence.findings.question_input import Subject

FACTORS = tuple(map(Fraction, (2, 4, 16)))
FROM_ZERO = tuple(map(Fraction, (1, 10, 60)))  # seconds, or the smallest of what is counted
HALVINGS = 3
PLAINER = Fraction(1, 20)
MOST_NUMBERS = 6
MOST_PAIRED = 4
Holds = Callable[[Repair], bool]
Settings = tuple[tuple[AdjustableNumber, Fraction], ...]


class Asks:
    """How often a question may still be asked: a count, so that the same input gives the same answer."""

    def __init__(self, left: int) -> None:
        self.left = left

    def take(self) -> bool:
        """Returns whether one more question may be asked, and counts it."""
        self.left -= 1
        return self.left >= 0


def nearest(finding: Finding, subject: Subject, holds: Holds, asks: Asks) -> Iterator[Repair]:
    """Yields repairs of one number, else of two, after which `holds` says that the finding is gone; nearest first."""
    if asks.left <= 0:
        return
    turned = candidates(finding, subject.queries.get(adjustable_numbers, lambda: adjustable_numbers(subject)))

    def good(*settings: tuple[AdjustableNumber, Fraction]) -> bool:
        repair = _repair(subject, settings)
        return repair is not None and asks.take() and holds(repair)

    solutions = [solution for number in turned for solution in _alone(number, good)]
    if not solutions:
        solutions = list(itertools.islice(_together(turned, good), 1))
    for settings in sorted(solutions, key=_size):
        proposed = _repair(subject, settings)
        if proposed is not None:
            yield proposed


def candidates(finding: Finding, known: Sequence[AdjustableNumber]) -> tuple[AdjustableNumber, ...]:
    """Returns the numbers that a finding speaks of: those at its places first, then the others of its policies."""
    at = [number for number in known if any(_touch(number, place) for place in finding.places)]
    of = [number for name in finding.of for number in known if number.owner == name and number.anchor is None]
    return tuple(dict.fromkeys([*at, *of]))[:MOST_NUMBERS]


def _touch(number: AdjustableNumber, place: Place) -> bool:
    own = number.place
    inside = place.file == own.file and place.line == place.end_line == own.line
    return inside and place.column < own.end_column and own.column < place.end_column


def weight(old: Fraction, new: Fraction) -> Fraction:
    """Returns the relative change of a value; 1 where it was zero."""
    return abs(new - old) / abs(old) if old else Fraction(1)


def _size(settings: Settings) -> Fraction:
    return sum((weight(number.value, value) for number, value in settings), Fraction(0))


def _repair(subject: Subject, settings: Settings) -> Repair | None:
    if any(not _allowed(number, value) for number, value in settings):
        return None
    edits: list[Edit | None] = [number.edit(subject, value) for number, value in settings]
    return None if any(edit is not None and edit.old == edit.new for edit in edits) else repairs.proposal(*edits)


def _allowed(number: AdjustableNumber, value: Fraction) -> bool:
    fits = value >= number.low and (number.high is None or value <= number.high)
    return fits and value != number.value and (not number.whole or value.denominator == 1)


def _alone(number: AdjustableNumber, good: Callable[..., bool]) -> Iterator[Settings]:
    """Yields the number changed up and down, each time until the finding is gone."""
    for values in (_steps(number, up=True), _steps(number, up=False)):
        last = number.value
        for value in values:
            if good((number, value)):
                yield ((number, _edge(number, last, value, good)),)
                break
            last = value


def _steps(number: AdjustableNumber, *, up: bool) -> tuple[Fraction, ...]:
    """Returns the values that are tried, ever farther from the present one."""
    if number.value == 0:
        values = FROM_ZERO if up else ()
    else:
        values = tuple(number.value * factor if up else number.value / factor for factor in FACTORS)
    if number.whole:
        values = tuple(Fraction(math.floor(value)) for value in values)
        beside = number.value + (1 if up else -1)
        values = (beside, *(value for value in values if abs(value - number.value) > 1))
    edge = number.high if up else number.low if number.low > 0 else None
    inside = [value for value in values if _allowed(number, value)]
    return tuple(dict.fromkeys(inside if edge is None or len(inside) == len(values) else [*inside, edge]))


def _edge(number: AdjustableNumber, bad: Fraction, fine: Fraction, good: Callable[..., bool]) -> Fraction:
    """Returns the value nearest to the present one that still holds, as a person would write it."""

    def middle(fine: Fraction, bad: Fraction) -> Fraction | None:
        if number.whole:
            return Fraction(whole_mean(bad, fine))
        plainer = rounded(mean(bad, fine), away_from=bad, duration=number.dimension == SECOND)
        return plainer if min(bad, fine) < plainer < max(bad, fine) else None

    steps = HALVINGS * (3 if number.whole else 1)
    fine, bad = halved(lambda value: good((number, value)), fine, bad, steps=steps, middle=middle)
    if not number.whole or abs(fine) >= 100:
        nice = rounded(fine, away_from=bad, duration=number.dimension == SECOND)
        if nice != fine and good((number, nice)):
            return nice
    return fine


def rounded(value: Fraction, *, away_from: Fraction, duration: bool = False) -> Fraction:
    """Returns two significant digits of a value, rounded away from another; durations in their own unit."""
    unit = Fraction(next((size for size in (3600, 60) if duration and abs(value) >= 2 * size), 1))
    size, outward = abs(value) / unit, abs(value) > abs(away_from)
    magnitude = repairs.upward_round(size) if outward else repairs.downward_round(size)
    return _plainer(magnitude, up=outward) * unit * (1 if value >= 0 else -1)


def _plainer(size: Fraction, *, up: bool) -> Fraction:
    """Returns a size whose second digit is 0 or 5, where that is at most a twentieth farther."""
    if size <= 0:
        return size
    step = Fraction(5)
    while size / step >= 20:
        step *= 10
    while size / step < 2:
        step /= 10
    near = step * (math.ceil(size / step) if up else math.floor(size / step))
    return near if 0 < abs(near - size) <= size * PLAINER else size


def _together(turned: Sequence[AdjustableNumber], good: Callable[..., bool]) -> Iterator[Settings]:
    """Yields two numbers changed at once, or all with one key; each is then moved back as far as it may."""
    for settings in itertools.chain(_groups(turned), _pairs(turned[:MOST_PAIRED])):
        if good(*settings):
            yield _let_back(settings, good)


def _groups(turned: Sequence[AdjustableNumber]) -> Iterator[Settings]:
    """Yields all numbers with one key changed, a little and as far as they go: nested tries, a chain of deadlines."""
    for key in dict.fromkeys(number.key for number in turned):
        alike = [number for number in turned if number.key == key]
        for up, step in itertools.product((False, True), (1, -1)) if len(alike) > 1 else ():
            ways = [_steps(number, up=up) for number in alike]
            if all(len(way) > 1 for way in ways):
                yield tuple((number, way[step]) for number, way in zip(alike, ways, strict=True))


def _pairs(turned: Sequence[AdjustableNumber]) -> Iterator[Settings]:
    """Yields every two numbers changed in every two directions."""
    for step in (1, -1):
        for first, other in itertools.combinations(turned, 2):
            for ups in itertools.product((True, False), repeat=2):
                ways = [_steps(number, up=up) for number, up in zip((first, other), ups, strict=True)]
                if all(len(way) > 1 for way in ways):
                    yield tuple((number, way[step]) for number, way in zip((first, other), ways, strict=True))


def _let_back(settings: Settings, good: Callable[..., bool]) -> Settings:
    """Returns the settings with each number as near to its present value as the others allow, or unchanged."""
    for number, value in settings:
        others = tuple(pair for pair in settings if pair[0] != number)
        if others and good(*others):
            settings = others
            continue
        near = _edge(number, number.value, value, lambda *one, others=others: good(*others, *one))
        settings = (*others, (number, near))
    return settings
