"""Follows the truth of a condition through a run: at its instants, and over the whole time between them.

Between two instants a condition may turn where a flowing state crosses a limit, where what it looks back at was
changed so long ago, and where it has held for as long as `for h` asks.  Each such time is found exactly, in the motion
that goes on just after the last (`FlowView`), so that a span has one truth.  Where sides of a comparison move in a
curve (a product of flows, a mean over one), the span is looked at in some places only and says so.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from coherence.language.expressions.evaluate import evaluate
from coherence.language.expressions.tree import Call, Held, Logic, Tree, names, walk
from coherence.simulate.execute.dual_numbers import Moving, Track, plain_or_float
from coherence.simulate.execute.laws import Memory
from coherence.simulate.execute.lookback import LOOK_BACK, changes_between
from coherence.simulate.execute.motion import FlowView
from coherence.simulate.execute.slices import signals_in
from coherence.simulate.execute.views import View, window_maximum, window_mean

if TYPE_CHECKING:
    from coherence.model.model import Model
    from coherence.simulate.execute.bounded_response import BoundedResponse
    from coherence.simulate.execute.exact import Execution, Instant

Num = Any
PLACES = 16  # at which a span is looked at whose sides move in a curve
ASKS, ANSWERS = 1, 2
HALVINGS = 40  # of the part of such a span in which a condition turns


@dataclass(frozen=True)
class TruthSpan:
    """A time at which a condition is true or not, or where `end` is later, the open span between both.

    `read` gives the value of a signal then (just after `begin`); `whole`: nothing in the span was left out.
    Of a response `holds` is what is true then: ASKS, ANSWERS, both together, or 0.
    """

    begin: Fraction
    end: Fraction
    holds: int
    read: Callable[[str], Num]
    whole: bool = True


class ConditionFollower:
    """Follows one condition through one run.  What it remembers of `for h` is its own: the run goes on as without."""

    def __init__(self, tree: Tree) -> None:
        self.tree, self.memory = tree, Memory()
        self.turns: bool | None = None  # between instants
        self.looks_back: bool | None = None
        self.stood: TruthSpan | None = None

    def _holds(self, view: Any) -> int:
        return bool(evaluate(self.tree, view))

    def at(self, run: Execution, instant: Instant) -> Iterator[TruthSpan]:
        """Yields what there is at an instant: as it was sampled, and after it."""
        for values in (instant.sampled, instant.after)[instant.sampled is instant.after :]:
            self.stood = self._point(run, instant.time, values)
            yield self.stood

    def between(self, run: Execution, end: Fraction) -> Iterator[TruthSpan]:
        """Yields what there is from the last instant of a run to a time before which there is no other."""
        if self.turns is None:
            self.turns = may_turn(run, self.tree)
        if not self.turns:
            if self.stood is not None and run.time < end:
                yield TruthSpan(run.time, end, self.stood.holds, self.stood.read)
            return
        cuts = iter(self._cuts(run, end))
        now, cut = run.time, next(cuts, end)
        while now < end:
            span, stop = self._span(run, now, cut)
            yield from _looked_into(span, lambda time: self._truth(run, time)) if not span.whole else (span,)
            now = stop
            if now < end:
                yield self._point(run, now, run.look(now).sampled)
            if now == cut:
                cut = next(cuts, end)

    def _cuts(self, run: Execution, end: Fraction) -> list[Fraction]:
        """Returns the times until `end` at which what the condition looks back at changed, or leaves a window."""
        if self.looks_back is None:
            self.looks_back = looks_back(run.model, self.tree)
        if not self.looks_back:
            return []
        return changes_between(self.tree, run.model, run.values, (run.time, end), run.history.times())

    def _point(self, run: Execution, time: Fraction, values: Mapping[str, Num]) -> TruthSpan:
        view = View(run, time, dict(values))
        with self._own_memory(run):
            return TruthSpan(time, time, self._holds(view), view.value)

    def _truth(self, run: Execution, time: Fraction) -> int:
        return self._holds(View(run, time, dict(run.look(time).sampled)))

    def _span(self, run: Execution, now: Fraction, limit: Fraction) -> tuple[TruthSpan, Fraction]:
        """Returns the truth just after a time, until it may turn, and that time."""
        track = Track(exact=True)
        values = run.base() if now == run.time else dict(run.look(now).sampled)
        view = JustAfterView(run, now, values, run.course.slopes(0), _Mover(track))
        with self._own_memory(run):
            holds = self._holds(view)
        stop = limit if track.turns is None else min(limit, now + Fraction(plain_or_float(track.turns)))
        whole = not track.curved
        return TruthSpan(now, stop if whole else limit, holds, view.shown, whole), stop if whole else limit

    @contextmanager
    def _own_memory(self, run: Execution) -> Iterator[None]:
        of_run = run.watch, run.sums
        run.watch, run.sums = self.memory, {}
        try:
            yield
        finally:
            run.watch, run.sums = of_run


def may_turn(run: Execution, tree: Tree) -> bool:
    """Decides whether a condition may turn between instants.  One that reads `previous` counts samples alone."""
    trees = _with_outputs(run.model, tree)
    if counts_samples(run.model, tree):
        return False
    flows = any(path in run.flowing for one in trees for path in names(one))
    return flows or remembers(run.model, tree)


def counts_samples(model: Model, tree: Tree) -> bool:
    """Decides whether a condition reads the sample before."""
    return "previous" in _functions(_with_outputs(model, tree))


def remembers(model: Model, tree: Tree) -> bool:
    """Decides whether a condition hangs on what was before."""
    trees = _with_outputs(model, tree)
    held = any(isinstance(node, Held) for one in trees for node in walk(one))
    return held or looks_back(model, tree)


def looks_back(model: Model, tree: Tree) -> bool:
    """Decides whether a condition reads values of the past."""
    return bool(_functions(_with_outputs(model, tree)) & {*LOOK_BACK})


def _functions(trees: Iterable[Tree]) -> set[str]:
    return {node.function for one in trees for node in walk(one) if isinstance(node, Call)}


def _with_outputs(model: Model, tree: Tree) -> list[Tree]:
    """Returns a condition, and the expressions of the outputs that it reads."""
    return [tree, *(model.outputs[path] for path in signals_in(model, tree) if path in model.outputs)]


class _Mover:
    """Makes moving numbers of one track."""

    def __init__(self, track: Track) -> None:
        self.track = track

    def __call__(self, value: Num, slope: Num) -> Moving:
        return Moving(value, slope, self.track)


class JustAfterView(FlowView):
    """What a condition reads just after a time, with windows and streaks, in numbers that tell when they turn."""

    __slots__ = ()

    def shown(self, path: str) -> Num:
        """Returns the value of a signal, as a number that does not move."""
        value = self.value(path)
        return value.value if isinstance(value, Moving) else value

    @property
    def track(self) -> Track:
        assert isinstance(self.wrap, _Mover)
        return self.wrap.track

    def mean_over(self, tree: Tree, window: Fraction) -> Num:
        """Returns the mean, which moves with what enters the window and what leaves it."""
        enters = evaluate(tree, self)
        if not window:
            return enters
        leaves = self.delayed(tree, window)
        mean = window_mean(View(self.run, self.time, dict(self.values)), tree, window)
        curved = _moves(enters) or _moves(leaves)
        return Moving(mean, (_still(enters) - _still(leaves)) / window, self.track, curved=curved)

    def max_over(self, tree: Tree, window: Fraction) -> Num:
        """Returns the largest value, which stays until the window is cut anew, where nothing in it flows."""
        most = window_maximum(View(self.run, self.time, dict(self.values)), tree, window)
        flows = any(path in self.run.flowing for path in signals_in(self.run.model, tree))
        return Moving(most, 0, self.track, curved=flows)

    def held(self, condition: Tree, duration: Fraction) -> bool:
        """Decides whether a condition has held for a time; it will, unless it turns before."""
        holds = bool(evaluate(condition, self))
        long_enough = bool(self.run.watch.held(condition, holds, self.time, duration))
        if holds and not long_enough:
            self.track.turn(self.run.watch.since[condition] + duration - self.time)
        return long_enough


def _moves(number: Num) -> bool:
    return isinstance(number, Moving) and bool(plain_or_float(number.slope) or number.curved)


def _still(number: Num) -> Num:
    return number.value if isinstance(number, Moving) else number


def _looked_into(span: TruthSpan, truth: Callable[[Fraction], int]) -> Iterator[TruthSpan]:
    """Yields parts of a span by what is true at some places of it."""
    length = (span.end - span.begin) / (PLACES + 1)
    now, holds = span.begin, span.holds
    for place in (span.begin + k * length for k in range(1, PLACES + 1)):
        then = truth(place)
        if then == holds:
            continue
        low, high = place - length, place
        for _ in range(HALVINGS):
            middle = (low + high) / 2
            low, high = (middle, high) if truth(middle) == holds else (low, middle)
        turned = Fraction(float(high))
        yield TruthSpan(now, turned, holds, span.read, whole=False)
        now, holds = turned, then
    yield TruthSpan(now, span.end, holds, span.read, whole=False)


class ResponseFollower(ConditionFollower):
    """Follows both sides of `after a then b within t`, and since when an answer is due."""

    def __init__(self, response: BoundedResponse) -> None:
        super().__init__(Logic("or", response.trees))
        self.response = response
        self.due: TruthSpan | None = None  # the first for which an answer is still due

    def _holds(self, view: Any) -> int:
        asks, answers = (bool(evaluate(tree, view)) for tree in self.response.trees)
        return ASKS * asks + ANSWERS * answers

    def late(self, span: TruthSpan, begins: Fraction) -> TruthSpan | None:
        """Returns for which span an answer did not come in time by the end of another.

        Both ends of the time count, so that what holds just after the last moment answers only what asks just after.
        """
        due, answers = self.due, span.holds & ANSWERS
        if due is None and span.holds & ASKS:
            due = self.due = replace(span, begin=max(span.begin, begins))
        if due is None:
            return None
        last = due.begin + self.response.within
        in_time = span.begin < last or (span.begin == last and (span.begin == span.end or due.begin < due.end))
        if answers and in_time:
            self.due = None
            return None
        return due if span.end > last or (answers and not in_time) else None

    def ends_late(self, time: Fraction) -> bool:
        """Decides whether an answer was due at the end of a run, after all that is seen of it."""
        due = self.due
        return due is not None and due.begin == due.end and due.begin + self.response.within <= time
