"""Enumerates choices of runs that may break a promise: every order and phase pattern, and values that vary."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction
from random import Random

from coherence.model.model import Model, SampledLoop
from coherence.simulate.execute.exact import Choices, Schedule
from coherence.simulate.execute.schedules import NotCommensurateError, PhasePattern, schedules
from coherence.simulate.execute.starts import corners
from coherence.verify.systems.cases import NotLinearError
from coherence.verify.systems.instants import orders

VARYING_LAPS, VARYING_INSTANTS = 20, 400  # for which values that vary are drawn
DRAWS = 4


def other_choices(model: Model) -> Iterator[Choices]:
    """Yields choices other than the corners at phase 0 in the declared order, each pattern from one start first."""
    patterns = _patterns(model)
    ordered = tuple(orders_of_equal_rank(model))
    for number, start in enumerate(corners(model)):
        for pattern in patterns:
            for order in ordered:
                if number or pattern is not patterns[0] or order != ordered[0]:
                    yield Choices(start.values, pattern.phases if pattern else {}, order)
        yield from (replace(start, schedule=course) for course in _courses(model, patterns[0]))


def in_every_order(model: Model, choices: Choices) -> Iterator[Choices]:
    """Yields the choices with each order of loops of equal rank, the declared one first."""
    yield choices
    for order in itertools.islice(_orders(model), 1, None):
        yield replace(choices, order=tuple(loop.name for loop in order))


def _patterns(model: Model) -> tuple[PhasePattern | None, ...]:
    """Returns the phase patterns that stand for all; None alone, phases 0, where there are no such patterns."""
    try:
        return tuple(schedules(model)) or (None,)
    except NotCommensurateError:
        return (None,)


def orders_of_equal_rank(model: Model) -> Iterator[tuple[str, ...]]:
    """Yields the loops in every order of equal rank, by name; one order alone is the declared one, empty."""
    ordered = [tuple(loop.name for loop in order) for order in _orders(model)]
    yield from ordered if len(ordered) > 1 else [()]


def courses(model: Model) -> Iterator[Schedule]:
    """Yields what varying values may do over time at the first pattern of phases."""
    yield from _courses(model, _patterns(model)[0])


def _orders(model: Model) -> Iterator[tuple[SampledLoop, ...]]:
    try:
        yield from orders(model.loops)
    except NotLinearError:  # too many of equal rank: in the declared order alone
        yield model.loops


def _courses(model: Model, pattern: PhasePattern | None) -> Iterator[Schedule]:
    """Yields what varying values may do over time: from end to end, and between ends by chance."""
    ends = {
        path: (constant.range.low, constant.range.high)
        for path, constant in model.constants.items()
        if constant.varies and constant.range.low is not None and constant.range.high is not None
    }
    if not ends or pattern is None:
        return
    times = _times(pattern)
    random = Random(0)  # noqa: S311  (the same values in every run)
    for first in (0, 1):
        yield tuple((at, path, span[(k + first) % 2]) for k, at in enumerate(times) for path, span in ends.items())
    for _ in range(DRAWS):
        yield tuple((at, path, random.choice(span)) for at in times for path, span in ends.items())


def _times(pattern: PhasePattern) -> list[Fraction]:
    laps = range(VARYING_LAPS)
    return [lap * pattern.hyperperiod + instant.time for lap in laps for instant in pattern.instants][:VARYING_INSTANTS]
