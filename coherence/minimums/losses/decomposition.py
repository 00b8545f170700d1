"""Splits a measurement into shares above its floor, and names what is wrong where it lies below.

measured = floor + (class cost - floor) + calibrated + recoverable
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from fractions import Fraction

from coherence.base.errors import UsageError
from coherence.base.number_text import render_bound
from coherence.minimums.assumptions import ASSUMPTIONS
from coherence.minimums.floors import Number, Span
from coherence.minimums.losses.composition import KnownTerm, Serial, Term, TermEstimate, estimate
from coherence.minimums.losses.explanations import Explanation, explanations, innocent


@dataclass(frozen=True)
class LossShare:
    """A part of the measurement, from `low` to `high` in its unit."""

    name: str
    low: Number
    high: Number


@dataclass(frozen=True)
class Decomposition:
    """The shares, which add up to the measurement; `explained`: the smallest sets of assumptions that it refutes.

    The recoverable rest is never cut off at zero.  Below zero throughout: the measurement beats the floor, so an
    assumption is wrong.  With its low end below zero only: inputs within their ranges decide.
    """

    measured: Span
    floor: TermEstimate
    shares: tuple[LossShare, ...]
    explained: tuple[Explanation, ...]
    innocent: tuple[Explanation, ...]

    @property
    def violated(self) -> tuple[str, ...]:
        """Returns every assumption of a smallest set."""
        return tuple(dict.fromkeys(name for one in self.explained for name in one.assumptions))

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
    beaten = explanations(floor, scheme, known.low, measured[1]) if rest.high < 0 else ()
    return Decomposition(measured, least, shares, beaten, innocent(floor, beaten) if beaten else ())


def sentences(decomposition: Decomposition) -> tuple[str, ...]:
    """Sentences: what is recoverable at least, or which assumptions the measurement refutes and how to tell."""
    rest, unit = decomposition.recoverable, decomposition.floor.unit
    low, high = render_bound(rest.low, unit), render_bound(rest.high, unit)
    if rest.high < 0:
        below = render_bound(-rest.high, unit)
        first = f"assumption violated: the measurement lies {below} below the floor; one of these is wrong"
        return (first, *map(_accused, decomposition.explained), *_acquitted(decomposition.innocent, unit))
    if rest.low < 0:
        return (f"at most {high} is recoverable; whether any is depends on inputs within their ranges",)
    return (f"at least {low} and at most {high} is recoverable",)


def _accused(explanation: Explanation) -> str:
    signs = "; ".join(ASSUMPTIONS[name].refuted_by for name in explanation.assumptions)
    return f"{' with '.join(explanation.assumptions)}: {signs}"


def _acquitted(innocent: Iterable[Explanation], unit: str) -> Iterator[str]:
    for one in innocent:
        yield f"not {one.assumptions[0]} alone: without it the floor is still {render_bound(one.left, unit)}"
