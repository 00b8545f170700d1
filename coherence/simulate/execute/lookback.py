"""Computes how far expressions look back in a run, and when the values that they read there change."""

from __future__ import annotations

import bisect
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from typing import Any

from coherence.base.queries import cached
from coherence.base.reads import ReadTable, answered, unnoted
from coherence.language.expressions.evaluate import NotExactError
from coherence.language.expressions.tree import Arithmetic, Call, Choose, Held, Name, Number, Tree, children, walk
from coherence.model.model import Model, State
from coherence.simulate.execute.affine import plain

Num = Any
LOOK_BACK = ("delayed", "mean_over", "max_over", "sampled")
WINDOWS = ("mean_over", "max_over")


@dataclass(frozen=True)
class Reads:
    """When a tree changes: `lags` after an instant, and at (multiples of a period) + lag."""

    lags: frozenset[Fraction]
    scrapes: frozenset[tuple[Fraction, Fraction]]


NOTHING = Reads(frozenset(), frozenset())


@dataclass(frozen=True)
class Lookback:
    """`horizon`: seconds that are remembered, None where nothing looks back; `watched`: what windows look at."""

    horizon: Fraction | None
    watched: tuple[Tree, ...]
    of_flows: Reads
    of_windows: Mapping[Tree, Reads]
    seconds: Mapping[Tree, Fraction]  # of every call that looks back
    of_switches: Reads = NOTHING

    def changes(self, now: Fraction, past: Sequence[Fraction]) -> Iterator[Fraction]:
        """Yields the next times at which a delayed or sampled value in a flow changes."""
        yield from _later_changes(self.of_flows, now, past)

    def echoes(self, now: Fraction, past: Sequence[Fraction]) -> Iterator[Fraction]:
        """Yields the next times at which a delayed value in the condition of a switch changes.

        `past`: the instants that are no such echo themselves, for nothing changes at one but what it looks at.
        """
        yield from _later_changes(self.of_switches, now, past)

    def cuts(self, tree: Tree, low: Fraction, high: Fraction, past: Sequence[Fraction]) -> list[Fraction]:
        """Returns the times in (low, high), ascending, at which the tree may change."""
        return _changes(self.of_windows[tree], low, high, past)


def changes_between(
    tree: Tree, model: Model, values: Mapping[str, Num], span: tuple[Fraction, Fraction], past: Sequence[Fraction]
) -> list[Fraction]:
    """Returns the times inside a span, ascending, at which what a condition looks back at changed, or leaves a window.

    `past`: the instants that are remembered.
    """
    return _changes(_reads(tree, model, values), *span, past)


def _changes(reads: Reads, low: Fraction, high: Fraction, past: Sequence[Fraction]) -> list[Fraction]:
    times: set[Fraction] = set()
    for lag in reads.lags:
        times.update(at + lag for at in (Fraction(0), *past) if low < at + lag < high)
    for period, lag in reads.scrapes:
        first, last = math.floor((low - lag) / period) + 1, math.ceil((high - lag) / period)
        times.update(k * period + lag for k in range(first, last))
    return sorted(times)


def _later_changes(reads: Reads, now: Fraction, past: Sequence[Fraction]) -> Iterator[Fraction]:
    for lag in reads.lags:
        first = bisect.bisect_right(past, now - lag)
        if first < len(past) and lag:
            yield past[first] + lag
    for period, lag in reads.scrapes:
        yield (math.floor((now - lag) / period) + 1) * period + lag


def _expressions(model: Model) -> Iterator[Callable[[], Tree | None]]:
    """Yields what takes each expression of a model and each condition of its promises."""
    yield from (partial(model.outputs.__getitem__, path) for path in model.outputs)
    yield from (take for loop in model.loops for take in loop.expressions())
    yield from _of_no_loop(model)


def _of_no_loop(model: Model) -> Iterator[Callable[[], Tree | None]]:
    """Yields what takes each expression that a run looks at for itself: of its states, and of promises."""
    yield from (partial(getattr, state, name) for state in model.states.values() for name in ("next", "flow"))
    yield from (partial(_condition, state, k) for state in model.states.values() for k in range(2))
    conditions = [p.condition for p in model.promises.values() if p.condition is not None and p.kind != "sends"]
    yield from (partial(getattr, condition, "tree") for condition in conditions)


def _condition(state: State, index: int) -> Tree | None:
    """Returns one of the conditions at which a state switches."""
    trees = state.switch.trees if state.switch is not None else ()
    return trees[index] if index < len(trees) else None


@cached
def trees_of(model: Model) -> Sequence[Tree]:
    """Returns every expression of a model and the conditions of its promises."""
    return [tree for take in _expressions(model) if (tree := take()) is not None]


def parts_of(model: Model, wanted: Callable[[Tree], bool]) -> list[Tree]:
    """Returns the parts of a model's expressions that are so; an expression without any is not read."""
    return [part for take in _expressions(model) for part in answered(partial(_parts, take, wanted))]


def _parts(take: Callable[[], Tree | None], wanted: Callable[[Tree], bool]) -> list[Tree]:
    tree = take()
    return [] if tree is None else [part for part in walk(tree) if wanted(part)]


@cached
def look_backs(model: Model) -> Sequence[tuple[str, Fraction]]:
    """Returns (function, seconds) of every expression that reads the past.  Raises NotExactError."""
    highest: ReadTable[Fraction] = ReadTable()
    for path, constant in model.constants.items():
        highest.put(path, partial(lambda constant: constant.range.high or Fraction(0), constant))
    return [(node.function, duration_of(node, highest)) for node in _calls(model)]


@cached
def longest_streak(model: Model) -> Fraction:
    """Returns the longest h of all `for h`, in seconds."""
    held = parts_of(model, lambda part: isinstance(part, Held))
    return max((part.duration for part in held if isinstance(part, Held)), default=Fraction(0))


@cached
@unnoted()
def refuse_lost_streaks(model: Model) -> None:
    """A `for h` or `previous` counts samples, so it must be looked at in each of them.  Raises NotExactError.

    What stands in a branch, or decides how much a rule or a triggered loop writes, is looked at in some only.
    """
    counting = set[str]()  # outputs that hold one
    for path, tree in model.outputs.items():  # in an order in which they can be computed
        if _counts(tree, counting):
            counting.add(path)
    if any(_counts(tree, counting) for tree in _sometimes(model)):
        raise NotExactError("`for` or `previous` is read at some samples only: move it into a condition of its own")
    if counting or any(_counts(tree, counting) for tree in trees_of(model)):
        for readers in (*(loop.expressions() for loop in model.loops), _of_no_loop(model)):
            _refuse_two_ages(model, [read for take in readers if (read := take()) is not None])


Age = tuple[tuple[str, Tree], ...]  # the functions of the past around an expression, each with its seconds


def _refuse_two_ages(model: Model, readers: Sequence[Tree]) -> None:
    """Raises NotExactError where one reader needs two memories of a `for` or `previous`, or one at unsampled times.

    What counts samples has one memory for each loop: it is the same at every age only where it is read at one.
    """
    ages: dict[Tree, Age] = {}
    seen = set[tuple[Tree, Age]]()
    open_trees: list[tuple[Tree, Age]] = [(tree, ()) for tree in readers]
    while open_trees:
        tree, age = open_trees.pop()
        if (tree, age) in seen:
            continue
        seen.add((tree, age))
        if isinstance(tree, Held) or _is_previous(tree):
            _refuse_age(age, ages.setdefault(tree, age))
        match tree:
            case Name(path=path) if path in model.outputs:
                open_trees.append((model.outputs[path], age))
            case Call(function=function, arguments=(inner, seconds)) if function in LOOK_BACK:
                open_trees.append((inner, (*age, (function, seconds))))
            case _:
                open_trees += [(part, age) for part in children(tree)]


def _refuse_age(age: Age, other: Age) -> None:
    if age != other:
        raise NotExactError("one `for` or `previous` is read at two ages, inside `delayed` and outside of it")
    if any(function != "delayed" for function, _ in age):
        raise NotExactError("`for` or `previous` is read inside a window or `sampled`: put the window inside of it")


def _is_previous(tree: Tree) -> bool:
    return isinstance(tree, Call) and tree.function == "previous"


def _counts(tree: Tree, counting: set[str]) -> bool:
    return any(
        isinstance(node, Held) or _is_previous(node) or (isinstance(node, Name) and node.path in counting)
        for node in walk(tree)
    )


def _sometimes(model: Model) -> Iterator[Tree]:
    for tree in trees_of(model):
        for node in walk(tree):
            if isinstance(node, Choose):
                yield from (node.then, node.otherwise)
    for loop in model.loops:
        yield from (tree for rule in loop.rules for tree in (rule.by, rule.to) if tree is not None)
        if loop.trigger is not None or loop.enter is not None:
            read = (loop.measured, loop.setpoint, loop.ready, loop.by, loop.to)
            yield from (tree for tree in read if tree is not None)


@cached
def durations(model: Model) -> frozenset[str]:
    """Constants that are delays or windows."""
    nodes = (node for call in _calls(model) for node in walk(call.arguments[1]))
    return frozenset(node.path for node in nodes if isinstance(node, Name))


def lookback_of(model: Model, values: Mapping[str, Num]) -> Lookback:
    """Returns what a run with these constants looks back at.  Raises NotExactError."""
    calls = _calls(model)
    seconds = [duration_of(call, values) for call in calls]
    inner = tuple(dict.fromkeys(call.arguments[0] for call in calls if call.function in WINDOWS))
    windows = {tree: _reads(tree, model, values) for tree in inner}
    flows = [_reads(s.flow, model, values) for s in model.states.values() if s.flow is not None]
    conditions = [tree for s in model.states.values() if s.switch is not None for tree in s.switch.trees]
    return Lookback(
        sum(seconds, Fraction(0)) if seconds else None,
        (*inner, *conditions),
        _joined([*flows, *windows.values()]) if flows else _joined([]),
        windows,
        dict(zip(calls, seconds, strict=True)),
        _joined([_reads(tree, model, values) for tree in conditions]),
    )


@cached
def _calls(model: Model) -> Sequence[Call]:
    parts = parts_of(model, lambda part: isinstance(part, Call) and part.function in LOOK_BACK)
    return [part for part in parts if isinstance(part, Call)]


def _joined(reads: Sequence[Reads]) -> Reads:
    return Reads(
        frozenset(lag for r in reads for lag in r.lags), frozenset(scrape for r in reads for scrape in r.scrapes)
    )


def _reads(tree: Tree, model: Model, values: Mapping[str, Num]) -> Reads:
    match tree:
        case Name(path=path):
            output = None if path in values else model.outputs.get(path)
            return Reads(frozenset({Fraction(0)}), frozenset()) if output is None else _reads(output, model, values)
        case Call(function="delayed", arguments=(inner, _)):
            return _later(_reads(inner, model, values), duration_of(tree, values))
        case Call(function=function, arguments=(inner, _)) if function in WINDOWS:
            read = _reads(inner, model, values)
            return _joined([read, _later(read, duration_of(tree, values))])
        case Call(function="sampled"):
            return Reads(frozenset(), frozenset({(duration_of(tree, values), Fraction(0))}))
        case _:
            return _joined([_reads(child, model, values) for child in children(tree)])


def _later(reads: Reads, delay: Fraction) -> Reads:
    return Reads(
        frozenset(lag + delay for lag in reads.lags), frozenset((p, (lag + delay) % p) for p, lag in reads.scrapes)
    )


def duration_of(call: Tree, values: Mapping[str, Num]) -> Fraction:
    """Returns the delay, window or period of a call, in seconds.  Raises NotExactError where it is not constant."""
    assert isinstance(call, Call)
    return _constant(call.arguments[1], values)


def _constant(tree: Tree, values: Mapping[str, Num]) -> Fraction:
    match tree:
        case Number(value=number):
            return number
        case Name(path=path) if path in values:
            known: Fraction = plain(values[path])
            return known
        case Arithmetic(op=op, left=left, right=right) if op in _OPERATORS:
            return Fraction(_OPERATORS[op](_constant(left, values), _constant(right, values)))
    raise NotExactError("a delay or window must be a constant")


_OPERATORS: dict[str, Any] = {
    "+": lambda a, b: a + b, "-": lambda a, b: a - b, "*": lambda a, b: a * b, "/": lambda a, b: a / b,
}  # fmt: skip
