"""Steps a contest: a job comes, the first in order that fits is admitted, else a waiting one takes its victims.

Preemption acts when nothing can be admitted, takes only what lets the taker in, and takes no more than that
(as Kubernetes, Kueue and Volcano do); a taker that fits nowhere takes in vain.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import partial

from coherence.language.expressions.evaluate import evaluate
from coherence.verify.jobs.contest import AWAY, GONE, Amount, Contest, JobKind, State
from coherence.verify.jobs.order_words import SteadyState, free, key, lookup, may_take, used
from coherence.verify.jobs.state_graph import StateStep

COMES, ADMIT, TAKE, VAIN, ENDS = "comes", "admit", "take", "take in vain", "ends"
SCHEDULER = (ADMIT, TAKE, VAIN)


def nobody(contest: Contest) -> State:
    """Returns the state in which no job has come yet."""
    return tuple((AWAY,) * kind.number for kind in contest.kinds)


def moved(state: State, kind: int, old: int, new: int) -> State:
    """Returns the state after one job of a kind went from `old` to `new` members."""
    jobs = list(state[kind])
    jobs.remove(old)
    return (*state[:kind], tuple(sorted([*jobs, new])), *state[kind + 1 :])


def steps(contest: Contest, state: State) -> Iterator[StateStep[State]]:
    """Yields every step that is possible: arrivals, and those of the scheduler."""
    yield from arrivals(contest, state)
    yield from scheduled(contest, state)


def arrivals(contest: Contest, state: State) -> Iterator[StateStep[State]]:
    """Yields the next jobs to come: the oldest where ages are given, else any."""
    coming = [k for k, jobs in enumerate(state) if AWAY in jobs]
    ages = [contest.kinds[k].attributes.get("age") for k in coming]
    if all(age is not None for age in ages):
        coming = [k for k, age in zip(coming, ages, strict=True) if age == max(a for a in ages if a is not None)]
    for k in coming:
        yield StateStep(COMES, f"{_one_of(contest.kinds[k])} comes", moved(state, k, AWAY, 0))


def scheduled(contest: Contest, state: State) -> list[StateStep[State]]:
    """Returns admissions by order; preemptions where nothing can be admitted."""
    return list(admissions(contest, state)) or list(takes(contest, state))


def admissions(contest: Contest, state: State) -> Iterator[StateStep[State]]:
    """Yields the admission of the waiting job that comes first in the order among those that fit; all where equal."""
    spare = {resource: free(contest, state, resource) for resource in contest.capacity}
    able = [(k, held) for k, held in waiting(contest, state) if fits(contest, state, k, held, spare)]
    values = [key(contest, state, contest.kinds[k], held) for k, held in able]
    for (k, held), own in zip(able, values, strict=True):
        if own == min(values):
            kind = contest.kinds[k]
            after = moved(state, k, held, held + chunk(kind, held))
            yield StateStep(ADMIT, partial(_admitted, contest, kind, held, after, values), after)


def waiting(contest: Contest, state: State) -> Iterator[tuple[int, int]]:
    """Yields (kind, members held) of the jobs that want more."""
    for k, jobs in enumerate(state):
        for held in dict.fromkeys(jobs):
            if 0 <= held < contest.kinds[k].members:
                yield k, held


def chunk(kind: JobKind, held: int) -> int:
    """Returns how many members are admitted at once."""
    return min(kind.chunk if held == 0 else 1, kind.members - held)


def fits(contest: Contest, state: State, k: int, held: int, spare: Mapping[str, Amount] | None = None) -> bool:
    """Decides whether there is room for what is admitted at once, also under the limits; `spare`: held by nobody."""
    kind = contest.kinds[k]
    number = chunk(kind, held)
    spare = spare or {resource: free(contest, state, resource) for resource in kind.needs}
    if any(spare[resource] < need * number for resource, need in kind.needs.items()):
        return False
    return not contest.caps or _allowed(contest, moved(state, k, held, held + number), kind, held + number)


def _allowed(contest: Contest, state: State, kind: JobKind, held: int) -> bool:
    env = SteadyState(lambda path: lookup(contest, state, path, {}, kind, held))
    return all(evaluate(counts, env) <= evaluate(most, env) for _, counts, most in contest.caps)  # type: ignore[arg-type]


def takes(contest: Contest, state: State) -> Iterator[StateStep[State]]:
    """Yields preemptions: for each kind that waits, each set of victims that just lets it in."""
    if contest.preempt is None:
        return
    for k, held in waiting(contest, state):
        hopeless = never_fits(contest, contest.kinds[k], held)
        for victims, after in _victims(contest, state, k, held, hopeless=hopeless):
            whole = contest.reserved and not hopeless
            kind = contest.kinds[k]
            end = moved(after, k, held, held + chunk(kind, held)) if whole else after
            words = partial(_taking, contest, kind, victims, after, hopeless=hopeless)
            yield StateStep(VAIN if hopeless else TAKE, words, end)


def never_fits(contest: Contest, kind: JobKind, held: int) -> bool:
    """Decides whether the job needs more than there is."""
    return any(need * (held + chunk(kind, held)) > contest.open(r) for r, need in kind.needs.items())


def _victims(
    contest: Contest, state: State, k: int, held: int, *, hopeless: bool
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
            if hopeless or fits(contest, after, k, held):
                yield (*taken, victim), after
            else:
                stack.append(((*taken, victim), after))


def _one_victim(contest: Contest, state: State, taker: JobKind) -> Iterator[tuple[str, State]]:
    for v, jobs in enumerate(state):
        if max(jobs) > 0 and may_take(contest, state, taker, contest.kinds[v]):
            for held in dict.fromkeys(held for held in jobs if held > 0):
                yield _one_of(contest.kinds[v]), moved(state, v, held, 0 if contest.returns else GONE)


def _taking(contest: Contest, kind: JobKind, victims: tuple[str, ...], after: State, *, hopeless: bool) -> str:
    who, whom = _one_of(kind), " and ".join(victims)
    room = ", ".join(f"{contest.shown(r, free(contest, after, r))} are free" for r in kind.needs)
    if hopeless:
        return f"{who} takes {whom}, and still does not fit: {room}"
    if contest.reserved:
        return f"{who} takes {whom} and what is freed"
    back = "goes back to its queue" if len(victims) == 1 else "go back to their queues"
    return f"{who} does not fit and takes {whom}, which {back if contest.returns else 'leaves'}: {room}"


def _admitted(contest: Contest, kind: JobKind, held: int, after: State, values: list[Amount | float]) -> str:
    number = chunk(kind, held)
    members = f"member {held + 1} of {kind.members} of " if number < kind.members else ""
    held_now = ", ".join(f"{contest.shown(r, used(contest, after, r))} held" for r in kind.needs)
    others = [value for value in values if value > min(values)]
    order = f" before the others ({_number(min(values))} < {_number(min(others))})" if others else ""
    return f"{members}{_one_of(kind)} is admitted{order}: {held_now}"


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
