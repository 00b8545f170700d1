"""Direction in which the law of a loop moves its command when what it reads rises."""

from __future__ import annotations

from collections.abc import Mapping

from coherence.language.expressions.tree import Call, Name, Tree
from coherence.model.model import Interval, Model, SampledLoop
from coherence.verify.facts.ranges import PAST
from coherence.verify.facts.signs import NONE, UP, ranges_of, scaled, sign


def law_sign(loop: SampledLoop, model: Model) -> int:
    """Directions in which the command is moved when the reading rises; NONE where that cannot be told."""
    if loop.law == "proportional":
        low = loop.bounds.low
        rises = loop.ready is None or loop.idle  # of a `value` the ready ones alone are multiplied, which may be less
        return UP if low is not None and low >= 0 and rises else NONE
    read = _single(loop.measured)
    if loop.law not in ("step", "rules") or read is None:
        return NONE
    ranges, direction = ranges_of(model), NONE
    moves = [(loop.trigger or loop.enter, loop.by), *((rule.when, rule.by) for rule in loop.rules if rule.to is None)]
    for condition, by in moves:
        direction |= _moved(condition, by, {read: UP}, ranges)
    return direction


def _single(tree: Tree | None) -> str | None:
    """Returns the one name that a reading is, through its sensors."""
    while isinstance(tree, Call) and tree.function in PAST:
        tree = tree.arguments[0]
    return tree.path if isinstance(tree, Name) else None


def _moved(condition: Tree | None, by: Tree | None, signs: Mapping[str, int], ranges: Mapping[str, Interval]) -> int:
    return scaled(sign(condition, signs, ranges), by, ranges) if condition is not None and by is not None else NONE
