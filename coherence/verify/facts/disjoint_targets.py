"""Finds pairs of loops that hold one reading, by different signals, at targets that do not overlap.

No value of the reading suits both, whatever they write: two questions ask for it, and one of them answers.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction

from coherence.findings.question_input import Subject
from coherence.language.design import Loop
from coherence.language.expressions import names as names_of
from coherence.language.schema_kinds import Quantity
from coherence.model.laws import law_of


@dataclass(frozen=True)
class TargetBand:
    """What a loop reads, and the lowest and highest value with which it rests."""

    loop: Loop
    reading: str
    low: Fraction
    high: Fraction


@dataclass(frozen=True)
class DisjointTargets:
    """Two loops whose bands on one reading do not overlap; `always`: both move it, at all times, and none yields."""

    first: TargetBand
    second: TargetBand
    always: bool

    @property
    def names(self) -> tuple[str, str]:
        return self.first.loop.name, self.second.loop.name


def disjoint_targets(subject: Subject) -> Iterator[DisjointTargets]:
    """Yields every such pair; two loops that write one signal are another matter."""
    bands = [band for loop in subject.design.loops.values() if (band := _band(loop)) is not None]
    for first, second in itertools.combinations(bands, 2):
        apart = first.reading == second.reading and max(first.low, second.low) > min(first.high, second.high)
        if apart and first.loop.written != second.loop.written:
            always = all(_holds_always(subject, band.loop) for band in (first, second))
            yield DisjointTargets(first, second, always and first.loop.rank == second.loop.rank)


def _holds_always(subject: Subject, loop: Loop) -> bool:
    """Decides whether a loop moves what it reads, in both directions and at all times."""
    always = loop.trigger is None or getattr(loop.trigger, "text", "") == "always"
    if law_of(loop) != "proportional" or not always or loop.target is None or loop.target.signal is None:
        return False
    from coherence.simulate.execute.slices import influences

    model = subject.model
    read = [model.resolve(name) for name in names_of(loop.target.signal.tree)]
    return model.resolve(loop.written) in influences(model, read)


def _band(loop: Loop) -> TargetBand | None:
    target = loop.target
    if target is None or target.signal is None or not isinstance(target.setpoint, Quantity):
        return None
    slack = target.tolerance.high if target.tolerance is not None else Fraction(0)
    return TargetBand(loop, str(target.signal), target.setpoint.low * (1 - slack), target.setpoint.high * (1 + slack))
