"""Jobs of Kubeflow's operators: the pods of each kind of members, their deadline, and the job that a queue lets in.

SOURCE: Kubeflow training operator API v1, RunPolicy, ReplicaSpec: replicas 1; MPI operator API v2beta1: no workers.
"""

from __future__ import annotations

from collections.abc import Mapping

from coherence.importers import _pods as pods
from coherence.importers._job_queues import PodSet
from coherence.importers._jobs import SPELLING as OWN
from coherence.importers._jobs import add_limits, enqueue, pod_requests
from coherence.importers._kubernetes import FieldView, Manifest, word
from coherence.importers._sketch import Sketch
from coherence.language.document import Scalar

SPELLING = {**pods.SPELLING, **OWN}
ONE = "1"
OF_POLICY = {
    "cleanPodPolicy": "which pods stay when it has ended",
    "schedulingPolicy": "how another scheduler lets it in",
}


def add_job(manifest: Manifest, sketch: Sketch, members_key: str, unwritten: Mapping[str, str] | None = None) -> None:
    """Adds the pods of all members under a key, and the job; `unwritten`: their numbers, where not 1."""
    spec, replicas = manifest.spec, manifest.spec.table(members_key)
    thing = sketch.names.thing(manifest.name.text, manifest.namespace, manifest.kind)
    sketch.mention(thing, manifest.name.place, manifest.title)
    policy, scheduling = spec.table("runPolicy"), spec.inner("runPolicy", "schedulingPolicy")
    if policy is not None:
        policy.remark_all(OF_POLICY)
        add_limits(policy, thing, sketch)
    members = [(name, view) for name in replicas.node.entries if (view := replicas.table(name))] if replicas else []
    counts = unwritten or {}
    sets = [_member(manifest, name, view, counts.get(name, ONE), sketch) for name, view in members]
    group = word(scheduling.node, "priorityClass") if scheduling is not None else ""
    enqueue(manifest, sketch, sets, pods.specifications(view for _, view in sorted(members)), group=group)


def _member(manifest: Manifest, name: str, view: FieldView, unwritten: str, sketch: Sketch) -> PodSet:
    """Adds the pods of one kind of members."""
    view.remark("restartPolicy", "what an end of a pod does to the job")
    count, template = view.whole("replicas") or Scalar(unwritten, view.node.place), view.table("template")
    pod = template.table("spec") if template is not None else None
    own = Scalar(f"{manifest.name.text}-{name}", view.node.place)
    pods.add_workload(manifest, sketch, own, pod, copies=count, labels=pods.labels_of(template))
    return PodSet(count, pod_requests(pod))
