"""What manifests say of queues of jobs: quotas, who may take from whom, and the jobs that wait for room."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from coherence.base.places import Place
from coherence.language.document import Scalar


@dataclass(frozen=True)
class QueueQuota:
    """What a queue has of a resource of a flavor: its own, and what it may borrow and lend (None: without a limit)."""

    resource: str
    flavor: str
    nominal: Scalar
    borrowing: Scalar | None
    lending: Scalar | None


@dataclass(frozen=True)
class JobQueue:
    """A queue of a cohort (empty: of none), and whether its first job holds back those behind it.

    `within`: takes from its own jobs.  `reclaim`: takes from others that borrow, for a job within its own quota.
    `borrowing`: the same for a job that borrows itself, up to the priority `threshold`.  Each is `Never`, the default,
    `LowerPriority` or `Any`.  `obstacle`: why what becomes of its jobs is not known; empty where it is.
    `is_closed`: it lets in no namespace; `only`: the one that it lets in.
    """

    name: Scalar
    cohort: str
    quotas: Sequence[QueueQuota]
    strict: Scalar
    within: Scalar | None
    reclaim: Scalar | None
    borrowing: Scalar | None
    threshold: Scalar | None
    obstacle: str
    is_closed: bool = False
    only: str = ""

    def lets_in(self, namespace: str) -> bool:
        """Returns whether jobs of a namespace (empty: not said) may wait here."""
        return not self.is_closed and (not self.only or not namespace or namespace == self.only)

    def quota(self, resource: str) -> QueueQuota | None:
        """Returns its quota of a resource."""
        return next((quota for quota in self.quotas if quota.resource == resource), None)


@dataclass(frozen=True)
class QuotaPool:
    """What some queues share of a resource: `nominal` of each by its name; empty for what one queue may use of it.

    `shared`: each of several queues has its own part.  `total`: all together.
    """

    label: str
    resource: str
    total: Scalar
    nominal: Mapping[str, Scalar]
    shared: bool


@dataclass(frozen=True)
class PodSet:
    """So many pods of a job, and what each requests."""

    count: Scalar
    requests: Mapping[str, Scalar]


@dataclass(frozen=True)
class QueuedJob:
    """A job that waits in a queue of its namespace until all its pods are admitted together.

    `group`: the class that says its priority, empty where none is named.  `leaves`: how long its pods hold their room
    once they are to end.  `comes`: `again`, where there is always another one.  `obstacle`: why it cannot be said what
    it needs.
    """

    title: str
    thing: str
    place: Place
    namespace: str
    queue: str
    pod_sets: Sequence[PodSet]
    group: str
    leaves: Scalar
    comes: Scalar | None
    obstacle: str


@dataclass(frozen=True)
class PlacedJob:
    """A job with the queue that it waits in, its priority, and what it needs of each resource."""

    job: QueuedJob
    queue: JobQueue
    needs: Mapping[str, Scalar]
    priority: Scalar


@dataclass(frozen=True)
class ReadyWait:
    """How long a job may take from its admission until all pods are ready, with the part that has the default."""

    part: Scalar
    after: Scalar | None


@dataclass(frozen=True)
class Gang:
    """Pods of a queue of Volcano of which `least` are needed at once; `each`: what one of them requests.

    `mixed`: they are of several kinds, and all of them together stand for one.
    """

    title: str
    thing: str
    place: Place
    queue: str
    copies: Scalar
    least: Scalar
    each: Mapping[str, Scalar]
    leaves: Scalar
    mixed: bool


@dataclass
class JobQueues:
    """All of it together."""

    queues: dict[str, JobQueue] = field(default_factory=dict)
    doors: dict[tuple[str, str], str] = field(default_factory=dict)  # namespace and name -> the queue behind it
    priorities: dict[str, Scalar] = field(default_factory=dict)  # of classes
    trees: dict[str, str] = field(default_factory=dict)  # cohort -> why its queues are not modelled
    flavors: dict[str, str] = field(default_factory=dict)  # flavor -> the same
    beside: list[tuple[str, QueueQuota]] = field(default_factory=list)  # cohort, and what it has beside its queues
    fair: str = ""  # why no order of queues is known
    sorts: bool = True  # do priorities count between the queues of a cohort
    jobs: list[QueuedJob] = field(default_factory=list)
    others: list[tuple[Scalar, str, str]] = field(default_factory=list)  # objects of other kinds: namespace and queue
    ready: list[ReadyWait] = field(default_factory=list)
    gangs: list[Gang] = field(default_factory=list)
    capabilities: dict[str, Mapping[str, Scalar]] = field(default_factory=dict)  # of queues of Volcano
    trees_of_volcano: dict[str, str] = field(default_factory=dict)  # queue -> why its jobs are not modelled
    one_by_one: Scalar | None = None  # where the scheduler of Volcano lets in members of a gang one by one

    def mates(self, queue: JobQueue) -> list[JobQueue]:
        """Returns the queues that share with one, itself included."""
        return [
            other for other in self.queues.values() if other is queue or (queue.cohort and other.cohort == queue.cohort)
        ]
