"""JobSet: the pods of each of its jobs, and the one that a queue of Kueue lets in as a whole.

SOURCE: JobSet API v1alpha2, JobSetSpec: replicas 1, no restart without a failurePolicy; a failure of one job then fails
all.  Kueue 0.19 source, pkg/controller/jobs/jobset: PodSets in the order of replicatedJobs.
"""

from __future__ import annotations

from coherence.importers import _pods as pods
from coherence.importers._jobs import add_limits, enqueue, members_at_once, pod_set, times_over
from coherence.importers._kubernetes import FieldView, Manifest
from coherence.importers._sketch import Sketch
from coherence.importers.job import SPELLING
from coherence.language.document import Scalar

__all__ = ["GROUPS", "KIND", "SPELLING", "add"]

KIND = "JobSet"
GROUPS = ("jobset.x-k8s.io",)
NOT_MODELLED = {
    "startupPolicy": "which of its jobs waits for another",
    "successPolicy": "which of its jobs is enough",
    "coordinator": "who the others know",
    "ttlSecondsAfterFinished": "when what has ended is deleted",
    "suspend": "a job that is suspended starts nothing; a queue lets it go on",
}
ON_FAILURE = {
    "maxRestarts": "after so many restarts it is given up: how often its pods fail is not known",
    "rules": "which failures restart all",
    "restartStrategy": "whether the new pods wait for the old ones",
}


def add(manifest: Manifest, sketch: Sketch) -> None:
    """Adds a component for each of its jobs, its restarts, and the job where it waits in a queue."""
    spec = manifest.spec
    spec.pass_over("network")
    spec.remark_all(NOT_MODELLED)
    replicated, sets = spec.tables("replicatedJobs"), []
    for entry in replicated:
        job, times = entry.inner("template", "spec"), entry.whole("replicas")
        if job is not None:
            _add(manifest, entry, job, times, sketch)
            sets.append(pod_set(job, times))
    policy = spec.table("failurePolicy")
    if policy is not None:
        policy.remark_all(ON_FAILURE)
    thing = sketch.names.thing(manifest.name.text, manifest.namespace, KIND)
    sketch.mention(thing, manifest.name.place, manifest.title)
    jobs = [job for entry in replicated if (job := entry.inner("template", "spec")) is not None]
    enqueue(manifest, sketch, sets, pods.specifications(jobs))


def _add(manifest: Manifest, entry: FieldView, job: FieldView, times: Scalar | None, sketch: Sketch) -> None:
    """Adds the pods of one of its jobs."""
    own, template = entry.scalar("name"), job.table("template")
    count = members_at_once(job)
    copies = count if times is None else times_over(count, times)
    name = Scalar(f"{manifest.name.text}-{own.text if own else ''}", (own or manifest.name).place)
    pod = template.table("spec") if template else None
    thing = pods.add_workload(manifest, sketch, name, pod, copies=copies, labels=pods.labels_of(template))
    add_limits(job, thing, sketch)
