"""Evaluates the words of an order in a state: `job.priority`, `queue.used / queue.deserved`, `cpu.free`."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction

from coherence.language.expressions.evaluate import NotExactError, evaluate
from coherence.language.expressions.tree import Tree
from coherence.language.sentences import Admission
from coherence.verify.jobs.contest import Contest, State, reads_waited
from coherence.verify.jobs.job_kinds import Amount, JobKind, plain
from coherence.verify.jobs.job_states import holding, is_leaving, is_promised, is_waiting, lying, pool_of, rank_of
from coherence.verify.jobs.needs import NeedsError

INFINITE = float("inf")


@dataclass(frozen=True)
class SteadyState:
    """An environment in which nothing changes: the past is the present."""

    find: Callable[[str], Amount | None]

    def value(self, path: str) -> Amount:
        amount = self.find(path)
        if amount is None:
            raise NeedsError(path)
        return amount

    def delayed(self, tree: Tree, delay: Fraction) -> object:  # noqa: ARG002
        return evaluate(tree, self)

    mean_over = max_over = sampled = delayed

    def held(self, condition: Tree, duration: Fraction) -> bool:  # noqa: ARG002
        return bool(evaluate(condition, self))

    def previous(self, tree: Tree) -> object:
        return evaluate(tree, self)


def used(contest: Contest, state: State, resource: str, queue: str | None = None) -> Amount:
    """Returns how much of a resource is held: by all jobs, or by those of one queue that are not leaving."""
    total: Amount = 0
    for kind, jobs in zip(contest.kinds, state, strict=True):
        if resource in kind.needs and (queue is None or kind.queue == queue):
            total += kind.needs[resource] * sum(holding(job) for job in jobs if queue is None or job > 0)
    return total


def claimed(contest: Contest, state: State, resource: str) -> Amount:
    """Returns how much of a resource is held by jobs that are not leaving, or promised to jobs that wait."""
    total: Amount = 0
    for kind, jobs in zip(contest.kinds, state, strict=True):
        need = kind.needs.get(resource, 0)
        total += need * sum(holding(job) + promised(kind, job) for job in jobs if not is_leaving(job))
    return total


def promised(kind: JobKind, job: int) -> int:
    """Returns how many members room is kept for."""
    return chunk(kind, holding(job)) if is_promised(job) else 0


def chunk(kind: JobKind, held: int) -> int:
    """Returns how many members are admitted at once."""
    return min(kind.chunk if held == 0 else 1, kind.members - held)


def free(contest: Contest, state: State, resource: str) -> Amount:
    """Returns how much of a resource nobody holds."""
    return contest.open(resource) - used(contest, state, resource)


def rooms(contest: Contest, state: State, k: int, job: int, number: int) -> list[int]:
    """Returns the pools (counted among those of the kind) with room for so many members more; 0 where there is one."""
    kind = contest.kinds[k]
    if not contest.pools:
        return [0]
    settled = is_promised(job)
    own = [pool_of(job)] if settled or lying(job) else range(len(kind.pools))
    return [pool for pool in own if _has_room(contest, state, kind, kind.pools[pool], number, settled=settled)]


def _has_room(contest: Contest, state: State, kind: JobKind, pool: int, number: int, *, settled: bool) -> bool:
    there = contest.pools[pool].room
    return all(
        there[r] - _held_in(contest, state, r, pool) >= need * number
        and (settled or not contest.reserved or there[r] - _claimed_in(contest, state, r, pool) >= need * number)
        for r, need in kind.needs.items() if r in there
    )  # fmt: skip


def _held_in(contest: Contest, state: State, resource: str, pool: int) -> Amount:
    return sum((kind.needs.get(resource, 0) * holding(job) for kind, job in _in_pool(contest, state, pool)), 0)


def _claimed_in(contest: Contest, state: State, resource: str, pool: int) -> Amount:
    jobs = [(kind, job) for kind, job in _in_pool(contest, state, pool) if not is_leaving(job)]
    return sum((kind.needs.get(resource, 0) * (holding(job) + promised(kind, job)) for kind, job in jobs), 0)


def _in_pool(contest: Contest, state: State, pool: int) -> Iterator[tuple[JobKind, int]]:
    """Yields the jobs that hold something in a pool, or for which room is kept there."""
    for kind, jobs in zip(contest.kinds, state, strict=True):
        yield from ((kind, job) for job in jobs if kind.pools[pool_of(job)] == pool)


def key(contest: Contest, state: State, kind: JobKind, held: int) -> tuple[Amount | float, ...]:
    """Returns the values by which a waiting job is ordered, smallest first; division by zero is infinite."""
    orders = contest.admit.keys if contest.admit is not None else ()
    return tuple(_key(contest, state, order, kind, held) for order in orders)


def _key(contest: Contest, state: State, order: Admission, kind: JobKind, held: int) -> Amount | float:
    if reads_waited(order):
        return -rank_of(held) if order.smallest else rank_of(held)
    roles = {"job": kind, "candidate": kind}
    try:
        rank = evaluate(order.by.tree, SteadyState(lambda path: lookup(contest, state, path, roles, kind, held)))
    except NotExactError as error:
        if "zero" not in str(error):
            raise
        rank = INFINITE
    value: Amount | float = rank if order.smallest else -rank
    return value


def may_take(contest: Contest, state: State, taker: JobKind, victim: JobKind) -> bool:
    """Decides whether the preemption rule lets `taker` take a job of `victim`."""
    rule = contest.preempt
    if rule is None or not names(contest, rule.job, taker) or not names(contest, rule.victim, victim):
        return False
    alone = victim is taker and taker.number == 1
    if alone or (victim.queue == taker.queue != "" and _about_queues(contest)):
        return False
    roles = {rule.job: taker, rule.victim: victim}
    held = max(max(jobs) for kind, jobs in zip(contest.kinds, state, strict=True) if kind is victim)
    env = SteadyState(lambda path: lookup(contest, state, path, roles, victim, held))
    return bool(evaluate(rule.condition.tree, env))


def names(contest: Contest, word: str, kind: JobKind) -> bool:
    """Decides whether a word of the rule means this kind: one of its jobs, its queue, or any job."""
    jobs = {job for other in contest.kinds for job in other.jobs}
    if word in jobs:
        return word in kind.jobs
    return word == kind.queue if word in contest.queues else True


def _about_queues(contest: Contest) -> bool:
    """Decides whether the condition is about the victim's queue alone: then a job of that queue gains nothing."""
    from coherence.language.expressions import names as paths

    assert contest.preempt is not None
    own = [path.split(".") for path in paths(contest.preempt.condition.tree)]
    return all(parts[1:2] == ["queue"] or parts[0] in contest.queues or parts[0] == "queue" for parts in own)


def lookup(
    contest: Contest, state: State, path: str, roles: Mapping[str, JobKind], about: JobKind, held: int
) -> Amount | None:
    """Returns the value of a name; None where the design does not say."""
    head, _, rest = path.partition(".")
    named = next((kind for kind in contest.kinds if head in kind.jobs), None)
    if head in contest.queues and rest:
        return _of_queue(contest, state, head, rest)
    if head in roles and rest:
        return _of_job(contest, state, roles[head], rest, held if roles[head] is about else None)
    if named is not None and rest:
        return _of_job(contest, state, named, rest, None)
    if head == "queue" and rest:
        return _of_queue(contest, state, about.queue, rest)
    if not rest:
        return _of_job(contest, state, about, path, held)
    return _of_capacity(contest, state, path)


def _of_job(contest: Contest, state: State, kind: JobKind, word: str, held: int | None) -> Amount | None:
    head, _, rest = word.partition(".")
    if head == "queue":
        return _of_queue(contest, state, kind.queue, rest) if rest else contest.queues.index(kind.queue)
    if head == "needs":
        return kind.needs.get(rest, 0) * kind.members if rest else _only(kind)
    if head in ("held", "running", "admitted") and held is not None:
        return holding(held)
    return kind.needs[head] * kind.members if head in kind.needs else kind.attributes.get(head)


def _only(kind: JobKind) -> Amount | None:
    return next(iter(kind.needs.values())) * kind.members if len(kind.needs) == 1 else None


def _of_queue(contest: Contest, state: State, queue: str, word: str) -> Amount | None:
    pairs = [(kind, jobs) for kind, jobs in zip(contest.kinds, state, strict=True) if kind.queue == queue]
    if word in ("running", "admitted"):
        return sum(held > 0 for _, jobs in pairs for held in jobs)
    if word in ("waiting", "pending"):
        return sum(is_waiting(held, 1) for _, jobs in pairs for held in jobs)
    resources = dict.fromkeys(resource for kind, _ in pairs for resource in kind.needs)
    if word == "used" and len(resources) == 1:
        return used(contest, state, next(iter(resources)), queue)
    resource = word.removeprefix("used_").removesuffix("_used")
    if resource != word and resource in contest.capacity:
        return used(contest, state, resource, queue)
    amount = _constant(contest, f"{queue}.{word}")
    if amount is None:
        raise NeedsError(f"{queue}.{word}" if queue else f"queue of {pairs[0][0].name if pairs else 'the jobs'}")
    return amount


def _of_capacity(contest: Contest, state: State, path: str) -> Amount | None:
    thing, _, word = path.partition(".")
    for resource, supply in contest.supply.items():
        owner, _, key_ = supply.partition(".")
        if path == supply:
            return contest.capacity[resource]
        own = thing == owner and (key_ == "count" or word.startswith((resource, "used", "free")))
        if own and word in ("used", f"{resource}_used", f"used_{resource}"):
            return used(contest, state, resource)
        if own and word in ("free", f"{resource}_free", f"free_{resource}"):
            return free(contest, state, resource)
    return _constant(contest, path)


def _constant(contest: Contest, path: str) -> Amount | None:
    interval = contest.constants.get(path)
    return plain(interval.low) if interval is not None and interval.low is not None and interval.exact else None
