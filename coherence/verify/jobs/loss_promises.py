"""Decides conditions on how many members of a thing there are, and how they lie, while some of its places go.

A member is there as soon as it lies somewhere; one that was lost or evicted is not, until it lies again.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from fractions import Fraction

from coherence.language.expressions.evaluate import evaluate
from coherence.language.expressions.tree import Tree
from coherence.language.words import COUNTS
from coherence.verify.jobs.eviction import counted
from coherence.verify.jobs.losses import BLOCKED, Going, LossCourse, courses
from coherence.verify.jobs.order_words import SteadyState
from coherence.verify.jobs.placement import CERTAIN, MOST_STATES, NONE, POSSIBLE, UNKNOWN, placement
from coherence.verify.jobs.placing import Counts, domains, total
from coherence.verify.jobs.sites import Cluster


@dataclass(frozen=True)
class LossCondition:
    """A condition on members of a thing: `labels` are those by which it counts them, `constants` what else it reads."""

    thing: str
    tree: Tree
    labels: tuple[str, ...]
    constants: Mapping[str, Fraction]

    def values(self, there: Cluster, state: Counts, members: int) -> dict[str, Fraction]:
        """Returns the values in a state of what the condition counts."""
        lie = total(state)
        own = {f"{self.thing}.{word}": Fraction(lie) for word in COUNTS["available"]}
        own |= {f"{self.thing}.{word}": Fraction(members - lie) for word in COUNTS["unavailable"]}
        most = {by: max(domains(there, state, by), default=0) for by in self.labels}
        return own | {counted(self.thing, by): Fraction(number) for by, number in most.items()}

    def holds(self, values: Mapping[str, Fraction]) -> bool:
        """Decides whether the condition holds for values of what it counts."""
        return bool(evaluate(self.tree, SteadyState(lambda path: values.get(path, self.constants.get(path)))))


@dataclass(frozen=True)
class LossPromise:
    """Whether a condition holds in all states while places go; `course` is None where it fails before any goes.

    `certain`: wherever members lie, it may fail; `possible`: where they lie as in `before`.
    """

    verdict: str
    before: Counts = ()
    course: LossCourse | None = None
    state: Counts = ()
    spans: Mapping[str, tuple[Fraction, Fraction]] | None = None  # of what it counts, over all states


def over_losses(
    there: Cluster, going: Going, members: int, condition: LossCondition, *, at_rest: bool = False
) -> LossPromise:
    """Returns the worst case over all reachable placements of so many members and all places that may go.

    `at_rest`: only states count in which nobody is evicted, and nobody finds a place any more.
    """
    placements = placement(there, members, members)
    if placements.verdict != NONE:
        return LossPromise(UNKNOWN if placements.verdict == UNKNOWN else BLOCKED)
    budget, failures, spans = MOST_STATES, list[LossPromise | None](), Spans({})
    for start in [state for state in placements.graph.edges if total(state) == members]:
        failure, states = _from(there, start, going, condition, spans, at_rest=at_rest)
        budget -= states
        if budget < 0:
            return LossPromise(UNKNOWN)
        failures.append(failure)
    first = next((failure for failure in failures if failure is not None), None)
    if first is None:
        return LossPromise(NONE, spans=spans.seen)
    return replace(first, verdict=CERTAIN if None not in failures else POSSIBLE)


def _from(
    there: Cluster, start: Counts, going: Going, condition: LossCondition, spans: Spans, *, at_rest: bool
) -> tuple[LossPromise | None, int]:
    """Returns the first failure where members lie so (None: there is none), and how many states were explored."""
    members, states = total(start), 1
    if not condition.holds(spans.noted(condition.values(there, start, members))):
        return LossPromise(POSSIBLE, start, None, start), states
    for course in courses(there, start, going):
        states += len(course.graph.edges) if course.graph.complete else MOST_STATES
        looked_at = course.graph.quiet if at_rest else course.graph.edges
        for state in looked_at:
            if not condition.holds(spans.noted(condition.values(course.after, state, members))):
                return LossPromise(POSSIBLE, start, course, state), states
    return None, states


@dataclass(frozen=True)
class Spans:
    """Collects the least and the largest value of each name."""

    seen: dict[str, tuple[Fraction, Fraction]]

    def noted(self, values: Mapping[str, Fraction]) -> Mapping[str, Fraction]:
        """Returns the values, after noting them."""
        for name, value in values.items():
            low, high = self.seen.get(name, (value, value))
            self.seen[name] = (min(low, value), max(high, value))
        return values
