"""Steps a contest: a job comes, the first in order that fits is admitted, else a waiting one takes its victims.

Preemption acts when nothing can be admitted, takes only what lets the taker in, and takes no more than that
(as Kubernetes, Kueue and Volcano do); a taker that fits nowhere takes in vain.  Where an eviction lasts, a victim holds
its room until its members have gone, one by one and in any order among victims; the scheduler acts in between.  A
reservation keeps room for the taker: what it was promised is nobody else's.  A queue counts no job that is leaving.
A first job that does not fit is passed, or holds back those behind it (of its queue, or all).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import partial

from coherence.language.expressions.evaluate import evaluate
from coherence.verify.jobs.contest import HOLDS_ALL, HOLDS_QUEUE, Contest, State
from coherence.verify.jobs.job_kinds import Amount, JobKind
from coherence.verify.jobs.job_states import (
    AWAY,
    GONE,
    LEAVING,
    POOL,
    PROMISED,
    QUEUED,
    coded,
    holding,
    is_leaving,
    is_promised,
    is_waiting,
    lying,
    pool_of,
    rank_of,
)
from coherence.verify.jobs.needs import NeedsError
from coherence.verify.jobs.order_words import SteadyState, chunk, claimed, free, key, lookup, may_take, rooms, used
from coherence.verify.jobs.state_graph import StateStep

COMES, ADMIT, TAKE, VAIN, ENDS, FREES = "comes", "admit", "take", "take in vain", "ends", "frees"
SCHEDULER = (ADMIT, TAKE, VAIN)
LAST = 4000  # a rank behind all others, until ranks are counted anew


def nobody(contest: Contest) -> State:
    """Returns the state in which no job has come yet."""
    return tuple((AWAY,) * kind.number for kind in contest.kinds)


def moved(state: State, kind: int, old: int, new: int) -> State:
    """Returns the state after one job of a kind went from `old` to `new`."""
    jobs = list(state[kind])
    jobs.remove(old)
    after = (*state[:kind], tuple(sorted([*jobs, new])), *state[kind + 1 :])
    return _recounted(after) if rank_of(old) != rank_of(new) else after


def _recounted(state: State) -> State:
    """Returns the state with the places in the queue counted from 1 again."""
    ranks = sorted({rank_of(job) for jobs in state for job in jobs} - {0})
    places = {rank: place for place, rank in enumerate(ranks, 1)}
    return tuple(tuple(sorted(_ranked(job, places) for job in jobs)) for jobs in state)


def _ranked(job: int, places: Mapping[int, int]) -> int:
    rank = rank_of(job)
    if not rank:
        return job
    return coded(PROMISED if is_promised(job) else QUEUED, held=lying(job), rank=places[rank])


def joining(contest: Contest, *, head: bool = False) -> int:
    """Returns the number of a job that begins to wait: at the tail of the queue, or before all others."""
    if not contest.queued:
        return 0
    return coded(QUEUED, rank=1 if head else LAST)


def joined(contest: Contest, state: State, kind: int, old: int, *, evicted: bool) -> State:
    """Returns the state after a job came to the queue, or came back to it."""
    if evicted and contest.head and contest.queued:
        later = {rank: rank + 1 for rank in range(1, LAST - 1)}
        state = tuple(tuple(sorted(_ranked(job, later) for job in jobs)) for jobs in state)
        return moved(state, kind, old, joining(contest, head=True))
    return moved(state, kind, old, joining(contest))


def shifted(contest: Contest, before: State, after: State, job: int) -> int:
    """Returns the number of a job that waits, after others came to the queue: before it, or behind it."""
    if not contest.head or not rank_of(job):
        return job
    longest = [max((rank_of(other) for jobs in state for other in jobs), default=0) for state in (before, after)]
    phase = PROMISED if is_promised(job) else QUEUED
    return coded(phase, held=lying(job), rank=rank_of(job) + longest[1] - longest[0])


def steps(contest: Contest, state: State) -> Iterator[StateStep[State]]:
    """Yields every step that is possible: arrivals, those of the scheduler, and members of victims that go."""
    yield from arrivals(contest, state)
    yield from scheduled(contest, state)
    yield from departures(contest, state)


def departures(contest: Contest, state: State) -> Iterator[StateStep[State]]:
    """Yields the next member to go of each job that is leaving; after the last the job waits again, or is gone."""
    for k, jobs in enumerate(state):
        for job in dict.fromkeys(filter(is_leaving, jobs)):
            left, kind = holding(job) - 1, contest.kinds[k]
            after = moved(state, k, job, coded(LEAVING, held=left)) if left else _departed(contest, state, k, job)
            yield StateStep(FREES, partial(_freed, contest, kind, left, after), after)


def _departed(contest: Contest, state: State, k: int, job: int) -> State:
    return joined(contest, state, k, job, evicted=True) if contest.returns else moved(state, k, job, GONE)


def _freed(contest: Contest, kind: JobKind, left: int, after: State) -> str:
    room = ", ".join(f"{contest.shown(r, free(contest, after, r))} are free" for r in kind.needs)
    member = f"a member of {kind.name}" if kind.members > 1 else _one_of(kind)
    back = "" if left else " and waits again" if contest.returns else ""
    return f"{member} has ended{back}: {room}"


def arrivals(contest: Contest, state: State) -> Iterator[StateStep[State]]:
    """Yields the next jobs to come: the oldest where ages are given, else any."""
    coming = [k for k, jobs in enumerate(state) if AWAY in jobs]
    ages = [contest.kinds[k].attributes.get("age") for k in coming]
    if all(age is not None for age in ages):
        coming = [k for k, age in zip(coming, ages, strict=True) if age == max(a for a in ages if a is not None)]
    for k in coming:
        after = joined(contest, state, k, AWAY, evicted=False)
        yield StateStep(COMES, f"{_one_of(contest.kinds[k])} comes", after)


def scheduled(contest: Contest, state: State) -> list[StateStep[State]]:
    """Returns admissions by order; preemptions where nothing can be admitted."""
    return list(admissions(contest, state)) or list(takes(contest, state))


def admissions(contest: Contest, state: State) -> Iterator[StateStep[State]]:
    """Yields the admission of the waiting job that comes first in the order among those that fit; all where equal."""
    spare = {resource: free(contest, state, resource) for resource in contest.capacity}
    able = [(k, held) for k, held in contenders(contest, state) if fits(contest, state, k, held, spare)]
    values = [key(contest, state, contest.kinds[k], held) for k, held in able]
    for (k, held), own in zip(able, values, strict=True):
        if own == min(values):
            kind = contest.kinds[k]
            for pool in rooms(contest, state, k, held, chunk(kind, holding(held))):
                after = moved(state, k, held, admitted(kind, held, pool))
                yield StateStep(ADMIT, partial(_admitted, contest, kind, (held, pool), after, values), after)


def waiting(contest: Contest, state: State) -> Iterator[tuple[int, int]]:
    """Yields (kind, what it does) of the jobs that want more members."""
    for k, jobs in enumerate(state):
        for job in dict.fromkeys(jobs):
            if is_waiting(job, contest.kinds[k].members):
                yield k, job


def contenders(contest: Contest, state: State) -> list[tuple[int, int]]:
    """Returns those that may be admitted or take now; who waits for room that was promised to it, is held by nobody.

    Raises NeedsError where the order does not say who is first of those that hold others back.

    SOURCE: Kueue documentation, Cluster Queue, Queueing strategy: under StrictFIFO an older workload that cannot be
    admitted blocks newer ones of its queue, under BestEffortFIFO it does not.  Slurm documentation, sched/builtin: jobs
    start strictly in priority order within each partition.
    """
    every = list(waiting(contest, state))
    if contest.blocked not in (HOLDS_QUEUE, HOLDS_ALL):
        return every
    groups: dict[str, list[tuple[int, int]]] = {}
    for k, job in every:
        groups.setdefault(contest.kinds[k].queue if contest.blocked == HOLDS_QUEUE else "", []).append((k, job))
    first = {head for group in groups.values() for head in _heads(contest, state, group)}
    return [(k, job) for k, job in every if (k, job) in first or is_promised(job)]


def _heads(contest: Contest, state: State, group: list[tuple[int, int]]) -> list[tuple[int, int]]:
    """Returns the first in order; of several equal ones each may be, where whoever it is holds nobody back by it.

    So it is where each of them fits, or none does and nobody may take.  Raises NeedsError elsewhere.
    """
    values = [key(contest, state, contest.kinds[k], job) for k, job in group]
    heads = [pair for pair, value in zip(group, values, strict=True) if value == min(values)]
    fitting = [fits(contest, state, k, job) for k, job in heads] if len(heads) > 1 else []
    if not all(fitting) and (any(fitting) or contest.preempt is not None):
        names = " and ".join(contest.kinds[k].name for k, _ in heads[:2])
        place = contest.admit.place if contest.admit is not None else None
        raise NeedsError(f"who of {names} is first (admit: ..., then largest job.waited first)", place)
    return heads


def admitted(kind: JobKind, job: int, pool: int = 0) -> int:
    """Returns the number of a job after its next members were admitted, on one of the pools that it may use."""
    return POOL * pool + holding(job) + chunk(kind, holding(job))


def fits(contest: Contest, state: State, k: int, job: int, spare: Mapping[str, Amount] | None = None) -> bool:
    """Decides whether there is room for what is admitted at once, also under the limits; `spare`: held by nobody."""
    kind = contest.kinds[k]
    number = chunk(kind, holding(job))
    spare = spare or {resource: free(contest, state, resource) for resource in kind.needs}
    if any(spare[resource] < need * number for resource, need in kind.needs.items()):
        return False
    if contest.reserved and not is_promised(job) and not suffices(contest, state, kind, number):
        return False
    if not rooms(contest, state, k, job, number):
        return False
    return not contest.caps or _allowed(contest, moved(state, k, job, admitted(kind, job)), kind, admitted(kind, job))


def suffices(contest: Contest, state: State, kind: JobKind, number: int) -> bool:
    """Decides whether there is room for so many members once all that leave have gone, beside what is promised."""
    return all(
        contest.open(resource) - claimed(contest, state, resource) >= need * number
        for resource, need in kind.needs.items()
    )


def _allowed(contest: Contest, state: State, kind: JobKind, held: int) -> bool:
    env = SteadyState(lambda path: lookup(contest, state, path, {}, kind, held))
    return all(evaluate(counts, env) <= evaluate(most, env) for _, counts, most in contest.caps)  # type: ignore[arg-type]


def takes(contest: Contest, state: State) -> Iterator[StateStep[State]]:
    """Yields preemptions: for each kind that waits, each set of victims that just lets it in."""
    if contest.preempt is None:
        return
    for k, job in contenders(contest, state):
        kind = contest.kinds[k]
        hopeless = never_fits(contest, kind, holding(job))
        if is_promised(job) or (not hopeless and _will_fit(contest, state, k, job)):
            continue
        for victims, after in _victims(contest, state, k, job, hopeless=hopeless):
            ends = [after]
            if contest.reserved and not hopeless:
                ends = _reserved(contest, after, k, shifted(contest, state, after, job))
            words = partial(_taking, contest, kind, victims, after, hopeless=hopeless)
            yield from (StateStep(VAIN if hopeless else TAKE, words, end) for end in ends)


def _reserved(contest: Contest, state: State, k: int, job: int) -> list[State]:
    """Returns the states in which the taker has the room of its victims, or the promise of it while they leave."""
    kind, held = contest.kinds[k], holding(job)
    if fits(contest, state, k, job) or not any(map(is_leaving, (job for jobs in state for job in jobs))):
        there = rooms(contest, state, k, job, chunk(kind, held))
        return [moved(state, k, job, admitted(kind, job, pool)) for pool in there]
    later = rooms(contest, _without_leaving(state), k, job, chunk(kind, held))
    return [moved(state, k, job, coded(PROMISED, held=POOL * pool + held, rank=rank_of(job))) for pool in later]


def _will_fit(contest: Contest, state: State, k: int, job: int) -> bool:
    """Decides whether the taker has room once all that are leaving have gone."""
    return fits(contest, _without_leaving(state), k, job)


def _without_leaving(state: State) -> State:
    return tuple(tuple(GONE if is_leaving(job) else job for job in jobs) for jobs in state)


def never_fits(contest: Contest, kind: JobKind, held: int) -> bool:
    """Decides whether the job needs more than there is."""
    return contest.is_too_large(kind, held + chunk(kind, held))


def _victims(
    contest: Contest, state: State, k: int, job: int, *, hopeless: bool
) -> Iterator[tuple[tuple[str, ...], State]]:
    """Yields sequences of victims after which the taker fits (of a hopeless taker: each single victim)."""
    stack: list[tuple[tuple[str, ...], State]] = [((), state)]
    seen = {state}
    while stack:
        taken, here = stack.pop()
        for victim, after in _one_victim(contest, here, contest.kinds[k]):
            if after in seen:
                continue
            seen.add(after)
            if hopeless or _will_fit(contest, after, k, shifted(contest, state, after, job)):
                yield (*taken, victim), after
            else:
                stack.append(((*taken, victim), after))


def _one_victim(contest: Contest, state: State, taker: JobKind) -> Iterator[tuple[str, State]]:
    for v, jobs in enumerate(state):
        if max(jobs) > 0 and may_take(contest, state, taker, contest.kinds[v]):
            for held in dict.fromkeys(held for held in jobs if held > 0):
                if not contest.pools or contest.kinds[v].pools[pool_of(held)] in taker.pools:
                    where = contest.where(contest.kinds[v], pool_of(held))
                    yield f"{_one_of(contest.kinds[v])}{where}", _evicted(contest, state, v, held)


def _evicted(contest: Contest, state: State, v: int, held: int) -> State:
    if contest.lasts(contest.kinds[v]):
        return moved(state, v, held, coded(LEAVING, held=held))
    return _departed(contest, state, v, held)


def _taking(contest: Contest, kind: JobKind, victims: tuple[str, ...], after: State, *, hopeless: bool) -> str:
    who, whom = _one_of(kind), " and ".join(victims)
    room = ", ".join(f"{contest.shown(r, free(contest, after, r))} are free" for r in kind.needs)
    if hopeless:
        return f"{who} takes {whom}, and still does not fit: {room}"
    if contest.reserved:
        return f"{who} takes {whom} and what is freed"
    if any(map(is_leaving, (job for jobs in after for job in jobs))):
        return f"{who} does not fit and takes {whom}: {room} until they end"
    back = "goes back to its queue" if len(victims) == 1 else "go back to their queues"
    return f"{who} does not fit and takes {whom}, which {back if contest.returns else 'leaves'}: {room}"


def _admitted(
    contest: Contest, kind: JobKind, job: tuple[int, int], after: State, values: list[tuple[Amount | float, ...]]
) -> str:
    held, pool = job
    number = chunk(kind, holding(held))
    members = f"member {holding(held) + 1} of {kind.members} of " if number < kind.members else ""
    held_now = ", ".join(f"{contest.shown(r, used(contest, after, r))} held" for r in kind.needs)
    others = [value for value in values if value > min(values)]
    pairs = zip(min(values), min(others), strict=True) if others else ()
    decided = next(((own, other) for own, other in pairs if own != other), None)
    order = f" before the others ({_number(decided[0])} < {_number(decided[1])})" if decided else ""
    return f"{members}{_one_of(kind)} is admitted{contest.where(kind, pool)}{order}: {held_now}"


def _number(value: Amount | float) -> str:
    return "infinite" if isinstance(value, float) else str(round(float(value), 3)).removesuffix(".0")


def _one_of(kind: JobKind) -> str:
    if kind.number == 1:
        return kind.name
    return f"one of {', '.join(kind.jobs)}" if len(kind.jobs) > 1 else f"a {kind.name}"


def endings(contest: Contest, state: State) -> Iterator[StateStep[State]]:
    """Yields the end of each job of which enough members are there: it gives everything back."""
    for k, jobs in enumerate(state):
        kind = contest.kinds[k]
        for held in dict.fromkeys(jobs):
            if held >= kind.barrier:
                yield StateStep(
                    ENDS, f"{_one_of(kind)} has all it waits for, runs and ends", moved(state, k, held, GONE)
                )
