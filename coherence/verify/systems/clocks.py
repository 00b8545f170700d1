"""Encodes a model in which each loop and each step has a clock of its own: all phases and orders in one system.

A clock is the time since its loop last sampled.  Whose period ends first acts next; what flows meanwhile does so for
what is left of that period.  A clock that begins anywhere in its period stands for every phase.  Loops that act at one
time do so one after the other in any order, with no time in between: more runs than there are, where ranks say which.
What lands later waits in a queue: whole periods, and the rest of its time on a clock that its loop sets.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

from coherence.language.expressions.tree import Tree
from coherence.model.model import Interval, Model, SampledLoop, commanded
from coherence.simulate.execute.schedules import Clock, DueInstant, NotCommensurateError, PhasePattern, schedules
from coherence.verify.systems.cases import AffineCase, NotLinearError, exactly
from coherence.verify.systems.registers import (
    MOST_REGISTERS,
    Moment,
    Queue,
    RegisterPlan,
    calls_in,
    late_landings,
)
from coherence.verify.systems.state_space import SystemMode
from coherence.verify.systems.symbolic_instant import LESS, InstantPath
from coherence.verify.systems.terms import ZERO, Guard, Term, add, constant, guard, scaled, unit
from coherence.verify.systems.transitions import Encoder

MOST_CLOCKS, MOST_TIMES = 6, 20
NEVER_LESS = 1000  # part of its period that a phase stays below it


def clocked(model: Model) -> PhasePattern:
    """Returns one moment for each clock of a model, in no order.  Raises NotCommensurateError.

    Loops with one stated phase and period share a clock, with what steps at the same times.
    """
    late = next((loop for loop in model.loops if loop.phase is not None and loop.phase >= loop.period), None)
    if late is not None:
        raise NotCommensurateError(f"the phase of {late.name} is not below its period")
    due: dict[str | Clock, tuple[list[SampledLoop], list[str]]] = {}
    for loop in model.loops:
        key = loop.name if loop.phase is None else (loop.phase, loop.period)
        due.setdefault(key, ([], []))[0].append(loop)
    for state in model.states.values():
        if state.step:
            due.setdefault((ZERO, state.step), ([], []))[1].append(state.path)
    if not due:
        raise NotCommensurateError("no loop and no step")
    if len(due) > MOST_CLOCKS:
        raise NotCommensurateError(f"more than {MOST_CLOCKS} loops and steps at times of their own")
    instants = (DueInstant(Fraction(k), tuple(loops), tuple(steps)) for k, (loops, steps) in enumerate(due.values()))
    return AnyOrder({}, Fraction(len(due)), tuple(instants))


def patterns(model: Model) -> tuple[PhasePattern, ...]:
    """Returns patterns that stand for all phases; clocks alone where times between instants or too many orders matter.

    Raises NotCommensurateError.
    """
    try:
        return tuple(schedules(model))
    except NotCommensurateError:
        return (clocked(model),)


class AnyOrder(PhasePattern):
    """Moments of clocks, at times that only tell them apart."""


@dataclass(frozen=True, slots=True)
class ClockPlan(RegisterPlan):
    """The moments of clocks, at whose times alone they are told apart, and commands on their way."""

    def landed(self, signal: str, time: Fraction) -> str:
        """Returns the register with the command that lands: the oldest one that is on its way."""
        del time
        return self.landing[signal].cell(self.landing[signal].length)


class ClockedEncoder(Encoder):
    """Encodes one model for one promise whatever the phases are; a position is the moment that came last."""

    @cached_property
    def periods(self) -> Mapping[str, Fraction]:
        """Returns the clock of each moment with its period."""
        return {f"clock {k}": self._period(moment) for k, moment in enumerate(self.plan.moments)}

    @property
    def lap(self) -> Fraction:
        """Returns a time within which every moment comes once."""
        return max(self.periods.values())

    @property
    def lengthening(self) -> int:
        """Returns by how much runs are longer because one clock comes again less often than others."""
        return min(MOST_TIMES, int(sum(self.lap / period for period in self.periods.values()) / len(self.periods)))

    @property
    def begins_apart(self) -> bool:
        """Returns whether the way to the first instant is another one than those to the later ones."""
        return True

    def phases_from(self, start: Mapping[str, Fraction]) -> dict[str, Fraction]:
        """Returns the phases of loops that state none, from the clocks at the start of a run."""
        free = [(m.loops[0], start[clock]) for m, clock in zip(self.plan.moments, self.periods, strict=True) if m.loops]
        return {
            loop.name: loop.period - max(since, loop.period / NEVER_LESS) for loop, since in free if loop.phase is None
        }

    def _planned(self, model: Model, schedule: PhasePattern) -> RegisterPlan:
        """Returns the moments of the clocks, and those at which commands land between two samples."""
        lands = late_landings(model)
        if any(sum(any(x.signal == signal for x in due.loops) for due in schedule.instants) > 1 for signal in lands):
            raise NotLinearError("several loops write at times of their own what lands later")
        writers = {loop.signal: loop for loop in model.loops if loop.signal in lands}
        between = {signal: lands[signal] % loop.period for signal, loop in writers.items()}
        queues = {
            signal: Queue(
                f"{signal} in flight", None, frozenset(), int(lands[signal] // loop.period) + bool(between[signal])
            )
            for signal, loop in writers.items()
        }
        if sum(queue.length for queue in queues.values()) > MOST_REGISTERS:
            raise NotLinearError(f"more than {MOST_REGISTERS} commands on their way")
        moments = [
            Moment(due.time, due.loops, due.steps, tuple(x.signal for x in due.loops if between.get(x.signal) == 0))
            for due in schedule.instants
        ]
        for signal in (signal for signal, late in between.items() if late):
            moments.append(Moment(Fraction(len(moments)), (), (), (signal,)))
        return ClockPlan(schedule.hyperperiod, tuple(moments), {}, {}, queues, lands)

    def _period(self, moment: Moment) -> Fraction:
        step = self.model.states[moment.steps[0]].step if moment.steps else None
        return step or self._loop_of(moment).period

    def _loop_of(self, moment: Moment) -> SampledLoop:
        """Returns a loop that acts at a moment, or whose command lands at it."""
        return next(loop for loop in self.model.loops if loop in moment.loops or loop.signal in moment.landings)

    def _known(self, moment: Moment) -> Mapping[str, Fraction]:
        """Returns what clocks show just after a moment: its own one, and those of landings that it begins."""
        known = {}
        for name, other in zip(self.periods, self.plan.moments, strict=True):
            loop = self._loop_of(other) if not other.steps and not other.loops else None
            if other == moment:
                known[name] = ZERO
            elif loop is not None and loop in moment.loops:
                known[name] = loop.period - loop.lands % loop.period
        return known

    def _signals(self, fixed: list[str]) -> dict[str, Interval | Tree | Term]:
        trees = [tree for loop in self.model.loops for tree in loop.trees]
        trees += [tree for state in self.model.states.values() for tree in state.trees]
        if any(_reads_the_past(tree, self.model) for tree in trees):
            raise NotLinearError("what is read of the past at times that depend on phases")
        clocks = zip(self.periods.items(), self.plan.moments, strict=True)
        return {**super()._signals(fixed), **{name: _begun(moment, period) for (name, period), moment in clocks}}

    def _turns(self, mode: SystemMode) -> Iterator[tuple[Moment, int]]:
        del mode
        yield from ((moment, position) for position, moment in enumerate(self.plan.moments))

    def _drifted(self, way: InstantPath, mode: SystemMode, moment: Moment) -> list[InstantPath]:
        """Returns paths after what is left of the period of a clock, if no other one ends before."""
        clocks = {name: way.cell(name) for name in self.periods}
        if not mode.first:
            clocks |= {name: constant(at) for name, at in self._known(self.plan.moments[mode.position]).items()}
        acting = list(self.periods)[self.plan.moments.index(moment)]
        left = {name: add(constant(period), clocks[name], LESS) for name, period in self.periods.items()}
        rows = [
            (scaled(left[acting], LESS), "<="),
            *((add(left[acting], other, LESS), "<=") for other in left.values()),
        ]
        first = guard(rows)
        due = way.under(first) if first is not None else None
        if due is None:
            return []
        later = {name: add(since, left[acting]) for name, since in clocks.items()}
        later |= {name: constant(at) for name, at in self._known(moment).items()}
        return self._flown(due.holding(later), lambda rate: self._amounts(rate, left[acting]))

    def _amounts(self, rate: Term, left: Term) -> list[AffineCase]:
        """Returns what flows at a rate for a time: exactly where one of both is a number, else within what it may."""
        if rate.known or left.known:
            return exactly(scaled(left, rate.constant) if rate.known else scaled(rate, left.constant))
        amount = unit(self.fresh(f"{rate} for {left}"))
        longest = min(self.periods.values())
        ends = self._ends(rate)
        if ends is None:
            signs = (_between(constant(0), amount, scaled(rate, longest), Fraction(sign)) for sign in (1, -1))
            return [AffineCase(rows, amount) for rows in signs if rows is not None]
        rows = []
        for end, sign in zip(ends, (1, -1), strict=True):
            short = add(scaled(left, end), amount, LESS)  # (rate - end) * left has the sign of one end
            rest = add(add(scaled(rate, longest), scaled(left, end)), constant(-end * longest))
            rows += [(scaled(short, Fraction(sign)), "<="), (scaled(add(amount, rest, LESS), Fraction(sign)), "<=")]
        both = guard(rows)
        return [AffineCase(both, amount)] if both is not None else []

    def _ends(self, rate: Term) -> tuple[Fraction, Fraction] | None:
        """Returns the least and the greatest rate by the ranges of what it is of; None where they have no ends."""
        low = high = rate.constant
        for name, factor in rate.items:
            span = self._span(name)
            if span.low is None or span.high is None:
                return None
            ends = (factor * span.low, factor * span.high)
            low, high = low + min(ends), high + max(ends)
        return low, high

    def _span(self, name: str) -> Interval:
        """Returns an interval that a signal never leaves."""
        if name in self.model.constants:
            return self.model.constants[name].range
        if name in self.model.commands:
            return commanded(self.model, name)
        return self.model.states[name].range if name in self.model.states else Interval(None, None)


def _between(one: Term, amount: Term, other: Term, sign: Fraction) -> Guard | None:
    """Returns the rows by which an amount lies between two others: in this order, or (-1) in the opposite one."""
    rows = ((add(one, amount, LESS), "<="), (add(amount, other, LESS), "<="))
    return guard((scaled(row, sign), relation) for row, relation in rows)


def _begun(moment: Moment, period: Fraction) -> Interval:
    """Returns what the clock of a moment shows at the start of a run."""
    if moment.steps:
        return Interval(period, period)
    phase = moment.loops[0].phase if moment.loops else None
    return Interval(ZERO, period) if phase is None else Interval(period - phase, period - phase)


def _reads_the_past(tree: Tree, model: Model) -> bool:
    """Decides whether an expression reads more of the past than what its loop saw at its sample before."""
    calls = calls_in(tree, model)
    return any(c.function != "previous" or next(calls_in(c.arguments[0], model), None) is not None for c in calls)


def encoder_of(schedule: PhasePattern) -> type[Encoder]:
    """Returns what encodes a model under a pattern."""
    return ClockedEncoder if isinstance(schedule, AnyOrder) else Encoder
