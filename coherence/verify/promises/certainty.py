"""Decides whether a conflict is certain: whether it comes for everything that a design leaves open.

Open are constants and starts within their ranges, values that vary, the order of loops of equal rank, and the phase of
a loop that states none.  Finitely many choices are all run.  Of a range of reals, of what varies, of phases that no
patterns stand for, and of more orders than are enumerated, the ends and some between are run, with few starts all of
them at the lower ends of constants: then the answer says of how many runs it is.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable
from dataclasses import dataclass, replace
from fractions import Fraction
from random import Random

from coherence.base.clock import is_over, part_until
from coherence.findings.question_input import details_are_asked
from coherence.language.expressions.evaluate import NotExactError
from coherence.model.model import Interval, Model
from coherence.simulate.execute.exact import Choices
from coherence.simulate.execute.schedules import NotCommensurateError, every_phase
from coherence.simulate.execute.starts import between, corners, finite
from coherence.verify.promises.run_choices import courses, orders_of_equal_rank

MOST_CHOICES, MOST_INSTANTS = 400, 20_000  # beyond them a conflict is possible, not certain
SHARE = 0.5  # of the time that is left: `MOST_INSTANTS` is to decide, the same on every machine
FEW_STARTS = 32  # so many are all run
DRAWN = 6  # values between the ends of ranges, and phases between 0 and the period

Broken = Callable[[Choices], int]  # how many instants a run takes to break the promise; 0 where it keeps it


@dataclass(frozen=True)
class OpenChoices:
    """Choices of what a design leaves open, and whether they are all (`exhaustive`)."""

    choices: tuple[Choices, ...]
    exhaustive: bool


@dataclass(frozen=True)
class Certainty:
    """Whether every run that was tried breaks the promise, and how many they are where there are more."""

    certain: bool
    runs: int = 0

    @property
    def assumptions(self) -> tuple[str, ...]:
        left = "not every value, phase and order that is left open was run"
        return (f"certain by {self.runs} runs: {left}",) if self.runs else ()


POSSIBLE = Certainty(certain=False)


def certainty(model: Model, breaks: Broken, deadline: float, waits: tuple[Fraction, ...] = ()) -> Certainty:
    """Returns whether runs break it whatever the design leaves open; `waits`: spans with which times are compared."""
    left_open = open_choices(model, waits) if details_are_asked() else None
    if left_open is None:
        return POSSIBLE
    left, end = MOST_INSTANTS, part_until(deadline, SHARE)
    for choices in left_open.choices:
        taken = breaks(choices) if left > 0 and not is_over(end) else 0
        if not taken:
            return POSSIBLE
        left -= taken
    return Certainty(certain=True, runs=0 if left_open.exhaustive else len(left_open.choices))


def open_choices(model: Model, waits: tuple[Fraction, ...] = ()) -> OpenChoices | None:
    """Returns the choices that decide, every phase and order from the first start first; None: too many."""
    starts, few = _starts(model)
    phases, every_phase = _phases(model, waits)
    orders, every_order = orders_of_equal_rank(model)
    crossed = (replace(s, phases=p, order=o) for s, p, o in itertools.product(starts, phases, orders))
    varied = (replace(start, schedule=course) for start in starts[:1] for course in courses(model))
    choices = tuple(itertools.islice(itertools.chain(crossed, varied), MOST_CHOICES + 1))
    if len(choices) > MOST_CHOICES:
        return None
    varies = any(c.varies for c in model.constants.values())
    return OpenChoices(choices, exhaustive=few and every_phase and every_order and not varies)


def _starts(model: Model) -> tuple[list[Choices], bool]:
    """Returns every start where there are few, else the ends of the ranges and some between; whether they are all."""
    try:
        return list(finite(model, FEW_STARTS)), True
    except NotExactError:
        pass
    return [*corners(model, MOST_CHOICES), *between(model, DRAWN), *_starts_at_lower_ends(model)], False


def _starts_at_lower_ends(model: Model) -> list[Choices]:
    """Returns every start with each constant at its lower end, where there are few."""
    lowest = {p: replace(c, range=Interval(c.range.low, c.range.low)) for p, c in model.constants.items()}
    try:
        return list(finite(replace(model, constants=lowest), FEW_STARTS))
    except NotExactError:
        return []


def _phases(model: Model, waits: tuple[Fraction, ...]) -> tuple[list[dict[str, Fraction]], bool]:
    """Returns the phases that stand for all, or some drawn ones where phases matter beyond their order."""
    free = [loop for loop in model.loops if loop.phase is None]
    if not free:
        return [{}], True
    try:
        return list(every_phase(model, waits)), True
    except NotCommensurateError:
        random = Random(0)  # noqa: S311  (the same phases in every run)
        drawn = [{loop.name: loop.period * Fraction(random.randint(1, 15), 16) for loop in free} for _ in range(DRAWN)]
        return [{}, *drawn], False
