"""Configuration of Kueue: how long a job may take until its pods are ready, and then again.

A job that is not ready in time is evicted and waits for its turn again; without `backoffLimitCount` for ever.  Without
the feature gate PrioritySortingWithinCohort queues of a cohort take turns by age, whatever the priorities of their
first jobs.  The file is one of its own, or stands in a ConfigMap.

SOURCE: Kueue configuration API v1beta1 (5 min, where `enable` is true) and v1beta2 (30 min): WaitForPodsReady;
documentation, Change the feature gates configuration.
"""

from __future__ import annotations

from coherence.importers._job_queues import ReadyWait
from coherence.importers._kubernetes import FieldView, Manifest, word
from coherence.importers._sketch import Sketch
from coherence.language.document import Scalar

KIND = "Configuration"
GROUPS = ("config.kueue.x-k8s.io",)
SPELLING = {"after": "timeout"}
IN_CONFIG_MAP = "config.kueue.x-k8s.io"
PARTS = {"v1beta1": "kueue_pods_ready"}
GATE = "PrioritySortingWithinCohort"
LATER = "kueue_pods_ready_v1beta2"
SERVING = (
    "health", "metrics", "webhook", "leaderElection", "controller", "clientConnection", "internalCertManagement",
    "manager", "namespace", "pprofBindAddress", "queueVisibility", "visibility", "tls",
)  # fmt: skip
NOT_MODELLED = {
    "integrations": "which kinds of jobs it takes care of",
    "manageJobsWithoutQueueName": "jobs without a queue wait, too",
    "managedJobsNamespaceSelector": "in which namespaces jobs without a queue wait, too",
    "multiKueue": "jobs of other clusters",
    "objectRetentionPolicies": "when what has ended is deleted",
    "admissionFairSharing": "who has used most comes last, where a queue says so",
}


def add(manifest: Manifest, sketch: Sketch) -> None:
    """Notes the wait for pods, and what decides beside the quotas."""
    top, version = manifest.top, word(manifest.root, "apiVersion").partition("/")[2]
    top.pass_over(*SERVING)
    top.remark_all(NOT_MODELLED)
    fair, changed = top.table("fairSharing"), "resources"
    if fair is not None and (version != "v1beta1" or _is_true(fair, "enable")):
        sketch.queues.fair = "queues take turns by their shares"
    top.remark("fairSharing", "queues take turns by their shares: no job in a queue is modelled")
    if changed in top:
        sketch.queues.fair = "what jobs request is changed"
        top.remark(changed, "what jobs request is changed: no job in a queue is modelled")
    gates = top.table("featureGates")
    sorts = gates.scalar(GATE) if gates is not None else None
    sketch.queues.sorts = sorts is None or sorts.text != "false"
    wait = top.table("waitForPodsReady")
    if wait is not None and (version != "v1beta1" or _is_true(wait, "enable")):
        _wait(wait, PARTS.get(version, LATER), sketch)


def _is_true(view: FieldView, key: str) -> bool:
    stated = view.scalar(key)
    return stated is not None and stated.text == "true"


def _wait(wait: FieldView, part: str, sketch: Sketch) -> None:
    wait.remark("blockAdmission", "others wait until the pods of the last one are ready")
    wait.remark("recoveryTimeout", "how long a job may lack a pod that failed")
    strategy = wait.table("requeuingStrategy")
    for key in ("timestamp", "backoffBaseSeconds", "backoffMaxSeconds"):
        if strategy is not None:
            strategy.remark(key, "when it comes to its turn again")
    if strategy is not None:
        strategy.remark("backoffLimitCount", "after so many evictions a job is given up; without it never")
    sketch.queues.ready.append(ReadyWait(Scalar(part, wait.node.place), wait.duration("timeout")))


def link(manifest: Manifest, sketch: Sketch) -> None:
    """Adds the timer of each job that waits in a queue."""
    del manifest
    for wait in sketch.queues.ready:
        for thing in dict.fromkeys(job.thing for job in sketch.queues.jobs):
            place = (wait.after or wait.part).place
            sketch.put_timer(f"{thing}_pods_ready", place, uses=wait.part, during=f"{thing}.load", after=wait.after)
