"""RayJob: the worker groups of its cluster, its deadline, and the job that a queue of Kueue lets in as a whole.

A queue counts the head, the workers and the pod that submits the job.  A cluster that scales itself has a sidecar in
its head and changes its workers: what it needs of a queue is not known.

SOURCE: KubeRay API, ray.io/v1 RayJobSpec: submissionMode K8sJobMode; KubeRay source, controllers/ray/common/job.go,
GetDefaultSubmitterTemplate: 500m, 200Mi; Kueue source, pkg/controller/jobs/rayjob: PodSets.
"""

from __future__ import annotations

from coherence.base.places import Place
from coherence.importers import _pods as pods
from coherence.importers._job_queues import PodSet
from coherence.importers._jobs import SPELLING as OWN
from coherence.importers._jobs import add_limits, enqueue, pod_requests, times_over
from coherence.importers._kubernetes import FieldView, Manifest
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
    head, groups = cluster.table("headGroupSpec"), cluster.tables("workerGroupSpecs")
    of_head = head.inner("template", "spec") if head is not None else None
    sets = [PodSet(Scalar("1", cluster.node.place), pod_requests(of_head)), *map(_workers, groups)]
    mode = spec.scalar("submissionMode")
    if mode is None or mode.text == "K8sJobMode":
        sets.append(_submitter(spec, cluster.node.place))
    members = [head, *groups]
    enqueue(spec.manifest, sketch, sets, pods.specifications(it for it in members if it is not None))


def _workers(group: FieldView) -> PodSet:
    """Returns the pods of a group."""
    place = group.node.place
    count, hosts = group.whole("replicas") or Scalar("1", place), group.whole("numOfHosts", least=1)
    return PodSet(
        times_over(count, hosts) if hosts is not None else count, pod_requests(group.inner("template", "spec"))
    )


def _submitter(spec: FieldView, place: Place) -> PodSet:
    """Returns the pod that submits the job: that of the template, else the one of KubeRay."""
    pod = spec.inner("submitterPodTemplate", "spec")
    requests = pod_requests(pod) if pod is not None else {key: Scalar(text, place) for key, text in SUBMITTER.items()}
    return PodSet(Scalar("1", place), requests)
