"""Workload of Kueue: the pods of a job that waits in a queue; one that another object owns is said by that object.

SOURCE: Kueue API, WorkloadSpec: podSets, queueName, priority (priorityClassRef in v1beta2, priorityClassName in
v1beta1).
"""

from __future__ import annotations

from coherence.importers._job_queues import PodSet, QueuedJob
from coherence.importers._jobs import leaving_time, pod_requests
from coherence.importers._kubernetes import Manifest
from coherence.importers._pods import specifications
from coherence.importers._sketch import Sketch
from coherence.language.document import Scalar

KIND = "Workload"
GROUPS = ("kueue.x-k8s.io",)
NOT_MODELLED = {
    "maximumExecutionTimeSeconds": "how long it may run once it is let in",
    "active": "whether it waits at all",
    "preemptionGates": "when it may take from others",
}


def add(manifest: Manifest, sketch: Sketch) -> None:
    """Notes the job with what its pods request."""
    spec = manifest.spec
    if "ownerReferences" in manifest.metadata:
        spec.remark("podSets", "its owner says it")
        return
    spec.remark_all(NOT_MODELLED)
    queue, value = spec.scalar("queueName"), spec.whole("priority")
    reference = spec.table("priorityClassRef")
    named = spec.scalar("priorityClassName") or (reference.scalar("name") if reference is not None else None)
    sets = spec.tables("podSets")
    group = named.text if named is not None else ""
    if value is not None:  # as the API server has filled it in
        group = f"priority of {manifest.title}"
        sketch.queues.priorities[group] = value
    if queue is None or not sets:
        return
    thing = sketch.names.thing(manifest.name.text, manifest.namespace, KIND)
    pods = [
        PodSet(it.whole("count") or Scalar("1", it.node.place), pod_requests(it.inner("template", "spec")))
        for it in sets
    ]
    for it in sets:
        it.pass_over("name")
    partial = "it may be let in with a part of its pods" if any("minCount" in it for it in sets) else ""
    sketch.mention(thing, manifest.name.place, manifest.title)
    sketch.queues.jobs.append(
        QueuedJob(
            manifest.title, thing, manifest.name.place, manifest.namespace, queue.text, pods, group,
            leaving_time(specifications(sets)), None, partial,
        )
    )  # fmt: skip
