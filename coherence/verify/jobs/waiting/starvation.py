"""Decides whether a job that would fit may wait for ever while others like those that have ended come again.

A run is fair where every job that runs ends some day, what is leaving goes some day, and the scheduler acts some day.
It acts in passes: what may be admitted is admitted before others come or end, which may be many between two passes.
Jobs alike that nothing tells apart take turns.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator
from dataclasses import dataclass, replace
from functools import cache, partial

from coherence.base.graphs import cycles
from coherence.verify.jobs.contest import HOLDS_ALL, RESERVES, Contest, State, reads_waited
from coherence.verify.jobs.contest_steps import COMES, ENDS, SCHEDULER, arrivals, departures, endings, nobody, scheduled
from coherence.verify.jobs.job_kinds import JobKind
from coherence.verify.jobs.job_states import AWAY, GONE, holding, is_leaving, is_waiting
from coherence.verify.jobs.livelock import NONE, POSSIBLE, TIE, UNKNOWN
from coherence.verify.jobs.needs import NeedsError
from coherence.verify.jobs.state_graph import StateGraph, StateStep, explore, route, way_to
from coherence.verify.jobs.waiting.fair_parties import Edge, FairParties, PassState

Acts = Callable[[State], list[StateStep[State]]]  # what the scheduler may do in a state
MOST_STATES = 4000
UNDONE, NEVER = "undone", "never"


@dataclass(frozen=True)
class Starvation:
    """Whether jobs of a kind may wait for ever: how a run gets there, and the `cycle` on which others come and go.

    `never`: nobody acts any more, and it waits.  `possible`: on some run a scheduler that acts at once never lets it
    in.  `tie`: only by choices among equals, or where it is slow.  `undone`: only by evictions that undo
    admissions, or where jobs each hold a part of what they wait for.
    """

    verdict: str
    states: int
    name: str = ""  # of the jobs that wait
    way: tuple[StateStep[PassState], ...] = ()
    cycle: tuple[StateStep[PassState], ...] = ()
    proof: FairParties | None = None  # that nobody starves: all runs of a scheduler that acts some day


def starvation(contest: Contest, *, most: int = MOST_STATES) -> Starvation:
    """Returns the worst verdict over all kinds of jobs that fit alone.  Raises NeedsError."""
    jobs = one_by_one(_as_if_held(contest))
    _refuse_ages(jobs)
    acts = cache(partial(scheduled, jobs))  # the same within a pass, before it, and for a slow scheduler
    begin = [(nobody(jobs), False)]
    prompt = explore(begin, lambda moment: steps_of_passes(jobs, moment, prompt=True, acts=acts), most=most)
    if not prompt.complete:
        return Starvation(UNKNOWN, len(prompt.edges))
    kinds = fitting(jobs)
    starved = next((outcome for k in kinds if (outcome := _starved(jobs, prompt, k)) is not None), None)
    return starved or _of_slow(jobs, acts, kinds, len(prompt.edges), most)


def one_by_one(contest: Contest) -> Contest:
    """Returns the contest with each of the jobs alike as a kind of its own, where one may pass another.

    Who has waited longest is admitted first of its kind, but any that waits may take from those that run; where the
    order reads no wait, nothing tells jobs alike apart, and they take turns.
    """
    aged = [order for order in (contest.admit.keys if contest.admit is not None else ()) if reads_waited(order)]
    passes = contest.head or any(order.smallest for order in aged) or (aged and contest.preempt is not None)
    if not passes:
        return contest
    kinds = (replace(kind, jobs=(name,), name=name, number=1) for kind in contest.kinds for name in _names(kind))
    return replace(contest, kinds=tuple(kinds))


def _names(kind: JobKind) -> Iterable[str]:
    return kind.jobs if len(kind.jobs) == kind.number else (kind.name,) * kind.number


def _as_if_held(contest: Contest) -> Contest:
    """Returns the contest in which nobody passes the first, where those that pass it delay it by nothing."""
    return replace(contest, blocked=HOLDS_ALL) if contest.blocked == RESERVES else contest


def _refuse_ages(contest: Contest) -> None:
    aged = next((kind for kind in contest.kinds if kind.again and "age" in kind.attributes), None)
    if aged is not None:
        text = f"no age of {aged.name}: one that comes again is new (admit: largest job.waited first)"
        raise NeedsError(text, aged.place)


def steps_of_passes(
    contest: Contest, moment: PassState, *, prompt: bool, acts: Acts
) -> Iterator[StateStep[PassState]]:  # fmt: skip
    """Yields all that may happen next; a `prompt` scheduler begins its pass before anything else happens."""
    state, in_pass = moment
    for step in acts(state):
        after = _renewed(contest, step.to)
        yield StateStep(step.kind, step.words, (after, not prompt and bool(acts(after))))
    if not in_pass and not (prompt and acts(state)):
        for step in (*arrivals(contest, state), *departures(contest, state), *endings(contest, state)):
            yield StateStep(step.kind, step.words, (_renewed(contest, step.to), False))


def _renewed(contest: Contest, state: State) -> State:
    """Returns the state in which each job that is over and comes again may come."""
    return tuple(
        tuple(sorted(AWAY if job == GONE else job for job in jobs)) if kind.again else jobs
        for kind, jobs in zip(contest.kinds, state, strict=True)
    )


def fitting(contest: Contest) -> list[int]:
    """Returns the kinds of which a job fits alone."""
    return [k for k in range(len(contest.kinds)) if not is_too_large(contest, k)]


def is_too_large(contest: Contest, k: int) -> bool:
    """Decides whether a job of a kind needs more than there is."""
    kind = contest.kinds[k]
    return contest.is_too_large(kind, max(kind.barrier, kind.chunk))


def _starved(contest: Contest, prompt: StateGraph[PassState], k: int) -> Starvation | None:
    """Returns how a scheduler that acts at once never lets in a job of the kind; None where there is no such run."""
    name, states = contest.kinds[k].name, len(prompt.edges)
    stuck = next((s for s in prompt.quiet if waits(contest, s, k) and not _any_part(contest, s)), None)
    if stuck is not None:
        return Starvation(NEVER, states, name, tuple(way_to(prompt, stuck)))
    parties = FairParties(contest, prompt)
    groups = [group for group in _groups(contest, prompt, k) if _goes_on(parties, group)]
    if not groups:
        return None
    group = {moment: group for group in groups for moment in group}
    first = next(moment for moment in prompt.edges if moment in group)
    cycle = tuple(_tour(parties, group[first], first))
    return Starvation(POSSIBLE, states, name, tuple(way_to(prompt, first)), cycle)


def _of_slow(contest: Contest, acts: Acts, kinds: list[int], states: int, most: int) -> Starvation:
    """Returns whether a choice among equals, or a scheduler that acts some day, may keep a job waiting for ever."""
    begin = [(nobody(contest), False)]
    lazy = explore(begin, lambda moment: steps_of_passes(contest, moment, prompt=False, acts=acts), most=most)
    states += len(lazy.edges)
    if not lazy.complete:
        return Starvation(UNKNOWN, states)
    stuck = next(((s, k) for s in lazy.quiet for k in kinds if waits(contest, s, k)), None)
    if stuck is not None:
        return Starvation(UNDONE, states, contest.kinds[stuck[1]].name, tuple(way_to(lazy, stuck[0])))
    parties = FairParties(contest, lazy)
    fair = [(k, g) for k in kinds for g in cycles(passed_over(contest, lazy, k)) if not parties.neglected(g)]
    if not fair:
        return Starvation(NONE, states, proof=parties)
    k, group = min(fair, key=lambda pair: _moves(parties, pair[1]) is None)
    verdict = TIE if _moves(parties, group) is not None else UNDONE
    return Starvation(verdict, states, contest.kinds[k].name, tuple(way_to(lazy, group[0])))


def _any_part(contest: Contest, moment: PassState) -> bool:
    """Decides whether some job holds a part of what it waits for, so that it is a matter of its members."""
    pairs = zip(contest.kinds, moment[0], strict=True)
    return any(0 < holding(job) < kind.barrier for kind, jobs in pairs for job in jobs)


def waits(contest: Contest, moment: PassState, k: int) -> bool:
    """Decides whether some job of a kind wants what it needs for progress."""
    kind = contest.kinds[k]
    return any(is_waiting(job, kind.members) and holding(job) < kind.barrier for job in moment[0][k])


def _served(before: PassState, edge: StateStep[PassState], k: int) -> bool:
    """Decides whether a step lets in a job of the kind."""
    held, after = (sum(holding(job) for job in jobs if not is_leaving(job)) for jobs in (before[0][k], edge.to[0][k]))
    return edge.kind in SCHEDULER and after > held


def passed_over(
    contest: Contest, graph: StateGraph[PassState], k: int, states: Iterable[PassState] | None = None
) -> dict[PassState, list[PassState]]:
    """Returns, of the states in which a job of a kind waits, the steps between them that let in none of the kind."""
    inside = {s for s in (graph.edges if states is None else states) if waits(contest, s, k)}
    return {
        s: [e.to for e in edges if e.to in inside and not _served(s, e, k)]
        for s, edges in graph.edges.items() if s in inside
    }  # fmt: skip


def _groups(contest: Contest, graph: StateGraph[PassState], k: int) -> list[tuple[PassState, ...]]:
    """Returns the components in which a job of the kind waits and in no state could be let in."""
    states = [state for state, edges in graph.edges.items() if not any(_served(state, edge, k) for edge in edges)]
    return list(cycles(passed_over(contest, graph, k, states)))


def _goes_on(parties: FairParties, group: Collection[PassState]) -> bool:
    return _moves(parties, group) is not None and not parties.neglected(group)


def _moves(parties: FairParties, group: Collection[PassState]) -> Edge | None:
    """Returns a step by which a job comes or ends and the run stays in these states."""
    return next(((s, e) for s, e in parties.inside(group) if e.kind in (ENDS, COMES)), None)


def _tour(parties: FairParties, group: Collection[PassState], first: PassState) -> Iterator[StateStep[PassState]]:
    """Yields a cycle from a state on which every party acts that has to."""
    here, inside, graph = first, set(group), parties.graph
    for turn in (_moves(parties, group), *(parties.turn(party, group) for party in parties.numbers)):
        assert turn is not None
        state, step = turn
        yield from route(graph, here, state, inside) if here != state else ()
        yield from (step,) if step is not None else ()
        here = step.to if step is not None else state
    yield from route(graph, here, first, inside) if here != first else ()
