"""Enumerates the orders in which loops and steps can meet within one hyperperiod.

A loop whose phase the design does not state may have any phase in [0, period) (model.md rule 3).
Between two instants nothing changes, so only the order matters: finitely many patterns stand for
all phases.  What is read or lands later by a fixed time has that time in the grid; a mean over time
depends on the phases themselves, which no pattern stands for.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from random import Random

from coherence.language.expressions.tree import Held, walk
from coherence.model.model import Model, SampledLoop
from coherence.simulate.execute.lookback import look_backs

MOST_PATTERNS = 96
MOST_INSTANTS = 400
MOST_TRIED, CLOSE = 12, 64  # patterns that do not stand for all; parts of a unit between phases close together
ZERO = Fraction(0)


class NotCommensurateError(ArithmeticError):
    """The periods have no small common multiple, or there are too many orders to look at."""


@dataclass(frozen=True)
class DueInstant:
    """What is due at one time of the hyperperiod."""

    time: Fraction
    loops: tuple[SampledLoop, ...]
    steps: tuple[str, ...]


@dataclass(frozen=True)
class PhasePattern:
    """One pattern: the phases chosen, and the instants of one hyperperiod in order."""

    phases: dict[str, Fraction]
    hyperperiod: Fraction
    instants: tuple[DueInstant, ...]


def grid(model: Model, waits: tuple[Fraction, ...] = ()) -> tuple[Fraction, Fraction]:
    """Returns (greatest common divisor of all times, least common multiple of all periods and steps), in seconds.

    The times are periods, steps, stated phases, delays, landings, and `waits`: spans with which others are compared.
    """
    periods = [loop.period for loop in model.loops] + [s.step for s in model.states.values() if s.step]
    phases = [loop.phase for loop in model.loops if loop.phase]
    late = next((loop for loop in model.loops if loop.phase is not None and loop.phase >= loop.period), None)
    if not periods:
        raise NotCommensurateError("no loop and no step")
    if late is not None:  # what happens before its first sample does not come again
        raise NotCommensurateError(f"the phase of {late.name} is not below its period")
    shifts = [
        *waits,
        *_streaks(model),
        *phases,
        *(d for _, d in look_backs(model) if d),
        *(loop.lands for loop in model.loops if loop.lands),
    ]
    scale = math.lcm(*(p.denominator for p in periods + shifts))
    scraped = [period for function, period in look_backs(model) if function == "sampled" and period]
    whole = [int(p * scale) for p in periods + scraped]
    return Fraction(math.gcd(*whole, *(int(p * scale) for p in shifts)), scale), Fraction(math.lcm(*whole), scale)


def _streaks(model: Model) -> list[Fraction]:
    """Returns the spans of `for h` that promises ask for: they count samples of every loop, at phases of their own."""
    if not model.promises:
        return []
    conditions = (f.tree for promise in model.promises.values() for f in promise.conditions)
    trees = (*conditions, *model.outputs.values())
    return [node.duration for tree in trees for node in walk(tree) if isinstance(node, Held) and node.duration]


def schedules(model: Model, waits: tuple[Fraction, ...] = ()) -> Iterator[PhasePattern]:
    """Yields every pattern; the one with all free phases 0 comes first.  Raises NotCommensurateError.

    In one pattern the time between two instants is above one of `waits` for all its phases, or for none.
    """
    _, hyperperiod = grid(model, waits)
    for phases in every_phase(model, waits):
        yield schedule(model, phases, hyperperiod)


def every_phase(model: Model, waits: tuple[Fraction, ...] = ()) -> Iterator[dict[str, Fraction]]:
    """Yields the phases of every pattern, in their order.  Raises NotCommensurateError."""
    unit, hyperperiod = grid(model, waits)
    free = [loop for loop in model.loops if loop.phase is None]
    if _count(model, hyperperiod) > MOST_INSTANTS:
        raise NotCommensurateError(f"more than {MOST_INSTANTS} instants in one hyperperiod of {float(hyperperiod):g} s")
    pinned = {loop.name: loop.phase for loop in model.loops if loop.phase is not None}
    scraped = any(name == "sampled" for name, _ in look_backs(model))
    if len(model.loops) == len(free) == 1 and not model.states and not scraped and not waits:
        pinned, free = {free[0].name: Fraction(0)}, []  # nothing else happens: when it begins does not matter
    if free and (reason := _continuous(model)):
        raise NotCommensurateError(f"{reason}: phases matter beyond their order; state `phase` of {free[0].name}")
    total = math.prod(int(loop.period / unit) for loop in free) * (len(free) + 1) ** len(free)
    if total > 20_000:
        raise NotCommensurateError(f"{len(free)} loops without a stated phase: too many orders")
    for count, phases in enumerate(_phases(free, unit), 1):
        if count > MOST_PATTERNS:
            raise NotCommensurateError(f"more than {MOST_PATTERNS} orders of {len(free)} loops without a stated phase")
        yield {**pinned, **phases}


def some_phases(model: Model) -> Iterator[dict[str, Fraction]]:
    """Yields a few phases where none stand for all: phases 0, then some that lie close together or far apart.

    Nothing where the periods have no small common multiple.
    """
    free = [loop for loop in model.loops if loop.phase is None]
    try:
        unit, hyperperiod = grid(model)
    except NotCommensurateError:
        return
    if _count(model, hyperperiod) > MOST_INSTANTS:
        return
    pinned = {loop.name: loop.phase for loop in model.loops if loop.phase is not None}
    random = Random(0)  # noqa: S311  (the same phases in every run)
    for number in range(MOST_TRIED if free else 1):
        gap = unit / (len(free) + 1 if number % 2 else CLOSE)
        places = [random.randrange(int(loop.period / unit)) * unit for loop in free]
        levels = random.sample(range(len(free) + 1), len(free))
        drawn = {p.name: at + gap * k if number else ZERO for p, at, k in zip(free, places, levels, strict=True)}
        yield {**pinned, **drawn}


def _continuous(model: Model) -> str:
    """Returns what depends on the times between instants, not only on their order."""
    flowing = next((s.path for s in model.states.values() if s.flow is not None), "")
    if flowing:
        return f"{flowing} flows continuously"
    return "a mean over time is read" if any(name == "mean_over" for name, _ in look_backs(model)) else ""


def _phases(free: list[SampledLoop], unit: Fraction) -> Iterator[dict[str, Fraction]]:
    """Integer shifts times weak orders of the fractional parts (level 0 coincides with the grid)."""
    count = len(free)
    levels = [
        c
        for c in itertools.product(range(count + 1), repeat=count)
        if set(c) - {0} == set(range(1, len(set(c) - {0}) + 1))
    ]
    shifts = itertools.product(*(range(int(loop.period / unit)) for loop in free))
    for shift in shifts:
        for level in levels:
            yield {
                loop.name: unit * k + unit * Fraction(j, count + 1)
                for loop, k, j in zip(free, shift, level, strict=True)
            }


def _count(model: Model, hyperperiod: Fraction) -> int:
    periods = [loop.period for loop in model.loops] + [s.step for s in model.states.values() if s.step]
    return sum(int(hyperperiod / p) for p in periods)


def schedule(model: Model, phases: dict[str, Fraction], hyperperiod: Fraction) -> PhasePattern:
    """Returns the instants of [0, hyperperiod) for given phases."""
    steps = {state.path: state.step for state in model.states.values() if state.step}
    spans = (hyperperiod, *phases.values(), *(loop.period for loop in model.loops), *steps.values())
    scale = math.lcm(*(span.denominator for span in spans))  # times are whole parts of a second
    lap = int(hyperperiod * scale)
    due: dict[int, tuple[list[SampledLoop], list[str]]] = {}
    for loop in model.loops:
        phase, period = int(phases.get(loop.name, ZERO) * scale), int(loop.period * scale)
        for k in range(lap // period):
            due.setdefault(phase + k * period, ([], []))[0].append(loop)
    for path, step in steps.items():
        for time in range(0, lap, int(step * scale)):
            due.setdefault(time, ([], []))[1].append(path)
    instants = (DueInstant(Fraction(time, scale), tuple(due[time][0]), tuple(due[time][1])) for time in sorted(due))
    return PhasePattern(phases, hyperperiod, tuple(instants))


def next_activation(phase: Fraction, period: Fraction, now: Fraction, start: Fraction | None) -> Fraction:
    """Returns the first activation after now (or at `start`, for the first instant of a run)."""
    if start is not None and now <= phase:
        return phase
    if start is not None and (now - phase) % period == 0:
        return now
    return phase if now < phase else phase + ((now - phase) // period + 1) * period


def is_due(phase: Fraction, period: Fraction, time: Fraction) -> bool:
    """Returns True if the time is one of phase + k * period."""
    since = time - phase
    return since >= 0 and not since.numerator * period.denominator % (since.denominator * period.numerator)


Clock = tuple[Fraction, Fraction]  # phase and period, in seconds


class Beats:
    """The next activation of each clock of a run; things with one phase and period share one."""

    def __init__(self, clocks: Mapping[str, Clock], start: Fraction) -> None:
        self.clocks = tuple(dict.fromkeys(clocks.values()))
        self.numbers = {name: self.clocks.index(clock) for name, clock in clocks.items()}
        self.coming = [next_activation(*clock, start, start) for clock in self.clocks]
        self.present = frozenset[int]()

    def after(self, time: Fraction) -> list[Fraction]:
        """Returns the next activation of each clock after a time that has passed."""
        for number, (phase, period) in enumerate(self.clocks):
            if self.coming[number] <= time:
                self.coming[number] = next_activation(phase, period, time, None)
        return self.coming

    def begin(self, time: Fraction) -> None:
        """Begins the instant at a time: what acts next at it is present."""
        self.present = frozenset(number for number, at in enumerate(self.coming) if at == time)

    def acts(self, name: str) -> bool:
        """Returns whether a thing acts at the present instant."""
        return self.numbers[name] in self.present

    def copy(self) -> Beats:
        """Returns independent beats that go on from here."""
        twin = object.__new__(Beats)
        twin.clocks, twin.numbers, twin.present = self.clocks, self.numbers, self.present
        twin.coming = list(self.coming)
        return twin
