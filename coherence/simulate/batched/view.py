"""Evaluates expressions at many points at once: numpy's lowering, with the past, streaks and doubtful comparisons."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Mapping
from fractions import Fraction
from typing import Any, Protocol

from coherence.language.expressions.evaluate import COMPARE, NotExactError
from coherence.language.expressions.lower_numpy import Values, numpy_function
from coherence.language.expressions.tree import Arithmetic, Call, Choose, Compare, Held, Logic, Name, Tree
from coherence.simulate.execute.lookback import LOOK_BACK
from coherence.simulate.execute.run_state import RunState

Array = Any  # numpy array: one entry per point
Lowered = tuple[Tree, Callable[[Values], Any], dict[str, Tree]]  # a tree, its value, what is asked for by name there
TIE = 1e-12  # relative: differences up to it may be rounding
_SPECIAL = "\0"


class PointRun(RunState, Protocol):
    """A run of many points, as their view reads it."""

    @property
    def lowered(self) -> dict[int, Lowered]: ...
    @property
    def memories(self) -> Mapping[str, Any]: ...

    def near(self, left: Array, right: Array, size: Array | None = None) -> None:
        """Marks the points at which rounding may decide a comparison."""


class LanesView(dict[str, Any]):
    """The world of all points at one time, as `numpy_function` reads it; the past and comparisons when asked for."""

    def __init__(self, run: PointRun, time: Fraction, base: Mapping[str, Any], loop: str = "") -> None:
        super().__init__(base)
        self.run, self.time, self.loop = run, time, loop
        self.special: dict[str, Tree] = {}

    def read(self, tree: Tree) -> Array:
        """Returns the tree's value at every point."""
        known = self.run.lowered.get(id(tree))
        if known is None:
            special: dict[str, Tree] = {}
            known = self.run.lowered[id(tree)] = (tree, numpy_function(_lowered(tree, special)), special)
        self.special.update(known[2])
        return known[1](self)

    def __missing__(self, path: str) -> Array:
        if path.startswith(_SPECIAL):
            return self._special(self.special[path])
        if path in self.run.model.constants:
            return float(self.run.values[path])
        level = self[path] = self.read(self.run.output(path))
        return level

    def size(self, tree: Tree) -> Array:
        """Returns what the rounding of a tree's value is relative to: the sum of what is added and subtracted."""
        import numpy as np

        match tree:
            case Arithmetic(op="+" | "-", left=left, right=right):
                return self.size(left) + self.size(right)
            case Call(function="min" | "max" | "abs", arguments=parts):
                return sum(self.size(part) for part in parts)
            case Choose(then=then, otherwise=otherwise):
                return self.size(then) + self.size(otherwise)
            case Name(path=path) if path in self.run.model.outputs and path not in self.run.values:
                return self.size(self.run.model.outputs[path])
        return np.abs(self.read(tree))

    def _special(self, tree: Tree) -> Array:
        match tree:
            case Compare(op=op, left=left, right=right):
                first, second = self.read(left), self.read(right)
                self.run.near(first, second, self.size(left) + self.size(right))
                return COMPARE[op](first, second)
            case Held(condition=condition, duration=duration):
                memory = self.run.memories[self.loop]
                return memory.held(condition, self.read(condition), self.time, duration)
            case Call(function="previous", arguments=(inner,)):
                return self.run.memories[self.loop].previous_of(inner, self.read(inner), self.time)
            case Call(function=name, arguments=(inner, _)):
                return self._past(name, inner, self.run.lookback.seconds[tree])
        raise NotExactError("this expression has no value for many points at once")

    def _past(self, name: str, inner: Tree, seconds: Fraction) -> Array:
        import numpy as np

        if name == "sampled":
            return self._back(math.floor(self.time / seconds) * seconds).read(inner)
        if not seconds:
            return self.read(inner)
        if name == "delayed":
            return self._back(self.time - seconds).read(inner)
        start = self.time - seconds
        cuts = [start, *self.run.lookback.cuts(inner, start, self.time, self.run.history.times()), self.time]
        levels = [self._back((a + b) / 2).read(inner) for a, b in itertools.pairwise(cuts)]
        if name == "max_over":
            return np.maximum.reduce(np.broadcast_arrays(*levels, self.read(inner)))
        lengths = [float(b - a) for a, b in itertools.pairwise(cuts)]
        return sum(level * length for level, length in zip(levels, lengths, strict=True)) / float(seconds)

    def _back(self, time: Fraction) -> LanesView:
        seen = self.run.sampled_at(time, self.loop)
        return LanesView(self.run, time, seen.base, self.loop)


def _lowered(tree: Tree, special: dict[str, Tree]) -> Tree:
    """Returns the tree with names in place of comparisons, windows and delays."""
    match tree:
        case Call(function=name) if name in LOOK_BACK or name == "previous":
            return _named(tree, special)
        case Compare() | Held():
            return _named(tree, special)
        case Call(function=name, arguments=parts, span=span):
            return Call(name, tuple(_lowered(part, special) for part in parts), span)
        case Arithmetic(op=op, left=left, right=right, span=span):
            return Arithmetic(op, _lowered(left, special), _lowered(right, special), span)
        case Logic(op=op, terms=terms, span=span):
            return Logic(op, tuple(_lowered(term, special) for term in terms), span)
        case Choose(condition=condition, then=then, otherwise=otherwise, span=span):
            return Choose(_lowered(condition, special), _lowered(then, special), _lowered(otherwise, special), span)
    return tree


def _named(tree: Tree, special: dict[str, Tree]) -> Tree:
    name = f"{_SPECIAL}{id(tree)}"
    special[name] = tree
    return Name(name)
