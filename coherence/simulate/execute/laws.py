"""Decides what one loop does at one sample: triggers, rules and laws (model.md rules 4 and 6)."""

from __future__ import annotations

import bisect
import math
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any, Protocol

from coherence.language.expressions.evaluate import Environment, evaluate
from coherence.language.expressions.tree import Choose, Tree
from coherence.model.laws import Recommendation, near_whole, recommended
from coherence.model.model import RateLimit, SampledLoop
from coherence.simulate.execute.affine import Affine, plain
from coherence.simulate.execute.history import frozen

Num = Any


class LoopView(Environment, Protocol):
    """What a loop sees: an evaluation environment with a clock."""

    time: Fraction


@dataclass(slots=True)
class Memory:
    """What a loop remembers: recommendations, its own changes, its last one, streaks of conditions, earlier values."""

    recommendations: list[tuple[Fraction, Num]] = field(default_factory=list)
    changes: list[tuple[Fraction, Num]] = field(default_factory=list)
    changed: Fraction | None = None
    done: bool = False
    since: dict[Tree, Fraction | None] = field(default_factory=dict)
    earlier: dict[Tree, tuple[Fraction, Num, Num]] = field(default_factory=dict)

    def held(self, condition: Tree, now: bool, time: Fraction, duration: Fraction) -> bool:
        """Decides whether the time since the first of the true samples in a row is at least the duration."""
        if not now:
            self.since[condition] = None
            return False
        start = self.since.get(condition)
        if start is None:
            start = self.since[condition] = time
        return time - start >= duration

    def previous_of(self, tree: Tree, value: Num, time: Fraction) -> Num:
        """The value at the sample before; at the first sample the value itself."""
        at, before, current = self.earlier.get(tree, (time, value, value))
        if at != time:
            before, current = current, value
        self.earlier[tree] = (time, before, current)
        return before

    def remember_change(self, time: Fraction, change: Num, window: Fraction) -> None:
        """Adds an own change, and forgets those before the longest window of a rate limit."""
        begin = bisect.bisect_right(self.changes, time - window, key=lambda own: own[0])
        self.changes = [*self.changes[begin:], (time, change)]

    def recommend(self, time: Fraction, wanted: Num, reach: Fraction) -> None:
        """Adds a recommendation, and forgets those before a reach.

        Of equal ones in a row the last stands for all, but for affine numbers, which differ by their derivatives.
        """
        before = self.recommendations
        if before and not isinstance(wanted, Affine) and before[-1][1] == wanted:
            before = before[:-1]
        self.recommendations = [*_since(before, time - reach), (time, wanted)]

    def copy(self) -> Memory:
        return Memory(
            list(self.recommendations),
            list(self.changes),
            self.changed,
            self.done,
            dict(self.since),
            dict(self.earlier),
        )

    def streaks(self, time: Fraction, longest: Fraction) -> tuple[Any, ...]:
        """Ages of conditions, cut at the longest that anything asks for, and values of the sample before."""
        held = tuple(None if at is None else min(time - at, longest) for at in self.since.values())
        return held, tuple(plain(current) for _, _, current in self.earlier.values())

    def relative(self, time: Fraction, loop: SampledLoop, longest: Fraction) -> tuple[Any, ...]:
        """Everything relative to now, for the comparison of configurations; ages beyond their use are cut."""
        reach = max(loop.hold_down, loop.hold_up)
        oldest = time - reach
        wanted = [number for at, v in self.recommendations if at >= oldest for number in (time - at, v)]
        oldest = time - max((rate.per for rate in loop.rates), default=Fraction(0))
        changes = [number for at, v in self.changes if at > oldest and plain(v) for number in (time - at, v)]
        quiet = (
            None
            if self.changed is None or loop.cooldown is None
            else min(time - self.changed, loop.cooldown + loop.period)
        )
        return (
            frozen(wanted),
            frozen(changes),
            quiet,
            self.done,
            self.streaks(time, longest),
        )


@dataclass(frozen=True)
class Decision:
    """The loop's mode after this sample, the value it writes (None: nothing), and the rule that applied."""

    mode: bool
    value: Num | None
    rule: str


def decide(loop: SampledLoop, view: LoopView, memory: Memory, mode: bool, commanded: Num, landed: Num) -> Decision:
    """One sample of one loop."""
    mode = _triggered(loop, view, mode)
    if loop.rules:
        return _first_rule(loop, view, memory, commanded)
    if not mode or loop.law == "none":
        return Decision(mode, None, "on" if mode else "rest")
    if loop.mode == "once" and memory.done:
        return Decision(mode, None, "done")
    memory.done = True
    wanted, rule = _recommended(loop, view, landed if loop.counts_landed else commanded)
    return _limited(loop, view, memory, wanted, commanded, rule, mode)


def _triggered(loop: SampledLoop, view: LoopView, mode: bool) -> bool:
    if loop.enter is not None and loop.leave is not None:
        enter, leave = bool(evaluate(loop.enter, view)), bool(evaluate(loop.leave, view))
        return enter or (mode and not leave)
    return True if loop.trigger is None else bool(evaluate(loop.trigger, view))


def _first_rule(loop: SampledLoop, view: LoopView, memory: Memory, commanded: Num) -> Decision:
    # every condition is evaluated at every sample, so that `for h` streaks are kept
    true = [index for index, rule in enumerate(loop.rules) if bool(evaluate(rule.when, view))]
    if not true:
        return Decision(False, None, "rest")
    wanted = _value(loop.recommendations[true[0]], view, commanded)
    return _limited(loop, view, memory, wanted, commanded, f"rule {true[0] + 1}", True)


def _recommended(loop: SampledLoop, view: LoopView, current: Num) -> tuple[Num, str]:
    """What the law recommends, and which of its branches it takes."""
    recommendation = loop.recommendations[0]
    if not isinstance(recommendation.formula, Choose):
        return _value(recommendation, view, current), "set" if loop.to is not None else "step"
    numbers = (current, *_read(recommendation, view))
    if recommended(recommendation.formula.condition, *numbers):
        return recommended(recommendation.formula.then, *numbers), "scaled"
    return recommended(recommendation.formula.otherwise, *numbers), "tolerated"


def _value(made: Recommendation, view: LoopView, current: Num) -> Num:
    return recommended(made.formula, current, *_read(made, view))


def _read(recommendation: Recommendation, view: LoopView) -> tuple[Num, ...]:
    """Returns the values of READ and READY; 0 of what the formula does not name."""
    trees = (recommendation.read, recommendation.ready)
    return tuple(0 if tree is None else evaluate(tree, view) for tree in trees)


def _limited(
    loop: SampledLoop, view: LoopView, memory: Memory, wanted: Num, commanded: Num, rule: str, mode: bool
) -> Decision:
    """Hold windows, then rate limits, then bounds, then cooldown.

    Where a proportional law finds the command outside its bounds, it recommends nothing and moves it to the bound.
    """
    time, inside = view.time, _clip(commanded, loop)
    if inside != commanded and loop.law == "proportional":
        value, rule = inside, "moved to bound"
    else:
        if loop.hold_down or loop.hold_up:
            wanted, rule = _held(loop, memory, wanted, commanded, time, rule)
        if loop.rates:
            wanted = _rate_limited(loop, memory, wanted, commanded, time)
        value = _clip(wanted, loop)
        rule = "moved to bound" if inside != commanded else rule if value == wanted else f"{rule} at bound"
    if (
        loop.cooldown is not None
        and memory.changed is not None
        and time - memory.changed <= loop.cooldown
        and value != commanded
    ):
        return Decision(mode, None, "cooling")
    if loop.rates:
        memory.remember_change(time, value - commanded, max(rate.per for rate in loop.rates))
    return Decision(mode, value, rule)


def _clip(value: Num, loop: SampledLoop) -> Num:
    low, high = loop.bounds.low, loop.bounds.high
    edge = low if low is not None and value < low else high if high is not None and value > high else None
    if edge is None:
        return value
    return Affine(edge) if isinstance(value, Affine) else edge


def _held(loop: SampledLoop, memory: Memory, wanted: Num, commanded: Num, time: Fraction, rule: str) -> tuple[Num, str]:
    memory.recommend(time, wanted, max(loop.hold_down, loop.hold_up))
    if wanted < commanded and loop.hold_down:
        highest = max(v for _, v in _since(memory.recommendations, time - loop.hold_down))
        held = min(highest, commanded)
    elif wanted > commanded and loop.hold_up:
        lowest = min(v for _, v in _since(memory.recommendations, time - loop.hold_up))
        held = max(lowest, commanded)
    else:
        return wanted, rule
    return held, rule if held == wanted else rule + " held"


def _since(entries: list[tuple[Fraction, Num]], time: Fraction) -> list[tuple[Fraction, Num]]:
    """Returns the entries from a time on, of entries in the order of time."""
    return entries[bisect.bisect_left(entries, time, key=lambda entry: entry[0]) :]


def _rate_limited(loop: SampledLoop, memory: Memory, wanted: Num, commanded: Num, time: Fraction) -> Num:
    rising = wanted > commanded
    limits = [r for r in loop.rates if (r.up if rising else r.down)]
    if not limits or wanted == commanded:
        return wanted
    edges = [commanded, *(_edge(rate, memory, commanded, time, rising, loop.integer) for rate in limits)]
    return min(wanted, max(edges)) if rising else max(wanted, min(edges))


def _edge(rate: RateLimit, memory: Memory, commanded: Num, time: Fraction, rising: bool, integer: bool) -> Num:
    """The farthest value that one rate limit allows: from the command less the loop's own changes since `per` ago.

    A write of another loop is no change of this one, and counts as if it had been there before.
    """
    start = commanded - sum(change for at, change in memory.changes if at > time - rate.per)
    change = rate.by if rate.by is not None else Fraction(0)
    edge = start + change if rising else start - change
    if rate.percent is not None:
        scaled = start * (1 + rate.percent if rising else 1 - rate.percent)
        scaled = near_whole(math.ceil if rising else math.floor, scaled) if integer else scaled
        edge = max(edge, scaled) if rising else min(edge, scaled)
    return edge
