"""Finds the long-run behaviour of a run: it settles, repeats exactly, or closes in on a periodic orbit.

An exact recurrence of the configuration is a proof of what happens for ever after.  Otherwise the
word of branches taken may repeat: then one lap is an affine map, whose rational fixed point is
computed, replayed exactly, and shown to attract by a contraction factor below one (model.md rule 13).
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any, TypeVar

from coherence.base.clock import is_over
from coherence.language.expressions.evaluate import evaluate
from coherence.language.expressions.tree import Tree
from coherence.model.model import Model
from coherence.simulate.execute.affine import Affine, lift, plain, variable
from coherence.simulate.execute.exact import Choices, Execution, Instant, View
from coherence.simulate.execute.lookback import look_backs

Number = TypeVar("Number", int, float)
MOST_PERIODS = 6
MOST_POWERS = 64
MOST_UNTIL_REST = 400  # instants; where nothing ends a flow they are twice as late each time
ROUNDED = 1e-9  # room of a norm in floats
WAITS = 4  # longest waits for a condition, beside the laps of a run: two cycles of two loops that each wait so long
DELAYS = 16  # horizons of what a run remembers, beside its laps: four laps of a loop that swings in four delays
LATE_LAPS = 24  # before the end of a long run: from here on a copy of it is kept


@dataclass(frozen=True)
class Orbit:
    """A cycle: its period in seconds, one exact lap, and how the run comes to it.

    `exact`: the run itself recurs (contraction 0).  Otherwise `contraction` bounds how much one
    lap shrinks a deviation (sup norm after `laps` laps), and the lap starts from the rational fixed point.
    """

    start: Fraction
    period: Fraction
    lap: tuple[Instant, ...]
    exact: bool
    contraction: Fraction

    def range_of(self, path: str) -> tuple[Fraction, Fraction]:
        """Smallest and largest value of a signal on the lap."""
        values = [plain(i.after[path]) for i in self.lap] + [plain(i.sampled[path]) for i in self.lap]
        return min(values), max(values)

    @property
    def still(self) -> bool:
        """Nothing changes on the lap, nor between two writes of one instant: the run has settled."""
        return not self.undone and all(i.sampled == self.lap[0].sampled == i.after for i in self.lap)

    @property
    def undone(self) -> tuple[str, ...]:
        """Returns the loops whose writes others undo within one instant, where nothing else changes on the lap."""
        if any(i.sampled != i.after for i in self.lap):
            return ()
        return tuple(dict.fromkeys(a.loop for i in self.lap for a in i.actions if a.before != a.after))

    def turns(self, path: str) -> bool:
        """Does the signal change direction on the lap?"""
        low, high = self.range_of(path)
        return low != high


@dataclass(frozen=True)
class Drift:
    """How a run grows for ever: from when on, a lap's length (s), and what each lap adds to its numbers.

    `truths`: a condition as sampled and after each instant of every lap from then on.  `claims`: SMT-LIB terms over the
    laps that have passed, on which it rests.
    """

    start: Fraction
    period: Fraction
    added: Mapping[str, Fraction]
    truths: tuple[bool, ...]
    claims: tuple[str, ...]


@dataclass(frozen=True)
class LongRun:
    """A run, and its orbit where one was found; else how it drifts, where that is shown."""

    choices: Choices
    instants: tuple[Instant, ...]
    orbit: Orbit | None
    drift: Drift | None = None


def hyperperiod(model: Model) -> Fraction:
    """Least common multiple of all periods, steps and scrapes, in seconds (1 where nothing is periodic)."""
    periods = _periods(model)
    if not periods:
        return Fraction(1)
    scale = math.lcm(*(p.denominator for p in periods))
    return Fraction(math.lcm(*(int(p * scale) for p in periods)), scale)


def is_clocked(model: Model) -> bool:
    """Decides whether anything is periodic: a loop, a step or a scrape."""
    return bool(_periods(model))


def _periods(model: Model) -> list[Fraction]:
    periods = [loop.period for loop in model.loops] + [s.step for s in model.states.values() if s.step]
    return periods + [period for function, period in look_backs(model) if function == "sampled" and period]


class FollowedRun:
    """A run that is followed until it recurs exactly, and farther on request without being executed again.

    `watched`: conditions that are looked at in every instant; their streaks (`for h`) recur too.
    """

    def __init__(self, model: Model, choices: Choices, watched: Sequence[Tree] = ()) -> None:
        self.model, self.choices, self.watched = model, choices, watched
        self.whole = hyperperiod(model)
        self.instants: list[Instant] = []
        self.seen: dict[tuple[Any, ...], int] = {}
        self.checkpoints: list[Execution] = []

    @cached_property
    def run(self) -> Execution:
        """Returns the run where it stands."""
        return Execution(self.model, self.choices)

    def until(self, laps: int, most: int, over: Callable[[], object]) -> LongRun:
        """Follows it for `laps` hyperperiods from its start (at most `most` instants), stopping at a recurrence.

        A run that `over` ends has no orbit; what `over` raises is passed on.
        """
        run, instants = self.run, self.instants
        end = end_of(run, self.whole * laps) + (run.longest if self.watched else 0)
        late, is_late = end - self.whole * LATE_LAPS, False
        while len(instants) < most and (due := run.next_time()) <= end:
            if instants and (len(instants) == most - most // 8 or (not is_late and due > late)):
                is_late = True
                self.checkpoints.append(run.copy())
            if (orbit := self._recurring()) is not None:
                return LongRun(self.choices, tuple(instants), orbit)
            if over():
                return LongRun(self.choices, tuple(instants), None)
            instants.append(run.advance(due))
            for tree in self.watched:
                looked_at(run, instants[-1], tree)
        orbit = attracting(self.model, self.choices, instants, self.whole, self.checkpoints)
        return LongRun(self.choices, tuple(instants), orbit)

    def _recurring(self) -> Orbit | None:
        """Returns the orbit where the run stands as it stood before, and remembers how it stands."""
        key = _key(self.run, self.whole) if self.run.count else None
        if key is None:
            return None
        first = self.seen.setdefault(key, len(self.instants))
        if first == len(self.instants):
            return None
        lap = tuple(self.instants[first:])
        period = self.instants[-1].time - self.instants[first - 1].time
        return Orbit(lap[0].time, period, lap, True, Fraction(0))


def long_run(
    model: Model, choices: Choices, *, laps: int = 300, most: int = 20_000, watched: Sequence[Tree] = (),
    deadline: float = math.inf,
) -> LongRun:  # fmt: skip
    """Returns a run over `laps` hyperperiods (at most `most` instants), or until it recurs exactly.

    A run that is not over by the deadline (processor seconds) has no orbit.
    """
    return FollowedRun(model, choices, watched).until(laps, most, lambda: is_over(deadline))


def resting_run(model: Model, choices: Choices, *, watched: Sequence[Tree] = (), deadline: float = math.inf) -> LongRun:
    """Returns a run of a model without a clock until nothing moves any more; without an orbit where that is far off."""
    run, instants = Execution(model, choices), list[Instant]()
    before: tuple[Any, ...] | None = None
    while len(instants) < MOST_UNTIL_REST and not is_over(deadline):
        instants.append(run.advance())
        for tree in watched:
            looked_at(run, instants[-1], tree)
        now = run.configuration(Fraction(1))[1:]  # without the time: nothing is periodic
        if now == before and not run.schedule and not any(run.course.rates.values()):
            period = run.time - instants[-2].time
            return LongRun(choices, tuple(instants), Orbit(run.time, period, (instants[-1],), True, Fraction(0)))
        before = now
    return LongRun(choices, tuple(instants), None)


def end_of(run: Execution, span: Fraction) -> Fraction:
    """Returns when a run of this span ends that remembers its past: a delayed loop swings in a few of its delays.

    A loop that waits for a condition (`for h`) swings in a few of these waits.
    """
    return span + DELAYS * (run.horizon or 0) + WAITS * run.longest


def looked_at(run: Execution, instant: Instant, tree: Tree) -> tuple[Any, Any]:
    """Returns the value of an expression as sampled and after the instant that was just executed, streaks kept."""
    views = (View(run, instant.time, dict(values)) for values in (instant.sampled, instant.after))
    one, other = (evaluate(tree, view) for view in views)
    return one, other


def _key(run: Execution, whole: Fraction) -> tuple[Any, ...] | None:
    """Returns the configuration, unless its numbers have grown so long that they will not recur."""
    if any(plain(v).denominator.bit_length() > 512 for v in run.values.values() if not isinstance(v, bool)):
        return None
    return run.configuration(whole)


def attracting(
    model: Model, choices: Choices, instants: list[Instant], whole: Fraction, checkpoints: Sequence[Execution] = ()
) -> Orbit | None:
    """Returns the periodic orbit that the run closes in on, if its word of branches repeats and one lap contracts.

    `checkpoints`: the run at earlier times, so that it need not be executed again from its beginning.  Only what lies
    after the last entry of a schedule, and no longer remembers it, is autonomous.
    """
    scheduled = max((at for at, *_ in choices.schedule), default=None)
    for period in itertools.islice(word_periods(instants, whole), MOST_PERIODS):
        start = instants[-1].time - 2 * period
        before = [run for run in checkpoints if run.time <= start]
        run = max(before, key=lambda run: run.time).copy() if before else Execution(model, choices)
        if scheduled is not None and start <= scheduled + (run.horizon or 0):
            continue
        while run.count == 0 or run.next_time() <= start:
            run.advance()
        orbit = _shoot(run, period)
        if orbit is not None:
            return orbit
    return None


def word_periods(instants: list[Instant], whole: Fraction) -> Iterator[Fraction]:
    """Multiples of the hyperperiod with which the last three laps of the word repeat, smallest first."""
    if not instants:
        return
    times, words = [i.time for i in instants], [(i.word, tuple(n for n, _ in i.switched)) for i in instants]
    per_lap = sum(1 for t in times if t > times[-1] - whole)
    for laps in range(1, len(instants) // (3 * per_lap) + 1):
        size = laps * per_lap
        if words[-size:] == words[-2 * size : -size] == words[-3 * size : -2 * size]:
            yield whole * laps


def _shoot(run: Execution, period: Fraction) -> Orbit | None:
    """Solve for the fixed point of one lap, replay the lap from it, and bound the contraction."""
    linear = run.copy()
    start: dict[str, Fraction] = {}

    def mark(name: str, value: Any) -> Any:
        start[name] = plain(value)
        return variable(name, plain(value))

    linear.map_numbers(mark)
    begin = run.time
    while linear.next_time() <= begin + period:
        linear.advance()
    if linear.warped:
        return None
    end: dict[str, Affine] = {}

    def read(name: str, value: Any) -> Any:
        end[name] = lift(value)
        return value

    linear.map_numbers(read)
    if end.keys() != start.keys() or not all(value.exact for value in end.values()):
        return None
    moving = [name for name in start if end[name].value != start[name]]
    if not moving:
        return None
    solved = _fixed_point(moving, start, end)
    if solved is None:
        return None
    factor = contraction([[end[row].coefficient(column) for column in moving] for row in moving])
    return None if factor is None else _replayed(run, {**start, **solved}, period, factor)


def _fixed_point(
    moving: list[str], start: Mapping[str, Fraction], end: Mapping[str, Affine]
) -> dict[str, Fraction] | None:
    """x with x = end(x), the recurring variables kept."""
    size = len(moving)
    rows = []
    for name in moving:
        slopes = [end[name].coefficient(column) for column in moving]
        constant = end[name].value - sum((s * start[c] for s, c in zip(slopes, moving, strict=True)), Fraction(0))
        rows.append([Fraction(name == column) - s for column, s in zip(moving, slopes, strict=True)] + [constant])
    solution = solve(rows)
    return None if solution is None else dict(zip(moving, solution[:size], strict=True))


def solve(rows: list[list[Fraction]]) -> list[Fraction] | None:
    """Returns the solution of a square linear system given as rows [a..., b]; None where it is singular."""
    size = len(rows)
    for column in range(size):
        pivot = next((r for r in range(column, size) if rows[r][column]), None)
        if pivot is None:
            return None
        rows[column], rows[pivot] = rows[pivot], rows[column]
        head = rows[column][column]
        rows[column] = [value / head for value in rows[column]]
        for other in range(size):
            factor = rows[other][column]
            if other != column and factor:
                rows[other] = [a - factor * b for a, b in zip(rows[other], rows[column], strict=True)]
    return [row[-1] for row in rows]


def contraction(matrix: Sequence[Sequence[Fraction]]) -> Fraction | None:
    """Returns the sup norm of the first power A^k, k <= MOST_POWERS, that is below one; None where none is.

    Floats choose k, since exact powers have ever longer numbers; the norm is that of exact integers over one
    denominator.
    """
    scale = math.lcm(*(a.denominator for row in matrix for a in row))
    try:
        k = _contracting([{j: float(a) for j, a in enumerate(row) if a} for row in matrix])
    except OverflowError:
        return None
    if k is None:
        return None
    first = [{j: int(a * scale) for j, a in enumerate(row) if a} for row in matrix]
    power = first
    for _ in range(k - 1):
        power = [_times(row, first) for row in power]
    norm = Fraction(_norm(power), scale**k)
    return norm if norm < 1 else None


def _contracting(matrix: Sequence[Mapping[int, float]]) -> int | None:
    """Returns the first exponent at which the sup norm is clearly below one."""
    power = matrix
    for k in range(1, MOST_POWERS + 1):
        if _norm(power) < 1 - ROUNDED:
            return k
        power = [_times(row, matrix) for row in power]
    return None


def _norm(matrix: Sequence[Mapping[int, Number]]) -> Number:
    return max((sum(abs(a) for a in row.values()) for row in matrix), default=0)


def _times(row: Mapping[int, Number], matrix: Sequence[Mapping[int, Number]]) -> dict[int, Number]:
    """Returns a row times a matrix.  Sparse: what is remembered of the past makes it large and nearly empty."""
    total: dict[int, Number] = {}
    for k, a in row.items():
        for j, b in matrix[k].items():
            total[j] = total.get(j, 0) + a * b
    return {j: a for j, a in total.items() if a}


def _replayed(run: Execution, point: Mapping[str, Fraction], period: Fraction, factor: Fraction) -> Orbit | None:
    """Returns the lap from the fixed point, if it really returns there, and goes on to until all is from such laps.

    What loops remember (windows of stabilization, rates, cooldowns, streaks) is no number of the point: it has to be
    filled by laps of the orbit and to come again with them.
    """
    exact = run.copy()
    exact.map_numbers(lambda name, _: point[name])
    begin, lap, previous, configuration = exact.time, list[Instant](), None, None
    for number in range(2 + math.ceil(_remembered(exact) / period)):
        passed = []
        while exact.next_time() <= begin + period * (number + 1):
            passed.append(exact.advance())
        back: dict[str, Fraction] = {}

        def read(name: str, value: Any, *, back: dict[str, Fraction] = back) -> Any:
            back[name] = plain(value)
            return value

        exact.map_numbers(read)
        if any(back.get(name) != value for name, value in point.items()) or exact.modes != run.modes:
            return None
        if lap and [instant.after for instant in passed] != [instant.after for instant in lap]:
            return None
        previous, configuration = configuration, exact.configuration(period)
        lap = lap or passed
    return Orbit(begin, period, tuple(lap), False, factor) if previous == configuration else None


def _remembered(run: Execution) -> Fraction:
    """Returns for how long a loop of a run remembers what it wanted, did or saw."""
    loops = run.model.loops
    spans = [span for loop in loops for span in (loop.hold_down, loop.hold_up, loop.cooldown or Fraction(0))]
    spans += [rate.per for loop in loops for rate in loop.rates]
    return max([Fraction(0), run.longest, *spans])
