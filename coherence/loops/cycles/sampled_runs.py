"""Runs sampled loops over linear plants, tick by tick: exact exponentials between the ticks.

All periods, phases, landings and delays are whole ticks, so that what is held changes at ticks only; a tick maps
x to exp(A h) x + (integral of exp(A s)) g, and of constant rates exactly in rationals.  Stands beside the executor of
`coherence.simulate`, which confirms it.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from coherence.language.expressions.evaluate import NotExactError, evaluate
from coherence.language.expressions.tree import Tree
from coherence.loops.cycles.delayed_runs_flow import Flow
from coherence.loops.cycles.flow_forms import FlowForm, KinkError, form
from coherence.model.model import Model, SampledLoop, in_turn
from coherence.simulate.execute.exact import MissingValueError
from coherence.simulate.execute.laws import Memory, decide
from coherence.simulate.execute.lookback import durations, longest_streak, look_backs, refuse_lost_streaks

Num = Any
Values = dict[str, Num]
MOST_TICKS = 4_000  # in one lap
MOST_BITS = 2_000  # of a denominator: a run whose numbers grow longer goes on in floats


@dataclass(frozen=True)
class Tick:
    """One tick: its number, what was taken (`word`), values after it, and the motion until the next."""

    number: int
    word: tuple[Any, ...]
    after: Mapping[str, Num]
    matrix: tuple[tuple[float, ...], ...]
    rate: tuple[Num, ...]


@dataclass(frozen=True)
class Clock:
    """The tick and the lap (the common period) of a model, in seconds."""

    tick: Fraction
    lap: Fraction

    @property
    def ticks(self) -> int:
        return int(self.lap / self.tick)


def clock_of(model: Model, phases: Mapping[str, Fraction]) -> Clock:
    """Raises NotExactError where a lap has more than MOST_TICKS ticks."""
    steps = [s.step for s in model.states.values() if s.step]
    periods = [loop.period for loop in model.loops] + steps
    periods += [d for function, d in look_backs(model) if function == "sampled" and d]
    lengths = [*periods, *phases.values(), *(loop.lands for loop in model.loops)]
    lengths += [d for _, d in look_backs(model)]
    scale = math.lcm(*(length.denominator for length in lengths))
    tick = Fraction(math.gcd(*(int(length * scale) for length in lengths)), scale)
    lap = Fraction(math.lcm(*(int(p * scale) for p in periods)), scale)
    if lap / tick > MOST_TICKS:
        raise NotExactError(f"a common period of {float(lap / tick):.0f} ticks of {float(tick):g} s")
    return Clock(tick, lap)


class SampledRun:
    """One run.  Raises NotExactError, KinkError or MissingValueError for what it cannot carry."""

    def __init__(self, model: Model, values: Mapping[str, Num]) -> None:
        refuse_lost_streaks(model)
        self.model = model
        self.phases = {loop.name: loop.phase or Fraction(0) for loop in model.loops}
        self.clock = clock_of(model, self.phases)
        self.number = 0
        self.flowing = tuple(path for path, state in model.states.items() if state.flow is not None)
        self.values: Values = dict(values)
        self.modes = {loop.name: False for loop in model.loops}
        self.memory = {loop.name: Memory() for loop in model.loops}
        self.commanded = {path: self.values[path] for path in model.commands}
        self.pending: list[tuple[Fraction, str, Num]] = []
        reach = sum((d for _, d in look_backs(model)), Fraction(0))
        self.depth = math.ceil(reach / self.clock.tick) + 1
        lands = max((loop.lands for loop in model.loops), default=Fraction(0))
        memory = max([longest_streak(model), *(_remembers(loop) for loop in model.loops)])
        self.reach = self.depth + math.ceil((lands + memory) / self.clock.tick)  # ticks that a change lives on
        self.origin = self.base()
        self.sampled: list[Values] = []
        self.after: list[Values] = []
        self.first = 0  # tick of the oldest remembered values
        self.in_floats = False
        if self._curved():
            self._leave_rationals()

    @property
    def time(self) -> Fraction:
        return self.number * self.clock.tick

    def base(self) -> Values:
        """Returns states, commands, constants and modes."""
        return {**self.values, **self.modes}

    def _curved(self) -> bool:
        """Decides whether any rate depends on a state, as far as the first instant tells (later ones are checked)."""
        return any(f.terms for f in self._forms())

    def _leave_rationals(self) -> None:
        """Goes on in floats.  Raises OverflowError."""
        exact_paths = durations(self.model)
        self.values = {p: v if p in exact_paths or isinstance(v, bool) else float(v) for p, v in self.values.items()}
        self.commanded = {p: float(v) for p, v in self.commanded.items()}
        self.in_floats = True

    def _is_long(self) -> bool:
        """Decides whether an exact number has grown so long that a step with it costs more than it decides."""
        return any(v.denominator.bit_length() > MOST_BITS for v in self.values.values() if isinstance(v, Fraction))

    def advance(self) -> Tick:
        """Advances one tick: delivers, samples, decides, steps, and moves on."""
        if not self.in_floats and self._is_long():
            self._leave_rationals()
        time = self.time
        for _, path, level in [p for p in self.pending if p[0] <= time]:
            self.values[path] = level
        self.pending = [p for p in self.pending if p[0] > time]
        seen = self.base()
        self.sampled.append(dict(seen))
        word = [*self._decide(seen), *self._step()]
        self.after.append(self.base())
        after = self.after[-1]
        matrix, rate = self._motion()
        word += self._move(matrix, rate)
        tick = Tick(self.number, tuple(word), after, matrix, rate)
        self.number += 1
        if len(self.sampled) > 2 * self.depth + 64:
            drop = len(self.sampled) - self.depth
            self.sampled, self.after, self.first = self.sampled[drop:], self.after[drop:], self.first + drop
        return tick

    def _decide(self, seen: Values) -> Iterator[Any]:
        for loop in in_turn([loop for loop in self.model.loops if self._is_due(loop)]):
            before = self.commanded.get(loop.signal, 0), self.values.get(loop.signal, 0)
            decision = decide(
                loop, _View(self, seen, self.number, loop), self.memory[loop.name], self.modes[loop.name], *before
            )
            self.modes[loop.name] = seen[loop.name] = decision.mode
            if decision.value is not None:
                self._write(loop, decision.value, seen)
            yield loop.name, decision.mode, decision.rule

    def _is_due(self, loop: SampledLoop) -> bool:
        since = self.time - self.phases[loop.name]
        return since >= 0 and not since % loop.period

    def _write(self, loop: SampledLoop, level: Num, seen: Values) -> None:
        level = self.model.commands[loop.signal].range.clip(level)
        if level != self.commanded[loop.signal]:
            self.memory[loop.name].changed = self.time
        self.commanded[loop.signal] = level
        if loop.lands:
            self.pending.append((self.time + loop.lands, loop.signal, level))
            self.pending.sort(key=lambda p: p[0])
        else:
            self.values[loop.signal] = seen[loop.signal] = level

    def _step(self) -> Iterator[Any]:
        view = _View(self, self.base(), self.number, None)
        due = [s for s in self.model.states.values() if s.step and s.next is not None and not self.time % s.step]
        fresh = {s.path: s.range.clip(evaluate(s.next, view)) for s in due if s.next is not None}
        self.values.update(fresh)
        for state in due:
            yield state.path, fresh[state.path] in (state.range.low, state.range.high)

    def _forms(self) -> list[FlowForm]:
        view = _Rates(self, self.base(), self.number)
        flows = [self.model.states[path].flow for path in self.flowing]
        return [form(evaluate(flow, view)) for flow in flows if flow is not None]

    def _motion(self) -> tuple[tuple[tuple[float, ...], ...], tuple[Num, ...]]:
        """Returns (A, g) until the next tick; A is empty where all rates are constant."""
        forms = self._forms()
        rate = tuple(f.const for f in forms)
        if not any(f.terms for f in forms):
            return (), rate
        return tuple(tuple(float(f.terms.get(path, 0)) for path in self.flowing) for f in forms), rate

    def _move(self, matrix: tuple[tuple[float, ...], ...], rate: tuple[Num, ...]) -> list[Any]:
        if not matrix:
            moved = {p: self.values[p] + r * self.clock.tick for p, r in zip(self.flowing, rate, strict=True)}
            clipped = {p: self.model.states[p].range.clip(v) for p, v in moved.items()}
            self.values.update(clipped)
            return [p for p in moved if moved[p] != clipped[p]]
        z = np.array([*(float(self.values[p]) for p in self.flowing), 1.0])
        ends = flow_of(matrix, tuple(map(float, rate))).after(z, float(self.clock.tick)).tolist()
        for path, level in zip(self.flowing, ends[:-1], strict=True):
            limits = self.model.states[path].range
            if float(limits.clip(level)) != level:
                raise KinkError(f"{path} reaches an end of its range between samples")
            self.values[path] = level
        return []

    def copy(self) -> SampledRun:
        """Returns an independent run that continues from here."""
        twin = object.__new__(SampledRun)
        twin.__dict__.update(self.__dict__)
        twin.values, twin.modes, twin.commanded = dict(self.values), dict(self.modes), dict(self.commanded)
        twin.memory = {name: memory.copy() for name, memory in self.memory.items()}
        twin.pending, twin.sampled, twin.after = list(self.pending), list(self.sampled), list(self.after)
        return twin

    def remembered(self, number: int, *, after: bool) -> Values:
        """Returns the values at an earlier tick, as sampled or just after."""
        if number < 0:
            return self.origin
        rows = self.after if after else self.sampled
        if not 0 <= number - self.first < len(rows):
            raise NotExactError("values further back than any delay")
        return rows[number - self.first]


def _remembers(loop: SampledLoop) -> Fraction:
    """Returns how long a loop's windows reach back, s."""
    return max(loop.hold_down, loop.hold_up, loop.cooldown or Fraction(0), *(rate.per for rate in loop.rates))


_FLOWS: dict[tuple[Any, ...], Flow] = {}


def flow_of(matrix: tuple[tuple[float, ...], ...], rate: tuple[float, ...]) -> Flow:
    """Returns the flow x' = A x + g, remembered."""
    key = (matrix, rate)
    if key not in _FLOWS:
        if len(_FLOWS) > 512:
            _FLOWS.clear()
        _FLOWS[key] = Flow(np.array(matrix), np.array(rate), np.eye(len(rate)))
    return _FLOWS[key]


class _View:
    """What a loop or a step sees at a tick."""

    def __init__(self, run: SampledRun, base: Mapping[str, Num], number: int, loop: SampledLoop | None) -> None:
        self.run, self.base, self.number, self.loop = run, base, number, loop
        self.time = number * run.clock.tick

    def value(self, path: str) -> Num:
        if path in self.base:
            return self.base[path]
        if path not in self.run.model.outputs:
            raise MissingValueError(path)
        return evaluate(self.run.model.outputs[path], self)

    def delayed(self, tree: Tree, delay: Fraction) -> Num:
        if not delay:
            return evaluate(tree, self)
        before = self.number - int(delay / self.run.clock.tick)
        return evaluate(tree, _View(self.run, self.run.remembered(before, after=False), before, self.loop))

    def sampled(self, tree: Tree, period: Fraction) -> Num:
        back = self.time - math.floor(self.time / period) * period
        return self.delayed(tree, back)

    def mean_over(self, tree: Tree, window: Fraction) -> Num:
        del tree
        raise NotExactError(f"a mean over {window} s, which needs execution")

    def max_over(self, tree: Tree, window: Fraction) -> Num:
        del tree
        raise NotExactError(f"a maximum over {window} s, which needs execution")

    def held(self, condition: Tree, duration: Fraction) -> bool:
        if self.loop is None:
            raise NotExactError("`for` outside of a loop")
        return self.run.memory[self.loop.name].held(condition, bool(evaluate(condition, self)), self.time, duration)

    def previous(self, tree: Tree) -> Num:
        if self.loop is None:
            raise NotExactError("previous() outside of a loop")
        return self.run.memory[self.loop.name].previous_of(tree, evaluate(tree, self), self.time)


class _Rates(_View):
    """What a flow sees until the next tick: states as forms, the rest as numbers."""

    def __init__(self, run: SampledRun, base: Mapping[str, Num], number: int) -> None:
        super().__init__(run, base, number, None)

    def value(self, path: str) -> Num:
        return FlowForm(Fraction(0), {path: Fraction(1)}) if path in self.run.flowing else super().value(path)

    def delayed(self, tree: Tree, delay: Fraction) -> Num:
        if not delay:
            return evaluate(tree, self)
        before = self.number - int(delay / self.run.clock.tick)
        value = evaluate(tree, _Rates(self.run, self.run.remembered(before, after=True), before))
        if isinstance(value, FlowForm) and value.terms:
            raise KinkError("a flow that looks back at a state, beside sampled loops")
        return value

    def sampled(self, tree: Tree, period: Fraction) -> Num:
        back = self.number - int((self.time - math.floor(self.time / period) * period) / self.run.clock.tick)
        seen = self.base if back == self.number else self.run.remembered(back, after=False)
        return evaluate(tree, _View(self.run, seen, back, None))
