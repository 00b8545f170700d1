"""Moves states with a flow between instants at constant rates, exactly: the plug-in of the executor.

After every instant the rates are those of the right-hand limit: branches at a tie go where the
slopes lead.  An instant stands wherever a rate may change: at a stop of a state's range, at a kink
of a conditional branch, `min`, `max`, `abs`, `floor` or `ceil`, and where a delayed value changes.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from coherence.language.expressions.evaluate import NotExactError, evaluate
from coherence.language.expressions.tree import Tree
from coherence.simulate.execute.affine import Affine
from coherence.simulate.execute.dual_numbers import Moving, Track, plain_or_float

if TYPE_CHECKING:
    from coherence.model.model import State
    from coherence.simulate.execute.run_state import RunState

Num = Any
MOST_ROUNDS = 12  # rates, then branches by these rates, then rates again, until both agree


class SlidingError(NotExactError):
    """A flow that each branch of a kink pushes back across it: no run goes on."""


@dataclass(frozen=True)
class Course:
    """Motion from an instant to the next: rates per second, stopped states, branches, when one turns."""

    rates: dict[str, Num]
    stopped: dict[str, int]
    outcomes: tuple[Any, ...] = ()
    turns: Num | None = None

    def after(self, values: dict[str, Num], seconds: Num) -> dict[str, Num]:
        """Returns the values so many seconds later."""
        moved = {path: values[path] + rate * seconds for path, rate in self.rates.items() if rate}
        return {**values, **moved} if moved else values

    def slopes(self, seconds: Num) -> dict[str, Num]:
        """Returns the rates so many seconds later."""
        del seconds
        return self.rates


STILL = Course({}, {})


class FlowView:
    """What a flow reads: the world just after a time, the past too, with numbers that `wrap` makes of them.

    `anchor`: the instant from which the motion started; what a delay reaches belongs to one motion of the
    past, found from there, so that a step that ends where the next begins reads the end of its own.
    """

    __slots__ = ("anchor", "cache", "run", "slopes", "time", "values", "wrap")

    def __init__(
        self,
        run: RunState,
        time: Fraction,
        values: dict[str, Num],
        slopes: Mapping[str, Num],
        wrap: Callable[[Num, Num], Num],
        anchor: Fraction | None = None,
    ) -> None:
        self.anchor = time if anchor is None else anchor
        self.run, self.time, self.values, self.slopes, self.wrap = run, time, values, slopes, wrap
        self.cache: dict[str, Num] = {}

    def value(self, path: str) -> Num:
        if path not in self.cache:
            self.cache[path] = self._read(path)
        return self.cache[path]

    def _read(self, path: str) -> Num:
        if path in self.run.flowing:
            return self.wrap(self.values[path], self.slopes.get(path, 0))
        if path in self.values:
            return self.run.motion.constant(self.values[path], self.wrap)
        return evaluate(self.run.output(path), self)

    def delayed(self, tree: Tree, delay: Fraction) -> Num:
        if not delay:
            return evaluate(tree, self)
        before, anchor = self.time - delay, self.anchor - delay
        values, slopes = self.run.course_at(before, anchor)
        return evaluate(tree, type(self)(self.run, before, values, slopes, self.wrap, anchor))

    def sampled(self, tree: Tree, period: Fraction) -> Num:
        return evaluate(tree, self.run.sampled_at(math.floor(self.anchor / period) * period))

    def mean_over(self, tree: Tree, window: Fraction) -> Num:
        del tree
        raise NotExactError(f"a mean over {window} s inside a flow: no constant rate")

    def max_over(self, tree: Tree, window: Fraction) -> Num:
        del tree
        raise NotExactError(f"a maximum over {window} s inside a flow")

    def held(self, condition: Tree, duration: Fraction) -> bool:
        del condition
        raise NotExactError(f"`for {duration} s` inside a flow: it counts samples, and a flow has none")

    def previous(self, tree: Tree) -> Num:
        del tree
        raise NotExactError("previous() inside a flow: it counts samples, and a flow has none")


class Steady:
    """Constant rates between instants, in the number type of the run.  Raises NotExactError for any other flow."""

    exact = True

    def number(self, number: Num) -> Num:
        """Returns a value of the design in the run's number type."""
        return number

    def constant(self, number: Num, wrap: Callable[[Num, Num], Num]) -> Num:
        """A value that does not move, for a flow; Affine numbers do not mix with moving ones and are wrapped."""
        return number if isinstance(number, bool | int | Fraction | float) else wrap(number, 0)

    def settle(self, run: RunState, slack: float = 0.0) -> Any:
        """Returns the course from now on.  Raises SlidingError, NotExactError."""
        if not run.flowing:
            return STILL
        speeds: dict[str, Num] = {}
        slopes: dict[str, Num] = {}
        for _ in range(MOST_ROUNDS):
            track = Track(exact=self.exact, slack=slack)
            rates, stopped = self._rates(run, track, speeds)
            slopes = {path: _slope(rate) for path, rate in rates.items()}
            if all(speeds.get(path, 0) == rate for path, rate in slopes.items()):
                self._watch(run, track, slopes)
                return self.course(rates, stopped, track)
            speeds = slopes
        raise SlidingError(f"{', '.join(p for p in slopes if slopes[p])}: each side of a kink pushes back across it")

    def _rates(self, run: RunState, track: Track, speeds: dict[str, Num]) -> tuple[dict[str, Num], dict[str, int]]:
        view = self._view(run, track, speeds)
        rates: dict[str, Num] = {}
        stopped: dict[str, int] = {}
        for path, flow in run.flowing.items():
            rate = evaluate(flow, view)
            side = _stop(run.model.states[path], run.values[path], rate, track.slack)
            if side:
                stopped[path] = side
                _release(rate, side, track)
            rates[path] = Fraction(0) if side else rate
        return rates, stopped

    def _view(self, run: RunState, track: Track, speeds: dict[str, Num]) -> FlowView:
        return FlowView(run, run.time, run.base(), speeds, lambda v, slope: Moving(v, slope, track))

    def just_after(self, run: RunState, slack: float = 0.0) -> FlowView:
        """Returns what conditions see just after now, in the course that goes on from here."""
        return self._view(run, Track(exact=self.exact, slack=slack), run.course.slopes(0))

    def _watch(self, run: RunState, track: Track, speeds: dict[str, Num]) -> None:
        """Kinks of what windows and switches look at are kinks of the run."""
        view = self._view(run, track, speeds)
        for tree in run.watched:
            evaluate(tree, view)

    def course(self, rates: dict[str, Num], stopped: dict[str, int], track: Track) -> Any:
        """Returns the course of constant rates."""
        for path, rate in rates.items():
            if isinstance(rate, Moving) and (plain_or_float(rate.slope) or rate.curved):
                raise NotExactError(
                    f"the flow of {path} is not constant between events",
                    f"{_in_steps(path)}; `coherence analyze` judges the flow itself",
                )
        if track.curved:
            raise NotExactError("a condition of a flow does not move in a straight line", _in_steps(*rates))
        return Course({p: _slope(r) for p, r in rates.items()}, stopped, tuple(track.outcomes), track.turns)

    def events(self, run: RunState, limit: Fraction | None) -> Iterable[Fraction]:
        """Returns when the course ends by itself: the next stop at an end of a range, the next kink."""
        del limit
        if run.course.turns is not None:
            yield run.time + Fraction(run.course.turns)
        for path, rate in run.course.rates.items():
            state, here, speed = run.model.states[path], plain_or_float(run.values[path]), plain_or_float(rate)
            edge = state.range.high if speed > 0 else state.range.low
            if speed and edge is not None and here != edge:
                yield run.time + Fraction((edge - here) / speed)

    def delayed_changes(self, run: RunState) -> Iterable[Fraction]:
        """Returns the next times at which a delayed or sampled value in a flow changes."""
        return run.lookback.changes(run.time, run.history.times())

    def smoothness(self, run: RunState, sampled: dict[str, Num], after: dict[str, Num]) -> int:
        """Returns how many derivatives of the motion go through the present instant at least."""
        del run, sampled, after
        return 0

    def warped(self, run: RunState, time: Fraction) -> bool:
        """Does the course end by itself at this time, and would it end elsewhere from another start?

        The derivative of the run by its start does not follow the time of such an event.
        """
        numbers = [number for path, rate in run.course.rates.items() for number in (run.values[path], rate)]
        marked = any(isinstance(number, Affine) and number.gradient for number in numbers)
        return marked and time in set(self.events(run, None))

    def slack(self, run: RunState, time: Fraction) -> float:
        """Returns how far from its end the event at a time was found; 0 where times are exact."""
        del run, time
        return 0.0

    def move(self, run: RunState, time: Fraction) -> dict[str, Num]:
        """Returns the values at a time before the next event."""
        moved: dict[str, Num] = run.course.after(run.values, self.number(time - run.time))
        return moved

    def span(self, run: RunState, tree: Tree, low: Fraction, high: Fraction) -> tuple[Num, Num]:
        """Returns (mean, largest) of a tree over a part of one course, which holds no kink of it."""
        track = Track(exact=self.exact)
        values, slopes = run.course_at(low)
        start = evaluate(tree, FlowView(run, low, values, slopes, lambda v, slope: Moving(v, slope, track)))
        if not isinstance(start, Moving):
            return start, start
        if start.curved:
            raise NotExactError("a window over something that does not move in a straight line")
        rise = start.slope * self.number(high - low)
        return start.value + rise / 2, max(start.value, start.value + rise)


def _in_steps(*paths: str) -> str:
    """Returns what makes flows exact: states that change in steps."""
    return f"state {' and '.join(paths)} in steps: `step: 1 s`, and as its formula the value one step later"


def _slope(rate: Num) -> Num:
    return rate.value if isinstance(rate, Moving) else rate


def _stop(state: State, here: Num, rate: Num, slack: float) -> int:
    """-1 or 1 where the state stands at the low or high end of its range and is pushed outward."""
    low, high, at, speed = state.range.low, state.range.high, plain_or_float(here), _direction(rate, slack)
    return -1 if low is not None and at <= low and speed < 0 else int(high is not None and at >= high and speed > 0)


def _release(rate: Num, side: int, track: Track) -> None:
    """A stopped state is let go when its push turns."""
    if not isinstance(rate, Moving):
        return
    push, slope = plain_or_float(rate.value), plain_or_float(rate.slope)
    track.curved = track.curved or rate.curved
    if side * slope < 0:
        track.turn(-push / slope)


def _direction(rate: Num, slack: float) -> Num:
    """Returns the sign of a rate just after now."""
    if isinstance(rate, Moving) and abs(plain_or_float(rate.value)) <= slack and rate.slope:
        return plain_or_float(rate.slope)
    return plain_or_float(_slope(rate))


STEADY = Steady()
