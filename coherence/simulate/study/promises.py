"""Judges the promises of a design in its runs: conditions at every instant, figures by their intervals.

A run that breaks `always` or `never` is a witness, and names its seed and time.  That no run breaks them is no proof:
the promise held in these runs.  An exact run that is known to repeat for ever also breaks what is to come to be, or to
hold in the end.  A figure (a percentile, a mean, a share) breaks a promise where its whole interval does, and keeps it
where its whole interval does; else the runs cannot tell.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING

from coherence.base.number_text import render_measured, render_seconds
from coherence.language.expressions import names as names_in
from coherence.language.expressions.evaluate import NotExactError
from coherence.language.expressions.tree import Tree, rename
from coherence.language.schema_kinds import Formula
from coherence.language.sentences import Promise
from coherence.model.model import Model, unit_of
from coherence.simulate.execute.affine import plain
from coherence.simulate.execute.bounded_response import BoundedResponse, conditions_of
from coherence.simulate.execute.instants import MissingValueError
from coherence.simulate.execute.slices import influences, signals_in
from coherence.simulate.study.answers_in_time import ArrivalLooks, answer_promise, first_late
from coherence.simulate.study.readings import unit_text
from coherence.simulate.study.repeated_runs import JudgedPromise, PromiseVerdict, StudyReading
from coherence.simulate.study.thresholds import FigureLimit, judged_threshold, threshold_of
from coherence.simulate.study.truth_spans import ASKS, ConditionFollower, ResponseFollower, TruthSpan, remembers

if TYPE_CHECKING:
    from coherence.language.design import Design
    from coherence.simulate.execute.exact import Execution
    from coherence.simulate.execute.instants import Instant
    from coherence.simulate.requests.engine import RequestResult
    from coherence.simulate.requests.program import Program

CONDITIONS = ("always", "never", "eventually", "eventually_always")
UNITS = {"wait": "s", "arrivals": "/s", "served": "/s", "attempts": "/s"}  # of what is measured; others are counts
IN_A_CURVE = (
    "what it compares moves in a curve, and was looked at in some places only: state it in steps, or ask "
    "`coherence check`"
)
ONE_VALUE = ", with one value of each thing that is open"
AHEAD = 1  # s, the most between two instants of a run of requests
RATES = ", with rates of requests as they are measured once a second"
LAST = Fraction(1, 10)  # of a run: where what is to hold for ever has to hold
NOT_RUN = {
    "response": "what ties two events together is decided by `coherence check`; a run judges conditions and figures",
    "before": "the order of two events is decided by `coherence check`",
    "sends": "the most sends that one call can cause are decided by `coherence check`",
}


@dataclass
class ConditionNotes:
    """What the runs have shown of one condition: where it was first broken, and in how many runs it came to hold."""

    broken: tuple[int | None, Fraction] | None = None
    values: str = ""  # of the signals of the condition, where it was first broken
    reached: int = 0
    open: str = ""
    latest: Fraction | None = None  # until when it last did not hold, in the run that goes on
    late: tuple[int | None, Fraction] | None = None  # a run in whose last tenth it did not hold
    after: bool = False  # it was not yet broken at the time at which it was first broken, but just after it
    at_latest: bool = True  # it did not hold at the latest time either
    rates: bool = False  # it reads rates of requests, which are measured once a second

    def is_late(self, time: Fraction) -> bool:
        """Decides whether the condition did not hold at a time or later."""
        return self.latest is not None and (self.latest > time or (self.at_latest and self.latest == time))


def joined_notes(before: ConditionNotes, after: ConditionNotes) -> ConditionNotes:
    """Returns the notes of runs and of one that follows."""
    first = before if before.broken is not None else after
    return ConditionNotes(
        first.broken, first.values, before.reached + after.reached, before.open or after.open, after.latest,
        before.late if before.late is not None else after.late, first.after, after.at_latest, after.rates,
    )  # fmt: skip


@dataclass
class PromiseWatch:
    """Notes, instant by instant, whether the conditions of a design's promises hold."""

    design: Design
    until: float
    warmup: float = 0.0
    notes: dict[str, ConditionNotes] = field(default_factory=dict)
    runs: int = 0
    seed: int | None = None
    model: Model | None = None
    repeats: tuple[Fraction, Fraction] | None = None  # from when on, and how often, an exact run repeats for ever
    has_ends: bool = False  # the runs take one value of what the design leaves open
    trees: dict[str, Tree] = field(default_factory=dict)
    followers: dict[str, ConditionFollower] = field(default_factory=dict)
    held: set[str] = field(default_factory=set)
    counted: frozenset[str] = frozenset()  # conditions on counts of requests, which are seen at every event

    @cached_property
    def begins(self) -> Fraction:
        """Returns the end of the warm-up (s), before which nothing is noted."""
        return Fraction(self.warmup)

    def conditions(self) -> dict[str, Promise]:
        """Returns the promises on conditions that hold or do not at an instant."""
        return {
            name: promise
            for name, promise in self.design.promises.items()
            if promise.kind in CONDITIONS and promise.condition and threshold_of(self.design, promise) is None
        } | {name: promise for name, promise in self.design.promises.items() if self._is_response(promise)}

    def _is_response(self, promise: Promise) -> bool:
        """Decides whether a promise is that a condition, or a loop, is answered by another in time."""
        sides = ((promise.after, promise.first), (promise.then, promise.second))
        return answer_promise(self.design, promise) is None and all(
            formula is not None or (event is not None and event.text in self.design.loops) for formula, event in sides
        )

    def begin(self, model: Model, given: Collection[str], seed: int | None) -> Model:
        """Begins a run; returns the model with the conditions that it can judge, which it then reads as its own."""
        self.start(seed)
        self.model = model
        judged_here = {}
        for name, promise in self.conditions().items():
            notes = self.notes.setdefault(name, ConditionNotes())
            notes.latest = None
            follower = _follower(model, promise)
            if isinstance(follower, str):
                notes.open = f"needs {follower}"
                continue
            tree = follower.tree
            missing = next(_missing(model, tree, given), None)
            notes.open = f"needs what {missing} is in a run: state it, or give it by --set" if missing else ""
            if missing is None:
                self.trees[name], self.followers[name] = tree, follower
                condition = Formula(tree, promise.text, promise.place)
                judged_here[name] = replace(promise, kind="always", condition=condition, after=None, then=None)
        return replace(model, promises=judged_here)

    def restart(self, until: float) -> None:
        """Forgets all runs: they are made again, or for another time."""
        self.notes, self.runs, self.until = {}, 0, until

    def join(self, notes: Mapping[str, ConditionNotes]) -> None:
        """Adds what the run of the next seed has noted by itself."""
        self.runs += 1
        for name, one in notes.items():
            self.notes[name] = joined_notes(self.notes[name], one) if name in self.notes else one

    def start(self, seed: int | None) -> None:
        """Begins a run of which no instants are seen."""
        self.seed, self.runs, self.held, self.model = seed, self.runs + 1, set(), None
        self.counted = frozenset()
        self.trees, self.followers = {}, {}

    def wanted(self, model: Model) -> frozenset[str]:
        """Returns the signals that the conditions name or compute with, whether or not a run has them."""
        trees = (formula.tree for promise in self.conditions().values() for formula in promise.conditions)
        return frozenset(path for tree in trees for path in signals_in(model, rename(tree, model.resolve)))

    def targets(self) -> tuple[str, ...]:
        """Returns the signals that the conditions of this run read."""
        return tuple(dict.fromkeys(path for tree in self.trees.values() for path in names_in(tree)))

    def pass_time(self, run: Execution, end: Fraction, *, counted: bool = False) -> None:
        """Notes which conditions hold from the last instant of a run to a time before which there is no other."""
        self._follow(lambda follower: follower.between(run, end), counted=counted)

    def see(self, run: Execution, instant: Instant, *, counted: bool = False) -> None:
        """Notes which conditions hold at an instant: as it was sampled, and after it."""
        self._follow(lambda follower: follower.at(run, instant), counted=counted)

    def _follow(self, seen: Callable[[ConditionFollower], Iterator[TruthSpan]], *, counted: bool) -> None:
        own = [name for name in self.followers if (name in self.counted) is counted]
        for name in own:
            try:
                for span in seen(self.followers[name]):
                    self._note(name, span)
                    if self.notes[name].broken is not None:
                        del self.followers[name]
                        break
            except (MissingValueError, NotExactError) as error:
                self.notes[name].open = f"needs {error}"
                del self.trees[name], self.followers[name]

    def to_follow(self, time: Fraction) -> tuple[str, ...]:
        """Returns the conditions on counts whose answer can still hang on what is counted from a time on."""
        own = {name: self.design.promises[name].kind for name in self.followers if name in self.counted}
        last = Fraction(self.until) * (1 - LAST)
        begins = {name: last if kind == "eventually_always" else self.begins for name, kind in own.items()}
        return tuple(
            name for name, kind in own.items()
            if not (kind == "eventually" and name in self.held)
            and (time + AHEAD >= begins[name] or (self.model and remembers(self.model, self.trees[name])))
        )  # fmt: skip

    def _note(self, name: str, span: TruthSpan) -> None:
        notes, kind, at_end = self.notes[name], self.design.promises[name].kind, span.begin == span.end
        if span.end < self.begins or (span.end == self.begins and not at_end):
            return
        if not span.whole:
            notes.open = IN_A_CURVE
        follower = self.followers[name]
        if isinstance(follower, ResponseFollower):
            self._note_response(name, span, follower)
            return
        if span.holds:
            self.held.add(name)
        else:
            notes.latest, notes.at_latest = span.end, at_end
        if span.holds is (kind == "never") and kind in ("always", "never") and notes.broken is None:
            begin = max(span.begin, self.begins)
            notes.broken, notes.values = (self.seed, begin), self._values(name, span)
            notes.after = not at_end and begin == span.begin

    def _note_response(self, name: str, span: TruthSpan, follower: ResponseFollower) -> None:
        if span.holds & ASKS:
            self.held.add(name)
        due = follower.late(span, self.begins)
        if due is not None:
            self._note_late(name, due, follower)

    def _note_late(self, name: str, due: TruthSpan, follower: ResponseFollower) -> None:
        if self.notes[name].broken is None:
            notes = self.notes[name]
            notes.broken = (self.seed, due.begin + follower.response.within)
            values = self._values(name, due)
            notes.values = f"due since {render_seconds(due.begin)}" + (f", when {values}" if values else "")

    def _values(self, name: str, span: TruthSpan) -> str:
        """Returns the values of the signals of a condition, in their units."""
        assert self.model is not None
        values = {path: span.read(path) for path in names_in(self.trees[name])}
        return ", ".join(
            f"{path} = {render_measured(float(plain(value)), self._unit(path))}"
            for path, value in values.items()
            if not isinstance(value, bool)
        )

    def _unit(self, path: str) -> str:
        assert self.model is not None
        known = self.model.kind(path) != "input"
        return unit_text(unit_of(self.model, path)) if known else UNITS.get(path.rpartition(".")[2], "")

    def see_requests(self, program: Program, result: RequestResult, looks: ArrivalLooks) -> None:
        """Notes which promises of answers within a time the requests of this run have broken."""
        for name, promise in self.design.promises.items():
            answer = answer_promise(self.design, promise)
            if answer is not None and any(source.name == answer.workload for source in program.sources):
                notes = self.notes.setdefault(name, ConditionNotes())
                late = first_late(answer, program, result, self.warmup, looks)
                if late is not None and notes.broken is None:
                    notes.broken = (self.seed, Fraction(late))

    def end(self) -> None:
        """Ends a run."""
        for name, follower in self.followers.items():
            if isinstance(follower, ResponseFollower) and follower.ends_late(Fraction(self.until)):
                assert follower.due is not None
                self._note_late(name, follower.due, follower)
        for name in self.trees:
            notes = self.notes[name]
            notes.reached += name in self.held
            if notes.late is None and notes.is_late(Fraction(self.until) * (1 - LAST)):
                assert notes.latest is not None
                notes.late = (self.seed, notes.latest)
        self.trees, self.followers = {}, {}


def _follower(model: Model, promise: Promise) -> ConditionFollower | str:
    """Returns what follows a condition, or both sides of a response, through a run; else what it lacks."""
    if promise.condition is not None:
        return ConditionFollower(rename(promise.condition.tree, model.resolve))
    response = conditions_of(model, promise)
    return ResponseFollower(response) if isinstance(response, BoundedResponse) else str(response)


def _missing(model: Model, tree: Tree, given: Collection[str]) -> Iterator[str]:
    """Yields the signals of which a run has no value."""
    for path in sorted(influences(model, names_in(tree))):
        kind = model.kind(path)
        if path in given or kind in ("loop", "output"):
            continue
        starts = [table[path].initial for table in (model.states, model.commands) if path in table]
        starts += [model.constants[path].range] if path in model.constants else []
        if not any(start.low is not None for start in starts):
            yield path


def judged(
    design: Design, watch: PromiseWatch | None, readings: Mapping[tuple[str, str, str], StudyReading]
) -> tuple[JudgedPromise, ...]:
    """Returns what the runs say of each promise of a design, in the order of the design."""
    return tuple(_judged(design, promise, watch, readings) for promise in design.promises.values())


def _judged(
    design: Design, promise: Promise, watch: PromiseWatch | None,
    readings: Mapping[tuple[str, str, str], StudyReading],
) -> JudgedPromise:  # fmt: skip
    threshold = threshold_of(design, promise)
    if isinstance(threshold, FigureLimit):
        holds, message, reading = judged_threshold(threshold, readings)
        verdict = {True: PromiseVerdict.HELD, False: PromiseVerdict.BROKEN, None: PromiseVerdict.UNDECIDED}[holds]
        return JudgedPromise(promise, verdict, message, reading)
    if isinstance(threshold, str):
        return JudgedPromise(promise, PromiseVerdict.UNDECIDED, threshold)
    notes = watch.notes.get(promise.name) if watch is not None else None
    if watch is None or notes is None or not watch.runs:
        why = NOT_RUN.get(promise.kind, "no run has what it speaks of")
        return JudgedPromise(promise, PromiseVerdict.UNDECIDED, why)
    return _by_notes(promise, notes, watch)


def _by_notes(promise: Promise, notes: ConditionNotes, watch: PromiseWatch) -> JudgedPromise:
    runs = f"all {watch.runs} runs" if watch.runs > 1 else "this run"
    runs += (ONE_VALUE if watch.has_ends else "") + (RATES if notes.rates else "")
    if notes.broken is not None:
        seed, time = notes.broken
        what = {"never": "so", "response": "not answered"}.get(promise.kind, "not so")
        where = f"{what} {'just after' if notes.after else 'at'} {render_seconds(time)}" + (
            f" of the run with seed {seed}" if seed is not None else ""
        )
        where += f": {notes.values}" if notes.values else ""
        return JudgedPromise(promise, PromiseVerdict.BROKEN, where, seed=seed, seconds=float(time))
    if notes.open and not (promise.kind == "eventually" and notes.reached == watch.runs):
        return JudgedPromise(promise, PromiseVerdict.UNDECIDED, notes.open)
    if promise.kind == "response":
        of_states = promise.name in watch.conditions()
        how = "each answer came in time" if notes.reached else "no answer was ever due"
        message = f"{how} in {runs}" if of_states else f"of every request of {runs}"
        return JudgedPromise(promise, PromiseVerdict.HELD, message)
    if promise.kind in ("always", "never"):
        return JudgedPromise(promise, PromiseVerdict.HELD, f"at every instant of {runs}")
    for_ever = _for_ever(promise, notes, watch)
    if for_ever is not None:
        return for_ever
    if promise.kind == "eventually":
        short = f"came to be in {notes.reached} of {watch.runs} runs, which end after {render_seconds(watch.until)}"
        came = notes.reached == watch.runs
        return JudgedPromise(
            promise, PromiseVerdict.HELD if came else PromiseVerdict.UNDECIDED, f"in {runs}" if came else short
        )
    return _in_the_end(promise, notes, runs)


def _for_ever(promise: Promise, notes: ConditionNotes, watch: PromiseWatch) -> JudgedPromise | None:
    """Returns the breach of what is to come to be, or to hold in the end, by a run that repeats for ever."""
    if watch.repeats is None or notes.latest is None:
        return None
    start, period = watch.repeats
    never_came = promise.kind == "eventually" and not notes.reached
    comes_again = promise.kind == "eventually_always" and notes.is_late(start)
    if watch.until < start + period or not (never_came or comes_again):
        return None
    how = f"repeats every {render_seconds(period)} for ever" if period else "rests for ever"
    message = f"not so at {render_seconds(notes.latest)}, and the run {how} from {render_seconds(start)} on"
    message += ONE_VALUE if watch.has_ends else ""
    return JudgedPromise(promise, PromiseVerdict.BROKEN, message, seconds=float(notes.latest))


def _in_the_end(promise: Promise, notes: ConditionNotes, runs: str) -> JudgedPromise:
    if notes.late is None:
        return JudgedPromise(promise, PromiseVerdict.HELD, f"throughout the last tenth of {runs}")
    seed, time = notes.late
    which = f" of the run with seed {seed}" if seed is not None else ""
    why = f"still not so at {render_seconds(time)}{which}; a run that ends cannot tell what comes later"
    return JudgedPromise(promise, PromiseVerdict.UNDECIDED, why)
