"""Decides promises about loops whose exact numbers grow beyond use: by where enclosures of their runs come to rest."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction

from coherence.base.clock import is_over
from coherence.language.expressions.evaluate import NotExactError
from coherence.language.expressions.tree import Tree
from coherence.model.model import Model
from coherence.simulate.execute.enclosed.contracting_runs import HOW, Attraction, EnclosedExecution, attractions, follow
from coherence.simulate.execute.exact import Choices, Execution, Instant, MissingValueError
from coherence.simulate.execute.orbits import hyperperiod, looked_at
from coherence.simulate.execute.schedules import NotCommensurateError
from coherence.simulate.execute.starts import finite
from coherence.verify.promises.certainty import Certainty
from coherence.verify.promises.outcomes import Outcome, Proved, Refuted
from coherence.verify.promises.refutations import every_choice, watched
from coherence.verify.systems.cases import NotLinearError

MOST_CHOICES, MOST_STARTS = 16, 8
SHOWN = 12  # instants of the exact run before its numbers are too long
NEARBY, SMALL = Fraction(1, 2**80), Fraction(1, 2**50)  # wider than the point of rest; of a box that decides as much
WRONG = {"always": False, "never": True}


@dataclass(frozen=True)
class RestingRun:
    """A run and where it comes to rest; what a condition is on the way, in the box, and at rest (None: not known)."""

    choices: Choices
    attraction: Attraction
    on_the_way: tuple[bool, ...]
    in_the_box: tuple[bool, ...] | None
    at_rest: tuple[bool, ...] | None

    def keeps(self, kind: str) -> bool | None:
        """Decides whether the run keeps the promise; None where that is not known."""
        if kind == "eventually_always":
            return None if self.at_rest is None or len({*self.at_rest}) != 1 else self.at_rest[0]
        passed = self.on_the_way
        if kind in WRONG and WRONG[kind] in passed:
            return False
        if kind == "eventually" and True in passed:
            return True
        if self.in_the_box is None or len({*self.in_the_box}) != 1:
            return None
        return self.in_the_box[0] if kind == "eventually" else self.in_the_box[0] is not WRONG[kind]


def by_enclosures(model: Model, condition: Tree, kind: str, deadline: float) -> Outcome | None:
    """Returns the outcome, where every start, phase and order comes to rest and their number is small."""
    if watched(model, condition):
        return None
    try:
        rests = list(_rests(model, condition, kind, deadline))
    except (NotExactError, MissingValueError, NotCommensurateError):
        return None
    answers = [rest.keeps(kind) for rest in rests]
    broken = [rest for rest, keeps in zip(rests, answers, strict=True) if keeps is False]
    if broken:
        first = broken[0]
        instants = _exact_beginning(model, first.choices)
        certain, at = Certainty(len(broken) == len(rests)), point(model, first.attraction)
        return Refuted(first.choices, instants, None, certain, at)
    if not rests or None in answers:
        return None
    script = "(reset)\n".join(rest.attraction.script for rest in rests)
    return Proved(HOW, script, ("every phase and order",) if len(rests) > 1 else ())


def resting(model: Model, deadline: float) -> tuple[tuple[Choices, Attraction], ...]:
    """Returns where each run comes to rest; nothing where one is not shown to.

    Raises NotExactError, MissingValueError, NotCommensurateError.
    """
    at = [(choices, next(attractions(model, choices, check=_until(deadline)), None)) for choices in _choices(model)]
    return tuple((choices, rest) for choices, rest in at if rest is not None) if all(rest for _, rest in at) else ()


def point(model: Model, rest: Attraction) -> Mapping[str, Fraction]:
    """Returns where states and commands come to rest, up to rounding."""
    return {path: rest.centre[path] for path in (*model.states, *model.commands)}


def _choices(model: Model) -> list[Choices]:
    starts = finite(model, MOST_STARTS)
    try:
        choices = list(itertools.islice((c for s in starts for c in every_choice(model, s)), MOST_CHOICES + 1))
    except NotLinearError as error:  # too many orders
        raise NotExactError(str(error)) from error
    if len(choices) > MOST_CHOICES:
        raise NotExactError(f"more than {MOST_CHOICES} starts, phases and orders")
    return choices if len(model.loops) > 1 else [replace(each, order=()) for each in choices]


def _rests(model: Model, condition: Tree, kind: str, deadline: float) -> Iterator[RestingRun]:
    for choices in _choices(model):
        passed: list[bool] = []

        def look(run: EnclosedExecution, instant: Instant, passed: list[bool] = passed) -> None:
            passed += [bool(truth) for truth in looked_at(run, instant, condition)]

        for region in attractions(model, choices, look, _until(deadline)):
            radii = (region.radius, 2 * region.reach + NEARBY)
            box, near = (_truths(model, region, radius, condition) for radius in radii)
            rest = RestingRun(choices, region, tuple(passed), box, near)
            if region.radius < SMALL or rest.keeps(kind) is not None:
                yield rest
                break
        else:
            raise NotExactError("a run that is not shown to come to rest")


def _truths(model: Model, rest: Attraction, radius: Fraction, condition: Tree) -> tuple[bool, ...] | None:
    """Returns the condition during one lap of all runs from a box; None where it may be either."""
    truths: list[bool] = []
    box = rest.box(radius)

    def look(run: EnclosedExecution, instant: Instant) -> None:
        truths.extend(bool(truth) for truth in looked_at(run, instant, condition))

    try:
        follow(box, rest.entered + hyperperiod(model), look)
    except NotExactError:
        return None
    return tuple(truths)


def _exact_beginning(model: Model, choices: Choices) -> tuple[Instant, ...]:
    """Returns the first instants of the exact run, while its numbers are short enough."""
    run, instants = Execution(model, choices), list[Instant]()
    while len(instants) < SHOWN:
        try:
            instants.append(run.advance())
        except NotExactError:
            break
    return tuple(instants)


def _until(deadline: float) -> Callable[[], None]:
    def check() -> None:
        if is_over(deadline):
            raise NotExactError("the time limit")

    return check
