"""Proves that loops over plants with lags settle, where no run of theirs is exact.

The lap of a straight model is enclosed (`enclosed_laps`), the matrix exponentials too.  A bound of a command takes any
part of a difference of decisions, none to all; so if one quadratic form falls with every combination of decisions
that go on and that do not, all runs draw together, whatever they start from, and all come to the equilibrium; least,
largest and absolute values in laws are such parts of a difference, too (`kinked_laws`).  Else
the form falls only where no bound holds, and a run in balls (`enclosed_runs`) shows that its own start comes there.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from fractions import Fraction

from coherence.base.errors import UsageError
from coherence.base.solver import confirmed
from coherence.loops.designs.design_network import network_of
from coherence.loops.designs.equilibria import exact_equilibrium
from coherence.loops.designs.every_equilibrium import equilibria
from coherence.loops.designs.linear import skeleton
from coherence.loops.multirate.falling_forms import FallingForm, falling_form
from coherence.loops.multirate.falling_regions import Guard, is_inside, region_level
from coherence.loops.settling.enclosed_laps import EnclosedLap, bend_and_reader, enclosed_lap
from coherence.loops.settling.enclosed_runs import START, EnclosedRun
from coherence.loops.settling.kinked_laws import bent_everywhere
from coherence.loops.settling.straight_models import why_bent
from coherence.model.model import EVERYTHING, Interval, Model, SampledLoop
from coherence.simulate.execute.instants import MissingValueError
from coherence.simulate.execute.orbits import hyperperiod

MOST_BOUNDED = 5  # decisions of a lap that bounds may hold, up to which every combination is tried
CHECK_MS = 5_000
MOST_LAPS = 400
FROM_EVERY_START, FROM_ITS_START = "from every start", "from its start"
HOW = "a quadratic form that falls with every lap, whatever bounds hold; matrix exponentials in balls"
HOW_KINKED = HOW.replace("whatever bounds hold", "whatever bounds hold and on every side of its kinks")
HOW_NEAR = "a quadratic form that falls with every lap where no bound holds; its start comes there"


@dataclass(frozen=True)
class Settling:
    """`start`: from where the loops are proved to settle, empty where they are not; `how`, or why not; `script`: of
    the proof, for a solver; `point`: where they come to.
    """

    start: str
    how: str
    script: str = ""
    point: Mapping[str, Fraction] = field(default_factory=dict)


def settling(model: Model, check: Callable[[], object] = bool) -> Settling:
    """Returns whether a model with states is proved to settle.  `check` may raise to end it."""
    try:
        why = why_bent(model) if model.states else "it has no states: its runs are exact"
        return Settling("", why) if why else _of_straight(model, check)
    except (ArithmeticError, UsageError, MissingValueError) as error:
        return Settling("", str(error))


def _of_straight(model: Model, check: Callable[[], object]) -> Settling:
    smooth, _ = skeleton(model)
    bent = bent_everywhere(smooth)
    point = next(_equilibria(model, smooth, bool(bent.bends), check), None)
    if point is None:
        return Settling("", "no equilibrium inside the bounds is known exactly")
    design = network_of(bent.model, point, bent.bends, exact=True)
    bounded = [loop for loop in model.loops if any(limits != EVERYTHING for limits in _limits(model, loop))]
    bends = {bend_and_reader(each.name): each for each in design.samplers if each.name in design.bends}
    periods = [*(loop.period for loop in bounded), *(Fraction(bend.period) for bend in bends.values())]
    few = sum(int(hyperperiod(model) / period) for period in periods) <= MOST_BOUNDED
    if bent.bends and not few:
        return Settling("", f"more than {MOST_BOUNDED} kinks and bounds in a lap")
    check()
    lap = enclosed_lap(design, [loop.name for loop in bounded] if few else [])
    everywhere = falling_form(lap.matrices, check) if few else None
    if everywhere is not None:
        return _confirmed(everywhere, FROM_EVERY_START, HOW_KINKED if bent.bends else HOW, point)
    if bent.bends:
        return Settling("", "no quadratic form was found that falls on every side of its kinks")
    near_it = falling_form(lap.matrices[:1], check)
    if near_it is None:
        return Settling("", "no quadratic form was found that falls where no bound holds")
    return _from_its_start(model, smooth, point, lap, near_it, check)


def _equilibria(
    model: Model, smooth: Model, kinked: bool, check: Callable[[], object]
) -> Iterator[Mapping[str, Fraction]]:
    """Yields equilibria inside the bounds that are known exactly."""
    starts: list[Mapping[str, Fraction]] = [dict.fromkeys((*model.states, *model.commands), START)]
    for near in itertools.chain(starts, equilibria(smooth, check).points if kinked else ()):
        point = exact_equilibrium(smooth, near)
        if point is not None and all(
            limits.clip(point[loop.signal]) == point[loop.signal]
            for loop in model.loops
            for limits in _limits(model, loop)
        ):
            yield point


def _from_its_start(
    model: Model, smooth: Model, point: Mapping[str, Fraction], lap: EnclosedLap, form: FallingForm,
    check: Callable[[], object],
) -> Settling:  # fmt: skip
    """Returns the proof that the run from the own start comes to where bounds hold nothing, and the form falls."""
    level = region_level(form, list(_guards(model, point, lap)))
    if level is None:
        return Settling("", "at the equilibrium a command is at its bound")
    run = EnclosedRun(model, smooth, point)
    for number in range(1, MOST_LAPS):
        check()
        run.follow(number * lap.length)
        begin = number * lap.length
        if number < lap.forgets or begin + min(at for _, at in lap.remembered) < 0:
            continue
        x = [run.level(begin + at)[run.levels.index(path)] if path in run.levels else run.command(path, begin + at)
             for path, at in lap.remembered]  # fmt: skip
        if is_inside(form, x, level):
            return _confirmed(form, FROM_ITS_START, f"{HOW_NEAR}, after {number} laps in balls", point)
    return Settling("", f"a run in balls of {MOST_LAPS} laps does not come to where its bounds hold nothing")


def _guards(model: Model, point: Mapping[str, Fraction], lap: EnclosedLap) -> Iterator[Guard]:
    loops = {loop.name: loop for loop in model.loops}
    for name, row in lap.decisions:
        loop = loops[name]
        ends = [end for limits in _limits(model, loop) for end in (limits.low, limits.high) if end is not None]
        if ends:
            yield row, min(abs(end - point[loop.signal]) for end in ends)


def _confirmed(form: FallingForm, start: str, how: str, point: Mapping[str, Fraction]) -> Settling:
    script = form.claims.script()
    if not confirmed(script, timeout_ms=CHECK_MS):
        return Settling("", "the form was not confirmed by a solver in time")
    return Settling(start, how, script, point)


def _limits(model: Model, loop: SampledLoop) -> tuple[Interval, Interval]:
    return loop.bounds, model.commands[loop.signal].range
