"""Follows conditions on counts of requests through a run: at every event that may turn one, not at instants alone.

Loops see what was counted at their instants, so the conditions have a run of their own beside theirs: it takes over
what is true at each instant, and between two takes up the counts as they are.  The events stop where a count leaves
the band in which no condition turns.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING, Any, Protocol, runtime_checkable

from coherence.language.expressions.tree import Tree
from coherence.simulate.execute.exact import Execution, Instant, View
from coherence.simulate.execute.slices import signals_in
from coherence.simulate.study.count_bands import Band, CountedSignal, Counts, CountScene, bands_of, expanded
from coherence.simulate.study.truth_spans import counts_samples, may_turn

if TYPE_CHECKING:
    from coherence.simulate.study.promises import PromiseWatch

MOST_KNOWN = 8  # bands of one condition that are kept
Measure = Callable[[Counts], dict[str, Fraction]]


@runtime_checkable
class CountedEvents(Protocol):
    """Events that are counted: a `RequestRun` is one."""

    @property
    def stopped(self) -> str: ...
    @property
    def time(self) -> float: ...

    def advance(self, until: float) -> bool:
        """Goes on to a time (s); false where a watched count has left its band before."""

    def watch_counts(self, bands: Mapping[str, tuple[int, int]]) -> None:
        """Stops from now on where one of these counts leaves its band."""

    def counts_of(self, names: Iterable[str]) -> dict[str, int]:
        """Returns some counts now."""


def counted_run(
    run: Execution, events: CountedEvents, watch: PromiseWatch, signals: Mapping[str, CountedSignal], measure: Measure
) -> CountedRun | None:
    """Returns the run of the conditions on counts, which the watch then sees there alone; None where it has none."""
    trees = {
        name: tree for name, tree in watch.trees.items()
        if not signals.keys().isdisjoint(signals_in(run.model, tree)) and not counts_samples(run.model, tree)
    }  # fmt: skip
    watch.counted = frozenset(trees)
    if not trees:
        return None
    own = {name: expanded(run.model, tree, signals) for name, tree in trees.items()}
    return CountedRun(run.copy(), events, watch, signals, measure, own)


@dataclass
class CountedRun:
    """The run of the conditions on counts.  `run`: a copy of that of the loops, with the counts of every event."""

    run: Execution
    events: CountedEvents
    watch: PromiseWatch
    signals: Mapping[str, CountedSignal]
    measure: Measure
    trees: Mapping[str, Tree]
    known: dict[str, tuple[tuple[Any, ...], list[dict[str, Band]]]] = field(default_factory=dict)  # and of which values
    watched: dict[str, Band] = field(default_factory=dict)

    @cached_property
    def read(self) -> dict[str, tuple[str, ...]]:
        """Returns what else than counts each condition reads."""
        model = self.run.model
        return {name: tuple(sorted(signals_in(model, tree) - self.signals.keys())) for name, tree in self.trees.items()}

    def reach(self, time: float) -> None:
        """Goes on to a time (s), and looks at each event on the way that leaves a band."""
        self._ask()
        while not self.events.advance(time) and not self.events.stopped:
            self._look(Fraction(self.events.time))
            self._ask()

    def _look(self, time: Fraction) -> None:
        """Sees the time until an event, and the counts after it."""
        self.watch.pass_time(self.run, time, counted=True)
        run = self.run
        sampled = dict(run.look(time).sampled)
        run.values.update({path: sampled[path] for path in run.flowing})
        run.values.update(self.measure(self._counts()))
        after: dict[str, Any] = dict(run.base())
        run.time, run.seen = time, after
        run.history.remember(time, sampled, after, run.course)
        self.watch.see(run, Instant(time, after, (), (), after, ()), counted=True)

    def see(self, run: Execution, instant: Instant) -> None:
        """Sees an instant of the loops, and takes over what they have done."""
        own = self.run
        self.watch.pass_time(own, instant.time, counted=True)
        own.values, own.modes, own.course, own.time = dict(run.values), dict(run.modes), run.course, instant.time
        own.seen, own.count = dict(instant.sampled), run.count
        own.history.remember(instant.time, own.seen, dict(instant.after), run.course)
        self.watch.see(own, instant, counted=True)

    def end(self, time: Fraction) -> None:
        """Sees the time until the end of a run (s)."""
        if self.run.time < time:
            self.watch.pass_time(self.run, time, counted=True)
            self.watch.see(self.run, self.run.look(time), counted=True)

    def _counts(self) -> dict[str, int]:
        names = dict.fromkeys(name for signal in self.signals.values() for name in signal.counts)
        return self.events.counts_of(names)

    def _ask(self) -> None:
        """Lets the events stop where a condition may turn."""
        bands: dict[str, Band] = {}
        counts = self._counts()
        for condition in self.watch.to_follow(self.run.time):
            for name, (least, most) in self._bands(condition, counts).items():
                old = bands.get(name, (least, most))
                bands[name] = max(old[0], least), min(old[1], most)
        if bands != self.watched:
            self.watched = bands
            self.events.watch_counts(bands)

    def _bands(self, condition: str, counts: Counts) -> dict[str, Band]:
        """Returns the bands of a condition: known ones, while nothing else that it reads has changed."""
        tree, run = self.trees[condition], self.run
        base = run.base()
        key = tuple(base[path] for path in self.read[condition] if path in base)
        before, known = self.known.get(condition, ((), []))
        if before != key or len(known) > MOST_KNOWN:
            known = []
        for bands in known:
            if all(low <= counts[name] <= high for name, (low, high) in bands.items()):
                return bands

        def view(other: Counts) -> View:
            return View(run, run.time, {**base, **self.measure(other)})

        bands = bands_of(tree, CountScene(self.signals, counts, view, lambda part: may_turn(run, part)))
        self.known[condition] = key, [bands, *known]
        return bands
