"""Jobs of Kubernetes: how many pods run at once, how often they are tried, in which time they end, their queue.

A job has `activeDeadlineSeconds` from its start, tries included.  How often its pods fail no manifest says, so what
happens at `backoffLimit` failures is listed.

SOURCE: Kubernetes API, batch/v1 JobSpec: parallelism 1, backoffLimit 6; documentation, Jobs.  Kueue documentation, Run
Jobs: label kueue.x-k8s.io/queue-name; a job is let in with all the pods that run at once.
"""

from __future__ import annotations

from collections.abc import Sequence

from coherence.importers._job_queues import PodSet, QueuedJob
from coherence.importers._kubernetes import FieldView, Manifest, word
from coherence.importers._pods import requests_of
from coherence.importers._quantities import added, integer, respelled, value_of
from coherence.importers._sketch import Sketch, default_scalar
from coherence.language.document import Scalar, Table

SPELLING = {"after": "activeDeadlineSeconds"}
LABEL, CLASS = "kueue.x-k8s.io/queue-name", "kueue.x-k8s.io/priority-class"
PARTIAL = "kueue.x-k8s.io/job-min-parallelism"
GRACE = "termination_grace"
NOT_MODELLED = {
    "podFailurePolicy": "which ends of a pod count as failures",
    "backoffLimitPerIndex": "failures are counted for each index",
    "maxFailedIndexes": "failures are counted for each index",
    "successPolicy": "a part of its pods may be enough",
    "ttlSecondsAfterFinished": "when what has ended is deleted",
    "podReplacementPolicy": "a new pod starts before or after the old one has gone",
    "suspend": "a job that is suspended starts nothing; a queue lets it go on",
    "managedBy": "another controller runs it",
}


def add_limits(job: FieldView, thing: str, sketch: Sketch) -> None:
    """Adds the time in which a job ends."""
    job.pass_over("completionMode", "manualSelector")
    job.remark_all(NOT_MODELLED)
    job.whole("backoffLimit")
    job.remark("backoffLimit", "after so many failures of its pods it is given up: how often they fail is not known")
    limit = job.seconds("activeDeadlineSeconds")
    if limit is not None:
        _deadline(limit, thing, sketch)


def _deadline(limit: Scalar, thing: str, sketch: Sketch) -> None:
    sketch.put_timer(f"{thing}_deadline", during=f"{thing}.run", after=limit, then=f"kill {thing}.run")


def members_at_once(job: FieldView) -> Scalar:
    """Returns how many pods of a job run at once: `parallelism`, and not more than are to complete."""
    parallel, whole = job.whole("parallelism"), job.whole("completions")
    count = parallel or Scalar("1", job.node.place)
    few = whole is not None and (integer(whole) or 0) < (integer(count) or 0)
    return whole if few and whole is not None else count


def times_over(count: Scalar, times: Scalar) -> Scalar:
    """Returns a number of pods of each of so many jobs."""
    return respelled(count, str((integer(count) or 0) * (integer(times) or 0)))


def pod_set(job: FieldView, times: Scalar | None = None) -> PodSet:
    """Returns the pods of a job; `times`: of so many jobs."""
    count = members_at_once(job)
    return PodSet(count if times is None else times_over(count, times), pod_requests(job.inner("template", "spec")))


def pod_requests(pod: FieldView | None) -> dict[str, Scalar]:
    """Returns what a pod requests: its containers together, or the one that prepares them where that needs more.

    SOURCE: Kubernetes documentation, Sidecar Containers, Resource sharing within containers; Pod Overhead.
    """
    main = pod.tables("containers") if pod else []
    before = pod.tables("initContainers") if pod else []
    beside = [container for container in before if word(container.node, "restartPolicy") == "Always"]
    sums = added(pair for container in (*main, *beside) for pair in requests_of(container))
    for container in before:
        for key, request in requests_of(container) if container not in beside else ():
            if value_of(request) > (value_of(sums[key]) if key in sums else 0):
                sums[key] = request
    return sums


def enqueue(
    manifest: Manifest, sketch: Sketch, sets: Sequence[PodSet], pods: Sequence[FieldView], *,
    metadata: Table | None = None, comes: Scalar | None = None, group: str = "",
) -> None:  # fmt: skip
    """Notes a job that waits in a queue of Kueue, where its labels name one; `pods`: their specifications.

    `metadata`: of the job, where it is not that of the object.  `comes`: says that there is always another one.
    `group`: the class that says its priority, where a label names none; without both the first that a pod names.
    SOURCE: Kueue 0.19 source, pkg/controller/jobframework/reconciler.go: ExtractPriority, extractPriorityFromPodSets.
    """
    own = metadata or manifest.metadata
    queue, labelled, partial = _label(own, LABEL), _label(own, CLASS), _label(own, PARTIAL)
    if queue:
        of_pods = next(filter(None, (word(pod.node, "priorityClassName") for pod in pods)), "")
        why = "it may be let in with a part of its pods" if partial else ""
        thing = sketch.names.thing(manifest.name.text, manifest.namespace, manifest.kind)
        sketch.queues.jobs.append(
            QueuedJob(
                manifest.title, thing, manifest.name.place, manifest.namespace, queue, sets,
                labelled or group or of_pods, leaving_time(pods), comes, why,
            )
        )  # fmt: skip


def note_other(manifest: Manifest, sketch: Sketch) -> None:
    """Notes an object that waits in a queue of Kueue, where its importer has not said what it needs."""
    queue = _label(manifest.metadata, LABEL)
    if queue and not any(job.place == manifest.name.place for job in sketch.queues.jobs):
        sketch.queues.others.append((manifest.name, manifest.namespace, queue))


def _label(metadata: Table, key: str) -> str:
    """Returns the text of a label, or of an annotation of that name."""
    tables = [metadata.get(name) for name in ("labels", "annotations")]
    return next((word(table, key) for table in tables if isinstance(table, Table) and key in table), "")


def leaving_time(pods: Sequence[FieldView]) -> Scalar:
    """Returns how long pods may hold their room after they were told to end: as long as the longest grace of one."""
    stated = [pod.seconds("terminationGracePeriodSeconds") for pod in pods]
    grace = max((it or default_scalar(GRACE, "after") for it in stated or [None]), key=value_of)
    return respelled(grace, f"0 s .. {grace.text}")
