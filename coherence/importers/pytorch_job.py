"""PyTorchJob of Kubeflow: the pods of its master and its workers, and the job that a queue of Kueue lets in as a whole.

SOURCE: Kubeflow training operator API v1, PyTorchJobSpec: replicas 1 of each; runPolicy, elasticPolicy.
"""

from __future__ import annotations

from coherence.importers import _pods as pods
from coherence.importers._job_queues import PodSet
from coherence.importers._jobs import SPELLING as OWN
from coherence.importers._jobs import add_limits, enqueue, pod_requests
from coherence.importers._kubernetes import FieldView, Manifest, word
from coherence.importers._sketch import Sketch
from coherence.language.document import Scalar

KIND = "PyTorchJob"
GROUPS = ("kubeflow.org",)
SPELLING = {**pods.SPELLING, **OWN}
NOT_MODELLED = {
    "elasticPolicy": "between how many members it runs, and how they meet",
    "nprocPerNode": "how many ranks a pod has",
}
OF_POLICY = {
    "cleanPodPolicy": "which pods stay when it has ended",
    "schedulingPolicy": "how another scheduler lets it in",
}


def add(manifest: Manifest, sketch: Sketch) -> None:
    """Adds the pods of each kind of members, its deadline, and the job where it waits in a queue."""
    spec, replicas = manifest.spec, manifest.spec.table("pytorchReplicaSpecs")
    spec.remark_all(NOT_MODELLED)
    thing = sketch.names.thing(manifest.name.text, manifest.namespace, KIND)
    sketch.mention(thing, manifest.name.place, manifest.title)
    policy, scheduling = spec.table("runPolicy"), spec.inner("runPolicy", "schedulingPolicy")
    if policy is not None:
        policy.remark_all(OF_POLICY)
        add_limits(policy, thing, sketch)
    members = [(name, view) for name in replicas.node.entries if (view := replicas.table(name))] if replicas else []
    sets = [_member(manifest, name, view, sketch) for name, view in members]
    group = word(scheduling.node, "priorityClass") if scheduling is not None else ""
    enqueue(manifest, sketch, sets, pods.specifications(view for _, view in sorted(members)), group=group)


def _member(manifest: Manifest, name: str, view: FieldView, sketch: Sketch) -> PodSet:
    """Adds the pods of one kind of members."""
    view.remark("restartPolicy", "what an end of a pod does to the job")
    count, template = view.whole("replicas") or Scalar("1", view.node.place), view.table("template")
    pod = template.table("spec") if template is not None else None
    own = Scalar(f"{manifest.name.text}-{name}", view.node.place)
    pods.add_workload(manifest, sketch, own, pod, copies=count, labels=pods.labels_of(template))
    return PodSet(count, pod_requests(pod))
