"""Decides whether a job that would fit may wait for ever while others like those that have ended come again.

A run is fair where every job that runs ends some day, what is leaving goes some day, and the scheduler acts some day.
It acts in passes: what may be admitted is admitted before others come or end, which may be many between two passes.
Jobs alike that nothing tells apart take turns.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass, replace
from typing import TypeAlias

from coherence.base.graphs import cycles
from coherence.verify.jobs.contest import HOLDS_ALL, RESERVES, Contest, JobKind, NeedsError, State, reads_waited
from coherence.verify.jobs.contest_steps import (
    COMES,
    ENDS,
    FREES,
    SCHEDULER,
    arrivals,
    departures,
    endings,
    nobody,
    scheduled,
)
from coherence.verify.jobs.fair_cycles import has_gone
from coherence.verify.jobs.job_states import AWAY, GONE, holding, is_leaving, is_waiting
from coherence.verify.jobs.livelock import NONE, POSSIBLE, TIE, UNKNOWN
from coherence.verify.jobs.state_graph import StateGraph, StateStep, explore, route, way_to

MOST_STATES = 4000
UNDONE, NEVER = "undone", "never"
PassState: TypeAlias = tuple[State, bool]  # the jobs, and whether a pass of the scheduler goes on


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


def starvation(contest: Contest, *, most: int = MOST_STATES) -> Starvation:
    """Returns the worst verdict over all kinds of jobs that fit alone.  Raises NeedsError."""
    jobs = one_by_one(_as_if_held(contest))
    _refuse_ages(jobs)
    prompt = explore([(nobody(jobs), False)], lambda moment: _steps(jobs, moment, prompt=True), most=most)
    if not prompt.complete:
        return Starvation(UNKNOWN, len(prompt.edges))
    fitting = [k for k in range(len(jobs.kinds)) if not is_too_large(jobs, k)]
    starved = next((outcome for k in fitting if (outcome := _starved(jobs, prompt, k)) is not None), None)
    return starved or _of_slow(jobs, fitting, len(prompt.edges), most)


def one_by_one(contest: Contest) -> Contest:
    """Returns the contest with each of the jobs alike as a kind of its own, where one may pass another.

    Who has waited longest is first of its kind; else nothing tells jobs alike apart, and they take turns.
    """
    keys = contest.admit.keys if contest.admit is not None else ()
    if not contest.head and not any(reads_waited(order) and order.smallest for order in keys):
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


def _steps(contest: Contest, moment: PassState, *, prompt: bool) -> Iterator[StateStep[PassState]]:
    """Yields all that may happen next; a `prompt` scheduler begins its pass before anything else happens."""
    state, in_pass = moment
    acts = scheduled(contest, state)
    for step in acts:
        after = _renewed(contest, step.to)
        yield StateStep(step.kind, step.words, (after, not prompt and bool(scheduled(contest, after))))
    if not in_pass and not (prompt and acts):
        for step in (*arrivals(contest, state), *departures(contest, state), *endings(contest, state)):
            yield StateStep(step.kind, step.words, (_renewed(contest, step.to), False))


def _renewed(contest: Contest, state: State) -> State:
    """Returns the state in which each job that is over and comes again may come."""
    return tuple(
        tuple(sorted(AWAY if job == GONE else job for job in jobs)) if kind.again else jobs
        for kind, jobs in zip(contest.kinds, state, strict=True)
    )


def is_too_large(contest: Contest, k: int) -> bool:
    """Decides whether a job of a kind needs more than there is."""
    kind = contest.kinds[k]
    members = max(kind.barrier, kind.chunk)
    return any(need * members > contest.open(resource) for resource, need in kind.needs.items())


def _starved(contest: Contest, prompt: StateGraph[PassState], k: int) -> Starvation | None:
    """Returns how a scheduler that acts at once never lets in a job of the kind; None where there is no such run."""
    name, states = contest.kinds[k].name, len(prompt.edges)
    stuck = next((s for s in prompt.quiet if _waits(contest, s, k) and not _any_part(contest, s)), None)
    if stuck is not None:
        return Starvation(NEVER, states, name, tuple(way_to(prompt, stuck)))
    groups = [g for g in _groups(contest, prompt, k, strict=True) if _goes_on(contest, prompt, g)]
    if not groups:
        return None
    group = {moment: group for group in groups for moment in group}
    first = next(moment for moment in prompt.edges if moment in group)
    cycle = tuple(_tour(contest, prompt, group[first], first))
    return Starvation(POSSIBLE, states, name, tuple(way_to(prompt, first)), cycle)


def _of_slow(contest: Contest, kinds: list[int], states: int, most: int) -> Starvation:
    """Returns whether a choice among equals, or a scheduler that acts some day, may keep a job waiting for ever."""
    lazy = explore([(nobody(contest), False)], lambda moment: _steps(contest, moment, prompt=False), most=most)
    states += len(lazy.edges)
    if not lazy.complete:
        return Starvation(UNKNOWN, states)
    stuck = next(((s, k) for s in lazy.quiet for k in kinds if _waits(contest, s, k)), None)
    if stuck is not None:
        return Starvation(UNDONE, states, contest.kinds[stuck[1]].name, tuple(way_to(lazy, stuck[0])))
    fair = [
        (k, group) for k in kinds
        for group in _groups(contest, lazy, k, strict=False) if _is_fair(contest, lazy, group)
    ]  # fmt: skip
    if not fair:
        return Starvation(NONE, states)
    k, group = min(fair, key=lambda pair: not _inside(lazy, pair[1], ENDS, COMES))
    verdict = TIE if _inside(lazy, group, ENDS, COMES) else UNDONE
    return Starvation(verdict, states, contest.kinds[k].name, tuple(way_to(lazy, group[0])))


def _any_part(contest: Contest, moment: PassState) -> bool:
    """Decides whether some job holds a part of what it waits for, so that it is a matter of its members."""
    pairs = zip(contest.kinds, moment[0], strict=True)
    return any(0 < holding(job) < kind.barrier for kind, jobs in pairs for job in jobs)


def _waits(contest: Contest, moment: PassState, k: int) -> bool:
    kind = contest.kinds[k]
    return any(is_waiting(job, kind.members) and holding(job) < kind.barrier for job in moment[0][k])


def _served(before: PassState, edge: StateStep[PassState], k: int) -> bool:
    """Decides whether a step lets in a job of the kind."""
    held, after = (sum(holding(job) for job in jobs if not is_leaving(job)) for jobs in (before[0][k], edge.to[0][k]))
    return edge.kind in SCHEDULER and after > held


def _groups(contest: Contest, graph: StateGraph[PassState], k: int, *, strict: bool) -> list[tuple[PassState, ...]]:
    """Returns the components in which a job of the kind waits and none is let in; `strict`: none could be."""
    states = [state for state in graph.edges if _waits(contest, state, k)]
    if strict:
        states = [state for state in states if not any(_served(state, edge, k) for edge in graph.edges[state])]
    inside = set(states)
    return list(cycles({s: [e.to for e in graph.edges[s] if e.to in inside and not _served(s, e, k)] for s in states}))


def _goes_on(contest: Contest, graph: StateGraph[PassState], group: Collection[PassState]) -> bool:
    return bool(_inside(graph, group, ENDS, COMES)) and _is_fair(contest, graph, group)


def _is_fair(contest: Contest, graph: StateGraph[PassState], group: Collection[PassState]) -> bool:
    """Decides whether a run that stays in these states for ever may be fair."""
    return all(turn is not None for turn in _needed_turns(contest, graph, group))


Turn = tuple[PassState, StateStep[PassState] | None]  # a state to pass through, and the step to take there


def _needed_turns(
    contest: Contest, graph: StateGraph[PassState], group: Collection[PassState]
) -> Iterator[Turn | None]:
    """Yields for each party a place in the component where it has acted, or need not; None where there is none."""
    for j, kind in enumerate(contest.kinds):
        ends = [(s, e) for s, e in _inside(graph, group, ENDS) if s[0][j] != e.to[0][j]]
        idle = (s for s in group if not any(job >= kind.barrier for job in s[0][j]))
        yield ends[0] if ends else next(((s, None) for s in idle), None)
        goes_ = [(s, e) for s, e in _inside(graph, group, FREES) if has_gone(s[0], e.to[0], j)]
        staying = (s for s in group if not any(is_leaving(job) for job in s[0][j]))
        yield goes_[0] if goes_ else next(((s, None) for s in staying), None)
    acts = _inside(graph, group, *SCHEDULER)
    rest = (s for s in group if not any(e.kind in SCHEDULER for e in graph.edges[s]))
    yield acts[0] if acts else next(((s, None) for s in rest), None)


def _inside(
    graph: StateGraph[PassState], group: Collection[PassState], *kinds: str
) -> list[tuple[PassState, StateStep[PassState]]]:
    states = set(group)
    return [(s, e) for s in group for e in graph.edges[s] if e.kind in kinds and e.to in states]


def _tour(
    contest: Contest, graph: StateGraph[PassState], group: Collection[PassState], first: PassState
) -> Iterator[StateStep[PassState]]:
    """Yields a cycle from a state on which every party acts that has to."""
    here, inside = first, set(group)
    turns = [*_inside(graph, group, ENDS, COMES)[:1], *_needed_turns(contest, graph, group)]
    for turn in turns:
        assert turn is not None
        state, step = turn
        yield from route(graph, here, state, inside) if here != state else ()
        yield from (step,) if step is not None else ()
        here = step.to if step is not None else state
    yield from route(graph, here, first, inside) if here != first else ()
