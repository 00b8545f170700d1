"""Composes floors of a whole from those of its parts, where the sum of the parts is one.

    serial terms add            T >= sum of floors, of disjoint stretches of time (or of disjoint things)
    overlapping terms           T >= the largest floor (each of them has to happen)
    a barrier                   E[max X_i] >= max E[X_i]  (Jensen: the maximum is convex)
    amplification multiplies    work >= factor * floor, for a factor that is itself a floor

Every operation is monotone in its terms, so a floor of each term gives a floor of the whole; that is the soundness
law.  What it needs beside is checked and refused with the reason: one unit; no stretch counted twice; and floors that
speak of the same runs (`quantifiers`).  A class cost anywhere makes the whole a class cost, and an upper bound is
refused: neither may stand as a floor.

SOURCE: J. Jensen 1906 (the barrier); the rest is arithmetic of intervals.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction

from coherence.base.errors import UsageError
from coherence.minimums.bound import Bound, Quantifier, Role, Status
from coherence.minimums.floors import Number, Span, over
from coherence.minimums.losses.quantifiers import added, measure, multiplied, taken_together


@dataclass(frozen=True)
class Leaf:
    """A bound at ranges of its inputs.

    `within`: the stretch of time, or the thing, that it counts; bounds of one group count the same one unless it is
    named.
    """

    bound: Bound
    inputs: Mapping[str, Span]
    within: str = ""


@dataclass(frozen=True)
class KnownTerm:
    """A number that is not a bound of the registry, in `unit` (in that of the rest, where none is given)."""

    low: Number
    high: Number
    says: str
    kind: Status = Status.EXACT
    unit: str = ""
    within: str = ""
    quantifier: Quantifier = Quantifier.EACH


@dataclass(frozen=True)
class Serial:
    """One after the other."""

    parts: tuple[Term, ...]


@dataclass(frozen=True)
class Overlap:
    """At the same time, as far as possible."""

    parts: tuple[Term, ...]


@dataclass(frozen=True)
class BarrierTerm:
    """All parts must be over before any goes on; the parts are mean durations."""

    parts: tuple[Term, ...]


@dataclass(frozen=True)
class RepeatedTerm:
    """The same work several times: `factor` >= 1 is a floor of how often."""

    part: Term
    factor: Term


Term = Leaf | KnownTerm | Serial | Overlap | BarrierTerm | RepeatedTerm


@dataclass(frozen=True)
class TermEstimate:
    """`low` holds for every input in its range; `high` is the largest value over them.

    `measure`: the unit, or what a bare number counts; nothing where any fits.  `within`: all that is counted.
    """

    low: Number
    high: Number
    kind: Status
    assumptions: tuple[str, ...]
    measure: str = ""
    unit: str = ""
    quantifier: Quantifier = Quantifier.EACH
    within: frozenset[str] = frozenset()


def estimate(term: Term) -> TermEstimate:
    """Returns the floor of a composition.

    Raises UsageError for an upper bound, unlike terms, a stretch counted twice and an amplification below one.
    """
    match term:
        case Leaf():
            return _of_bound(term)
        case KnownTerm():
            return _of_number(term)
        case Serial(parts=parts):
            return _sum([estimate(part) for part in parts])
        case Overlap(parts=parts) | BarrierTerm(parts=parts):
            estimates = [estimate(part) for part in parts]
            low, high = (max((end(e) for e in estimates), default=0) for end in (_low, _high))
            return _joined(estimates, low, high, taken_together(e.quantifier for e in estimates))
        case RepeatedTerm(part=part, factor=factor):
            return _product(estimate(part), estimate(factor))


def _of_bound(leaf: Leaf) -> TermEstimate:
    bound = leaf.bound
    if bound.role is not Role.FLOOR:
        raise UsageError(f"{bound.name} is a {bound.role}, not a floor: it is told beside floors, not composed")
    floor, kind = over(bound, leaf.inputs), _admitted(bound.kind, bound.name)
    stretch = frozenset({leaf.within or bound.group})
    return TermEstimate(
        floor.low, floor.high, kind, bound.assumptions, measure(bound), bound.unit, bound.quantifier, stretch
    )


def _of_number(term: KnownTerm) -> TermEstimate:
    if math.isnan(term.low) or math.isnan(term.high):
        raise UsageError(f"{term.says}: a floor is a number, not NaN")
    if term.low > term.high:
        raise UsageError(f"{term.says}: the range {float(term.low):g} .. {float(term.high):g} is empty")
    kind, stretch = _admitted(term.kind, term.says), frozenset({term.within} if term.within else ())
    return TermEstimate(term.low, term.high, kind, (), term.unit, term.unit, term.quantifier, stretch)


def _low(found: TermEstimate) -> Number:
    return found.low


def _high(found: TermEstimate) -> Number:
    return found.high


def _sum(estimates: list[TermEstimate]) -> TermEstimate:
    counted: set[str] = set()
    for part in estimates:
        twice = counted & part.within
        if twice:
            raise UsageError(
                f"{min(twice)} is counted twice: a sum is a floor of disjoint stretches only; "
                "name them (within=) where they are, or let them overlap"
            )
        counted |= part.within
    low, high = (sum((end(e) for e in estimates), Fraction(0)) for end in (_low, _high))
    return _joined(estimates, low, high, added(e.quantifier for e in estimates))


def _product(base: TermEstimate, times: TermEstimate) -> TermEstimate:
    if times.unit not in ("", "1"):
        raise UsageError(f"an amplification says how often, it has no unit: not {times.unit}")
    if times.low < 1:
        raise UsageError(f"an amplification is at least 1, not {float(times.low):g}")
    quantifier = multiplied((base.quantifier, times.quantifier))
    kinds = _joined([base, TermEstimate(times.low, times.high, times.kind, times.assumptions)], 0, 0, quantifier)
    return TermEstimate(
        base.low * times.low, base.high * times.high, kinds.kind, kinds.assumptions, base.measure, base.unit,
        quantifier, base.within,
    )  # fmt: skip


def _admitted(kind: Status, name: str) -> Status:
    if kind is Status.UPPER:
        raise UsageError(f"{name} is an upper bound: it is told beside a floor and never composed into one")
    return kind


def _joined(estimates: list[TermEstimate], low: Number, high: Number, quantifier: Quantifier) -> TermEstimate:
    """Returns the weakest kind of the parts, and every assumption once.  Raises UsageError for unlike parts."""
    measures = tuple(dict.fromkeys(e.measure for e in estimates if e.measure))
    if len(measures) > 1:
        raise UsageError(f"{measures[0]} and {measures[1]} are unlike: they neither add nor compare")
    order = (Status.EXACT, Status.TIGHT, Status.THEOREM, Status.CLASS_COST)
    kind = max((e.kind for e in estimates), key=order.index, default=Status.EXACT)
    if len(estimates) > 1 and kind is Status.TIGHT:
        kind = Status.THEOREM  # parts that are attained one by one need not be attained together
    assumptions = tuple(dict.fromkeys(name for e in estimates for name in e.assumptions))
    unit = next((e.unit for e in estimates if e.measure), "")
    within = frozenset[str]().union(*(e.within for e in estimates))
    return TermEstimate(low, high, kind, assumptions, "".join(measures), unit, quantifier, within)


def leaves(term: Term) -> Iterator[Leaf]:
    """Yields every bound in a composition."""
    match term:
        case Leaf():
            yield term
        case Serial(parts=parts) | Overlap(parts=parts) | BarrierTerm(parts=parts):
            for part in parts:
                yield from leaves(part)
        case RepeatedTerm(part=part, factor=factor):
            yield from leaves(part)
            yield from leaves(factor)
