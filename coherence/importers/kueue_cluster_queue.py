"""ClusterQueue of Kueue: quotas of a cohort as capacities that its jobs share, and who may take from whom.

Each flavor of a resource is one pool of the queues of a cohort: all of them together have what they have by themselves.
A queue may use what it has and what `borrowingLimit` lets it borrow, others at most `lendingLimit` of it.  What a
language of jobs cannot say (several flavors of one resource, admission checks, shares) keeps the jobs of all queues of
the cohort out of the design, and is listed.

SOURCE: Kueue API v1beta1 and v1beta2, ClusterQueueSpec: queueingStrategy BestEffortFIFO, every policy of preemption
Never, no limit of borrowing and lending, without a namespaceSelector no namespace; the cohort is `cohort` in v1beta1
and `cohortName` in v1beta2.
"""

from __future__ import annotations

from collections.abc import Iterator

from coherence.base import units
from coherence.importers._job_queues import JobQueue, QueueQuota
from coherence.importers._kubernetes import FieldView, Manifest, word
from coherence.importers._quantities import as_amount
from coherence.importers._sketch import Sketch
from coherence.language.document import Scalar

KIND = "ClusterQueue"
GROUPS = ("kueue.x-k8s.io",)
SPELLING = {"count": "nominalQuota"}
COHORT = {"v1beta1": "cohort", "v1beta2": "cohortName"}
LIMITS = ("borrowingLimit", "lendingLimit")
NAME_OF_NAMESPACE = "kubernetes.io/metadata.name"
LABELS = "which labels the namespaces have is not known: its jobs are taken to be let in"
STRATEGIES = ("BestEffortFIFO", "StrictFIFO")
WITHIN = ("Never", "LowerPriority", "LowerOrNewerEqualPriority")
RECLAIM = ("Never", "LowerPriority", "Any")
OBSTACLES = {
    "admissionChecks": "admission checks decide beside the quota",
    "admissionChecksStrategy": "admission checks decide beside the quota",
    "admissionScope": "who has used most comes last",
    "concurrentAdmissionPolicy": "a job tries several flavors at once",
}


def add(manifest: Manifest, sketch: Sketch) -> None:
    """Notes the queue; its jobs are known when all manifests are read."""
    spec = manifest.spec
    key = COHORT.get(word(manifest.root, "apiVersion").partition("/")[2], "cohort")
    for other in set(COHORT.values()) - {key}:
        spec.remark(other, f"no field of this version, which ignores it: write `{key}`")
    cohort, strategy = spec.scalar(key), chosen(spec, "queueingStrategy", STRATEGIES)
    spec.remark("flavorFungibility", "which of several flavors is tried first")
    spec.remark("fairSharing", "a weight counts where the configuration shares fairly")
    selector = spec.table("namespaceSelector")
    labels = selector.table("matchLabels") if selector is not None else None
    only = labels.node.get(NAME_OF_NAMESPACE) if labels is not None else None
    if selector is not None and set(_keys(selector, labels)) - {NAME_OF_NAMESPACE}:
        spec.remark("namespaceSelector", LABELS)
    spec.use("namespaceSelector")
    takes = spec.table("preemption")
    borrowing = takes.table("borrowWithinCohort") if takes is not None else None
    quotas = tuple(quotas_of(spec))
    sketch.queues.queues[manifest.name.text] = JobQueue(
        name=manifest.name,
        cohort=cohort.text if cohort else "",
        quotas=quotas,
        strict=strategy or Scalar(STRATEGIES[0], manifest.name.place),
        within=chosen(takes, "withinClusterQueue", WITHIN) if takes else None,
        reclaim=chosen(takes, "reclaimWithinCohort", RECLAIM) if takes else None,
        borrowing=chosen(borrowing, "policy", RECLAIM[:2]) if borrowing else None,
        threshold=borrowing.scalar("maxPriorityThreshold") if borrowing else None,
        obstacle=_obstacle(spec, takes, quotas),
        is_closed=selector is None,
        only=only.text if isinstance(only, Scalar) else "",
    )


def _keys(selector: FieldView, labels: FieldView | None) -> Iterator[str]:
    """Yields the labels that a selector asks for, and what else it states."""
    yield from labels.node.entries if labels is not None else ()
    yield from (key for key in selector.node.entries if key != "matchLabels")


def _obstacle(spec: FieldView, takes: FieldView | None, quotas: tuple[QueueQuota, ...]) -> str:
    """Returns why what becomes of the jobs of a queue is not known."""
    for key, why in OBSTACLES.items():
        if key in spec:
            spec.remark(key, why)
            return why
    stopped, within = spec.scalar("stopPolicy"), takes.scalar("withinClusterQueue") if takes else None
    if stopped is not None and stopped.text != "None":
        return "stopPolicy lets nobody in"
    if within is not None and within.text == WITHIN[2]:
        return "withinClusterQueue goes by who is newer, which no manifest says"
    names = [quota.resource for quota in quotas]
    several = next((name for name in names if names.count(name) > 1), "")
    return f"which of several flavors of {several} a job is given" if several else ""


def quotas_of(spec: FieldView) -> Iterator[QueueQuota]:
    """Yields the quotas of all groups of resources."""
    for group in spec.tables("resourceGroups"):
        group.pass_over("coveredResources")
        for flavor in group.tables("flavors"):
            name = flavor.required("name")
            for resource in flavor.tables("resources"):
                kind, nominal = resource.required("name"), _amount(resource, "nominalQuota")
                borrowing, lending = (_amount(resource, key) for key in LIMITS)
                if name is not None and kind is not None:
                    own = nominal or as_amount(Scalar("0", resource.node.place), kind.text)
                    yield QueueQuota(kind.text, name.text, own, borrowing, lending)


def _amount(resource: FieldView, key: str) -> Scalar | None:
    stated, kind = resource.quantity(key), resource.node.get("name")
    if stated is None or not isinstance(kind, Scalar):
        return None
    return as_amount(stated, kind.text)


def chosen(view: FieldView | None, key: str, words: tuple[str, ...]) -> Scalar | None:
    """Returns one of the words that a field may have."""
    stated = view.scalar(key) if view is not None else None
    if view is None or stated is None or stated.text in words:
        return stated
    view.problem(stated.place, f"{view.at(key)} is '{units.shorten(stated.text)}'", f"write one of {', '.join(words)}")
    return None
