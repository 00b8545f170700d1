"""Gives expressions the values of a run at one time: current, delayed and sampled ones, means and maxima of windows.

A window is cut where the expression may change (`Lookback.cuts`).  Means of exact runs are differences of running
sums (windows.py); floats, and expressions that read scrapes, are added up piece by piece, the latter evaluated anew.
"""

from __future__ import annotations

import itertools
import math
from fractions import Fraction
from functools import partial
from typing import TYPE_CHECKING, Any

from coherence.language.expressions.evaluate import evaluate
from coherence.language.expressions.tree import Tree
from coherence.simulate.execute.windows import Sums

if TYPE_CHECKING:
    from coherence.simulate.execute.run_state import RunState

Num = Any


class View:
    """The values of a run at one time, as an evaluation environment; outputs are computed when they are read."""

    __slots__ = ("base", "cache", "loop", "run", "time")

    def __init__(self, run: RunState, time: Fraction, base: dict[str, Num], loop: str = "") -> None:
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
        """Returns what the last scrape saw: all that had landed at its instant, and nothing that was decided there."""
        return evaluate(tree, self.run.sampled_at(math.floor(self.time / period) * period, self.loop))

    def mean_over(self, tree: Tree, window: Fraction) -> Num:
        return window_mean(self, tree, window)

    def max_over(self, tree: Tree, window: Fraction) -> Num:
        return window_maximum(self, tree, window)

    def held(self, condition: Tree, duration: Fraction) -> bool:
        memory = self.run.memory.get(self.loop) or self.run.watch
        return bool(memory.held(condition, bool(evaluate(condition, self)), self.time, duration))

    def previous(self, tree: Tree) -> Num:
        memory = self.run.memory.get(self.loop) or self.run.watch
        return memory.previous_of(tree, evaluate(tree, self), self.time)


def window_mean(now: View, tree: Tree, window: Fraction) -> Num:
    """Returns the time average over the last `window` seconds (`window` 0: the value now)."""
    if not window:
        return evaluate(tree, now)
    integral = _integral(now, tree, window)
    if integral is not None:
        return integral / window
    total: Num = Fraction(0)
    for length, level, _ in _pieces(now, tree, window):
        total = total + level * length
    return total / window


def window_maximum(now: View, tree: Tree, window: Fraction) -> Num:
    """Returns the largest value in the last `window` seconds."""
    return max(level for _, _, level in _pieces(now, tree, window))


def _pieces(now: View, tree: Tree, window: Fraction) -> list[tuple[Fraction, Num, Num]]:
    """Returns (length, mean, largest) between the changes of a tree in [t - window, t], and now with length 0."""
    start, run = now.time - window, now.run
    here = evaluate(tree, now)  # what it remembers of each sample it remembers of this one
    sums = _sums(now, tree, window)
    if sums is not None:
        return [*sums.pieces(start, now.time, partial(piece, now, tree)), (Fraction(0), here, here)]
    cuts = run.lookback.cuts(tree, start, now.time, run.history.times())
    intervals = itertools.pairwise([start, *cuts, now.time])
    between = [(high - low, *piece(now, tree, low, high)) for low, high in intervals]
    return [*between, (Fraction(0), here, here)]


def piece(now: View, tree: Tree, low: Fraction, high: Fraction) -> tuple[Num, Num]:
    """Returns (mean, largest) of a tree between two times without a change of it between them."""
    if now.run.flowing and low >= 0:
        extremes: tuple[Num, Num] = now.run.motion.span(now.run, tree, low, high)
        return extremes
    level = evaluate(tree, now.run.view_at((low + high) / 2, now))
    return level, level


def _integral(now: View, tree: Tree, window: Fraction) -> Num | None:
    """Returns the integral over the window by running sums; None where it must be added up (floats, scrapes)."""
    if not now.run.motion.exact or now.run.lookback.of_windows[tree].scrapes:
        return None
    evaluate(tree, now)  # what it remembers of each sample it remembers of this one
    sums = _sums(now, tree, window)
    return None if sums is None else sums.integral(now.time - window, now.time, partial(piece, now, tree))


def _sums(now: View, tree: Tree, window: Fraction) -> Sums | None:
    """Returns what is kept of the window with all cuts before now; None where scrapes are read, or it began later."""
    run, start = now.run, now.time - window
    reads = run.lookback.of_windows[tree]
    if reads.scrapes:
        return None
    key = (tree, window, now.loop)
    sums = run.sums.get(key)
    if sums is None or (sums.at and sums.at[-1] < start):
        sums = run.sums[key] = Sums(start)
    if start < sums.since:
        return None
    low = sums.at[-1] if sums.at else sums.since
    index = run.history.moments.before(low - max(reads.lags, default=Fraction(0)))
    cuts = run.lookback.cuts(tree, low, now.time, run.history.times()[index:])
    sums.extend(cuts, partial(piece, now, tree))
    sums.forget(start)
    return sums
