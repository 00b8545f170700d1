"""Executes a model in floats with located events: any flow, through the instants and laws of the exact executor.

`Integrated` is the plug-in that moves states: where rates are constant or linear, in closed form,
otherwise by integration of one smooth piece after the other.  Branches are frozen on a tape while a step
is taken, so that none integrates across a kink; the crossing is found on the dense output and is an
instant of its own.  Delays read the dense output of the past (method of steps).  Times stay rational:
an event's float is taken as the rational that it is.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from typing import Any

from coherence.base.reads import rebuilt
from coherence.language.expressions.evaluate import NotExactError, evaluate
from coherence.language.expressions.tree import Arithmetic, Call, Choose, Compare, Logic, Number, Tree
from coherence.model.model import Model, State, StateSwitch, changed_loop, changed_outputs
from coherence.simulate.execute.affine import lift, variable
from coherence.simulate.execute.dual_numbers import Moving, Tape, Taped, Track, plain_or_float
from coherence.simulate.execute.exact import Choices, Execution, Instant, View
from coherence.simulate.execute.history import HistoryEntry
from coherence.simulate.execute.lookback import LOOK_BACK
from coherence.simulate.execute.motion import Course, FlowView, Steady
from coherence.simulate.execute.ode import ROUNDING, Integral, LinearIntegral
from coherence.simulate.execute.run_state import RunState

Num = Any
Array = Any
SMOOTH = 6  # derivatives that go through an echo at which integration of order 8 need not begin anew


class ValueView(FlowView):
    """What a flow reads where values alone count, and no rates."""

    __slots__ = ()

    def _read(self, path: str) -> Num:
        return self.wrap(self.values[path], 0) if path in self.run.flowing else super()._read(path)


class PresentView(ValueView):
    """What a flow reads that looks at nothing in the past.  Raises NotExactError for a delay."""

    __slots__ = ()

    def delayed(self, tree: Tree, delay: Fraction) -> Num:
        if delay:
            raise NotExactError(f"a delay of {delay} s inside a flow")
        return evaluate(tree, self)


class Curve:
    """A course that is no straight line; stands where `Course` does."""

    turns = None

    def __init__(self, run: RunState, rates: dict[str, Num], stopped: dict[str, int], track: Track) -> None:
        import numpy as np

        self.run, self.time, self.base = run, run.time, run.base()
        self.paths, self.stopped, self.outcomes = tuple(rates), stopped, track.outcomes
        self.rates = {path: float(plain_of(rate)) for path, rate in rates.items()}
        self.slack, self.size = 2 * track.slack, max(map(abs, self.rates.values()), default=0.0)
        start = np.array([float(self.base[path]) for path in self.paths])
        self.integral = self._linear(start) or Integral(
            start, self._speeds, self._guards, longest=self._shortest_delay()
        )

    def _shortest_delay(self) -> float:
        """Returns seconds that a step may take, so that it reads nothing of itself."""
        return min((float(lag) for lag in self.run.lookback.of_flows.lags if lag), default=math.inf)

    def _linear(self, start: Array) -> LinearIntegral | None:
        """Returns the motion in closed form where flows are sums of what flows, and no branch or range ends it."""
        import numpy as np

        if len(self._guards(0.0, start)[0]):
            return None
        origin = {**self.base, **{path: variable(path, Fraction(0)) for path in self.paths}}
        view = PresentView(self.run, self.time, origin, {}, lambda v, _: v, self.time)
        try:
            rates = [lift(evaluate(flow, view)) for flow in self.run.flowing.values()]
        except (ArithmeticError, ValueError):  # not linear, or a number that is not finite
            return None
        if not all(rate.exact for rate in rates):
            return None
        matrix = np.array([[float(rate.coefficient(path)) for path in self.paths] for rate in rates])
        return LinearIntegral(start, matrix, np.array([float(rate.value) for rate in rates]))

    def after(self, values: dict[str, Num], seconds: float) -> dict[str, Num]:
        """Returns the values so many seconds later."""
        return {**values, **dict(zip(self.paths, map(float, self.integral.at(seconds)), strict=True))}

    def slopes(self, seconds: float) -> Mapping[str, Num]:
        """Returns the rates so many seconds later."""
        return CurveSlopes(self, seconds)

    def _view(self, seconds: float, state: Array, tape: Tape) -> ValueView:
        values = {**self.base, **dict(zip(self.paths, map(float, state), strict=True))}
        time = self.time + Fraction(seconds) if self.run.horizon else self.time
        return ValueView(self.run, time, values, {}, lambda v, _: Taped(float(v), tape), self.time)

    def _raw(self, view: ValueView) -> list[float]:
        return [float(plain_of(evaluate(flow, view))) for flow in self.run.flowing.values()]

    def _speeds(self, seconds: float, state: Array) -> Array:
        import numpy as np

        raw = self._raw(self._view(seconds, state, Tape(self.outcomes)))
        free = [0.0 if path in self.stopped else rate for path, rate in zip(self.paths, raw, strict=True)]
        return np.array(free)

    def _guards(self, seconds: float, state: Array) -> tuple[Array, Array]:
        """Distances to: a turn of a branch, an end of a range, the release of a stopped state."""
        tape = Tape(self.outcomes)
        raw = self._raw(self._view(seconds, state, tape))
        watching = self._view(seconds, state, tape)
        for tree in self.run.watched:
            evaluate(tree, watching)
        for path, level, rate in zip(self.paths, state, raw, strict=True):
            limits = self.run.model.states[path].range
            if path in self.stopped:
                tape.guard(self.stopped[path] * rate, self.size)
                continue
            for edge, side in ((limits.low, -1), (limits.high, 1)):
                if edge is not None:
                    tape.guard(side * (float(edge) - level), abs(float(edge)) + abs(level))
        return tape.guards, [self.slack + ROUNDING * size for size in tape.sizes]


class CurveSlopes(Mapping[str, Num]):
    """Rates on a curve at a time, computed when the first is read: most readers of the past take values alone."""

    def __init__(self, curve: Curve, seconds: float) -> None:
        self.curve, self.seconds = curve, seconds

    @cached_property
    def rates(self) -> dict[str, float]:
        return dict(zip(self.curve.paths, map(float, self.curve.integral.slope(self.seconds)), strict=True))

    def __getitem__(self, path: str) -> Num:
        return self.rates[path]

    def __iter__(self) -> Iterator[str]:
        return iter(self.curve.paths)

    def __len__(self) -> int:
        return len(self.curve.paths)


class Integrated(Steady):
    """Any flow, in floats, up to the time `until`.  Raises NotExactError where a flow cannot be followed."""

    exact = False

    def __init__(self, until: Fraction) -> None:
        self.until = until

    def number(self, number: Num) -> Num:
        """Returns a float; a truth stays one."""
        return number if isinstance(number, bool) else float(number)

    def course(self, rates: dict[str, Num], stopped: dict[str, int], track: Track) -> Any:
        """Returns a straight course where the rates and all conditions allow it."""
        bent = any(isinstance(r, Moving) and (r.slope or r.curved) for r in rates.values())
        return (rates, stopped, track) if bent or track.curved else super().course(rates, stopped, track)

    def settle(self, run: RunState, slack: float = 0.0) -> Any:
        """Returns the course from now on, straight or curved."""
        made: Any = super().settle(run, slack)
        return made if isinstance(made, Course) else Curve(run, *made)

    def events(self, run: RunState, limit: Fraction | None) -> Iterable[Fraction]:
        """Returns when the course ends by itself, before `limit`; the end of the run is an instant too."""
        if run.flowing and run.time < self.until:
            yield self.until
        if not isinstance(run.course, Curve):
            yield from super().events(run, limit)
            return
        end = self.until if limit is None else min(limit, self.until)
        seconds = run.course.integral.extend(float(end - run.time)) if end > run.time else None
        if seconds is not None:
            yield run.time + Fraction(seconds)

    def delayed_changes(self, run: RunState) -> Iterable[Fraction]:
        """Returns the next times at which a delayed value in a flow changes by more than a high derivative.

        A jump is a kink one delay later, and smoother by a derivative with each delay more: at last the integration
        need not begin anew there.
        """
        times = [entry.time for entry in run.history.entries if entry.smoothness < SMOOTH]
        return run.lookback.changes(run.time, times)

    def smoothness(self, run: RunState, sampled: dict[str, Num], after: dict[str, Num]) -> int:
        """Returns one more than that of the instants of which the present one is an echo, and nothing else."""
        entries = run.history.entries
        if not entries or run.lookback.of_flows.scrapes or sampled != after or not _goes_on(run, entries[-1], after):
            return 0
        starts = {run.time - lag for lag in run.lookback.of_flows.lags if lag}
        return min((1 + entry.smoothness for entry in entries if entry.time in starts), default=0)

    def slack(self, run: RunState, time: Fraction) -> float:
        """Returns the distance that a located event still has from its end, with room for rounding."""
        curve = run.course
        if not isinstance(curve, Curve) or curve.integral.event is None:
            return 0.0
        return 2 * curve.integral.residual if time == run.time + Fraction(curve.integral.event) else 0.0

    def move(self, run: RunState, time: Fraction) -> dict[str, Num]:
        """Returns the values at a time before the next event; what reaches an end but for rounding is there."""
        moved = super().move(run, time)
        for path in run.flowing:
            limits, before = run.model.states[path].range, run.values[path]
            for edge in (float(e) for e in (limits.low, limits.high) if e is not None):
                if abs(moved[path] - edge) <= ROUNDING * (abs(before) + abs(edge)):
                    moved[path] = edge
        return moved

    def span(self, run: RunState, tree: Tree, low: Fraction, high: Fraction) -> tuple[Num, Num]:
        """Returns (mean, largest) over a part of one course: in closed form on straight ones, else by quadrature."""
        try:
            if not isinstance(run.course_from(low), Curve):
                return super().span(run, tree, low, high)
        except NotExactError:
            pass
        return _quadrature(run, tree, low, high)


def _goes_on(run: RunState, before: HistoryEntry, after: Mapping[str, Num]) -> bool:
    """Decides whether a curve goes on over the present instant: it did not end by itself, and what is held stays."""
    curve = before.course
    if not isinstance(curve, Curve) or not isinstance(run.course, Curve):
        return False
    ended = curve.integral.event is not None and run.time == before.time + Fraction(curve.integral.event)
    return not ended and all(before.after[path] == after[path] for path in after if path not in run.flowing)


def _quadrature(run: RunState, tree: Tree, low: Fraction, high: Fraction) -> tuple[float, float]:
    """Gauss and Legendre, eight nodes on each of eight parts; the largest of nodes and ends."""
    import numpy as np

    nodes, weights = np.polynomial.legendre.leggauss(8)
    places = ((np.arange(8)[:, None] + (nodes + 1) / 2) / 8).ravel()
    share = np.tile(weights / 16, 8)

    def level(at: float) -> float:
        time = low + (high - low) * Fraction(at)
        values, _ = run.course_at(time, low)
        return float(evaluate(tree, FlowView(run, time, values, {}, lambda v, _: v, low)))

    seen = [level(float(at)) for at in places]
    return float(np.dot(share, seen)), max(*seen, level(0.0), level(1.0))


def plain_of(rate: Num) -> Num:
    """Returns the number in a moving or taped one."""
    return rate.value if isinstance(rate, Moving | Taped) else plain_or_float(rate)


@dataclass(frozen=True)
class Trajectory:
    """A hybrid run: its instants, and the values at any time between them."""

    instants: tuple[Instant, ...]
    run: RunState
    entries: tuple[HistoryEntry, ...]

    def at(self, time: Fraction | float) -> dict[str, Num]:
        """States, commands, constants, inputs and modes just after a time."""
        import bisect

        moment = Fraction(time)
        index = bisect.bisect_right(self.entries, moment, key=lambda e: e.time) - 1
        if index < 0:
            return self.run.origin
        entry = self.entries[index]
        moved: dict[str, Num] = entry.course.after(entry.after, float(moment - entry.time))
        return moved

    def value(self, path: str, time: Fraction | float) -> Num:
        """Returns a signal just after a time; outputs that look back are not known here."""
        return View(self.run, Fraction(time), self.at(time)).value(path)


def execute(model: Model, choices: Choices | None = None, *, until: Fraction, most: int = 100_000) -> Trajectory:
    """One hybrid run up to a time (inclusive).  Raises NotExactError, MissingValueError."""
    run = Execution(floated(model), choices, Integrated(until))
    instants: list[Instant] = []
    entries: list[HistoryEntry] = []
    while run.time < until or not run.count:
        if run.next_time() > until:
            break
        if len(instants) >= most:
            raise NotExactError(f"more than {most} instants before {float(until):g} s")
        instant = run.advance()
        instants.append(instant)
        entries.append(HistoryEntry(instant.time, dict(instant.sampled), dict(instant.after), run.course))
    return Trajectory(tuple(instants), run, tuple(entries))


def floated(model: Model) -> Model:
    """Returns the model with float literals, durations excepted."""

    def of(tree: Tree | None) -> Tree | None:
        return None if tree is None else floats(tree)

    def of_state(state: State) -> State:
        return rebuilt(state, next=lambda: of(state.next), flow=lambda: of(state.flow), switch=lambda: of_switch(state))

    def of_switch(state: State) -> StateSwitch | None:
        switch = state.switch
        leave = of(switch.leave) if switch is not None else None
        return None if switch is None else replace(switch, enter=floats(switch.enter), leave=leave)

    loops = tuple(changed_loop(loop, floats) for loop in model.loops)
    states = {path: of_state(state) for path, state in model.states.items()}
    return replace(model, loops=loops, states=states, outputs=changed_outputs(model, floats))


def floats(tree: Tree) -> Tree:
    """Returns the tree with float literals, durations excepted."""
    match tree:
        case Number(value=number):
            return Number(float(number), tree.dimension, tree.span)  # type: ignore[arg-type]
        case Call(function=name, arguments=(inner, duration)) if name in LOOK_BACK:
            return replace(tree, arguments=(floats(inner), duration))
        case Call(arguments=parts):
            return replace(tree, arguments=tuple(map(floats, parts)))
        case Arithmetic(left=left, right=right) | Compare(left=left, right=right):
            return replace(tree, left=floats(left), right=floats(right))
        case Logic(terms=terms):
            return replace(tree, terms=tuple(map(floats, terms)))
        case Choose(condition=condition, then=then, otherwise=otherwise):
            return replace(tree, condition=floats(condition), then=floats(then), otherwise=floats(otherwise))
        case _:
            return tree
