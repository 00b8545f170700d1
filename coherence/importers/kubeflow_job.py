"""Jobs of Kubeflow's operators: the pods of each kind of members, their deadline, and the job that a queue lets in.

SOURCE: Kubeflow training operator API v1, PyTorchJobSpec, TFJobSpec, RunPolicy, ReplicaSpec: replicas 1 of each; MPI
operator API v2beta1, MPIJobSpec: one launcher, no workers where their number is not written.
"""

from __future__ import annotations

from coherence.importers import _pods as pods
from coherence.importers._job_queues import PodSet
from coherence.importers._jobs import SPELLING as OWN
from coherence.importers._jobs import add_limits, enqueue, pod_requests
from coherence.importers._kubernetes import FieldView, Manifest, word
from coherence.importers._sketch import Sketch
from coherence.language.document import Scalar

MEMBERS = {"PyTorchJob": "pytorchReplicaSpecs", "TFJob": "tfReplicaSpecs", "MPIJob": "mpiReplicaSpecs"}
KINDS = tuple(MEMBERS)
GROUPS = ("kubeflow.org",)
SPELLING = {**pods.SPELLING, **OWN}
NONE_UNWRITTEN = ("MPIJob", "Worker")
NOT_MODELLED = {
    "elasticPolicy": "between how many members it runs, and how they meet",
    "nprocPerNode": "how many ranks a pod has",
    "successPolicy": "which members must end for it to have ended",
    "enableDynamicWorker": "workers may come and go",
    "slotsPerWorker": "how many ranks a pod has",
    "runLauncherAsWorker": "the launcher has ranks, too",
    "launcherCreationPolicy": "whether the launcher waits for its workers",
}
OF_POLICY = {
    "cleanPodPolicy": "which pods stay when it has ended",
    "schedulingPolicy": "how another scheduler lets it in",
}


def add(manifest: Manifest, sketch: Sketch) -> None:
    """Adds the pods of all members, the deadline, and the job where it waits in a queue."""
    spec, replicas = manifest.spec, manifest.spec.table(MEMBERS[manifest.kind])
    spec.remark_all(NOT_MODELLED)
    spec.pass_over("sshAuthMountPath", "mpiImplementation")
    thing = sketch.names.thing(manifest.name.text, manifest.namespace, manifest.kind)
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
    unwritten = "0" if (manifest.kind, name) == NONE_UNWRITTEN else "1"
    count, template = view.whole("replicas") or Scalar(unwritten, view.node.place), view.table("template")
    pod = template.table("spec") if template is not None else None
    own = Scalar(f"{manifest.name.text}-{name}", view.node.place)
    pods.add_workload(manifest, sketch, own, pod, copies=count, labels=pods.labels_of(template))
    return PodSet(count, pod_requests(pod))
