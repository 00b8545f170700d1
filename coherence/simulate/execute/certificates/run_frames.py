"""Computes what an expression reads in a run, as formulas: at one time, or while states flow in a straight line.

A `Frame` is the world at a time; `span` > 0 makes it a piece of a run in which `CLOCK` (0 < clock < span seconds)
moves states at constant rates.  `Frames.ground` puts numbers for names, what was then for what an expression
reads of the past, and sums over pieces for means; what that uses is kept as claims of its own.
"""

from __future__ import annotations

import bisect
import itertools
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import Any

from coherence.language.expressions.evaluate import NotExactError, evaluate
from coherence.language.expressions.lower_smt import lower_smt, real
from coherence.language.expressions.tree import (
    Arithmetic,
    Call,
    Choose,
    Compare,
    Held,
    Logic,
    Name,
    Number,
    Tree,
    Truth,
    rename,
    walk,
)
from coherence.simulate.execute.affine import plain
from coherence.simulate.execute.exact import Execution, Instant
from coherence.simulate.execute.lookback import duration_of

CLOCK = "clock!"
MOST_WORK = 100_000  # nodes of expressions, over one certificate: a second or two
Values = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Frame:
    """What is read: at `time`, or over the `span` seconds after it, by the loop `owner` (empty: by a step).

    `past`: it is not the sample of that loop that is taken now, so it keeps no streak of it.
    """

    time: Fraction
    values: Values
    owner: str = ""
    rates: Mapping[str, Fraction] = field(default_factory=dict)
    span: Fraction = Fraction(0)
    past: bool = False


class _Numbers:
    """An environment without names: every name has become a number."""

    time = Fraction(0)

    def value(self, path: str) -> Any:
        raise NotExactError(f"{path} is open")


def number_of(tree: Tree) -> Any:
    """Returns the value of a formula without names.  Raises NotExactError."""
    found = evaluate(tree, _Numbers())  # type: ignore[arg-type]
    return found if isinstance(found, bool) else Fraction(plain(found))


def leaf(value: Any) -> Tree:
    """Returns a number or truth as a tree."""
    return Truth(value) if isinstance(value, bool) else Number(Fraction(plain(value)))


def literal(value: Any) -> str:
    """Returns a number or truth as a term."""
    return ("true" if value else "false") if isinstance(value, bool) else real(Fraction(plain(value)))


def equal(tree: Tree, value: Any) -> str:
    """Returns the claim that a formula has a value."""
    return f"(= {lower_smt(tree)} {literal(value)})"


def while_moving(span: Fraction, claim: str) -> str:
    """Returns a claim for every time of a span, its ends left out."""
    return f"(=> (and (< 0.0 |{CLOCK}|) (< |{CLOCK}| {real(span)})) {claim})"


class RunFrames:
    """The instants of one run so far, and formulas over their numbers.

    `claims`: what was used of each formula, to be confirmed with the rest.
    """

    def __init__(self, execution: Execution, instants: Sequence[Instant]) -> None:
        self.execution, self.origin = execution, execution.base()
        self.instants, self.times = instants, [i.time for i in instants]
        self.flowing = tuple(execution.flowing)
        self.rates = [self._rates(a, b) for a, b in itertools.pairwise(instants)]
        self.count = 0  # instants before the present one
        self.work = 0  # nodes of expressions so far
        self.claims: list[str] = []
        self.truths: dict[tuple[str, Tree], list[tuple[Fraction, bool]]] = {}
        self.earlier: dict[tuple[str, Tree], list[tuple[Fraction, Any]]] = {}

    def _rates(self, instant: Instant, next_: Instant) -> dict[str, Fraction]:
        length = next_.time - instant.time
        moved = {p: plain(next_.sampled[p]) - plain(instant.after[p]) for p in self.flowing}
        if not length:
            return dict.fromkeys(moved, Fraction(0))
        return {path: by / length for path, by in moved.items()}

    # -- the world at other times ------------------------------------------------------------------

    def _entry(self, time: Fraction) -> int | None:
        index = bisect.bisect_right(self.times, time, 0, self.count) - 1
        return index if index >= 0 and time >= 0 else None

    def then(self, frame: Frame, time: Fraction) -> Frame:
        """Returns what was sampled at an earlier time, or what was left by the instant before it."""
        index = self._entry(time)
        if index is None:
            return Frame(time, self.origin, frame.owner, past=True)
        instant = self.instants[index]
        since = time - instant.time
        if not since:
            return Frame(time, instant.sampled, frame.owner, past=True)
        values = dict(instant.after)
        if self.flowing:
            values |= {p: plain(values[p]) + rate * since for p, rate in self._known(index).items()}
        return Frame(time, values, frame.owner, past=True)

    def _known(self, index: int) -> dict[str, Fraction]:
        if index >= len(self.rates):
            raise NotExactError("the motion after the last instant")
        return self.rates[index]

    def along(self, low: Fraction, high: Fraction, owner: str = "", *, count: int | None = None) -> Frame:
        """Returns the piece of the run between two times, which no instant cuts."""
        if low < 0:
            if high > 0:
                raise NotExactError("a piece that the beginning of the run cuts")
            return Frame(low, self.origin, owner, span=high - low, past=True)
        last = self.count if count is None else count
        index = bisect.bisect_right(self.times, low, 0, last) - 1
        if index < 0:
            return Frame(low, self.origin, owner, span=high - low, past=True)
        if index + 1 < len(self.times) and self.times[index + 1] < high:
            raise NotExactError("a piece that an instant cuts")
        instant, rates = self.instants[index], self._known(index) if self.flowing else {}
        since = low - instant.time
        values = {**instant.after, **{p: plain(instant.after[p]) + r * since for p, r in rates.items()}}
        return Frame(low, values, owner, rates, high - low, past=True)

    # -- formulas --------------------------------------------------------------------------------------

    def settled(self, tree: Tree, frame: Frame) -> Any:
        """Returns the value of an expression; that its formula has it is claimed."""
        return self.claimed(self.ground(tree, frame))

    def claimed(self, formula: Tree) -> Any:
        """Returns the value of a formula without names; that it has it is claimed."""
        value = number_of(formula)
        if not isinstance(formula, Number | Truth):
            self.claims.append(equal(formula, value))
        return value

    def ground(self, tree: Tree, frame: Frame) -> Tree:
        """Returns the expression with numbers for names.  Raises NotExactError."""
        self.work += 1
        if self.work > MOST_WORK:
            raise NotExactError("more arithmetic than is written down")
        match tree:
            case Name(path=path) if path in frame.values:
                return _moving(frame, path)
            case Name(path=path):
                return self.ground(self.execution.output(path), frame)
            case Held(condition=condition, duration=duration):
                return self._held(condition, duration, frame)
            case Call(function="previous", arguments=(inner,)):
                return self._previous(inner, frame)
            case Call(function="delayed" | "sampled", arguments=(inner, _)):
                return self._looked_back(tree, inner, frame)
            case Call(function="mean_over" | "max_over", arguments=(inner, _)):
                return self._window(tree, inner, frame)
            case Call(function=function, arguments=arguments):
                return Call(function, tuple(self.ground(a, frame) for a in arguments))
            case Arithmetic(op=op, left=left, right=right):
                return Arithmetic(op, self.ground(left, frame), self.ground(right, frame))
            case Compare(op=op, left=left, right=right):
                return Compare(op, self.ground(left, frame), self.ground(right, frame))
            case Logic(op=op, terms=terms):
                return Logic(op, tuple(self.ground(t, frame) for t in terms))
            case Choose(condition=condition, then=then, otherwise=otherwise):
                parts = [self.ground(part, frame) for part in (condition, then, otherwise)]
                return Choose(parts[0], parts[1], parts[2])
        return tree

    def _looked_back(self, tree: Call, inner: Tree, frame: Frame) -> Tree:
        seconds = duration_of(tree, self.origin)
        if tree.function == "sampled" and seconds:
            scraped = math.floor(frame.time / seconds) * seconds
            if frame.span and frame.time + frame.span > scraped + seconds:
                raise NotExactError("a piece that a scrape cuts")
            if scraped < frame.time or frame.span or frame.past:
                return self.ground(inner, self.then(frame, scraped))
            return self.ground(inner, replace(frame, values=self.instants[self.count].sampled))
        if not seconds:
            return self.ground(inner, frame)
        if frame.span:
            low = frame.time - seconds
            return self.ground(inner, self.along(low, low + frame.span, frame.owner))
        return self.ground(inner, self.then(frame, frame.time - seconds))

    def _held(self, condition: Tree, duration: Fraction, frame: Frame) -> Tree:
        """Returns True at every sample since one that is at least `duration` old."""
        log = self._logged(self.truths, condition, frame)
        first = next((k for k in reversed(range(len(log))) if log[k][0] <= frame.time - duration), None)
        return Truth(False) if first is None else Logic("and", tuple(Truth(truth) for _, truth in log[first:]))

    def _previous(self, inner: Tree, frame: Frame) -> Tree:
        log = self._logged(self.earlier, inner, frame)
        return leaf(next((value for at, value in reversed(log) if at < frame.time), log[0][1]))

    def _logged(self, logs: dict[tuple[str, Tree], list[Any]], tree: Tree, frame: Frame) -> list[Any]:
        if frame.past or frame.span:
            raise NotExactError("a streak or an earlier sample, looked at later")
        log = logs.setdefault((frame.owner, tree), [])
        log.append((frame.time, self.settled(tree, frame)))
        return log

    # -- windows ---------------------------------------------------------------------------------------

    def _window(self, tree: Call, inner: Tree, frame: Frame) -> Tree:
        """Returns a mean or maximum over the pieces of the run in which what is looked at moves in a straight line."""
        seconds = duration_of(tree, self.origin)
        if frame.span:
            raise NotExactError("a window in a flow")
        if _windows(inner, self.execution):
            raise NotExactError("a window of a window")
        if not seconds:
            return self.ground(inner, frame)
        low = frame.time - seconds
        self.work += self.count // 4  # instants that are looked at for cuts
        cuts = self.execution.lookback.cuts(inner, low, frame.time, self.times[: self.count])
        pieces = [(a, b, self._level(inner, a, b, frame)) for a, b in itertools.pairwise([low, *cuts, frame.time])]
        if tree.function == "max_over":
            return Call("max", (*(end for *_, ends in pieces for end in ends), self.ground(inner, frame)))
        total: Tree = Number(Fraction(0))
        for a, b, ends in pieces:
            total = Arithmetic("+", total, Arithmetic("*", Number((b - a) / len(ends)), _sum(ends)))
        return Arithmetic("/", total, Number(seconds))

    def _level(self, inner: Tree, low: Fraction, high: Fraction, frame: Frame) -> tuple[Tree, ...]:
        """Returns the level of a piece, or its two ends."""
        if not self.flowing or low < 0:
            return (self.ground(inner, self.then(frame, (low + high) / 2)),)
        piece = self.along(low, high, frame.owner)
        moving = self.ground(inner, piece)
        third = (high - low) / 3
        first, second = number_of(_at(moving, third)), number_of(_at(moving, 2 * third))
        start, slope = 2 * first - second, (second - first) / third
        line = f"(+ {real(start)} (* {real(slope)} |{CLOCK}|))"
        self.claims.append(while_moving(high - low, f"(= {lower_smt(moving)} {line})"))
        return leaf(start), leaf(start + slope * (high - low))


def _moving(frame: Frame, path: str) -> Tree:
    value, rate = frame.values[path], frame.rates.get(path)
    if not frame.span or not rate:
        return leaf(value)
    return Arithmetic("+", leaf(value), Arithmetic("*", Number(rate), Name(CLOCK)))


def _at(tree: Tree, seconds: Fraction) -> Tree:
    return rename(tree, lambda path: Number(seconds) if path == CLOCK else path)


def _sum(terms: tuple[Tree, ...]) -> Tree:
    made = terms[0]
    for term in terms[1:]:
        made = Arithmetic("+", made, term)
    return made


def _windows(tree: Tree, execution: Execution) -> bool:
    """Does the expression, or an output that it reads, look at a window of its own?"""
    for node in walk(tree):
        if isinstance(node, Call) and node.function in ("mean_over", "max_over"):
            return True
        inner = execution.model.outputs.get(node.path) if isinstance(node, Name) else None
        if inner is not None and _windows(inner, execution):
            return True
    return False
