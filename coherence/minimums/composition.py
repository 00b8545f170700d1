"""Composes floors of a whole from those of its parts, and splits a measurement into shares above them.

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
from coherence.minimums.bound import Bound, Role, Status
from coherence.minimums.floors import Number, Span, over


@dataclass(frozen=True)
class Leaf:
    """A bound at ranges of its inputs."""

    bound: Bound
    inputs: Mapping[str, Span]


@dataclass(frozen=True)
class KnownTerm:
    """A number that is not a bound of the registry: a term without a floor of its own is Known(0, 0)."""

    low: Number
    high: Number
    says: str
    kind: Status = Status.EXACT


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
    """`low` holds for every input in its range; `high` is the largest value over them."""

    low: Number
    high: Number
    kind: Status
    assumptions: tuple[str, ...]


def estimate(term: Term) -> TermEstimate:
    """Returns the floor of a composition.  Raises UsageError for an upper bound, and for an amplification below one."""
    match term:
        case Leaf(bound=bound, inputs=inputs):
            if bound.role is not Role.FLOOR:
                raise UsageError(f"{bound.name} is a {bound.role}, not a floor: it is told beside floors, not composed")
            estimated = over(bound, inputs)
            return TermEstimate(estimated.low, estimated.high, _admitted(bound.kind, bound.name), bound.assumptions)
        case KnownTerm(low=low, high=high, kind=kind, says=says):
            if low > high:
                raise UsageError(f"{says}: the range {float(low):g} .. {float(high):g} is empty")
            return TermEstimate(low, high, _admitted(kind, says), ())
        case Serial(parts=parts):
            estimates = [estimate(part) for part in parts]
            return _joined(
                estimates, sum((e.low for e in estimates), Fraction(0)), sum((e.high for e in estimates), Fraction(0))
            )
        case Overlap(parts=parts) | BarrierTerm(parts=parts):
            estimates = [estimate(part) for part in parts]
            return _joined(
                estimates, max((e.low for e in estimates), default=0), max((e.high for e in estimates), default=0)
            )
        case RepeatedTerm(part=part, factor=factor):
            base, times = estimate(part), estimate(factor)
            if times.low < 1:
                raise UsageError(f"an amplification is at least 1, not {float(times.low):g}")
            return _joined([base, times], base.low * times.low, base.high * times.high)


def _admitted(kind: Status, name: str) -> Status:
    if kind is Status.UPPER:
        raise UsageError(f"{name} is an upper bound: it is told beside a floor and never composed into one")
    return kind


def _joined(estimates: list[TermEstimate], low: Number, high: Number) -> TermEstimate:
    """Returns the weakest kind of the parts, and every assumption once."""
    order = (Status.EXACT, Status.TIGHT, Status.THEOREM, Status.CLASS_COST)
    kind = max((e.kind for e in estimates), key=order.index, default=Status.EXACT)
    if len(estimates) > 1 and kind is Status.TIGHT:
        kind = Status.THEOREM  # parts that are attained one by one need not be attained together
    return TermEstimate(low, high, kind, tuple(dict.fromkeys(name for e in estimates for name in e.assumptions)))


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


@dataclass(frozen=True)
class LossShare:
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
    floor: TermEstimate
    shares: tuple[LossShare, ...]
    violated: tuple[str, ...]

    @property
    def recoverable(self) -> LossShare:
        """Returns the last share: what neither floor nor scheme nor known overheads explain."""
        return self.shares[-1]


def _above(floor: Term, least: TermEstimate, scheme: Term | None, cost: TermEstimate) -> LossShare:
    """Returns what the scheme costs above the floor.

    Where the scheme is the floor and something after it, exactly that: what they share has one value, whatever it is.
    """
    if isinstance(scheme, Serial) and floor in scheme.parts:
        parts = list(scheme.parts)
        parts.remove(floor)
        more = estimate(Serial(tuple(parts)))
        return LossShare(SCHEME, more.low, more.high)
    return LossShare(SCHEME, cost.low - least.high, cost.high - least.low)


SCHEME = "cost of the chosen scheme"
ZERO = KnownTerm(Fraction(0), Fraction(0), "nothing")


def decomposition(measured: Span, floor: Term, *, scheme: Term | None = None, calibrated: Term = ZERO) -> Decomposition:
    """Splits measured = floor + cost of the chosen scheme above it + calibrated + recoverable.

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
    rest = LossShare(
        "recoverable",
        measured[0] - max(cost.high, least.high) - known.high,
        measured[1] - max(cost.low, least.low) - known.low,
    )
    shares = (
        LossShare("proved floor", least.low, least.high),
        above if scheme is not None else LossShare(above.name, Fraction(0), Fraction(0)),
        LossShare("calibrated", known.low, known.high),
        rest,
    )
    violated = tuple(dict.fromkeys((*least.assumptions, *cost.assumptions))) if rest.high < 0 else ()
    return Decomposition(measured, least, shares, violated)


def sentences(decomposition: Decomposition) -> tuple[str, ...]:
    """Sentences: what is recoverable at least, or which assumptions the measurement refutes and how to tell."""
    rest = decomposition.recoverable
    if rest.high < 0:
        first = (
            f"assumption violated: the measurement lies {float(-rest.high):.6g} below the floor; one of these is wrong"
        )
        return (first, *(f"{name}: {ASSUMPTIONS[name].refuted_by}" for name in decomposition.violated))
    if rest.low < 0:
        return (f"at most {float(rest.high):.6g} is recoverable; whether any is depends on inputs within their ranges",)
    return (f"at least {float(rest.low):.6g} and at most {float(rest.high):.6g} is recoverable",)
