"""Applies bounds on ages of readings to the loops of a design with their sensor chains."""

from __future__ import annotations

import math
from collections.abc import Iterator
from fractions import Fraction
from functools import reduce

from coherence.language.design import Design, Loop
from coherence.language.schema_kinds import Quantity
from coherence.minimums.bound import Application
from coherence.minimums.facts import Gathered

SAMPLERS = ("scrape", "relist")
MOST = 100_000  # decisions of a cycle of phases


def chain(loop: Loop, share: Fraction) -> tuple[Fraction, Fraction] | None:
    """Range of the age that the chain adds, each link counted with `share` of its size; None: a size is unknown.

    `irate` spans the last two samples of the scrape before it, so it adds as much as one more scrape.
    """
    low = high = Fraction(0)
    before: tuple[Fraction, Fraction] | None = None
    for link in loop.target.sensor if loop.target else ():
        if link.duration is None:
            continue
        size = (link.duration.low, link.duration.high)
        if link.kind == "scrape":
            before = size
        if link.kind == "irate":
            if before is None:
                return None
            size = before
        if link.kind != "last":
            least = Fraction(0) if link.kind == "max" and share < 1 else size[0]  # the largest may be the newest
            low, high = low + share * least, high + share * size[1]
    return low, high


def aligned(loop: Loop, share: Fraction) -> tuple[Fraction, Fraction] | None:
    """Range of that age where the phase of the loop is stated, as the sensors sample at multiples of their periods.

    A sampler behind a window is seen at all its phases: it adds from nothing to its period.  None: a phase, a period
    or a size is not one number, or the instants of a cycle are too many.
    """
    timescale, sensor = loop.timescale, loop.target.sensor if loop.target else ()
    links = [(link.kind, link.duration) for link in reversed(sensor) if link.kind != "last"]
    if timescale is None or any(size is None or not size.exact or not size.low for _, size in links):
        return None
    period, phase = timescale.period, timescale.phase
    if not (isinstance(period, Quantity) and isinstance(phase, Quantity) and period.exact and phase.exact):
        return None
    sampled, rest = _until_window([(kind, size.low) for kind, size in links if size is not None])
    cycle = reduce(_lcm, sampled, period.low)
    if cycle / period.low > MOST or any(kind == "irate" for kind, _ in rest):
        return None
    instants = [phase.low + k * period.low for k in range(int(cycle / period.low))]
    seen = [instant - reduce(lambda t, step: t // step * step, sampled, instant) for instant in instants]
    age = max(seen) if share == 1 else sum(seen, Fraction(0)) / len(seen)
    low = sum((share * size for kind, size in rest if kind not in (*SAMPLERS, "max")), Fraction(0))
    high = sum((size if kind in SAMPLERS else share * size for kind, size in rest), Fraction(0))
    return age + low, age + high


def _until_window(links: list[tuple[str, Fraction]]) -> tuple[list[Fraction], list[tuple[str, Fraction]]]:
    """Splits the chain, from the loop backwards, into the samplers that it reads at known instants and the rest."""
    count = next((k for k, (kind, _) in enumerate(links) if kind not in SAMPLERS), len(links))
    return [size for _, size in links[:count]], links[count:]


def _lcm(one: Fraction, other: Fraction) -> Fraction:
    return Fraction(math.lcm(one.numerator * other.denominator, other.numerator * one.denominator),
                    one.denominator * other.denominator)  # fmt: skip


def ages(design: Design, share: Fraction) -> Iterator[Application]:
    """Yields every loop that reads something periodically: the age of its chain, and its own period."""
    for loop in design.loops.values():
        if loop.target is None or loop.timescale is None:
            continue
        gathered = Gathered(loop.name)
        links = aligned(loop, share) or chain(loop, share)
        if links is None:
            gathered.needs("chain", f"scrape before irate in the sensor of {loop.name}")
        else:
            gathered.span("chain", *links)
            gathered.places += [
                link.place.labelled("adds to the age of what it reads")
                for link in loop.target.sensor
                if link.duration is not None and link.kind != "last"
            ]
        yield gathered.quantity("period", loop.timescale.period, f"period of {loop.name}").application()


def mean(design: Design) -> Iterator[Application]:
    """With half of each link."""
    return ages(design, Fraction(1, 2))


def longest(design: Design) -> Iterator[Application]:
    """With the whole of each link."""
    return ages(design, Fraction(1))
