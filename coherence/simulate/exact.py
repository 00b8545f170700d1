"""The exact executor: runs the one model over rationals, instant by instant (model.md rules 1 to 8).

Each instant has four phases: deliver (landed commands), sample (every due loop reads, frozen),
decide (by rank, then declaration; what was written is visible to later loops), step (every due
`next` map at once).  Between instants states with a flow move at a constant rate and stop at their
range.  A model that leaves the rationals raises NotExactError: that is an answer, not a crash.
"""

from __future__ import annotations

import bisect
import itertools
import math
from collections.abc import Callable, Iterable, Mapping
from fractions import Fraction
from typing import Any

from coherence.expressions.evaluate import NotExactError, evaluate, short
from coherence.expressions.tree import Call, Name, Number, Tree, walk
from coherence.model import Model, SampledLoop, State
from coherence.simulate.affine import Affine, plain
from coherence.simulate.laws import Memory, decide
from coherence.values import field, value

Num = Any  # Fraction or Affine
MAX_EVENTS = 2_000_000


@value
class Choices:
    """One choice of everything that a design leaves open: constants, initial values, inputs, phases, order.

    Missing values default to the lower end of their range; inputs must be given.
    """

    values: Mapping[str, Num] = field(default_factory=dict)
    phases: Mapping[str, Fraction] = field(default_factory=dict)
    order: tuple[str, ...] = ()  # loops in the order in which they decide; empty: rank, then declaration


@value
class Action:
    """A write that was made: by whom, on what, from what to what, and by which rule."""

    loop: str
    signal: str
    before: Num
    after: Num
    rule: str


@value
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
            tree = self.run.model.outputs.get(path)
            if tree is None:
                raise MissingValueError(path)
            self.cache[path] = evaluate(tree, self)
        return self.cache[path]

    def delayed(self, tree: Tree, delay: Fraction) -> Num:
        return evaluate(tree, self.run.view_at(self.time - delay, self)) if delay else evaluate(tree, self)

    def sampled(self, tree: Tree, period: Fraction) -> Num:
        back = self.time - math.floor(self.time / period) * period
        return self.delayed(tree, back)

    def mean_over(self, tree: Tree, window: Fraction) -> Num:
        return self.run.average(tree, self, window)

    def max_over(self, tree: Tree, window: Fraction) -> Num:
        return max(value for _, value in self.run.pieces(tree, self, window))

    def held(self, condition: Tree, duration: Fraction) -> bool:
        memory = self.run.memory.get(self.loop) or self.run.watch
        return memory.held(condition, bool(evaluate(condition, self)), self.time, duration)

    def previous(self, tree: Tree) -> Num:
        memory = self.run.memory.get(self.loop) or self.run.watch
        return memory.previous_of(tree, evaluate(tree, self), self.time)


class Execution:
    """A run in progress.  `copy` and `map_numbers` make it a point in configuration space."""

    def __init__(self, model: Model, choices: Choices | None = None) -> None:
        self.model, self.choices = model, choices or Choices()
        self.time = Fraction(0)
        self.values: dict[str, Num] = self._initial()
        self.modes = {loop.name: False for loop in model.loops}
        self.memory = {loop.name: Memory() for loop in model.loops}
        self.watch = Memory()
        self.pending: list[tuple[Fraction, int, str, Num]] = []
        self.commanded = {path: self.values[path] for path in model.commands}
        self.horizon, self.lags = _horizon(model), _lags(model)
        self.past: list[tuple[Fraction, dict[str, Num], dict[str, Num]]] = []
        self.origin = self._base()
        self.rates: dict[str, Num] = {}
        self.count = 0
        self.order = self._order()
        self._flow_rates()

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
        return values

    def _order(self) -> tuple[SampledLoop, ...]:
        if not self.choices.order:
            return self.model.loops
        return tuple(sorted(self.model.loops, key=lambda loop: self.choices.order.index(loop.name)))

    def _base(self) -> dict[str, Num]:
        return {**self.values, **self.modes}

    def phase_of(self, loop: SampledLoop) -> Fraction:
        """The loop's phase in this run."""
        return self.choices.phases.get(loop.name, loop.phase or Fraction(0))

    # -- time ---------------------------------------------------------------------------------

    def next_time(self) -> Fraction:
        """The next instant: a loop, a step, a landing, a stop of a flow, or a delayed change of one."""
        start = self.time if self.count == 0 else None
        times = [_due(self.phase_of(loop), loop.period, self.time, start) for loop in self.model.loops]
        times += [_due(Fraction(0), s.step, self.time, start) for s in self.model.states.values() if s.step]
        times += [at for at, *_ in self.pending]
        times += self._stops()
        if self.lags and self.past:
            times += [past[0] + lag for past in self.past for lag in self.lags if past[0] + lag > self.time]
        if not times:
            raise NotExactError("nothing ever happens in this model: no loop, no step, no flow")
        return min(times)

    def _stops(self) -> Iterable[Fraction]:
        for path, rate in self.rates.items():
            state, value, speed = self.model.states[path], plain(self.values[path]), plain(rate)
            edge = state.range.high if speed > 0 else state.range.low
            if speed and edge is not None and value != edge:
                yield self.time + (edge - value) / speed

    def _drift(self, time: Fraction) -> None:
        for path, rate in self.rates.items():
            state = self.model.states[path]
            moved = short(self.values[path] + rate * (time - self.time))
            self.values[path] = _clip(state, moved)

    def _flow_rates(self) -> None:
        view = View(self, self.time, self._base())
        for path, state in self.model.states.items():
            if state.flow is not None:
                rate, value = evaluate(state.flow, view), plain(self.values[path])
                low, high = state.range.low, state.range.high
                stopped = (low is not None and value <= low and rate < 0) or (
                    high is not None and value >= high and rate > 0
                )
                self.rates[path] = Fraction(0) if stopped else rate

    # -- the past -----------------------------------------------------------------------------

    def view_at(self, time: Fraction, now: View) -> View:
        """The world at an earlier time: the sampled values of an instant, the values after it in between."""
        if time < 0:
            return View(self, time, self.origin, now.loop)
        if time == now.time:
            return now
        index = bisect.bisect_right(self.past, time, key=lambda entry: entry[0]) - 1
        if index < 0:
            return View(self, time, self.origin, now.loop)
        at, sampled, after = self.past[index]
        return View(self, time, sampled if at == time else after, now.loop)

    def pieces(self, tree: Tree, now: View, window: Fraction) -> list[tuple[Fraction, Num]]:
        """(length, value) of the piecewise-constant tree over [t - window, t], and its value now with length 0."""
        start = now.time - window
        times = [start, *(at for at, *_ in self.past if start < at < now.time), now.time]
        spans = itertools.pairwise(times)
        found = [(high - low, evaluate(tree, self.view_at((low + high) / 2, now))) for low, high in spans]
        return [*found, (Fraction(0), evaluate(tree, now))]

    def average(self, tree: Tree, now: View, window: Fraction) -> Num:
        """Time average over the last `window` seconds (`window` 0: the value now)."""
        if not window:
            return evaluate(tree, now)
        total: Num = Fraction(0)
        for length, level in self.pieces(tree, now, window):
            total = total + level * length
        return total / window

    # -- one instant --------------------------------------------------------------------------

    def advance(self) -> Instant:
        """Go to the next instant and through its four phases."""
        if self.count >= MAX_EVENTS:
            raise NotExactError(f"more than {MAX_EVENTS} instants")
        time = self.next_time()
        self.count += 1
        if time > self.time:
            self._drift(time)
        self.time = time
        self._deliver()
        sampled = self._base()
        actions, switched, word = self._decide(sampled)
        word += self._step()
        self._flow_rates()
        after = self._base()
        self._remember(sampled, after)
        return Instant(time, sampled, tuple(actions), tuple(switched), after, tuple(word))

    def _deliver(self) -> None:
        landed = sorted((p for p in self.pending if p[0] <= self.time), key=lambda p: (p[0], p[1]))
        self.values.update({path: level for _, _, path, level in landed})
        self.pending = [p for p in self.pending if p[0] > self.time]

    def _decide(self, sampled: dict[str, Num]) -> tuple[list[Action], list[tuple[str, bool]], list[Any]]:
        actions: list[Action] = []
        switched: list[tuple[str, bool]] = []
        word: list[Any] = []
        seen = dict(sampled)
        for loop in self.order:
            if not _is_due(self.phase_of(loop), loop.period, self.time):
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
        value = _clip_number(short(value), command.range.low, command.range.high)
        before = self.commanded[loop.signal]
        self.commanded[loop.signal] = value
        if loop.lands:
            self.pending.append((self.time + loop.lands, len(self.pending), loop.signal, value))
        else:
            self.values[loop.signal] = seen[loop.signal] = value
        if value == before:
            return []
        self.memory[loop.name].changed = self.time
        return [Action(loop.name, loop.signal, before, value, rule)]

    def _step(self) -> list[Any]:
        view = View(self, self.time, self._base())
        due = [
            s
            for s in self.model.states.values()
            if s.next is not None and s.step and _is_due(Fraction(0), s.step, self.time)
        ]
        fresh = {s.path: _clip(s, short(evaluate(s.next, view))) for s in due if s.next is not None}
        self.values.update(fresh)
        return [path for path in fresh if plain(fresh[path]) in _ends(self.model.states[path])]

    def _remember(self, sampled: dict[str, Num], after: dict[str, Num]) -> None:
        if self.horizon is None:
            return
        self.past.append((self.time, sampled, after))
        if len(self.past) > 64 and self.past[len(self.past) // 2][0] < self.time - self.horizon:
            keep = bisect.bisect_right(self.past, self.time - self.horizon, key=lambda entry: entry[0]) - 1
            self.past = self.past[max(keep, 0) :]

    # -- configuration space --------------------------------------------------------------------

    def copy(self) -> Execution:
        """An independent run that continues from here."""
        made = object.__new__(Execution)
        made.__dict__.update(self.__dict__)
        made.values, made.modes, made.commanded = dict(self.values), dict(self.modes), dict(self.commanded)
        made.memory = {name: memory.copy() for name, memory in self.memory.items()}
        made.watch, made.pending, made.past, made.rates = (
            self.watch.copy(),
            list(self.pending),
            list(self.past),
            dict(self.rates),
        )
        return made

    def configuration(self, hyperperiod: Fraction) -> tuple[Any, ...]:
        """Everything that decides the future, relative to now: equal configurations have equal futures."""
        recent = tuple((at - self.time, _frozen(s), _frozen(a)) for at, s, a in self._window())
        memory = tuple(
            m.relative(self.time, loop) for loop, m in zip(self.model.loops, self.memory.values(), strict=True)
        )
        pending = tuple((at - self.time, path, plain(v)) for at, _, path, v in self.pending)
        return (
            self.time % hyperperiod,
            _frozen(self.values),
            tuple(self.modes.values()),
            _frozen(self.commanded),
            pending,
            memory,
            recent,
        )

    def _window(self) -> list[tuple[Fraction, dict[str, Num], dict[str, Num]]]:
        if self.horizon is None:
            return []
        start = bisect.bisect_right(self.past, self.time - self.horizon, key=lambda entry: entry[0]) - 1
        return self.past[max(start, 0) :]

    def map_numbers(self, change: Callable[[str, Num], Num]) -> None:
        """Replace every state, command, pending and remembered number by `change(its name, number)`."""
        dynamic = set(self.model.states) | set(self.model.commands)
        self.values = {k: change(k, v) if k in dynamic else v for k, v in self.values.items()}
        self.commanded = {k: change(f"commanded {k}", v) for k, v in self.commanded.items()}
        self.pending = [(at, i, path, change(f"pending {i} {path}", v)) for at, i, path, v in self.pending]
        window = self._window()
        self.past = [
            (at, _mapped(s, f"{n} sampled", dynamic, change), _mapped(a, f"{n} after", dynamic, change))
            for n, (at, s, a) in enumerate(window)
        ]


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
    return phase if now < phase else phase + (math.floor((now - phase) / period) + 1) * period


def _is_due(phase: Fraction, period: Fraction, time: Fraction) -> bool:
    return time >= phase and (time - phase) % period == 0


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


def _trees(model: Model) -> list[Tree]:
    trees = [t for s in model.states.values() for t in (s.next, s.flow) if t is not None] + list(model.outputs.values())
    for loop in model.loops:
        trees += [
            t
            for t in (loop.trigger, loop.enter, loop.leave, loop.measured, loop.setpoint, loop.by, loop.to)
            if t is not None
        ]
        trees += [t for rule in loop.rules for t in rule if t is not None]
    return trees + [p.condition.tree for p in model.promises.values() if p.condition is not None and p.kind != "sends"]


LOOK_BACK = ("delayed", "mean_over", "max_over", "sampled")


def _horizon(model: Model) -> Fraction | None:
    """How far back any expression looks; None where none does."""
    found = [duration for _, duration in look_backs(model)]
    return sum(found, Fraction(0)) if found else None


def look_backs(model: Model) -> list[tuple[str, Fraction]]:
    """(function, seconds) of every expression that reads the past.  Raises NotExactError."""
    nodes = (node for tree in _trees(model) for node in walk(tree))
    return [
        (node.function, _constant_of(node.arguments[1], model))
        for node in nodes
        if isinstance(node, Call) and node.function in LOOK_BACK
    ]


def _lags(model: Model) -> tuple[Fraction, ...]:
    """Delays inside flows: an instant must stand wherever a delayed value changes."""
    lags = set()
    outputs = dict(model.outputs)
    for state in model.states.values():
        stack = [state.flow] if state.flow is not None else []
        while stack:
            for node in walk(stack.pop()):
                if isinstance(node, Call) and node.function == "delayed":
                    lags.add(_constant_of(node.arguments[1], model))
                if isinstance(node, Name) and node.path in outputs:
                    stack.append(outputs.pop(node.path))
    return tuple(sorted(lags))


def _constant_of(tree: Tree, model: Model) -> Fraction:
    if isinstance(tree, Number):
        return tree.value
    if isinstance(tree, Name) and tree.path in model.constants:
        return model.constants[tree.path].range.high or Fraction(0)
    raise NotExactError("a delay or window must be a constant")


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
