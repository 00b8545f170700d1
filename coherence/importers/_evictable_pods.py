"""Which pods a plugin of the descheduler may evict: those that it selects, less those that its evictor protects.

SOURCE: descheduler 0.27 to 0.36, pkg/framework/plugins/defaultevictor (Filter, getEffectivePodProtections,
evictionConstraintsForMinReplicas), pkg/descheduler/pod (BuildFilterFunc); v1alpha1: the policy and its strategies.
"""

from __future__ import annotations

from dataclasses import dataclass

from coherence.importers._kubernetes import FieldView, word
from coherence.importers._quantities import integer
from coherence.importers._selectors import matches
from coherence.importers._sketch import Pods
from coherence.language.document import Scalar

OWNERS = {"Deployment": "ReplicaSet", "Rollout": "ReplicaSet", "CronJob": "Job"}
LOCAL, CRITICAL, CLAIMED, BUDGETED, DEVICES = (
    "PodsWithLocalStorage", "SystemCriticalPods", "PodsWithPVC", "PodsWithoutPDB", "PodsWithResourceClaims",
)  # fmt: skip
STANDARD = frozenset({LOCAL, CRITICAL})
FLAGS = {  # of the evictor before podProtections, and as its default whether pods are protected
    "evictLocalStoragePods": (LOCAL, True),
    "evictSystemCriticalPods": (CRITICAL, True),
    "ignorePvcPods": (CLAIMED, False),
    "ignorePodsWithoutPDB": (BUDGETED, False),
}
CRITICAL_CLASSES = ("system-cluster-critical", "system-node-critical")
CRITICAL_PRIORITY = 2 * 10**9
LOCAL_VOLUMES = ("emptyDir", "hostPath")
EVICT, STAY = "descheduler.alpha.kubernetes.io/evict", "descheduler.alpha.kubernetes.io/prefer-no-eviction"


@dataclass(frozen=True)
class Plugin:
    """A plugin that is enabled: where, its arguments, those of the evictor, and whether the policy selects nodes."""

    name: str
    view: FieldView
    key: str
    arguments: FieldView | None = None
    evictor: FieldView | None = None
    selects_nodes: bool = False

    def arguments_of(self, nested: str) -> FieldView | None:
        """Returns the arguments under a key of v1alpha1, else all of them."""
        return (self.arguments.table(nested) if self.arguments is not None else None) or self.arguments


def spared(plugin: Plugin, nested: str, pods: Pods, copies: Scalar | None) -> str:
    """Returns why a plugin evicts no pod of a workload, or that it is not known; empty where it may evict them."""
    if plugin.selects_nodes:
        return "the nodes that it looks at are selected, which is not modelled"
    owners = [view for view in (plugin.arguments, plugin.arguments_of(nested)) if view is not None]
    for view in owners:
        if reason := _unselected(view, pods):
            return reason
    annotations = _annotations(pods)
    evictor = plugin.evictor
    if evictor is not None and evictor.table("namespaceLabelSelector") is not None:
        return "namespaces are selected by their labels, which is not modelled"
    if annotations is not None and EVICT in annotations:
        return ""
    asks = annotations is not None and STAY in annotations
    if asks and evictor is not None and _text(evictor, "noEvictionPolicy") == "Mandatory":
        return "its pods ask not to be evicted"
    return _protected(evictor, owners, pods) or (_few(evictor, copies) if evictor is not None else "")


def _unselected(view: FieldView, pods: Pods) -> str:
    """Returns why the arguments of a plugin select no pod of a workload; empty where they may."""
    spaces = view.table("namespaces")
    if spaces is not None:
        include, exclude = _texts(spaces, "include"), _texts(spaces, "exclude")
        if (include and pods.namespace not in include) or pods.namespace in exclude:
            return "it does not look at the namespace"
    selector = view.table("labelSelector")
    if selector is not None and not matches(selector, pods.labels):
        return "it does not look at pods with these labels"
    kinds = view.table("ownerKinds")
    include = _texts(kinds, "include") if kinds is not None else []
    exclude = _texts(kinds, "exclude") if kinds is not None else []
    owner = _owner(pods)
    if (include and owner not in include) or owner in (*exclude, *_texts(view, "excludeOwnerKinds")):
        return f"it does not look at pods of a {owner}"
    return ""


def _owner(pods: Pods) -> str:
    """Returns the kind of what owns the pods of a workload."""
    kind = pods.template.manifest.kind if pods.template is not None else ""
    return OWNERS.get(kind, kind)


def _annotations(pods: Pods) -> FieldView | None:
    """Returns the annotations of the pods of a workload."""
    spec = pods.template.manifest.spec if pods.template is not None else None
    owner = (spec.inner("jobTemplate", "spec") or spec) if spec is not None else None
    return owner.inner("template", "metadata", "annotations") if owner is not None else None


def _protections(evictor: FieldView | None) -> frozenset[str]:
    """Returns which kinds of pods an evictor protects."""
    if evictor is None:
        return STANDARD
    stated = evictor.table("podProtections")
    off = _texts(stated, "defaultDisabled") if stated is not None else []
    on = _texts(stated, "extraEnabled") if stated is not None else []
    if off or on:
        return (STANDARD - {*off}) | {*on}
    flags = {key: _text(evictor, key) == "true" for key in FLAGS}
    return frozenset(kind for key, (kind, protects) in FLAGS.items() if flags[key] != protects)


def _protected(evictor: FieldView | None, owners: list[FieldView], pods: Pods) -> str:
    """Returns why an evictor evicts no pod of a workload, or that it is not known."""
    kinds, pod = _protections(evictor), pods.template
    selector = evictor.table("labelSelector") if evictor is not None else None
    if selector is not None and not matches(selector, pods.labels):
        return "its evictor does not take pods with these labels"
    if BUDGETED in kinds:
        return "pods without a budget are protected, which is not modelled"
    if pod is None:
        return ""
    volumes = pod.tables("volumes")
    if LOCAL in kinds and any(key in volume for volume in volumes for key in LOCAL_VOLUMES):
        return "its pods have local storage, which protects them"
    claims = any("persistentVolumeClaim" in volume for volume in volumes)
    if CLAIMED in kinds and (claims or "volumeClaimTemplates" in pod.manifest.spec):
        return "its pods have volumes that are claimed, which protects them"
    if DEVICES in kinds and pod.tables("resourceClaims"):
        return "its pods claim resources, which protects them"
    return _by_priority(evictor, owners, pod) if CRITICAL in kinds else ""


def _by_priority(evictor: FieldView | None, owners: list[FieldView], pod: FieldView) -> str:
    """Returns why an evictor spares pods of a priority, or that it is not known."""
    name, stated = word(pod.node, "priorityClassName"), pod.node.get("priority")
    number = integer(stated) if isinstance(stated, Scalar) else None
    if name in CRITICAL_CLASSES or (number is not None and number >= CRITICAL_PRIORITY):
        return "its pods are critical to the system, which protects them"
    limits = [view.scalar(key) for view in owners for key in ("thresholdPriority", "thresholdPriorityClassName")]
    threshold = evictor.table("priorityThreshold") if evictor is not None else None
    limits += [threshold.scalar(key) for key in ("value", "name")] if threshold is not None else []
    known = [limit for limit in limits if limit is not None and limit.text]
    if not known:
        return ""
    most, least = integer(known[0]), number if number is not None else 0
    if most is None or (name and number is None):
        return "pods of a higher priority are protected, and which class has which is not modelled"
    return "its pods have a higher priority, which protects them" if least >= most else ""


def _few(evictor: FieldView, copies: Scalar | None) -> str:
    """Returns that an evictor spares what has few members."""
    least, number = evictor.whole("minReplicas"), integer(copies) if copies is not None else None
    if least is None or number is None or number >= (integer(least) or 0):
        return ""
    return f"it has fewer than {least.text} members (minReplicas)"


def _text(view: FieldView, key: str) -> str:
    stated = view.scalar(key)
    return stated.text if stated is not None else ""


def _texts(view: FieldView, key: str) -> list[str]:
    return [stated.text for stated in view.scalars(key)]
