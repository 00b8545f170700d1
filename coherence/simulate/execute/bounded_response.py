"""Measures how long a run leaves one condition unanswered by another: `after a then b within t`.

At every observation at which `a` holds, `b` must hold then or at a later one, at most t later (both ends count).
The oldest of the times that still wait decides.  A wait that the end of a lap finds goes on in the next lap.
SOURCE: bounded response of metric temporal logic, G(a -> F[0,t] b); Koymans, Real-Time Systems 2 (1990).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction

from coherence.language.expressions.tree import Name, Tree, rename
from coherence.language.schema_kinds import Formula
from coherence.language.sentences import Event, Promise
from coherence.model.model import Model
from coherence.simulate.execute.exact import Execution, Instant
from coherence.simulate.execute.orbits import looked_at


@dataclass(frozen=True)
class BoundedResponse:
    """After each time at which `first` holds, `then` holds within so many seconds."""

    first: Tree
    then: Tree
    within: Fraction

    @property
    def trees(self) -> tuple[Tree, Tree]:
        return self.first, self.then


@dataclass(frozen=True)
class ResponseSample:
    """One observation: when, and which of the two conditions held."""

    time: Fraction
    first: bool
    then: bool


@dataclass(frozen=True)
class Wait:
    """From when on an answer was due, and when it came (None: not within the time)."""

    since: Fraction
    served: Fraction | None


def observed(run: Execution, instant: Instant, response: BoundedResponse) -> tuple[ResponseSample, ResponseSample]:
    """The two conditions as sampled and after an instant that was just executed; before the first they were alike."""
    first, then = (looked_at(run, instant, tree) for tree in response.trees)
    begin = Fraction(0) if run.count == 1 else instant.time
    return ResponseSample(begin, bool(first[0]), bool(then[0])), ResponseSample(
        instant.time, bool(first[1]), bool(then[1])
    )


class Waiting:
    """What still waits, observation by observation.

    Nothing changes between observations: an answer that has not come by the next is not there before it.
    """

    def __init__(self, within: Fraction) -> None:
        self.within = within
        self.since: Fraction | None = None

    def late(self, time: Fraction) -> bool:
        """Is the time over before the next observation, at `time`?"""
        return self.since is not None and time - self.since > self.within

    def see(self, seen: ResponseSample) -> Wait | None:
        """Returns the wait that ends with this observation, if one does."""
        since = self.since
        if seen.then:
            self.since = None
            return None if since is None else Wait(since, seen.time)
        if since is None and seen.first:
            self.since = seen.time
        return None


def waits(seen: Sequence[ResponseSample], lap: int, period: Fraction, within: Fraction) -> Iterator[Wait]:
    """Yields every wait of a run that recurs: observations, of which those from number `lap` on come again each period.

    Ends after the first that is not answered in time.
    """
    waiting, shift, start = Waiting(within), Fraction(0), 0
    met: set[Fraction | None] = set()
    while True:
        for sample in seen[start:]:
            now = ResponseSample(sample.time + shift, sample.first, sample.then)
            if waiting.late(now.time):
                assert waiting.since is not None
                yield Wait(waiting.since, None)
                return
            ended = waiting.see(now)
            if ended is not None:
                yield ended
        shift, start = shift + period, lap
        age = None if waiting.since is None else seen[-1].time + shift - period - waiting.since
        if age in met:
            return
        met.add(age)


def conditions_of(model: Model, promise: Promise) -> BoundedResponse | str | None:
    """Returns what a response says of a model; what it lacks, in words; or None where it is about events alone."""
    sides = ((promise.after, promise.first), (promise.then, promise.second))
    trees = [_side(model, formula, event) for formula, event in sides]
    if all(tree is None for tree in trees) or promise.within is None:
        return None
    formulas = any(formula is not None for formula, _ in sides)
    if not formulas and None in trees:
        return None
    for tree, (_, event) in zip(trees, sides, strict=True):
        if tree is None and event is not None:
            return f"what '{event.text}' means for states: it is an event, not a condition"
    first, then = (tree for tree in trees if tree is not None)
    return BoundedResponse(first, then, promise.within.low)


def _side(model: Model, formula: Formula | None, event: Event | None) -> Tree | None:
    if formula is not None:
        return rename(formula.tree, model.resolve)
    loop = next(
        (x for x in model.loops if event is not None and event.kind == "outside" and x.name == event.text), None
    )
    if loop is None or (loop.trigger is None and loop.enter is None and not loop.rules):
        return None
    return Name(loop.name)
