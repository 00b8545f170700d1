"""Applies bounds on ages of readings to the loops of a design with their sensor chains."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction

from coherence.language.design import Design, Loop
from coherence.minimums.bound import Application
from coherence.minimums.facts import Gathered

SAMPLERS = ("scrape", "relist")


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


def ages(design: Design, share: Fraction) -> Iterator[Application]:
    """Yields every loop that reads something periodically: the age of its chain, and its own period."""
    for loop in design.loops.values():
        if loop.target is None or loop.timescale is None:
            continue
        gathered = Gathered(loop.name)
        links = chain(loop, share)
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
