"""Decides whether a contest comes to rest, or preemptions and admissions cycle, for one or every capacity."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

from coherence.language.expressions import names as paths
from coherence.verify.jobs.contest import Contest, State
from coherence.verify.jobs.contest_steps import ADMIT, COMES, VAIN, nobody, steps
from coherence.verify.jobs.fair_cycles import fair_cycle, may_last
from coherence.verify.jobs.job_kinds import Amount
from coherence.verify.jobs.needs import NeedsError
from coherence.verify.jobs.state_graph import StateGraph, StateStep, components, explore, trapped, way_to

CERTAIN, POSSIBLE, TIE, NONE, UNKNOWN = "certain", "possible", "tie", "none", "unknown"
MOST_STATES, MOST_SWEPT, MOST_POINTS = 30_000, 60_000, 400
LEAST_BOUND = 50


@dataclass(frozen=True)
class Livelock:
    """The verdict on one contest: how a run gets into a cycle and goes round; `escapes` are the steps that end it.

    `certain`: once there, no choice ends it.  `possible`: other choices of victim or taker do.  `tie`: only another
    choice among jobs that are equal in the order does.  `inevitable`: no run from the start comes to rest.
    """

    verdict: str
    graph: StateGraph[State]
    way: tuple[StateStep[State], ...] = ()
    cycle: tuple[StateStep[State], ...] = ()
    escapes: tuple[StateStep[State], ...] = ()
    inevitable: bool = False


def livelock(contest: Contest, *, most: int = MOST_STATES) -> Livelock:
    """Explores every order of arrival and of departure, and every choice of the scheduler.

    What is leaving has gone some day: a cycle in which a job leaves for ever is none.
    """
    graph = explore([nobody(contest)], lambda state: steps(contest, state), most=most)
    if not graph.complete:
        return Livelock(UNKNOWN, graph)
    caught = set(trapped(graph))
    cycles = [_judged(graph, component, caught) for component in components(graph) if may_last(graph, component)]
    order = [CERTAIN, POSSIBLE, TIE]
    return min(
        cycles,
        key=lambda lock: (order.index(lock.verdict), len(lock.way) + len(lock.cycle)),
        default=Livelock(NONE, graph),
    )


def _judged(graph: StateGraph[State], component: list[State], caught: set[State]) -> Livelock:
    inside = set(component)
    first = next(state for state in graph.edges if state in inside)
    cycle = tuple(fair_cycle(graph, first, inside))
    escapes = tuple(edge for state in component for edge in graph.edges[state] if edge.to not in inside)
    kinds = {edge.kind for edge in escapes}
    vain = any(edge.kind == VAIN for state in component for edge in graph.edges[state] if edge.to in inside)
    if first in caught and not vain:
        verdict = CERTAIN
    else:
        verdict = TIE if ADMIT in kinds and kinds <= {ADMIT, COMES} and not vain else POSSIBLE
    inevitable = verdict == CERTAIN and next(iter(graph.edges)) in caught
    return Livelock(verdict, graph, tuple(way_to(graph, first)), cycle, escapes, inevitable)


def variants(contest: Contest) -> list[Contest]:
    """Returns one contest for each amount that differs, of a capacity that is stated as a range.  Raises NeedsError."""
    if not contest.spans:
        return [contest]
    if len(contest.spans) > 1:
        raise NeedsError(f"one value of {' or '.join(contest.supply[r] for r in contest.spans)}")
    resource, (low, high) = next(iter(contest.spans.items()))
    points = _whole(high) if _reads_capacity(contest, resource) else _sums(contest, resource)
    if points is None:
        raise NeedsError(f"a narrower range of {contest.supply[resource]}")
    amounts = [low, *(amount for amount in points if low < amount <= high)]
    return [replace(contest, capacity={**contest.capacity, resource: amount}, spans={}) for amount in amounts]


@dataclass(frozen=True)
class Sweep:
    """The verdict for every amount of one resource: from each amount on, until the next; and why it ends there.

    `until`: the first amount of which nothing is known; None where the last verdict is that of all beyond.
    """

    resource: str
    verdicts: tuple[tuple[Amount, str], ...]
    reason: str
    whole: bool
    until: Amount | None = None

    def at(self, amount: Amount) -> str:
        """Returns the verdict at an amount."""
        if self.until is not None and amount >= self.until:
            return UNKNOWN
        return next((verdict for start, verdict in reversed(self.verdicts) if start <= amount), NONE)

    def runs(self) -> list[tuple[Amount, Amount | None, str]]:
        """Returns (from, below, verdict) with equal neighbours joined; the last ends where nothing is known."""
        starts = [pair for k, pair in enumerate(self.verdicts) if k == 0 or self.verdicts[k - 1][1] != pair[1]]
        ends: list[Amount | None] = [later[0] for _, later in pairwise(starts)]
        return [(start, end, verdict) for (start, verdict), end in zip(starts, [*ends, self.until], strict=True)]


def sweep(contest: Contest, resource: str) -> Sweep:
    """Returns the verdict for every amount of the resource.

    What is held is always a sum of needs, so nothing changes between two such sums; from their total on everything
    fits at once.  Where a rule reads the capacity itself, whole amounts up to 50 (or the total) are tried.
    """
    total, whole = contest.total(resource), contest.whole(resource)
    if contest.pools:
        return Sweep(resource, (), "parts of it are for some jobs only", whole)
    reads = _reads_capacity(contest, resource)
    points = _whole(total) if reads else _sums(contest, resource)
    if points is None:
        return Sweep(resource, (), f"more than {MOST_POINTS} amounts to try", whole)
    verdicts: list[tuple[Amount, str]] = []
    budget = MOST_SWEPT
    for amount in points:
        outcome = livelock(
            replace(contest, capacity={**contest.capacity, resource: amount}), most=min(budget, MOST_STATES)
        )
        if outcome.verdict == UNKNOWN:
            reason = f"checked below {contest.shown(resource, amount)}"
            return Sweep(resource, tuple(verdicts), reason, whole, until=amount)
        budget -= len(outcome.graph.edges)
        verdicts.append((amount, outcome.verdict))
    if reads:
        reason = f"checked up to {contest.shown(resource, points[-1])}"
        return Sweep(resource, tuple(verdicts), reason, whole, until=points[-1] + 1)
    saturated = f"from {contest.shown(resource, total)} on all jobs fit at once, so nobody takes from anybody"
    return Sweep(resource, tuple(verdicts), saturated, whole)


def _whole(total: Amount) -> list[Amount] | None:
    most = max(LEAST_BOUND, -(-total.numerator // total.denominator))
    return list(range(most + 1)) if most <= MOST_POINTS else None


def _sums(contest: Contest, resource: str) -> list[Amount] | None:
    sums: set[Amount] = {contest.taken.get(resource, 0)}
    for need in _parts(contest, resource):
        sums |= {subtotal + need for subtotal in sums}
        if len(sums) > MOST_POINTS:
            return None
    return sorted({0, *sums})


def _parts(contest: Contest, resource: str) -> Iterator[Amount]:
    for kind in contest.kinds:
        need = kind.needs.get(resource, 0)
        yield from [need] * (kind.members * kind.number if need else 0)


def _reads_capacity(contest: Contest, resource: str) -> bool:
    """Decides whether a rule or a limit reads how much there is or how much is free."""
    trees = [
        rule.tree
        for rule in (
            *(key.by for key in (contest.admit.keys if contest.admit else ())),
            contest.preempt and contest.preempt.condition,
        )
        if rule
    ]
    trees += [tree for _, counts, most in contest.caps for tree in (counts, most)]  # type: ignore[misc]
    owner = contest.supply[resource].partition(".")[0]
    return any(path.partition(".")[0] == owner for tree in trees for path in paths(tree))


def render_intervals(contest: Contest, swept: Sweep) -> str:
    """Renders the intervals: `5 to 8 cpu` for whole amounts, `5 GiB to below 9 GiB` else."""
    parts = [
        _interval(contest, swept, start, end)
        for start, end, verdict in swept.runs() if verdict in (CERTAIN, POSSIBLE)
    ]  # fmt: skip
    return " and ".join(parts) or "of no amount"


def _interval(contest: Contest, swept: Sweep, start: Amount, end: Amount | None) -> str:
    if end is None:
        return f"{contest.shown(swept.resource, start)} and above"
    if swept.whole and start.denominator == end.denominator == 1:
        last = contest.shown(swept.resource, end - 1)
        return last if end - 1 == start else f"{start} to {last}"
    return f"{contest.shown(swept.resource, start)} to below {contest.shown(swept.resource, end)}"


def smallest_free(swept: Sweep, above: Amount) -> Amount | None:
    """Returns the smallest amount above one at which nothing cycles, at it and beyond to the next change."""
    return next((start for start, verdict in swept.verdicts if start > above and verdict == NONE), None)


def contested(contest: Contest, edges: Sequence[StateStep[State]]) -> str:
    """Returns the resource that is short: the one of which all jobs together need most beyond what there is."""
    del edges
    return max(contest.capacity, key=lambda r: (contest.total(r) - contest.capacity[r], r))
