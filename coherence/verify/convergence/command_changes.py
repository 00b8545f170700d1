"""Lists what a loop may give its command at a look, where a look may see whatever was so at some time."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import NamedTuple

from coherence.language.expressions.evaluate import NotExactError
from coherence.language.expressions.tree import Logic, Tree
from coherence.model.laws import CURRENT, READ, READY
from coherence.model.model import Interval, Model, SampledLoop
from coherence.verify.convergence.expression_looks import at_any_look, at_rest
from coherence.verify.facts.ranges import enclosure, hull, point, truth


class LoopTrees(NamedTuple):
    """When a loop acts, and what its law calls READ and READY, with outputs written out."""

    when: Tree | None
    read: Tree | None
    ready: Tree | None


@dataclass(frozen=True)
class CommandChange:
    """A way in which a loop may change its command: `seen` of any look, `still` of looks at what stands still."""

    loop: SampledLoop
    formula: Tree
    seen: LoopTrees
    still: LoopTrees


def changes_of(model: Model, loop: SampledLoop, *, past: bool) -> Iterator[CommandChange]:
    """Yields the ways in which a loop may change its command: one for each rule, in their order."""
    conditions: list[Tree | None] = [rule.when for rule in loop.rules]
    if not loop.rules and loop.enter is not None and loop.leave is not None:
        conditions = [Logic("or", (loop.enter, Logic("not", (loop.leave,))))]
    elif not loop.rules:
        conditions = [loop.trigger]
    for condition, law in zip(conditions, loop.recommendations, strict=True):
        parts = (condition, law.read, law.ready)
        seen = LoopTrees(*(None if tree is None else at_any_look(model, tree, past=past) for tree in parts))
        lasting = loop.enter if loop.enter is not None else condition
        parts = (lasting, law.read, law.ready)
        still = LoopTrees(*(None if tree is None else at_rest(model, tree) for tree in parts))
        yield CommandChange(loop, law.formula, seen, still)


def values_given(
    model: Model, change: CommandChange, values: Mapping[str, Interval], now: Fraction
) -> Iterator[Fraction]:
    """Yields the values that a loop may give its command, which is `now`.  Raises NotExactError where they are not
    finitely many.
    """
    loop, limits = change.loop, model.commands[change.loop.signal].range
    inside = loop.bounds.clip(now)
    if loop.law == "proportional" and inside != now:
        yield limits.clip(inside)
        return
    wanted = recommended(change.formula, change.seen, values, now)
    less = bool(loop.hold_down or loop.hold_up or loop.rates)  # than what the law recommends may be let through
    if less:
        wanted = hull([wanted, point(now)])
    clipped = Interval(*(_clipped(end, loop.bounds, limits) for end in (wanted.low, wanted.high)))
    low = limits.clip(loop.bounds.low) if clipped.low is None and loop.bounds.low is not None else clipped.low
    high = limits.clip(loop.bounds.high) if clipped.high is None and loop.bounds.high is not None else clipped.high
    if low is None or high is None:
        raise NotExactError("a command without a bound")
    if low == high and not less:
        yield low
        return
    if not loop.integer or {end.denominator for end in (low, high, now)} != {1} or not loop.has_whole_rates:
        raise NotExactError("values between whole numbers")
    yield from map(Fraction, range(int(low), int(high) + 1))


def holds_at(trees: LoopTrees, values: Mapping[str, Interval]) -> bool | None:
    """Decides whether a loop acts; None where that is open within the ranges."""
    return True if trees.when is None else truth(trees.when, values)


def recommended(formula: Tree, trees: LoopTrees, values: Mapping[str, Interval], now: Fraction) -> Interval:
    """Returns the interval of what a law recommends."""
    read, ready = (point(0) if tree is None else enclosure(tree, values) for tree in (trees.read, trees.ready))
    return enclosure(formula, {CURRENT.path: point(now), READ.path: read, READY.path: ready})


def _clipped(end: Fraction | None, bounds: Interval, limits: Interval) -> Fraction | None:
    return None if end is None else limits.clip(bounds.clip(end))
