"""Finds cycles of sampled loops over linear plants: the word that the ticks repeat, its fixed point, its multiplier.

Where every loop writes from a list of levels, a lap with a given word is an affine map of the plant's state: its
fixed point is solved, run again from there, and attracts where the map contracts.  Otherwise a lap must recur.
"""

from __future__ import annotations

import contextlib
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import numpy as np

from coherence.loops.cycles.relay import Array
from coherence.loops.cycles.sampled_runs import SampledRun, Tick, flow_of
from coherence.model.model import Model
from coherence.simulate.execute.affine import plain

MOST, MOST_LAPS = 12_000, 2_000  # ticks of a run; laps of a cycle
RECURS = 1e-9  # of the swing: a lap that comes back
STILL = 1e-9  # of the size: a swing that is none
COARSE = 1e-3  # of the size: smaller swings recur to a millionth of this
Num = Any


@dataclass(frozen=True)
class SampledCycle:
    """`period`, `start` in s; `ranges` by signal; `duty` by loop; `multiplier` None where laps were only compared.

    `rests`: nothing moves.
    """

    period: Fraction
    start: Fraction
    ranges: Mapping[str, tuple[float, float]]
    duty: Mapping[str, float]
    multiplier: float | None
    rests: bool
    method: str


def sampled_cycle(model: Model, values: Mapping[str, Num]) -> SampledCycle | None:
    """Returns where the run from these values ends; None if it has not become periodic, or grows past a float.

    Raises NotExactError and MissingValueError for what the method cannot carry.
    """
    run = SampledRun(model, values)
    size, ticks, due = run.clock.ticks, list[Tick](), 4
    with contextlib.suppress(OverflowError):
        while len(ticks) < MOST:
            ticks += [run.advance() for _ in range(size)]
            laps = len(ticks) // size
            if laps >= due:
                due = laps + max(1, laps // 6)
                cycle = _first(run, ticks, size)
                if cycle is not None:
                    return cycle
    return None


class _Record:
    """The ticks so far as arrays: the number of each word and a row of all values, so that laps are compared fast.

    Raises OverflowError where a value is past a float.
    """

    def __init__(self, run: SampledRun, ticks: Sequence[Tick]) -> None:
        numbers: dict[tuple[Any, ...], int] = {}
        paths = (*run.model.states, *run.model.commands)
        self.ticks = ticks
        self.words = np.array([numbers.setdefault(tick.word, len(numbers)) for tick in ticks])
        rows = [[float(tick.after[path]) for path in paths] for tick in ticks]
        self.rows = np.array(rows, dtype=float).reshape(len(ticks), len(paths))
        if not np.all(np.isfinite(self.rows)):
            raise OverflowError
        self.most = RECURS * _sizes(self.rows)  # the distance of no two rows of laps that recur is larger

    def repeats(self, size: int) -> Iterator[int]:
        """Yields numbers of laps after which the word comes thrice."""
        for laps in range(1, min(len(self.words) // size, 3 * MOST_LAPS) // 3 + 1):
            first, second, third = (self.words[len(self.words) - k * laps * size :][: laps * size] for k in (3, 2, 1))
            if np.array_equal(third, second) and np.array_equal(second, first):
                yield laps

    def consists(self, length: int, part: int) -> bool:
        """Decides whether the last lap's word is a shorter one several times."""
        words = self.words[-length:]
        return length % part == 0 and np.array_equal(words[part:], words[:-part])

    def recurs(self, run: SampledRun, length: int) -> bool:
        """Decides whether words and values have come back for as long as anything is delayed or remembered."""
        span, total = length * (1 + math.ceil(run.reach / length)), len(self.rows)
        if total < span + length or np.any(np.abs(self.rows[-1] - self.rows[-1 - length]) > self.most):
            return False
        if _apart(self.rows[-length:], self.rows[-2 * length : -length]) > RECURS:
            return False
        late, early = slice(total - span, total), slice(total - span - length, total - length)
        same = np.array_equal(self.words[late], self.words[early])
        return same and _apart(self.rows[late], self.rows[early]) <= RECURS


def _sizes(rows: Array) -> Array:
    """Returns the swing of each value; of one that hardly moves a small part of its size."""
    return np.asarray(np.maximum(np.ptp(rows, axis=0), COARSE * (1 + np.max(np.abs(rows), axis=0))))


def _apart(rows: Array, before: Array) -> float:
    """Returns how far the rows of two laps are from each other, relative to their size."""
    return float(np.max(np.max(np.abs(rows - before), axis=0) / _sizes(rows), initial=0.0))


def _first(run: SampledRun, ticks: Sequence[Tick], size: int) -> SampledCycle | None:
    """Returns the shortest lap that recurs, or whose fixed point does (which a word that repeats a shorter one
    shares).
    """
    tried: list[int] = []
    record = _Record(run, ticks)
    for laps in record.repeats(size):
        again = any(record.consists(laps * size, other * size) for other in tried)
        cycle = _closed(run, record, laps * size, solve=not again)
        if cycle is not None:
            return cycle
        if not again:
            tried.append(laps)
    return None


def _closed(run: SampledRun, record: _Record, length: int, *, solve: bool) -> SampledCycle | None:
    """Returns the cycle of the last lap, if it recurs or its fixed point does."""
    lap, before = record.ticks[-length:], record.ticks[-2 * length : -length]
    if record.recurs(run, length):
        return _measured(run, lap, _factor(run, lap), "recurrence")
    factor = _factor(run, lap) if solve else None
    if factor is None or factor >= 1 - 1e-9 or not _same_commands(run, lap, before):
        return None
    return _fixed(run.copy(), lap, factor)


def _same_commands(run: SampledRun, lap: Sequence[Tick], before: Sequence[Tick]) -> bool:
    discrete = [p for p, s in run.model.states.items() if s.flow is None]
    paths = (*run.model.commands, *discrete)
    return all(a.after[p] == b.after[p] for a, b in zip(lap, before, strict=True) for p in paths)


def _factor(run: SampledRun, lap: Sequence[Tick]) -> float | None:
    """Returns the largest multiplier of the plant over a lap; None where commands are not from a list of levels."""
    if not run.flowing or any(s.flow is None for s in run.model.states.values()) or not _lists(run.model):
        return None
    return float(np.max(np.abs(np.linalg.eigvals(_over(run, lap)))))


def _lists(model: Model) -> bool:
    """Decides whether every loop writes constants, or nothing."""
    from coherence.language.expressions.tree import names

    def constant(tree: Any) -> bool:
        return tree is not None and not (set(names(tree)) - set(model.constants))

    def of(loop: Any) -> bool:
        if loop.rules:
            return all(constant(rule.to) for rule in loop.rules)
        return not loop.signal or loop.law == "none" or constant(loop.to)

    return all(of(loop) for loop in model.loops)


def _over(run: SampledRun, lap: Sequence[Tick]) -> Array:
    total, tick = np.eye(len(run.flowing)), float(run.clock.tick)
    for step in lap:
        if step.matrix:
            total = flow_of(step.matrix, tuple(map(float, step.rate))).over(tick)[:-1, :-1] @ total
    return np.asarray(total)


def _fixed(run: SampledRun, lap: Sequence[Tick], factor: float) -> SampledCycle | None:
    """Continues from the fixed point of the lap: the word must stay, and the lap come back."""
    over = _over(run, lap)
    begin = np.array([float(lap[0].after[p]) for p in run.flowing])
    end = np.array([float(run.values[p]) for p in run.flowing])
    better = end + over @ np.linalg.solve(np.eye(len(end)) - over, end - begin)
    run.values.update(dict(zip(run.flowing, map(float, better), strict=True)))
    words = [tick.word for tick in lap]
    last = ticks = [run.advance() for _ in lap]
    for _ in range(3 + run.reach // len(lap)):  # until nothing of before is delayed or on its way
        last, ticks = ticks, [run.advance() for _ in lap]
        if [tick.word for tick in ticks] != words:
            return None
    if _apart(_Record(run, ticks).rows, _Record(run, last).rows) > RECURS:
        return None
    first = max(lap[0].number - 2 * len(lap), 0) * run.clock.tick  # the word has come thrice
    return replace(_measured(run, ticks, factor, "fixed point of the word"), start=first)


def _measured(run: SampledRun, lap: Sequence[Tick], factor: float | None, method: str) -> SampledCycle:
    ranges = {path: _range(run, lap, path) for path in (*run.model.states, *run.model.commands)}
    sizes = {p: max(map(abs, r)) for p, r in ranges.items()}
    rests = all(high - low <= STILL * (1 + sizes[p]) for p, (low, high) in ranges.items())
    return SampledCycle(
        period=len(lap) * run.clock.tick,
        start=lap[0].number * run.clock.tick,
        ranges=ranges,
        duty={loop.name: _duty(lap, loop.name, loop.signal, relay=loop.relay) for loop in run.model.loops},
        multiplier=factor,
        rests=rests,
        method=method,
    )


def _range(run: SampledRun, lap: Sequence[Tick], path: str) -> tuple[float, float]:
    """Returns the lowest and highest value, between the ticks too."""
    seen = [float(plain(t.after[path]) if isinstance(t.after[path], Fraction) else t.after[path]) for t in lap]
    low, high = min(seen), max(seen)
    if path not in run.flowing:
        return low, high
    index, tick = run.flowing.index(path), float(run.clock.tick)
    for step in lap:
        if step.matrix:
            flow = flow_of(step.matrix, tuple(map(float, step.rate)))
            z = np.array([*(float(step.after[p]) for p in run.flowing), 1.0])
            below, above = flow.range(z, index, tick)
            low, high = min(low, below), max(high, above)
    return low, high


def _duty(lap: Sequence[Tick], name: str, signal: str, *, relay: bool) -> float:
    """Returns the share of the time in which a relay is on, else the mean of the command between its extremes."""
    levels = [float(tick.after[name if relay else signal]) for tick in lap if relay or signal]
    span = max(levels, default=0.0) - min(levels, default=0.0)
    if relay or not span:
        return sum(levels) / len(levels) if relay and levels else 0.0
    return (sum(levels) / len(levels) - min(levels)) / span
