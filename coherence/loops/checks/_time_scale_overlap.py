"""Answers of `time-scale-overlap`: how long each loop needs alone, and how often the other one acts."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction

from coherence.base.number_text import render_seconds
from coherence.base.places import Place
from coherence.findings.finding import Evidence, Finding, Grade
from coherence.findings.question_input import Certificate, Question, Subject, rational
from coherence.language.expressions.tree import Call, Held
from coherence.loops.checks._groups import Numbers, altered, groups, runs, settled, swings, tried, without
from coherence.loops.designs.groups import Group, place
from coherence.model.model import Interval, Model, SampledLoop
from coherence.simulate.execute.exact import Choices
from coherence.simulate.execute.lookback import parts_of
from coherence.simulate.execute.orbits import LongRun, long_run
from coherence.simulate.execute.slices import influences, reads
from coherence.simulate.execute.starts import corners, finite

PAST = ("delayed", "mean_over", "max_over", "sampled", "previous")
MOST_STARTS, ALONE_LAPS, MOST_ALONE = 60, 80, 2_000
SLOWER_LAPS, MOST_SLOWER = 24, 2_000  # of the run in which the outer loop is slower


@dataclass(frozen=True)
class Alone:
    """How long a loop moves at most after another one acted, its own next sample included, while all stand still.

    `every`: from every state, else from the ends of the ranges with a constant past.
    """

    seconds: Fraction
    every: bool


def answers(question: Question, subject: Subject) -> Iterator[Finding]:
    """Yields one answer per pair of loops in feedback with each other."""
    for group in groups(subject):
        acting = [loop for loop in group.loops if loop.signal]
        for first, second in itertools.combinations(acting, 2):
            if _coupled(group.model, first, second):
                yield from _pair(question, subject, group, first, second)


def _coupled(model: Model, one: SampledLoop, other: SampledLoop) -> bool:
    """Returns whether one writes what the other writes, or reads what it changes without a third loop between."""
    return one.signal == other.signal or _sees(model, one, other) or _sees(model, other, one)


def _sees(model: Model, reader: SampledLoop, writer: SampledLoop) -> bool:
    third = tuple(loop for loop in model.loops if loop.name not in (reader.name, writer.name))
    return writer.signal in influences(without(model, third), reads(reader))


def _pair(
    question: Question, subject: Subject, group: Group, first: SampledLoop, second: SampledLoop
) -> Iterator[Finding]:
    views = [
        OverlapView(a, b, time)
        for a, b in ((first, second), (second, first))
        if (time := alone(group.model, a)) is not None
    ]
    if not views:
        return
    apart = [view for view in views if view.ratio > 1]
    proved = next((view for view in apart if view.time.every), None)
    if proved is not None:
        yield _separated(question, proved)
    elif not apart:
        yield _overlap(question, subject, group, views)


@dataclass(frozen=True)
class OverlapView:
    """One loop as the faster one: how long it needs alone, and how often the other one acts."""

    inner: SampledLoop
    outer: SampledLoop
    time: Alone

    @property
    def every(self) -> Fraction:
        return max(self.outer.period, self.outer.cooldown or Fraction(0))

    @property
    def ratio(self) -> Fraction | float:
        """Above 1 the inner one rests before the outer one acts again."""
        return self.every / self.time.seconds if self.time.seconds else math.inf

    @property
    def numbers(self) -> Numbers:
        ratio = (
            {f"{self.outer.name} acts per settling of {self.inner.name}": (1 / self.ratio, "")} if self.ratio else {}
        )
        times = {
            f"{self.inner.name} settles in": (self.time.seconds, "s"),
            f"{self.outer.name} acts every": (self.every, "s"),
        }
        return {**times, **ratio}

    @property
    def of(self) -> tuple[str, ...]:
        return (self.inner.name, self.outer.name)


def _rest(model: Model) -> bool:
    """Returns whether the run from each end of the ranges settles soon."""
    slow = (long_run(model, choices, laps=SLOWER_LAPS, most=MOST_SLOWER) for choices in corners(model))
    return all(settled(run) for run in slow)


def _acts(loop: SampledLoop) -> Place:
    timescale = loop.source.timescale
    stated = timescale.period if timescale else None
    if stated is None:
        return place(loop)
    return stated.place.labelled(f"{loop.name} decides every {render_seconds(loop.period)}")


def alone(model: Model, loop: SampledLoop) -> Alone | None:
    """Returns the longest time that a loop moves alone, from anywhere in its bounds; None where it does not settle."""
    others = tuple(x for x in model.loops if x.name != loop.name)
    spans = {
        x.signal: x.bounds for x in model.loops if x.signal and x.bounds.low is not None and x.bounds.high is not None
    }
    part = without(model, others, _joined(model, spans))
    counted = tried(lambda: _longest(part, finite(part, MOST_STARTS))) if _memoryless(part) else None
    if counted is not None:
        return Alone(counted + loop.period, every=True)
    ends = tried(lambda: _longest(part, corners(part)))
    return None if ends is None else Alone(ends + loop.period, every=False)


def _memoryless(model: Model) -> bool:
    """Returns whether everything that decides the future is in the commands.  Else a start has a past, and past
    starts are not run."""
    quiet = all(
        not (loop.hold_down or loop.hold_up or loop.rates or loop.lands or loop.relay) and loop.cooldown is None
        for loop in model.loops
    )
    looks = parts_of(model, lambda part: isinstance(part, Held) or (isinstance(part, Call) and part.function in PAST))
    return quiet and not looks and not model.states


def _joined(model: Model, spans: dict[str, Interval]) -> dict[str, Interval]:
    """Returns where commands may stand: within the bounds of a writer, or where they begin."""
    rows = {}
    for path, span in spans.items():
        start = model.commands[path].initial
        lows, highs = (span.low, start.low), (span.high, start.high)
        if None not in lows and None not in highs:
            rows[path] = Interval(min(x for x in lows if x is not None), max(x for x in highs if x is not None))
    return rows


def _longest(model: Model, starts: Iterator[Choices]) -> Fraction | None:
    """Returns the longest time that a run moves; None where one does not come to an exact rest."""
    times = []
    for choices in starts:
        run = long_run(model, choices, laps=ALONE_LAPS, most=MOST_ALONE)
        if not settled(run) or run.orbit is None or not run.orbit.exact:
            return None
        times.append(moving(run))
    return max(times, default=None)


def moving(run: LongRun) -> Fraction:
    """Returns the time after which nothing changes any more."""
    changed = [i.time for i in run.instants if i.sampled != i.after]
    return changed[-1] if changed else Fraction(0)


def _separated(question: Question, view: OverlapView) -> Finding:
    """Answers that each start was run; a settling time from the ends of the ranges alone would say nothing certain."""
    facts = (f"(<= settle {rational(view.time.seconds)})", f"(>= wait {rational(view.every)})")
    script = Certificate({"settle": "Real", "wait": "Real"}, facts, "(< settle wait)").script()
    method = "exact execution of every start of the faster loop, and arithmetic"
    evidence = Evidence(Grade.PROVED, method, certificate=script, numbers=view.numbers)
    return question.proved(
        f"{view.inner.name} is at rest ({render_seconds(view.time.seconds)}) before {view.outer.name} acts again "
        f"({render_seconds(view.every)})",
        (_acts(view.outer), place(view.inner)), view.of, evidence,
        assumptions=("each settles while all other commands stand still, as the outer one does between two actions",),
    )  # fmt: skip


def _overlap(question: Question, subject: Subject, group: Group, views: list[OverlapView]) -> Finding:
    worst = max(views, key=lambda view: view.ratio)  # nearest to being apart: there a slower outer loop costs least
    message = "; ".join(
        f"{view.outer.name} acts every {render_seconds(view.every)}, while {view.inner.name} needs "
        f"{render_seconds(view.time.seconds)} to settle" for view in views
    )  # fmt: skip
    numbers = {name: figure for view in views for name, figure in view.numbers.items()}
    if any(swings(group, run) for run in runs(subject, group)):
        message += ": each settles alone, together they do not" if len(views) == 2 else ": together they do not settle"
        slower = (worst.time.seconds // worst.outer.period + 1) * worst.outer.period
        if tried(lambda: _rest(altered(group.model, worst.outer, period=slower))):
            message += f"; with {worst.outer.name} every {render_seconds(slower)} they do"
            numbers["they settle with"] = (slower, "s")
    evidence = Evidence(Grade.BOUNDED, "exact execution of each loop alone", numbers=numbers)
    return question.note(message, (_acts(worst.outer), place(worst.inner)), worst.of, evidence)
