"""Jobs that wait in queues of Kueue, as jobs of the language: what they need, and of which pools of quotas.

A job needs all its pods at once.  Each flavor of a resource is a capacity of its cohort, and what one queue may use of
it a capacity of its own where that is less, so that whoever needs more never runs.  Where something decides beside the
quotas, the jobs of the whole cohort are listed and left out.  What else waits in these queues, of a kind that is not
imported or with needs that are not known, is a job without needs, for which an answer about all of them asks.

SOURCE: Kueue documentation, ClusterQueue: Cohort, BorrowingLimit, LendingLimit; Workload.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from fractions import Fraction

from coherence.base.places import Place
from coherence.importers._job_queues import JobQueue, JobQueues, PlacedJob, PodSet, QueuedJob, QueueQuota, QuotaPool
from coherence.importers._kueue_rules import order_of, rights
from coherence.importers._names import agree
from coherence.importers._quantities import added, amount_text, as_amount, respelled, times, value_of
from coherence.importers._sketch import Sketch, entry
from coherence.language.document import Node, Scalar

KIND = "ClusterQueue"
LONGEST_RULE = 4000  # letters of a formula of the language
PODS = "pods"
CLOSED = "namespaces let in"
NOTHING = "it requests nothing, and is let in"
UNASKED = "no job that is modelled asks for it"
LONG = "queues of Kueue (the rule of who takes from whom is too long: no job is let in or not)"
AGES = "who comes first in its queue goes by ages that no manifest says: every order is looked at"


def add_queued_jobs(sketch: Sketch) -> None:
    """Adds the jobs whose queues are understood, with what they share; lists all others."""
    queues = sketch.queues
    waiting = list(_understood(sketch))
    sketch.not_modelled += _idle(waiting, queues)
    pools = {pool.label: pool for known in waiting for r in known.needs for pool in _pools(known.queue, r, queues)}
    names = {label: sketch.names.fresh(label) for label in pools}
    members = {q: sketch.names.thing(q, "", KIND) for q in dict.fromkeys(known.queue.name.text for known in waiting)}
    order = order_of({names[label]: pool for label, pool in pools.items()}, waiting, sorts=queues.sorts)
    if any(len(rule.text) > LONGEST_RULE for rule in order.values()):
        sketch.not_modelled.append((waiting[0].queue.strict.place, LONG))
        return
    if waiting and "admit" not in order:
        sketch.not_modelled.append((waiting[0].queue.strict.place, AGES))
    for key, rule in order.items():
        sketch.state_key("order", key, rule)
    for label, pool in pools.items():
        sketch.put("components", names[label], pool.total.place, {"count": pool.total})
    for queue in {known.queue.name.text: known.queue for known in waiting}.values():
        _state_queue(queue, members[queue.name.text], {names[label]: pool for label, pool in pools.items()}, sketch)
    for known in waiting:
        needs = {
            names[pool.label]: amount for r, amount in known.needs.items() for pool in _pools(known.queue, r, queues)
        }
        _add_job(known, members[known.queue.name.text], needs, sketch)
    _add_unknown(waiting, members, sketch)


def _understood(sketch: Sketch) -> Iterator[PlacedJob]:
    """Yields the jobs that are understood, of cohorts of which every queue is; lists all others."""
    queues = sketch.queues
    placed = [(job, _queue_of(job, queues)) for job in queues.jobs]
    reasons = [_job_obstacle(job, queue, queues) for job, queue in placed]
    for (job, queue), reason in zip(placed, reasons, strict=True):
        why = reason or next(_obstacles(queue, queues) if queue is not None else iter(()), "")
        if why or queue is None:
            words = f"{job.title}: queue {job.queue} ({why}: whether and when it is let in is not answered)"
            sketch.not_modelled.append((job.place, words))
        else:
            priority = queues.priorities[job.group] if job.group else Scalar("0", job.place)
            needs = _needs(job.pod_sets, queue)
            if needs and not queue.lets_in(job.namespace):
                needs[CLOSED] = Scalar("1", job.place)  # of none
            yield from [PlacedJob(job, queue, needs, priority)] if needs else []
            if not needs:
                sketch.not_modelled.append((job.place, f"{job.title}: its place in a queue ({NOTHING})"))


def _idle(waiting: Sequence[PlacedJob], queues: JobQueues) -> Iterator[tuple[Place, str]]:
    """Yields the quotas and the priorities that no job of the design has to do with."""
    used = {(mate.name.text, r) for known in waiting for r in known.needs for mate in queues.mates(known.queue)}
    for queue in queues.queues.values():
        why = next(_obstacles(queue, queues), UNASKED)
        words = f"{KIND} {queue.name.text}: what it has"
        if not any(name == queue.name.text for name, _ in used) and queue.quotas:
            yield queue.name.place, f"{words} and who may take it ({why})"
            continue
        for quota in queue.quotas:
            if (queue.name.text, quota.resource) not in used:
                yield quota.nominal.place, f"{words} of {quota.resource} ({UNASKED})"
    shared = {(known.queue.cohort, r) for known in waiting for r in known.needs}
    for group, quota in queues.beside:
        if (group, quota.resource) not in shared:
            yield quota.nominal.place, f"Cohort {group}: what it has of {quota.resource} ({UNASKED})"
    groups = {known.job.group for known in waiting}
    for group, value in queues.priorities.items():
        if group not in groups:
            yield value.place, f"{group}: its priority ({UNASKED})"


def _add_unknown(waiting: Sequence[PlacedJob], members: Mapping[str, str], sketch: Sketch) -> None:
    """Adds what waits beside the jobs that are understood, without needs: a proof about them asks for these."""
    queues = sketch.queues
    beside = [
        (Scalar(job.thing, job.place), job.namespace, job.queue)
        for job in queues.jobs
        if _job_obstacle(job, _queue_of(job, queues), queues)
    ]
    cohorts = [mate for known in waiting for mate in queues.mates(known.queue)]
    for name, namespace, door in (*beside, *queues.others):
        for queue in (it for it in _behind(queues, namespace, door, agree) if it in cohorts):
            member = Scalar(members.get(queue.name.text) or sketch.names.thing(queue.name.text, "", KIND), name.place)
            sketch.put("jobs", sketch.names.fresh(f"{name.text}_job"), name.place, {"queue": member})


def _queue_of(job: QueuedJob, queues: JobQueues) -> JobQueue | None:
    """Returns the queue that a job waits in; None where it is not known, or may be one of several."""
    behind = _behind(queues, job.namespace, job.queue, _is_same_namespace)
    return behind[0] if len(behind) == 1 else None


def _behind(
    queues: JobQueues, namespace: str, name: str, matches: Callable[[str, str], bool]
) -> Sequence[JobQueue | None]:
    """Returns the queues behind a name, of the namespaces that match; None for one that is not in these manifests."""
    doors = {to for (space, door), to in queues.doors.items() if door == name and matches(space, namespace)}
    return [queues.queues.get(to) for to in sorted(doors)]


def _is_same_namespace(one: str, other: str) -> bool:
    """Returns whether two objects stand in one namespace, where the one that is not said is `default`."""
    return (one or "default") == (other or "default")


def _job_obstacle(job: QueuedJob, queue: JobQueue | None, queues: JobQueues) -> str:
    """Returns why what becomes of a job is not known; empty where it is."""
    unknown = job.group and job.group not in queues.priorities
    why = job.obstacle or ("" if queue is not None else "no one queue of its namespace is in these manifests")
    return why or (f"the priority of {job.group} is not in these manifests" if unknown else "")


def _needs(pod_sets: Sequence[PodSet], queue: JobQueue) -> dict[str, Scalar]:
    """Returns what all pods of a job request together; pods themselves count where the queue has a quota of them."""
    counted = [PODS] if queue.quota(PODS) is not None else []
    each = [(it.count, {**it.requests, **{key: respelled(it.count, "1") for key in counted}}) for it in pod_sets]
    sums = added((key, times(number, count)) for count, requests in each for key, number in requests.items())
    return {key: as_amount(total, key) for key, total in sums.items() if value_of(total)}


def _obstacles(queue: JobQueue, queues: JobQueues) -> Iterator[str]:
    """Yields why what becomes of the jobs of a queue is not known."""
    mates = queues.mates(queue)
    quotas = [quota for mate in mates for quota in mate.quotas]
    beside = any(group == queue.cohort for group, _ in queues.beside)
    lending = any(quota.lending is not None for quota in quotas)
    yield from (why for why in (queues.fair, *(mate.obstacle for mate in mates)) if why)
    yield from [queues.trees[queue.cohort]] if queue.cohort in queues.trees else []
    yield from (queues.flavors[quota.flavor] for quota in quotas if quota.flavor in queues.flavors)
    if lending and (beside or len(mates) > 2):
        yield "lendingLimit among more than two that share"


def _pools(queue: JobQueue, resource: str, queues: JobQueues) -> Iterator[QuotaPool]:
    """Yields what a job needs of: the pool of the cohort, and what its own queue may use of it where that is less."""
    own = queue.quota(resource)
    if own is None:  # nothing of it: whoever needs some never runs
        nothing = respelled(queue.name, amount_text(Fraction(0), resource))
        yield QuotaPool(f"{resource} of {queue.name.text}", resource, nothing, {}, shared=False)
        return
    having = [(mate, quota) for mate in queues.mates(queue) for quota in mate.quotas if _same(quota, own)]
    beside = [quota.nominal for group, quota in queues.beside if group == queue.cohort and _same(quota, own)]
    total = sum(map(value_of, (*(quota.nominal for _, quota in having), *beside)), Fraction(0))
    nominal = {mate.name.text: quota.nominal for mate, quota in having}
    first, shared = having[0][1].nominal, len(having) > 1 or bool(beside)
    flavors = {quota.flavor for mate in queues.mates(queue) for quota in mate.quotas if quota.resource == resource}
    label = " ".join((resource, *([own.flavor] if len(flavors) > 1 else []), f"of {queue.cohort or queue.name.text}"))
    yield QuotaPool(label, resource, respelled(first, amount_text(total, resource)), nominal, shared=shared)
    most, place = _most(queue, own, having, sum(map(value_of, beside), Fraction(0)))
    if most < total:
        cap = respelled(place, amount_text(most, resource))
        yield QuotaPool(f"{resource} at most for {queue.name.text}", resource, cap, {}, shared=False)


def _same(one: QueueQuota, other: QueueQuota) -> bool:
    return (one.resource, one.flavor) == (other.resource, other.flavor)


def _most(
    queue: JobQueue, own: QueueQuota, having: Sequence[tuple[JobQueue, QueueQuota]], beside: Fraction
) -> tuple[Fraction, Scalar]:
    """Returns what a queue may use at most, its own and what others lend, and where its limit stands."""
    lent = [it.nominal if it.lending is None else it.lending for mate, it in having if mate is not queue]
    borrowed = sum(map(value_of, lent), beside)
    if own.borrowing is not None and value_of(own.borrowing) < borrowed:
        return value_of(own.nominal) + value_of(own.borrowing), own.borrowing
    return value_of(own.nominal) + borrowed, own.nominal


def _state_queue(queue: JobQueue, name: str, pools: Mapping[str, QuotaPool], sketch: Sketch) -> None:
    """Adds a queue with what it has of each pool that is shared."""
    values: dict[str, Node | None] = {
        f"nominal_{key}": pool.nominal.get(queue.name.text)
        or respelled(queue.name, amount_text(Fraction(0), pool.resource))
        for key, pool in pools.items()
        if pool.shared
    }
    sketch.put("components", name, queue.name.place, {**values, **rights(queue)})


def _add_job(known: PlacedJob, queue: str, needs: Mapping[str, Scalar], sketch: Sketch) -> None:
    place = known.job.place
    values: dict[str, Node | None] = {
        "queue": Scalar(queue, place),
        "needs": entry(place, needs),
        "priority": known.priority,
        "leaves_after": known.job.leaves,
        "comes": known.job.comes,
    }
    sketch.put("jobs", sketch.names.fresh(f"{known.job.thing}_job"), place, values)
