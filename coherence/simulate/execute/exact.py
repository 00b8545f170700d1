"""The exact executor: runs the one model over rationals, instant by instant (model.md rules 1 to 8).

Each instant has four phases: deliver (landed commands), sample (every due loop reads, frozen),
decide (by rank, then declaration; what was written is visible to later loops), step (every due
`next` map at once).  Between instants states with a flow move and stop at their range: how is the
business of a plug-in, `Steady` (constant rates, exact, the default) or `hybrid.Integrated` (floats, any
flow); the four phases are these for both.  A model that leaves the rationals raises NotExactError:
that is an answer, not a crash.
"""

from __future__ import annotations

import bisect
import itertools
import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import Any

from coherence.language.expressions.evaluate import NotExactError, evaluate, short
from coherence.language.expressions.tree import Tree
from coherence.model.model import Model, SampledLoop, State
from coherence.simulate.execute.affine import Affine, plain
from coherence.simulate.execute.laws import Memory, decide
from coherence.simulate.execute.lookback import (
    LOOK_BACK,
    Entry,
    Lookback,
    durations,
    longest_streak,
    look_backs,
    lookback_of,
    refuse_lost_streaks,
)
from coherence.simulate.execute.motion import STEADY, STILL, Steady
from coherence.simulate.execute.windows import Mark, Sums

Num = Any  # Fraction, Affine or float
Schedule = tuple[tuple[Fraction, str, Num], ...]
__all__ = ["LOOK_BACK", "Action", "Choices", "Execution", "Instant", "MissingValueError", "View", "execute"]
__all__ += ["ZenoError", "look_backs", "replay"]
MAX_EVENTS = 2_000_000
MOST_AT_ONCE, AT_ONCE = 1_000, Fraction(1, 10**9)  # instants, seconds


@dataclass(frozen=True)
class Choices:
    """One choice of everything that a design leaves open: constants, initial values, inputs, phases, order.

    Missing values default to the lower end of their range; inputs must be given.  `schedule`: values that
    inputs, constants and outputs take during the run, (seconds, path, value); delivered at an instant of their own.
    """

    values: Mapping[str, Num] = field(default_factory=dict)
    phases: Mapping[str, Fraction] = field(default_factory=dict)
    order: tuple[str, ...] = ()  # loops in the order in which they decide; empty: rank, then declaration
    schedule: Schedule = ()


@dataclass(frozen=True)
class Action:
    """A write that was made: by whom, on what, from what to what, and by which rule."""

    loop: str
    signal: str
    before: Num
    after: Num
    rule: str


@dataclass(frozen=True)
class Instant:
    """What happened at one time: values as sampled, actions, modes that changed, values afterwards."""

    time: Fraction
    sampled: Mapping[str, Num]
    actions: tuple[Action, ...]
    switched: tuple[tuple[str, bool], ...]
    after: Mapping[str, Num]
    word: tuple[Any, ...]  # which branches were taken: the symbol of this instant


class MissingValueError(KeyError):
    """A run needs a value that neither the design nor the choices give."""

    def __init__(self, path: str) -> None:
        super().__init__(path)
        self.path = path

    def __str__(self) -> str:
        return f"a value of {self.path}"


class ZenoError(NotExactError):
    """A run that does not get on: more instants at one time than any design means."""


class View:
    """The world at one time, as an evaluation environment; outputs are computed when asked for."""

    __slots__ = ("base", "cache", "loop", "run", "time")

    def __init__(self, run: Execution, time: Fraction, base: dict[str, Num], loop: str = "") -> None:
        self.run, self.time, self.base, self.loop = run, time, base, loop
        self.cache: dict[str, Num] = {}

    def value(self, path: str) -> Num:
        if path in self.base:
            return self.base[path]
        if path not in self.cache:
            self.cache[path] = evaluate(self.run.output(path), self)
        return self.cache[path]

    def delayed(self, tree: Tree, delay: Fraction) -> Num:
        return evaluate(tree, self.run.view_at(self.time - delay, self)) if delay else evaluate(tree, self)

    def sampled(self, tree: Tree, period: Fraction) -> Num:
        back = self.time - math.floor(self.time / period) * period
        return self.delayed(tree, back)

    def mean_over(self, tree: Tree, window: Fraction) -> Num:
        return self.run.average(tree, self, window)

    def max_over(self, tree: Tree, window: Fraction) -> Num:
        return self.run.largest(tree, self, window)

    def held(self, condition: Tree, duration: Fraction) -> bool:
        memory = self.run.memory.get(self.loop) or self.run.watch
        return memory.held(condition, bool(evaluate(condition, self)), self.time, duration)

    def previous(self, tree: Tree) -> Num:
        memory = self.run.memory.get(self.loop) or self.run.watch
        return memory.previous_of(tree, evaluate(tree, self), self.time)


class Execution:
    """A run in progress.  `copy` and `map_numbers` make it a point in configuration space."""

    def __init__(self, model: Model, choices: Choices | None = None, motion: Steady = STEADY) -> None:
        self.model, self.choices, self.motion = model, choices or Choices(), motion
        self.time = Fraction(0)
        self.schedule = _checked(model, self.choices.schedule)
        self.values: dict[str, Num] = self._initial()
        self.modes = {loop.name: False for loop in model.loops}
        self.memory = {loop.name: Memory() for loop in model.loops}
        refuse_lost_streaks(model)
        self.watch, self.longest = Memory(), longest_streak(model)
        self.pending: list[tuple[Fraction, str, Num]] = []  # in the order in which they were written
        self.commanded = {path: self.values[path] for path in model.commands}
        self.flowing = {path: state.flow for path, state in model.states.items() if state.flow is not None}
        self.lookback: Lookback = lookback_of(model, self.values)
        self.horizon, self.watched = self.lookback.horizon, self.lookback.watched
        self.past: list[Entry] = []
        self.marks: list[tuple[Mark, Mark] | None] = []  # of each entry: alone, and with the gap before it
        self.sums: dict[tuple[Tree, Fraction, str], Sums] = {}
        self.origin = self.seen = self.base()
        self.count, self.halted, self.warped = 0, (Fraction(0), 0), False
        self.order = self._order()
        self.ahead: tuple[int, Fraction] | None = None  # (instants so far, the next one), while nothing flows
        self.course: Any = motion.settle(self)

    def _initial(self) -> dict[str, Num]:
        model, given = self.model, self.choices.values
        values: dict[str, Num] = {}
        for path, state in model.states.items():
            values[path] = given.get(path, _lower(path, state.initial.low))
        for path, command in model.commands.items():
            values[path] = given.get(path, _lower(path, command.initial.low))
        for path, constant in model.constants.items():
            values[path] = given.get(path, _lower(path, constant.range.low))
        values.update({path: given[path] for path in model.inputs if path in given})
        values.update({path: level for at, path, level in self.schedule if not at})
        kept = durations(model)
        return {path: v if path in kept else self.motion.number(v) for path, v in values.items()}

    def _order(self) -> tuple[SampledLoop, ...]:
        if not self.choices.order:
            return self.model.loops
        return tuple(sorted(self.model.loops, key=lambda loop: self.choices.order.index(loop.name)))

    def base(self) -> dict[str, Num]:
        """States, commands, constants, inputs and modes as they are now."""
        return {**self.values, **self.modes}

    def phase_of(self, loop: SampledLoop) -> Fraction:
        """The loop's phase in this run."""
        return self.choices.phases.get(loop.name, loop.phase or Fraction(0))

    # -- time ---------------------------------------------------------------------------------

    def next_time(self) -> Fraction:
        """The next instant: a loop, a step, a landing, a stop of a flow, or a delayed change of one."""
        if self.ahead is not None and self.ahead[0] == self.count:
            return self.ahead[1]
        start = self.time if self.count == 0 else None
        times = [_due(self.phase_of(loop), loop.period, self.time, start) for loop in self.model.loops]
        times += [_due(Fraction(0), s.step, self.time, start) for s in self.model.states.values() if s.step]
        times += [at for at, *_ in self.pending]
        times += itertools.islice((at for at, *_ in self.schedule if at > self.time or start is not None), 1)
        times += self.lookback.changes(self.time, [entry.time for entry in self.past]) if self.flowing else []
        if self.flowing and start is not None:
            times.append(start)
        times += self.motion.events(self, min(times, default=None))
        if not times:
            raise NotExactError("nothing ever happens in this model: no loop, no step, no flow")
        found = min(times)
        self.ahead = None if self.flowing else (self.count, found)
        return found

    def _drift(self, time: Fraction) -> None:
        moved = self.motion.move(self, time)
        for path in self.flowing:
            self.values[path] = self.motion.number(_clip(self.model.states[path], short(moved[path])))

    def _get_on(self, time: Fraction) -> None:
        """Raise ZenoError where more than MOST_AT_ONCE instants stand within a nanosecond."""
        since, count = self.halted
        if time - since > AT_ONCE:
            self.halted = (time, self.count)
        elif self.count - count > MOST_AT_ONCE:
            moving = ", ".join(self.flowing) or ", ".join(self.model.commands)
            raise ZenoError(f"more than {MOST_AT_ONCE} instants at {float(time):g} s: {moving} do not get on")

    # -- the past -----------------------------------------------------------------------------

    def output(self, path: str) -> Tree:
        """The expression of an output.  Raises MissingValueError."""
        tree = self.model.outputs.get(path)
        if tree is None:
            raise MissingValueError(path)
        return tree

    def _entry(self, time: Fraction) -> Entry | None:
        """The last instant at or before a time; None before the run."""
        index = bisect.bisect_right(self.past, time, key=lambda entry: entry.time) - 1
        return self.past[index] if index >= 0 and time >= 0 else None

    def view_at(self, time: Fraction, now: View) -> View:
        """The world at an earlier time: the sampled values of an instant, the values after it in between."""
        if time == now.time:
            return now
        return self.sampled_at(time, now.loop)

    def sampled_at(self, time: Fraction, loop: str = "") -> View:
        """The world at a time as a sample then saw it."""
        if time == self.time:
            return View(self, time, self.seen, loop)
        entry = self._entry(time)
        if entry is None:
            return View(self, time, self.origin, loop)
        return View(self, time, entry.sampled if entry.time == time else self._between(entry, time), loop)

    def _between(self, entry: Entry, time: Fraction) -> dict[str, Num]:
        moved: dict[str, Num] = entry.course.after(entry.after, self.motion.number(time - entry.time))
        return moved

    def course_at(self, time: Fraction, anchor: Fraction | None = None) -> tuple[dict[str, Num], dict[str, Num]]:
        """(values, slopes) just after a time, in the motion that goes on just after `anchor` (the time itself)."""
        entry = self._entry(time if anchor is None else anchor)
        if entry is None:
            return self.origin, {}
        return self._between(entry, time), entry.course.slopes(self.motion.number(time - entry.time))

    def course_from(self, time: Fraction) -> Any:
        """The motion that goes on just after a time."""
        entry = self._entry(time)
        return STILL if entry is None else entry.course

    def pieces(self, tree: Tree, now: View, window: Fraction) -> list[tuple[Fraction, Num, Num]]:
        """(length, mean, largest) of the tree between its changes in [t - window, t], and now with length 0."""
        start = now.time - window
        cuts = self.lookback.cuts(tree, start, now.time, [entry.time for entry in self.past])
        spans = itertools.pairwise([start, *cuts, now.time])
        here = evaluate(tree, now)
        return [*((high - low, *self._span(tree, now, low, high)) for low, high in spans), (Fraction(0), here, here)]

    def _span(self, tree: Tree, now: View, low: Fraction, high: Fraction) -> tuple[Num, Num]:
        if self.flowing and low >= 0:
            return self.motion.span(self, tree, low, high)
        level = evaluate(tree, self.view_at((low + high) / 2, now))
        return level, level

    def average(self, tree: Tree, now: View, window: Fraction) -> Num:
        """Time average over the last `window` seconds (`window` 0: the value now)."""
        if not window:
            return evaluate(tree, now)
        kept = self._summed(tree, now, window)
        if kept is not None:
            return kept / window
        total: Num = Fraction(0)
        for length, level, _ in self.pieces(tree, now, window):
            total = total + level * length
        return total / window

    def _summed(self, tree: Tree, now: View, window: Fraction) -> Num | None:
        """The integral over the window by running sums; None where it must be added up (floats, scrapes)."""
        start, reads = now.time - window, self.lookback.of_windows[tree]
        if not self.motion.exact or reads.scrapes:
            return None
        key = (tree, window, now.loop)
        sums = self.sums.get(key)
        if sums is None or (sums.at and sums.at[-1] < start):
            sums = self.sums[key] = Sums(start)
        if start < sums.since:
            return None
        evaluate(tree, now)  # what it remembers of each sample it remembers of this one
        low = sums.at[-1] if sums.at else sums.since
        index = bisect.bisect_left(self.past, low - max(reads.lags, default=Fraction(0)), key=lambda entry: entry.time)
        cuts = self.lookback.cuts(tree, low, now.time, [entry.time for entry in self.past[index:]])

        def level(begin: Fraction, end: Fraction) -> Num:
            return self._span(tree, now, begin, end)[0]

        sums.extend(cuts, level)
        sums.forget(start)
        return sums.integral(start, now.time, level)

    def largest(self, tree: Tree, now: View, window: Fraction) -> Num:
        """The largest value in the last `window` seconds."""
        return max(level for _, _, level in self.pieces(tree, now, window))

    # -- one instant --------------------------------------------------------------------------

    def advance(self) -> Instant:
        """Go to the next instant and through its four phases."""
        if self.count >= MAX_EVENTS:
            raise NotExactError(f"more than {MAX_EVENTS} instants")
        time = self.next_time()
        self.count += 1
        slack = self.motion.slack(self, time)
        self.warped = self.warped or self.motion.warped(self, time)
        if time > self.time:
            self._drift(time)
        self._get_on(time)
        self.time = time
        self._deliver()
        self.seen = sampled = self.base()
        actions, switched, word = self._decide(sampled)
        word += self._step()
        self.course = self.motion.settle(self, slack)
        after = self.base()
        self._remember(sampled, after)
        return Instant(time, sampled, tuple(actions), tuple(switched), after, tuple(word))

    def _deliver(self) -> None:
        told = [entry for entry in self.schedule if entry[0] <= self.time]
        self.values.update({path: self.motion.number(level) for _, path, level in told})
        self.schedule = self.schedule[len(told) :]
        landed = sorted((p for p in self.pending if p[0] <= self.time), key=lambda p: p[0])
        self.values.update({path: level for _, path, level in landed})
        self.pending = [p for p in self.pending if p[0] > self.time]

    def _decide(self, sampled: dict[str, Num]) -> tuple[list[Action], list[tuple[str, bool]], list[Any]]:
        actions: list[Action] = []
        switched: list[tuple[str, bool]] = []
        word: list[Any] = []
        seen = dict(sampled)
        for loop in self.order:
            if not is_due(self.phase_of(loop), loop.period, self.time):
                continue
            view = View(self, self.time, seen, loop.name)
            commanded, landed = self.commanded.get(loop.signal, 0), self.values.get(loop.signal, 0)
            choice = decide(loop, view, self.memory[loop.name], self.modes[loop.name], commanded, landed)
            if choice.mode != self.modes[loop.name]:
                switched.append((loop.name, choice.mode))
            self.modes[loop.name] = seen[loop.name] = choice.mode
            word.append((loop.name, choice.rule))
            if choice.value is not None:
                actions += self._write(loop, choice.value, choice.rule, seen)
        return actions, switched, word

    def _write(self, loop: SampledLoop, value: Num, rule: str, seen: dict[str, Num]) -> list[Action]:
        command = self.model.commands[loop.signal]
        value = self.motion.number(_clip_number(short(value), command.range.low, command.range.high))
        before = self.commanded[loop.signal]
        self.commanded[loop.signal] = value
        if loop.lands:
            self.pending.append((self.time + loop.lands, loop.signal, value))
        else:
            self.values[loop.signal] = seen[loop.signal] = value
        if value == before:
            return []
        self.memory[loop.name].changed = self.time
        return [Action(loop.name, loop.signal, before, value, rule)]

    def _step(self) -> list[Any]:
        view = View(self, self.time, self.base())
        due = [
            s
            for s in self.model.states.values()
            if s.next is not None and s.step and is_due(Fraction(0), s.step, self.time)
        ]
        number = self.motion.number
        fresh = {s.path: number(_clip(s, short(evaluate(s.next, view)))) for s in due if s.next is not None}
        self.values.update(fresh)
        return [path for path in fresh if plain(fresh[path]) in _ends(self.model.states[path])]

    def _remember(self, sampled: dict[str, Num], after: dict[str, Num]) -> None:
        if self.horizon is None:
            return
        self.past.append(Entry(self.time, sampled, after, self.course))
        self.marks.append(None)
        if len(self.past) > 64 and self.past[len(self.past) // 2].time < self.time - self.horizon:
            keep = bisect.bisect_right(self.past, self.time - self.horizon, key=lambda entry: entry.time) - 1
            self.past, self.marks = self.past[max(keep, 0) :], self.marks[max(keep, 0) :]

    # -- configuration space --------------------------------------------------------------------

    def copy(self) -> Execution:
        """An independent run that continues from here."""
        made = object.__new__(Execution)
        made.__dict__.update(self.__dict__)
        made.values, made.modes, made.commanded = dict(self.values), dict(self.modes), dict(self.commanded)
        made.memory = {name: memory.copy() for name, memory in self.memory.items()}
        made.watch, made.pending, made.past = self.watch.copy(), list(self.pending), list(self.past)
        made.marks, made.sums = list(self.marks), {key: sums.copy() for key, sums in self.sums.items()}
        return made

    def configuration(self, hyperperiod: Fraction) -> tuple[Any, ...]:
        """Everything that decides the future, relative to now: equal configurations have equal futures."""
        recent = self._recent()
        memory = tuple(
            m.relative(self.time, loop, self.longest)
            for loop, m in zip(self.model.loops, self.memory.values(), strict=True)
        )
        pending = tuple((at - self.time, path, plain(v)) for at, path, v in self.pending)
        to_come = tuple((at - self.time, path, plain(v)) for at, path, v in self.schedule)
        return (
            self.time % hyperperiod,
            _frozen(self.values),
            tuple(self.modes.values()),
            _frozen(self.commanded),
            pending,
            memory,
            self.watch.streaks(self.time, self.longest),
            recent,
            to_come,
        )

    def _first(self) -> int:
        """Where in the past the window begins that decides the future."""
        if self.horizon is None:
            return len(self.past)
        return max(bisect.bisect_right(self.past, self.time - self.horizon, key=lambda entry: entry.time) - 1, 0)

    def _window(self) -> list[Entry]:
        return self.past[self._first() :]

    def _recent(self) -> tuple[Any, ...]:
        """The window as times and values relative to now."""
        first = self._first()
        if first == len(self.past):
            return ()
        marks = [self.marks[index] or self._marked(index) for index in range(first, len(self.past))]
        return (self.time - self.past[-1].time, marks[0][0], *(linked for _, linked in marks[1:]))

    def _marked(self, index: int) -> tuple[Mark, Mark]:
        entry = self.past[index]
        content = (_frozen(entry.sampled), _frozen(entry.after))
        gap = entry.time - self.past[index - 1].time if index else None
        made = self.marks[index] = (Mark(content), Mark((gap, *content)))
        return made

    def map_numbers(self, change: Callable[[str, Num], Num]) -> None:
        """Replace every state, command, pending and remembered number by `change(its name, number)`."""
        dynamic = set(self.model.states) | set(self.model.commands)
        self.values = {k: change(k, v) if k in dynamic else v for k, v in self.values.items()}
        self.commanded = {k: change(f"commanded {k}", v) for k, v in self.commanded.items()}
        self.pending = [(at, path, change(f"pending {n} {path}", v)) for n, (at, path, v) in enumerate(self.pending)]
        window = self._window()
        self.past = [
            Entry(
                e.time,
                _mapped(e.sampled, f"{n} sampled", dynamic, change),
                _mapped(e.after, f"{n} after", dynamic, change),
                replace(e.course, rates={k: change(f"{n} rate {k}", v) for k, v in e.course.rates.items()}),
            )
            for n, e in enumerate(window)
        ]
        self.marks, self.sums = [None] * len(self.past), {}
        self.course = self.motion.settle(self)


def _checked(model: Model, schedule: Schedule) -> Schedule:
    """In the order of time.  Raises ValueError."""
    for at, path, _ in schedule:
        if at < 0 or path in model.states or path in model.commands:
            raise ValueError(f"{path} at {at} s: a schedule sets inputs, constants and outputs, from 0 s on")
    return tuple(sorted(schedule, key=lambda entry: entry[0]))


def _mapped(values: dict[str, Num], name: str, dynamic: set[str], change: Callable[[str, Num], Num]) -> dict[str, Num]:
    return {k: change(f"{name} {k}", v) if k in dynamic else v for k, v in values.items()}


def _frozen(values: Mapping[str, Num]) -> tuple[Any, ...]:
    return tuple(v if isinstance(v, bool) else plain(v) for v in values.values())


def _lower(path: str, low: Fraction | None) -> Fraction:
    if low is None:
        raise MissingValueError(path)
    return low


def _due(phase: Fraction, period: Fraction, now: Fraction, start: Fraction | None) -> Fraction:
    """The first activation after now (or at `start`, for the first instant of a run)."""
    if start is not None and now <= phase:
        return phase
    if start is not None and (now - phase) % period == 0:
        return now
    return phase if now < phase else phase + ((now - phase) // period + 1) * period


def is_due(phase: Fraction, period: Fraction, time: Fraction) -> bool:
    """Is the time one of phase + k * period?"""
    since = time - phase
    return since >= 0 and not since.numerator * period.denominator % (since.denominator * period.numerator)


def _clip_number(value: Num, low: Fraction | None, high: Fraction | None) -> Num:
    if low is not None and value < low:
        return _like(value, low)
    return _like(value, high) if high is not None and value > high else value


def _like(value: Num, edge: Fraction) -> Num:
    return Affine(edge) if isinstance(value, Affine) else edge


def _clip(state: State, value: Num) -> Num:
    return _clip_number(value, state.range.low, state.range.high)


def _ends(state: State) -> tuple[Fraction, ...]:
    return tuple(end for end in (state.range.low, state.range.high) if end is not None)


def execute(
    model: Model, choices: Choices | None = None, *, until: Fraction | None = None, instants: int | None = None
) -> list[Instant]:
    """The instants of one run, up to a time (inclusive) or a number.  Raises NotExactError, MissingValueError."""
    run = Execution(model, choices)
    made: list[Instant] = []
    while (instants is None or len(made) < instants) and (until is None or run.next_time() <= until):
        made.append(run.advance())
    return made


def replay(model: Model, choices: Choices, expected: list[Instant]) -> bool:
    """Does the run of these choices go through exactly these instants?"""
    run = execute(model, choices, instants=len(expected))
    return all(
        a.time == b.time and a.after == b.after and a.actions == b.actions for a, b in zip(run, expected, strict=True)
    )
