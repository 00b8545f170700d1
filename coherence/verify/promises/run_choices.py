"""Enumerates choices of runs that may break a promise: every order and phase pattern, and values that vary."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import replace
from fractions import Fraction
from random import Random

from coherence.model.model import Model, SampledLoop
from coherence.simulate.execute.exact import Choices, Schedule
from coherence.simulate.execute.schedules import (
    NotCommensurateError,
    PhasePattern,
    every_phase,
    grid,
    schedule,
    some_phases,
)
from coherence.simulate.execute.slices import signals_in
from coherence.simulate.execute.starts import corners
from coherence.verify.systems.cases import NotLinearError
from coherence.verify.systems.instants import orders

VARYING_LAPS, VARYING_INSTANTS = 20, 400  # for which values that vary are drawn
DRAWS = 4
MOST_ORDERS = 400  # of loops of equal rank; of more some are drawn


def other_choices(model: Model) -> Iterator[Choices]:
    """Yields choices other than the corners at phase 0 in the declared order, each pattern from one start first."""
    patterns = _patterns(model)
    ordered, _ = orders_of_equal_rank(model)
    for number, start in enumerate(corners(model)):
        for pattern in patterns:
            for order in ordered:
                if number or pattern is not patterns[0] or order != ordered[0]:
                    yield Choices(start.values, pattern or {}, order)
        yield from (replace(start, schedule=course) for course in _courses(model, patterns[0]))


def in_every_order(model: Model, choices: Choices) -> Iterator[Choices]:
    """Yields the choices with each order of loops of equal rank, the declared one first."""
    yield choices
    yield from (replace(choices, order=order) for order in orders_of_equal_rank(model)[0][1:])


def _patterns(model: Model) -> tuple[dict[str, Fraction] | None, ...]:
    """Returns the phases that stand for all, else some; None alone, phases 0, where there are no patterns."""
    return all_phases(model) or tuple(some_phases(model)) or (None,)


def all_phases(model: Model) -> tuple[dict[str, Fraction], ...]:
    """Returns the phases that stand for all; nothing where none do."""
    try:
        return tuple(every_phase(model))
    except NotCommensurateError:
        return ()


def orders_of_equal_rank(model: Model) -> tuple[tuple[tuple[str, ...], ...], bool]:
    """Returns orders of the loops of equal rank, by name, and whether they are all; one alone is the declared one, ().

    Of more than are enumerated: the declared one, its reverse, and some drawn ones.  Of orders that give the same runs
    the first: in them the loops of equal rank that see one another stand alike.
    """
    meeting = _meeting(model)
    try:
        several = tuple(itertools.islice(orders(model.loops), MOST_ORDERS + 1)) if meeting else ()
        every = len(several) <= MOST_ORDERS
    except NotLinearError:
        several, every = (), False
    several = several if every else tuple(_some_orders(model.loops))
    distinct: dict[frozenset[tuple[str, str]], tuple[str, ...]] = {}
    for named in (tuple(loop.name for loop in order) for order in several):
        distinct.setdefault(frozenset(meeting.intersection(itertools.combinations(named, 2))), named)
    return (tuple(distinct.values()) if len(distinct) > 1 else ((),)), every


def _meeting(model: Model) -> frozenset[tuple[str, str]]:
    """Returns pairs of loops of equal rank, both ways, whose order at one instant a run may show.

    They write one signal, or one reads what the other has just set: its signal or its mode.  What states and the past
    carry over is seen at later instants, in whatever order.
    """
    seen = {loop.name: frozenset(s for tree in loop.trees for s in signals_in(model, tree)) for loop in model.loops}
    return frozenset(
        pair
        for first, second in itertools.combinations(model.loops, 2)
        if first.rank == second.rank
        and ((first.signal and first.signal == second.signal)
             or not seen[first.name].isdisjoint((second.name, second.signal))
             or not seen[second.name].isdisjoint((first.name, first.signal)))
        for pair in ((first.name, second.name), (second.name, first.name))
    )  # fmt: skip


def _some_orders(loops: Sequence[SampledLoop]) -> Iterator[tuple[SampledLoop, ...]]:
    """Yields the declared order, the reverse within each rank, and some drawn ones."""
    random = Random(0)  # noqa: S311  (the same orders in every run)
    orders_of = [list(loops), list(reversed(loops)), *(random.sample(loops, len(loops)) for _ in range(DRAWS))]
    yield from (tuple(sorted(order, key=lambda loop: loop.rank)) for order in orders_of)


def courses(model: Model) -> Iterator[Schedule]:
    """Yields what varying values may do over time at the first pattern of phases."""
    if _ends(model):
        yield from _courses(model, _patterns(model)[0])


def _ends(model: Model) -> dict[str, tuple[Fraction, Fraction]]:
    """Returns the ends between which each value varies."""
    return {
        path: (constant.range.low, constant.range.high)
        for path, constant in model.constants.items()
        if constant.varies and constant.range.low is not None and constant.range.high is not None
    }


def _courses(model: Model, phases: dict[str, Fraction] | None) -> Iterator[Schedule]:
    """Yields what varying values may do over time: from end to end, and between ends by chance."""
    ends = _ends(model)
    if not ends or phases is None:
        return
    times = _times(schedule(model, phases, grid(model)[1]))
    random = Random(0)  # noqa: S311  (the same values in every run)
    for first in (0, 1):
        yield tuple((at, path, span[(k + first) % 2]) for k, at in enumerate(times) for path, span in ends.items())
    for _ in range(DRAWS):
        yield tuple((at, path, random.choice(span)) for at in times for path, span in ends.items())


def _times(pattern: PhasePattern) -> list[Fraction]:
    laps = range(VARYING_LAPS)
    return [lap * pattern.hyperperiod + instant.time for lap in laps for instant in pattern.instants][:VARYING_INSTANTS]
