"""Floors of a whole out of floors of its parts, and what is left of a measurement above them.

    serial terms add            T >= sum of floors
    overlapping terms           T >= the largest floor (each of them has to happen)
    a barrier                   E[max X_i] >= max E[X_i]  (Jensen: the maximum is convex)
    amplification multiplies    work >= factor * floor, for a factor that is itself a floor

Every operation is monotone in its terms, so a floor of each term gives a floor of the whole; that is the soundness
law.  A class cost anywhere makes the whole a class cost, and an upper bound is refused: neither may stand as a floor.

    measured = floor + (class cost - floor) + calibrated + recoverable

SOURCE: J. Jensen 1906 (the barrier); the rest is arithmetic of intervals.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction

from coherence.base.errors import UsageError
from coherence.minimums.assumptions import ASSUMPTIONS
from coherence.minimums.bound import Bound, Kind, Role
from coherence.minimums.floors import Number, Span, over


@dataclass(frozen=True)
class Leaf:
    """A bound at ranges of its inputs."""

    bound: Bound
    inputs: Mapping[str, Span]


@dataclass(frozen=True)
class Known:
    """A number that is not a bound of the registry: a term without a floor of its own is Known(0, 0)."""

    low: Number
    high: Number
    says: str
    kind: Kind = Kind.EXACT


@dataclass(frozen=True)
class Serial:
    """One after the other."""

    parts: tuple[Term, ...]


@dataclass(frozen=True)
class Overlap:
    """At the same time, as far as possible."""

    parts: tuple[Term, ...]


@dataclass(frozen=True)
class Barrier:
    """All parts must be over before any goes on; the parts are mean durations."""

    parts: tuple[Term, ...]


@dataclass(frozen=True)
class Amplified:
    """The same work several times: `factor` >= 1 is a floor of how often."""

    part: Term
    factor: Term


Term = Leaf | Known | Serial | Overlap | Barrier | Amplified


@dataclass(frozen=True)
class Estimate:
    """`low` holds for every input in its range; `high` is the largest value over them."""

    low: Number
    high: Number
    kind: Kind
    assumptions: tuple[str, ...]


def estimate(term: Term) -> Estimate:
    """The floor of a composition.  Raises UsageError for an upper bound, and for an amplification below one."""
    match term:
        case Leaf(bound=bound, inputs=inputs):
            if bound.role is not Role.FLOOR:
                raise UsageError(f"{bound.name} is a {bound.role}, not a floor: it is told beside floors, not composed")
            found = over(bound, inputs)
            return Estimate(found.low, found.high, _admitted(bound.kind, bound.name), bound.assumptions)
        case Known(low=low, high=high, kind=kind, says=says):
            if low > high:
                raise UsageError(f"{says}: the range {float(low):g} .. {float(high):g} is empty")
            return Estimate(low, high, _admitted(kind, says), ())
        case Serial(parts=parts):
            made = [estimate(part) for part in parts]
            return _joined(made, sum((e.low for e in made), Fraction(0)), sum((e.high for e in made), Fraction(0)))
        case Overlap(parts=parts) | Barrier(parts=parts):
            made = [estimate(part) for part in parts]
            return _joined(made, max((e.low for e in made), default=0), max((e.high for e in made), default=0))
        case Amplified(part=part, factor=factor):
            one, times = estimate(part), estimate(factor)
            if times.low < 1:
                raise UsageError(f"an amplification is at least 1, not {float(times.low):g}")
            return _joined([one, times], one.low * times.low, one.high * times.high)


def _admitted(kind: Kind, name: str) -> Kind:
    if kind is Kind.UPPER:
        raise UsageError(f"{name} is an upper bound: it is told beside a floor and never composed into one")
    return kind


def _joined(made: list[Estimate], low: Number, high: Number) -> Estimate:
    """The weakest kind of the parts, and every assumption once."""
    order = (Kind.EXACT, Kind.TIGHT, Kind.THEOREM, Kind.CLASS_COST)
    kind = max((e.kind for e in made), key=order.index, default=Kind.EXACT)
    if len(made) > 1 and kind is Kind.TIGHT:
        kind = Kind.THEOREM  # parts that are attained one by one need not be attained together
    return Estimate(low, high, kind, tuple(dict.fromkeys(name for e in made for name in e.assumptions)))


def leaves(term: Term) -> Iterator[Leaf]:
    """Every bound in a composition."""
    match term:
        case Leaf():
            yield term
        case Serial(parts=parts) | Overlap(parts=parts) | Barrier(parts=parts):
            for part in parts:
                yield from leaves(part)
        case Amplified(part=part, factor=factor):
            yield from leaves(part)
            yield from leaves(factor)


@dataclass(frozen=True)
class Share:
    """A part of the measurement, from `low` to `high` in its unit."""

    name: str
    low: Number
    high: Number


@dataclass(frozen=True)
class Decomposition:
    """The shares, which add up to the measurement; `violated`: assumptions of which one is refuted by it.

    The recoverable rest is never cut off at zero.  Below zero throughout: the measurement beats the floor, so an
    assumption is wrong.  With its low end below zero only: inputs within their ranges decide.
    """

    measured: Span
    floor: Estimate
    shares: tuple[Share, ...]
    violated: tuple[str, ...]

    @property
    def recoverable(self) -> Share:
        """The last share: what neither floor nor scheme nor known overheads explain."""
        return self.shares[-1]


def _above(floor: Term, least: Estimate, scheme: Term | None, cost: Estimate) -> Share:
    """What the scheme costs above the floor.

    Where the scheme is the floor and something after it, exactly that: what they share has one value, whatever it is.
    """
    if isinstance(scheme, Serial) and floor in scheme.parts:
        parts = list(scheme.parts)
        parts.remove(floor)
        more = estimate(Serial(tuple(parts)))
        return Share(SCHEME, more.low, more.high)
    return Share(SCHEME, cost.low - least.high, cost.high - least.low)


SCHEME = "cost of the chosen scheme"
ZERO = Known(Fraction(0), Fraction(0), "nothing")


def decomposition(measured: Span, floor: Term, *, scheme: Term | None = None, calibrated: Term = ZERO) -> Decomposition:
    """measured = floor + cost of the chosen scheme above it + calibrated + recoverable.

    `scheme`: what the chosen class of schedules costs (at least the floor; without it nothing is charged to the
    scheme).  Raises UsageError for a floor that is none, and for a scheme that is cheaper than its floor.
    """
    if measured[0] > measured[1]:
        raise UsageError(f"the measured range {float(measured[0]):g} .. {float(measured[1]):g} is empty")
    least = estimate(floor)
    if not least.kind.floor:
        raise UsageError(f"a {least.kind} is no floor: give it as the scheme")
    cost = estimate(scheme) if scheme is not None else least
    if cost.high < least.low:
        raise UsageError(
            f"the scheme costs {float(cost.high):g}, below its floor {float(least.low):g}: they do not belong together"
        )
    known = estimate(calibrated)
    above = _above(floor, least, scheme, cost)
    rest = Share(
        "recoverable",
        measured[0] - max(cost.high, least.high) - known.high,
        measured[1] - max(cost.low, least.low) - known.low,
    )
    shares = (
        Share("proved floor", least.low, least.high),
        above if scheme is not None else Share(above.name, Fraction(0), Fraction(0)),
        Share("calibrated", known.low, known.high),
        rest,
    )
    violated = tuple(dict.fromkeys((*least.assumptions, *cost.assumptions))) if rest.high < 0 else ()
    return Decomposition(measured, least, shares, violated)


def told(found: Decomposition) -> tuple[str, ...]:
    """Sentences: what is recoverable at least, or which assumptions the measurement refutes and how to tell."""
    rest = found.recoverable
    if rest.high < 0:
        first = (
            f"assumption violated: the measurement lies {float(-rest.high):.6g} below the floor; one of these is wrong"
        )
        return (first, *(f"{name}: {ASSUMPTIONS[name].refuted_by}" for name in found.violated))
    if rest.low < 0:
        return (f"at most {float(rest.high):.6g} is recoverable; whether any is depends on inputs within their ranges",)
    return (f"at least {float(rest.low):.6g} and at most {float(rest.high):.6g} is recoverable",)
