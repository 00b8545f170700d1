"""RayJob: the worker groups of its cluster, its deadline, and the job that a queue of Kueue lets in as a whole.

A queue counts the head, the workers and the pod that submits the job.  A cluster that scales itself has a sidecar in
its head and changes its workers: what it needs of a queue is not known.

In SidecarMode the head has a container that submits it, always with the default requests.

SOURCE: KubeRay API, ray.io/v1 RayJobSpec: submissionMode K8sJobMode; KubeRay 1.7 source, controllers/ray/common/job.go,
GetDefaultSubmitterContainer: 500m, 200Mi; Kueue 0.19 source, pkg/controller/jobs/rayjob: addSubmitterPodSet,
addSidecarSubmitterToHeadPodSet.
"""

from __future__ import annotations

from coherence.base.places import Place
from coherence.importers import _pods as pods
from coherence.importers._job_queues import PodSet
from coherence.importers._jobs import SPELLING as OWN
from coherence.importers._jobs import add_limits, enqueue, pod_requests, times_over
from coherence.importers._kubernetes import FieldView, Manifest
from coherence.importers._quantities import added
from coherence.importers._ray_groups import add_groups
from coherence.importers._sketch import Sketch
from coherence.language.document import Scalar

KIND = "RayJob"
GROUPS = ("ray.io",)
SPELLING = {**pods.SPELLING, **OWN}
WIRING = ("entrypoint", "runtimeEnvYAML", "jobId", "metadata", "shutdownAfterJobFinishes", "submissionMode")
SUBMITTER = {"cpu": "0.5", "memory": str(200 * 2**20)}  # as plain numbers
SCALES = "its cluster scales itself: what it needs of a queue is not known"
NOT_MODELLED = {
    "clusterSelector": "it runs on a cluster of another manifest",
    "submitterConfig": "how often its submission is tried",
    "deletionStrategy": "when what has ended is deleted",
    "entrypointNumCpus": "what its own program needs of the cluster",
    "entrypointNumGpus": "what its own program needs of the cluster",
    "entrypointResources": "what its own program needs of the cluster",
    "preRunningDeadlineSeconds": "how long it may take to begin",
}


def add(manifest: Manifest, sketch: Sketch) -> None:
    """Adds the groups, the deadline, and the job where it waits in a queue."""
    spec = manifest.spec
    spec.pass_over(*WIRING)
    spec.remark_all(NOT_MODELLED)
    thing = sketch.names.thing(manifest.name.text, manifest.namespace, KIND)
    sketch.mention(thing, manifest.name.place, manifest.title)
    add_limits(spec, thing, sketch)
    cluster = spec.table("rayClusterSpec")
    if cluster is None:
        return
    add_groups(cluster, sketch)
    scales = cluster.scalar("enableInTreeAutoscaling")
    if scales is not None and scales.text == "true":
        cluster.remark("enableInTreeAutoscaling", SCALES)
    else:
        _enqueue(spec, cluster, sketch)


def _enqueue(spec: FieldView, cluster: FieldView, sketch: Sketch) -> None:
    """Notes the job that waits in a queue with all pods of its cluster."""
    head, groups, place = cluster.table("headGroupSpec"), cluster.tables("workerGroupSpecs"), cluster.node.place
    members = pods.specifications(it for it in [head, *groups] if it is not None)
    requests = pod_requests(head.inner("template", "spec") if head is not None else None)
    mode = spec.scalar("submissionMode")
    sets = [PodSet(Scalar("1", place), requests), *map(_workers, groups)]
    if mode is not None and mode.text == "SidecarMode":
        sets[0] = PodSet(Scalar("1", place), added([*requests.items(), *_default_requests(place).items()]))
    elif mode is None or mode.text == "K8sJobMode":
        submitter = spec.inner("submitterPodTemplate", "spec")
        own = pod_requests(submitter) if submitter is not None else _default_requests(place)
        sets.append(PodSet(Scalar("1", place), own))
        members += [submitter] if submitter is not None else []
    enqueue(spec.manifest, sketch, sets, members)


def _workers(group: FieldView) -> PodSet:
    """Returns the pods of a group."""
    place = group.node.place
    count, hosts = group.whole("replicas") or Scalar("1", place), group.whole("numOfHosts", least=1)
    return PodSet(
        times_over(count, hosts) if hosts is not None else count, pod_requests(group.inner("template", "spec"))
    )


def _default_requests(place: Place) -> dict[str, Scalar]:
    """Returns what the container requests that submits the job, where no template says it."""
    return {key: Scalar(text, place) for key, text in SUBMITTER.items()}
