"""Job of Volcano: the pods of its tasks, and the gang that its queue lets in together.

`minAvailable` pods start together, all of them where it is not written.  With tasks of several kinds a gang of a part
of them may be made in several ways, and is listed.

SOURCE: Volcano API batch.volcano.sh/v1alpha1, JobSpec: queue default, minAvailable the replicas of all tasks.
"""

from __future__ import annotations

from collections.abc import Sequence

from coherence.importers import _pods as pods
from coherence.importers._job_queues import Gang, PodSet
from coherence.importers._jobs import leaving_time, pod_requests
from coherence.importers._kubernetes import FieldView, Manifest
from coherence.importers._quantities import added, as_amount, integer, respelled, times
from coherence.importers._sketch import Sketch
from coherence.language.document import Scalar

KIND = "VolcanoJob"
OBJECT = "Job"
GROUPS = ("batch.volcano.sh",)
SPELLING = {**pods.SPELLING, "gang": "minAvailable"}
QUEUE = "default"
NOT_MODELLED = {
    "policies": "what an event of a pod does to the job",
    "maxRetry": "after so many restarts it is given up: how often its pods fail is not known",
    "minSuccess": "how many pods are enough",
    "ttlSecondsAfterFinished": "when what has ended is deleted",
    "runningEstimate": "how long it is thought to run",
    "networkTopology": "which nodes are near each other",
    "priorityClassName": "its priority is that of a class",
}
OF_TASKS = {
    "policies": "what an event of a pod does to the job",
    "maxRetry": "after so many failures it is given up",
    "dependsOn": "which task waits for another",
    "topologyPolicy": "which processors are near each other",
    "partitionPolicy": "how its pods are split",
    "minAvailable": "how many pods of one task start together",
}


def add(manifest: Manifest, sketch: Sketch) -> None:
    """Adds the pods of each task, and the gang."""
    spec, tasks = manifest.spec, manifest.spec.tables("tasks")
    spec.pass_over("schedulerName", "plugins", "volumes")
    spec.remark_all(NOT_MODELLED)
    sets = [_task(manifest, task, sketch) for task in tasks]
    total = sum(integer(pods_.count) or 0 for pods_ in sets)
    least, queue = spec.positive("minAvailable"), spec.scalar("queue")
    least = least or respelled(manifest.name, str(total))
    if (integer(least) or 0) > total:
        spec.remark("minAvailable", f"all tasks have {total} pods: the API server refuses it")
        return
    if not total:
        return
    thing = sketch.names.thing(manifest.name.text, manifest.namespace, KIND)
    sketch.mention(thing, manifest.name.place, manifest.title)
    kinds = [pods_ for pods_ in sets if integer(pods_.count)]
    if len(kinds) > 1 and integer(least) != total:
        spec.remark("minAvailable", "which pods of several tasks start together: whether it is let in is not answered")
        return
    sketch.queues.gangs.append(_gang(manifest, thing, kinds, least, queue.text if queue else QUEUE))


def _gang(manifest: Manifest, thing: str, kinds: Sequence[PodSet], least: Scalar, queue: str) -> Gang:
    """Returns the gang: so many pods of one kind, or all pods of several kinds as one."""
    mixed, leaves = len(kinds) > 1, leaving_time(pods.specifications(manifest.spec.tables("tasks")))
    single = Scalar("1", least.place)
    needs = [(key, times(number, it.count)) for it in kinds for key, number in it.requests.items()]
    each = added(needs) if mixed else kinds[0].requests
    amounts = {key: as_amount(number, key) for key, number in each.items()}
    copies = single if mixed else kinds[0].count
    return Gang(
        manifest.title, thing, manifest.name.place, queue, copies, single if mixed else least, amounts, leaves, mixed
    )  # fmt: skip


def _task(manifest: Manifest, task: FieldView, sketch: Sketch) -> PodSet:
    """Adds the pods of a task."""
    task.remark_all(OF_TASKS)
    count = task.whole("replicas") or Scalar("1", task.node.place)
    own, template = task.scalar("name"), task.table("template")
    pod = template.table("spec") if template else None
    name = Scalar(f"{manifest.name.text}-{own.text if own else 'task'}", (own or manifest.name).place)
    pods.add_workload(manifest, sketch, name, pod, copies=count, labels=pods.labels_of(template))
    return PodSet(count, pod_requests(pod))
