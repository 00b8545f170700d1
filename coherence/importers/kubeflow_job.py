"""Jobs of Kubeflow's operators: the pods of each kind of members, their deadline, and the job that a queue lets in.

A queue counts one worker of an MPIJob whose number is not written, though its operator starts none.

SOURCE: Kubeflow training operator 1.9, pkg/apis/kubeflow.org/v1: setDefaultReplicas 1; MPI operator 0.6 source,
pkg/apis/kubeflow/v2beta1/default.go: one launcher, no workers; Kueue 0.19 source, pkg/controller/jobs, mpijob and
kubeflow/kubeflowjob: podsCount 1; PriorityClass: schedulingPolicy.priorityClass, then pods by OrderedReplicaTypes.
"""

from __future__ import annotations

from coherence.importers import _pods as pods
from coherence.importers._job_queues import PodSet
from coherence.importers._jobs import SPELLING as OWN
from coherence.importers._jobs import add_limits, enqueue, pod_requests
from coherence.importers._kubernetes import FieldView, Manifest, word
from coherence.importers._quantities import respelled
from coherence.importers._sketch import Sketch
from coherence.language.document import Scalar

MEMBERS = {"PyTorchJob": "pytorchReplicaSpecs", "TFJob": "tfReplicaSpecs", "MPIJob": "mpiReplicaSpecs"}
KINDS = tuple(MEMBERS)
GROUPS = ("kubeflow.org",)
SPELLING = {**pods.SPELLING, **OWN}
NONE_UNWRITTEN = ("MPIJob", "Worker")
ORDER = ("Launcher", "Chief", "Master", "PS", "Worker", "Evaluator")  # whose class counts first
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
    by_class = sorted(members, key=lambda member: ORDER.index(member[0]) if member[0] in ORDER else len(ORDER))
    enqueue(manifest, sketch, sets, pods.specifications(view for _, view in by_class), group=group)


def _member(manifest: Manifest, name: str, view: FieldView, sketch: Sketch) -> PodSet:
    """Adds the pods of one kind of members."""
    view.remark("restartPolicy", "what an end of a pod does to the job")
    stated, by_default, template = view.whole("replicas"), Scalar("1", view.node.place), view.table("template")
    unwritten = respelled(by_default, "0") if (manifest.kind, name) == NONE_UNWRITTEN else by_default
    pod = template.table("spec") if template is not None else None
    own = Scalar(f"{manifest.name.text}-{name}", view.node.place)
    pods.add_workload(manifest, sketch, own, pod, copies=stated or unwritten, labels=pods.labels_of(template))
    return PodSet(stated or by_default, pod_requests(pod))
