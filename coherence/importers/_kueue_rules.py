"""Who comes first and who takes from whom in queues of Kueue, in the words of an order of the language.

Of the first jobs of all queues those come first that stay within the quota of their queue, then those of high priority.
Within a queue the priority decides, and then the age, which no manifest says: where a queue that shares has several
jobs, no order of both kinds is the one of Kueue, and none is stated.  A victim keeps its age and its place, and what it
frees is kept for nobody.

SOURCE: Kueue 0.19, scheduler.go, classicalIterator; preemption.go; documentation, Preemption.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from coherence.importers._job_queues import JobQueue, PlacedJob, QuotaPool
from coherence.importers._quantities import BYTES, respelled
from coherence.language.document import Node, Scalar

BLOCKED = {"BestEffortFIFO": "is passed", "StrictFIFO": "holds its queue"}
HIGHEST = 2**31 - 1
NEVER, ANY = "Never", "Any"
LEVELS = {NEVER: "0", "LowerPriority": "1", ANY: "2"}
PRIORITY = "largest job.priority first"
OLDEST = "largest job.age first"
LOWER = "running.priority < waiting.priority"


def order_of(pools: Mapping[str, QuotaPool], waiting: Sequence[PlacedJob], *, sorts: bool = True) -> dict[str, Scalar]:
    """Returns the keys of the order; none, where no job waits."""
    if not waiting:
        return {}
    queues = {known.queue.name.text: known.queue for known in waiting}
    shared = {name: pool for name, pool in pools.items() if pool.shared}
    first = next(iter(queues.values())).strict
    keys = {"admit": _admission(shared, waiting, sorts=sorts)}
    strategies = {queue.strict.text for queue in queues.values()}
    keys["blocked"] = BLOCKED[first.text] if len(strategies) == 1 else ""
    rule, stated = _rule(shared, list(queues.values()))
    if rule:
        keys |= {"preempt": rule, "victim": "returns, no reservation"}
    return {
        key: respelled(stated if key in ("preempt", "victim") else first, text) for key, text in keys.items() if text
    }


def _admission(shared: Mapping[str, QuotaPool], waiting: Sequence[PlacedJob], *, sorts: bool) -> str:
    """Returns the order of the jobs; empty, where ages decide between some of which one may borrow.

    `sorts`: of two that do not borrow, or both do, the one of higher priority comes first.
    """
    names = [known.queue.name.text for known in waiting]
    borrowing = {name for pool in shared.values() for name in pool.nominal if name in names}
    if not borrowing:
        return PRIORITY
    if any(names.count(name) > 1 for name in borrowing):
        return ""
    beyond = [f"queue.used_{pool} + job.needs.{pool} > queue.nominal_{pool}" for pool in shared]
    return f"smallest {' or '.join(beyond)} first, then {PRIORITY if sorts else OLDEST}"


def _rule(shared: Mapping[str, QuotaPool], queues: Sequence[JobQueue]) -> tuple[str, Scalar]:
    """Returns who takes from whom, and where the first of it is stated; empty, where nobody does."""
    stated = [it for queue in queues for it in (queue.within, queue.reclaim, queue.borrowing) if it is not None]
    stated = [it for it in stated if it.text != NEVER]
    if not stated:
        return "", queues[0].name
    terms = []
    if any(_level(queue.within) for queue in queues):
        terms.append(f"(running.queue == waiting.queue and waiting.queue.within > 0 and {LOWER})")
    if shared and any(_level(queue.reclaim) for queue in queues):
        terms.append(f"({_others(shared)} and ({_reclaim(shared)}{_borrow(queues)}))")
    return (f"for waiting take running where {' or '.join(terms)}" if terms else ""), stated[0]


def _others(shared: Mapping[str, QuotaPool]) -> str:
    """Returns that the victim is of another queue, which uses more than its own of what the taker needs."""
    over = [
        f"(running.queue.used_{name} > running.queue.nominal_{name} and waiting.needs.{name} > {_zero(pool)})"
        for name, pool in shared.items()
    ]
    return f"running.queue != waiting.queue and ({' or '.join(over)})"


def _reclaim(shared: Mapping[str, QuotaPool]) -> str:
    """Returns that the taker stays within what its queue has."""
    within = " and ".join(
        f"(waiting.needs.{name} <= {_zero(pool)} or "
        f"waiting.queue.used_{name} + waiting.needs.{name} <= waiting.queue.nominal_{name})"
        for name, pool in shared.items()
    )
    return f"({within} and (waiting.queue.reclaims > 1 or (waiting.queue.reclaims > 0 and {LOWER})))"


def _borrow(queues: Sequence[JobQueue]) -> str:
    """Returns that the taker may borrow and take at once, from those of lower priority up to a threshold."""
    if not any(_level(queue.borrowing) for queue in queues):
        return ""
    return f" or (waiting.queue.takes_borrowing > 0 and running.priority <= waiting.queue.threshold and {LOWER})"


def _zero(pool: QuotaPool) -> str:
    return "0 B" if pool.resource.startswith(BYTES) else "0"


def _level(policy: Scalar | None) -> bool:
    return policy is not None and policy.text != NEVER


def rights(queue: JobQueue) -> dict[str, Node | None]:
    """Returns what the rule reads of a queue."""
    stated = {"within": queue.within, "reclaims": queue.reclaim, "takes_borrowing": queue.borrowing}
    levels: dict[str, Node | None] = {
        key: respelled(policy or queue.name, LEVELS[policy.text if policy else NEVER]) for key, policy in stated.items()
    }
    return {**levels, "threshold": queue.threshold or respelled(queue.name, str(HIGHEST))}
