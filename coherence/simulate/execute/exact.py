"""Executes the model over rationals, instant by instant (model.md rules 1 to 8).

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
from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from functools import cached_property
from typing import Any

from coherence.language.expressions.evaluate import NotExactError, evaluate, short
from coherence.language.expressions.tree import Tree
from coherence.model.model import Interval, Model, SampledLoop, in_turn
from coherence.simulate.execute.affine import clipped, plain
from coherence.simulate.execute.history import History, HistoryEntry, Landing, frozen, landing_key
from coherence.simulate.execute.instants import (
    Action,
    Choices,
    Instant,
    MissingValueError,
    Schedule,
    ZenoError,
    ordered_schedule,
)
from coherence.simulate.execute.laws import Memory, decide
from coherence.simulate.execute.lookback import Lookback, durations, longest_streak, lookback_of, refuse_lost_streaks
from coherence.simulate.execute.motion import STEADY, STILL, Steady
from coherence.simulate.execute.run_state import RunObserver
from coherence.simulate.execute.schedules import Beats
from coherence.simulate.execute.switching import switch
from coherence.simulate.execute.views import View
from coherence.simulate.execute.windows import Sums

Num = Any  # Fraction, Affine or float
__all__ = ["Action", "Choices", "Execution", "Instant", "MissingValueError", "Schedule", "View", "ZenoError"]
__all__ += ["execute", "replay"]
MAX_EVENTS = 2_000_000
MOST_AT_ONCE, AT_ONCE = 1_000, Fraction(1, 10**9)  # instants, seconds
ALONE = Fraction(1)  # seconds to the first look at flows that nothing else happens to; later ones are twice as late


class Execution:
    """A run in progress.  `copy` and `map_numbers` make it a point in configuration space."""

    executed = 0  # instants of all runs so far: what a search that asks again and again has cost, as a count

    def __init__(self, model: Model, choices: Choices | None = None, motion: Steady = STEADY) -> None:
        self.model, self.choices, self.motion = model, choices or Choices(), motion
        self.time, self.schedule = Fraction(0), ordered_schedule(model, self.choices.schedule)
        self.values: dict[str, Num] = self._initial()
        self.modes = {loop.name: False for loop in model.loops}
        self.memory = {loop.name: Memory() for loop in model.loops}
        refuse_lost_streaks(model)
        self.watch, self.longest = Memory(), longest_streak(model)
        self.pending: list[Landing] = []  # by time; at one time as they were written
        self.commanded = {path: self.values[path] for path in model.commands}
        self.flowing = {path: state.flow for path, state in model.states.items() if state.flow is not None}
        self.lookback: Lookback = lookback_of(model, self.values)
        self.horizon, self.watched = self.lookback.horizon, self.lookback.watched
        self.history = History(self.horizon)
        self.sums: dict[tuple[Tree, Fraction, str], Sums] = {}
        self.origin = self.seen = self.base()
        self.count, self.halted, self.warped = 0, (Fraction(0), 0), False
        self.order = self._order()
        self.beats = self._beats()
        self.ahead: tuple[int, Fraction] | None = None  # (instants so far, the next one), while nothing flows
        self.before_echo: Fraction | None = None  # the next instant that is no echo
        self.sources: tuple[Fraction, ...] = ()  # instants that conditions of switches see again
        self.switching = {path: state.switch for path, state in model.states.items() if state.switch is not None}
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
        fixed = durations(model)
        return {path: v if path in fixed else self.motion.number(v) for path, v in values.items()}

    def _order(self) -> tuple[SampledLoop, ...]:
        if not self.choices.order:
            return self.model.loops
        return tuple(sorted(self.model.loops, key=lambda loop: self.choices.order.index(loop.name)))

    def base(self) -> dict[str, Num]:
        """States, commands, constants, inputs and modes as they are now."""
        return {**self.values, **self.modes}

    def phase_of(self, loop: SampledLoop) -> Fraction:
        """Returns the loop's phase in this run."""
        return self.choices.phases.get(loop.name, loop.phase or Fraction(0))

    # -- time ---------------------------------------------------------------------------------

    @cached_property
    def steps(self) -> tuple[tuple[str, Fraction, Tree | None, Interval], ...]:
        """Returns the path, the step, the next value and the range of each state that steps."""
        return tuple((s.path, s.step, s.next, s.range) for s in self.model.states.values() if s.step)

    def _beats(self) -> Beats:
        clocks = {loop.name: (self.phase_of(loop), loop.period) for loop in self.model.loops}
        return Beats({**clocks, **{step_of(path): (Fraction(0), step) for path, step, _, _ in self.steps}}, self.time)

    def deciding(self) -> Sequence[SampledLoop]:
        """Returns the loops that decide at the present instant, in turn."""
        return in_turn([loop for loop in self.order if self.beats.acts(loop.name)])

    def land_later(self, loop: SampledLoop, value: Num) -> None:
        """Keeps a command until it lands."""
        bisect.insort(self.pending, Landing((self.time + loop.lands, loop.signal, value)), key=lambda entry: entry[0])

    def next_time(self) -> Fraction:
        """Returns the next instant: a loop, a step, a landing, a stop of a flow, or a delayed change of one."""
        if self.ahead is not None and self.ahead[0] == self.count:
            return self.ahead[1]
        start = self.time if self.count == 0 else None
        times = list(self.beats.after(self.time) if self.count else self.beats.coming)
        times += [at for at, *_ in self.pending[:1]]
        times += itertools.islice((at for at, *_ in self.schedule if at > self.time or start is not None), 1)
        times += self.motion.delayed_changes(self) if self.flowing else []
        if self.flowing and start is not None:
            times.append(start)
        echoes = list(self.lookback.echoes(self.time, self.sources)) if self.switching else []
        times += self.motion.events(self, min([*times, *echoes], default=None))
        self.before_echo = min(times, default=None)
        times += echoes
        if not times and self.flowing:
            times.append(max(self.time + ALONE, 2 * self.time))
        if not times:
            raise NotExactError("nothing happens any more in this model: no loop acts, no step is due and no flow ends")
        earliest = min(times)
        self.ahead = None if self.flowing else (self.count, earliest)
        return earliest

    def look(self, time: Fraction) -> Instant:
        """Returns what there is at a time before the next instant, at which nothing happens."""
        values = {**self.base(), **self._moved(time)}
        return Instant(time, values, (), (), values, ())

    def _drift(self, time: Fraction) -> None:
        self.values.update(self._moved(time))

    def _moved(self, time: Fraction) -> dict[str, Num]:
        moved = self.motion.move(self, time)
        ranges = {path: self.model.states[path].range for path in self.flowing}
        return {path: self.motion.number(clipped(short(moved[path]), limits)) for path, limits in ranges.items()}

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
        """Returns the expression of an output.  Raises MissingValueError."""
        tree = self.model.outputs.get(path)
        if tree is None:
            raise MissingValueError(path)
        return tree

    def view_at(self, time: Fraction, now: View) -> View:
        """Returns the world at an earlier time: the sampled values of an instant, the values after it in between."""
        if time == now.time:
            return now
        return self.sampled_at(time, now.loop)

    def sampled_at(self, time: Fraction, loop: str = "") -> View:
        """Returns the world at a time as a sample then saw it."""
        if time == self.time:
            return View(self, time, self.seen, loop)
        entry = self.history.entry_at(time)
        if entry is None:
            return View(self, time, self.origin, loop)
        return View(self, time, entry.sampled if entry.time == time else self._between(entry, time), loop)

    def _between(self, entry: HistoryEntry, time: Fraction) -> dict[str, Num]:
        moved: dict[str, Num] = entry.course.after(entry.after, self.motion.number(time - entry.time))
        return moved

    def course_at(self, time: Fraction, anchor: Fraction | None = None) -> tuple[dict[str, Num], Mapping[str, Num]]:
        """(values, slopes) just after a time, in the motion that goes on just after `anchor` (the time itself)."""
        entry = self.history.entry_of_motion(time, time if anchor is None else anchor)
        if entry is None:
            return self.origin, {}
        return self._between(entry, time), entry.course.slopes(self.motion.number(time - entry.time))

    def course_from(self, time: Fraction) -> Any:
        """Returns the motion that goes on just after a time."""
        entry = self.history.entry_at(time)
        return STILL if entry is None else entry.course

    # -- one instant --------------------------------------------------------------------------

    def advance(self, due: Fraction | None = None) -> Instant:
        """Go to the next instant and through its four phases.  `due`: `next_time()`, where it is known."""
        if self.count >= MAX_EVENTS:
            raise NotExactError(f"more than {MAX_EVENTS} instants")
        time = self.next_time() if due is None else due
        if self.count:
            self.beats.after(self.time)
        self.beats.begin(time)
        self.count, Execution.executed = self.count + 1, Execution.executed + 1
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
        if self.switching:
            switched += switch(self, slack)
            self._remember_source(time, is_echo=time != self.before_echo and not switched)
        after = self.base()
        self.history.remember(time, sampled, after, self.course, self.motion.smoothness(self, sampled, after))
        return Instant(time, sampled, tuple(actions), tuple(switched), after, tuple(word))

    def _remember_source(self, time: Fraction, *, is_echo: bool) -> None:
        if not is_echo:
            begin = bisect.bisect_left(self.sources, time - (self.horizon or Fraction(0)))
            self.sources = (*self.sources[begin:], time)

    def _deliver(self) -> None:
        delivered = list(itertools.takewhile(lambda entry: entry[0] <= self.time, self.schedule))
        self.values.update({path: self.motion.number(level) for _, path, level in delivered})
        self.schedule = self.schedule[len(delivered) :] if delivered else self.schedule
        landed = list(itertools.takewhile(lambda entry: entry[0] <= self.time, self.pending))
        self.values.update({path: level for _, path, level in landed})
        del self.pending[: len(landed)]

    def _decide(self, sampled: dict[str, Num]) -> tuple[list[Action], list[tuple[str, bool]], list[Any]]:
        actions: list[Action] = []
        switched: list[tuple[str, bool]] = []
        word: list[Any] = []
        seen = dict(sampled)
        for loop in self.deciding():
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
        value = self.motion.number(clipped(short(value), command.range))
        before = self.commanded[loop.signal]
        self.commanded[loop.signal] = value
        if loop.lands:
            self.land_later(loop, value)
        else:
            self.values[loop.signal] = seen[loop.signal] = value
        if self.is_same(value, before):
            return []
        self.memory[loop.name].changed = self.time
        return [Action(loop.name, loop.signal, before, value, rule)]

    def _step(self) -> list[Any]:
        if not self.steps:
            return []
        view = View(self, self.time, self.base())
        number = self.motion.number
        fresh = {
            path: number(clipped(short(evaluate(tree, view)), limits))
            for path, step, tree, limits in self.steps
            if tree is not None and self.beats.acts(step_of(path))
        }
        self.values.update(fresh)
        return self.at_ends(fresh)

    def is_same(self, value: Num, before: Num) -> bool:
        """Decides whether a command is what it was."""
        return bool(value == before)

    def at_ends(self, fresh: dict[str, Num]) -> list[Any]:
        """Returns the states that stepped to an end of their range."""
        return [path for path in fresh if plain(fresh[path]) in _ends(self.model.states[path].range)]

    # -- configuration space --------------------------------------------------------------------

    def copy(self) -> Execution:
        """Returns an independent run that continues from here."""
        twin = object.__new__(type(self))
        twin.__dict__.update(self.__dict__)
        twin.values, twin.modes, twin.commanded = dict(self.values), dict(self.modes), dict(self.commanded)
        twin.memory = {name: memory.copy() for name, memory in self.memory.items()}
        twin.watch, twin.pending, twin.history = self.watch.copy(), list(self.pending), self.history.copy()
        twin.beats = self.beats.copy()
        twin.sums = {key: sums.copy() for key, sums in self.sums.items()}
        return twin

    def configuration(self, hyperperiod: Fraction) -> tuple[Any, ...]:
        """Returns everything that decides the future, relative to now: equal configurations have equal futures."""
        memory = tuple(
            m.relative(self.time, loop, self.longest)
            for loop, m in zip(self.model.loops, self.memory.values(), strict=True)
        )
        to_come = tuple((at - self.time, path, plain(v)) for at, path, v in self.schedule)
        return (
            self.time % hyperperiod,
            frozen(self.values.values()),
            tuple(self.modes.values()),
            frozen(self.commanded.values()),
            landing_key(self.pending, self.time),
            memory,
            self.watch.streaks(self.time, self.longest),
            self.history.key(self.time),
            to_come,
        )

    def map_numbers(self, change: Callable[[str, Num], Num]) -> None:
        """Replace every state, command, pending and remembered number by `change(its name, number)`."""
        dynamic = set(self.model.states) | set(self.model.commands)
        self.values = {k: change(k, v) if k in dynamic else v for k, v in self.values.items()}
        self.commanded = {k: change(f"commanded {k}", v) for k, v in self.commanded.items()}
        landings = enumerate(self.pending)
        self.pending = [Landing((at, path, change(f"pending {n} {path}", v))) for n, (at, path, v) in landings]
        self.history.map_numbers(self.time, dynamic, change)
        self.sums = {}
        self.course = self.motion.settle(self)


def step_of(path: str) -> str:
    """Returns the name of the step of a state among the beats of a run: no loop has a space in its name."""
    return f"step {path}"


def _ends(limits: Interval) -> tuple[Fraction, ...]:
    return tuple(end for end in (limits.low, limits.high) if end is not None)


def _lower(path: str, low: Fraction | None) -> Fraction:
    if low is None:
        raise MissingValueError(path)
    return low


def execute(
    model: Model, choices: Choices | None = None, *, until: Fraction | None = None, instants: int | None = None,
    observer: RunObserver | None = None, whole: bool = False,
) -> list[Instant]:  # fmt: skip
    """Returns the instants of one run, up to a time (inclusive) or a number; an observer sees each.

    `whole`: from 0 s to the time `until`, with a look at either end where no instant is.
    Raises NotExactError, MissingValueError.
    """
    run = Execution(model, choices)
    passed: list[Instant] = []

    def see(instant: Instant) -> None:
        passed.append(instant)
        if observer is not None:
            observer.see(run, instant)

    if whole and run.next_time() > 0:
        see(run.look(Fraction(0)))
    while (instants is None or len(passed) < instants) and (until is None or run.next_time() <= until):
        if observer is not None:
            observer.pass_time(run, run.next_time())
        see(run.advance())
    if whole and until is not None and passed[-1].time < until:
        if observer is not None:
            observer.pass_time(run, until)
        see(run.look(until))
    return passed


def replay(model: Model, choices: Choices, expected: list[Instant]) -> bool:
    """Does the run of these choices go through exactly these instants?"""
    run = execute(model, choices, instants=len(expected))
    return all(
        a.time == b.time and a.after == b.after and a.actions == b.actions for a, b in zip(run, expected, strict=True)
    )
