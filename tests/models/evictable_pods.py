"""Policies of the descheduler and pods, drawn at random, and which pods a plugin with its evictor may evict.

SOURCE: descheduler 0.27 to 0.36, README (Pod Evictions, Namespace filtering, Label filtering, Priority filtering) and
pkg/framework/plugins/defaultevictor.  Written from these words: a pod with the annotation `evict` passes the evictor
whatever else holds of it, and what the plugin does not look at is never evicted.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from random import Random

OWNERS = {"Deployment": "ReplicaSet", "StatefulSet": "StatefulSet", "Job": "Job"}
VOLUMES = ("emptyDir", "hostPath", "persistentVolumeClaim", "configMap")
CLASSES = ("", "", "", "system-node-critical", "gold")
PREFIX = "descheduler.alpha.kubernetes.io/"
Given = dict[str, object]


@dataclass(frozen=True)
class Workload:
    """What is known of the pods of a workload."""

    kind: str
    copies: int
    namespace: str
    tier: str
    volumes: tuple[str, ...]
    priority_class: str
    annotations: tuple[str, ...]

    def metadata(self) -> Given:
        marks = {f"{PREFIX}{name}": "true" for name in self.annotations}
        return {"labels": {"tier": self.tier}, **({"annotations": marks} if marks else {})}

    def pod(self) -> Given:
        volumes = [{"name": f"v{k}", volume: {}} for k, volume in enumerate(self.volumes)]
        priority = {"priorityClassName": self.priority_class} if self.priority_class else {}
        return {"containers": [], **({"volumes": volumes} if volumes else {}), **priority}


@dataclass(frozen=True)
class Filters:
    """What a plugin selects and what its evictor protects; `old`: in the words of v1alpha1."""

    old: bool
    include: tuple[str, ...] = ()
    exclude: tuple[str, ...] = ()
    tiers: tuple[str, ...] = ()
    evictor_tiers: tuple[str, ...] = ()
    owners_out: tuple[str, ...] = ()
    takes_local: bool = False
    takes_critical: bool = False
    keeps_claims: bool = False
    in_lists: bool = False
    least: int = 0
    threshold: bool = False
    is_strict: bool = False
    selects_nodes: bool = False
    arguments: Given = field(default_factory=dict)

    def selects(self, pods: Workload) -> bool:
        """Decides whether the plugin looks at the pods."""
        if self.include and pods.namespace not in self.include:
            return False
        if pods.namespace in self.exclude or OWNERS[pods.kind] in self.owners_out:
            return False
        return not self.tiers or pods.tier in self.tiers

    def may_evict(self, pods: Workload) -> bool | None:
        """Decides whether the plugin may evict the pods; None where a manifest does not say it."""
        if not self.selects(pods):
            return False
        if "evict" in pods.annotations:
            return True
        if self.is_strict and "prefer-no-eviction" in pods.annotations:
            return False
        if self.evictor_tiers and pods.tier not in self.evictor_tiers:
            return False
        if not self.takes_local and {"emptyDir", "hostPath"} & {*pods.volumes}:
            return False
        if self.keeps_claims and "persistentVolumeClaim" in pods.volumes:
            return False
        if pods.copies < self.least:
            return False
        if self.takes_critical:
            return True
        if pods.priority_class == "system-node-critical":
            return False
        return None if self.threshold and pods.priority_class else True


def drawn_workload(rng: Random, kind: str, copies: int) -> Workload:
    marks = tuple(name for name in ("evict", "prefer-no-eviction") if rng.random() < 0.1)
    volumes = tuple(rng.sample(VOLUMES, rng.choice((0, 0, 0, 1, 2))))
    return Workload(kind, copies, rng.choice(("a", "b")), rng.choice(("x", "y")), volumes, rng.choice(CLASSES), marks)


def drawn_filters(rng: Random, arguments: Given, *, old: bool | None = None) -> Filters:
    def often(chance: float = 0.15) -> bool:
        return rng.random() < chance

    old = often(0.4) if old is None else old
    spaces = rng.choice(((), (), (), ("a",), ("a", "b")))
    include, exclude = (spaces, ()) if often(0.5) else ((), spaces)
    in_lists = not old and often(0.5)
    return Filters(
        old, include, exclude, ("x",) if often() else (), ("x", "z") if not old and often() else (),
        tuple(rng.sample(list(OWNERS.values()), 1)) if often() else (),
        often(0.5), often(0.3), often(0.3), in_lists, rng.choice((0, 0, 3)) if not old else 0, often(),
        not old and often(), often(0.05), arguments,
    )  # fmt: skip


def policy(plugin: str, nested: str, filters: Filters) -> str:
    """Returns the policy that enables one plugin; `nested`: the key of its arguments in v1alpha1."""
    selection: Given = {}
    if filters.include:
        selection["namespaces"] = {"include": list(filters.include)}
    if filters.exclude:
        selection["namespaces"] = {"exclude": list(filters.exclude)}
    if filters.tiers:
        expression = {"key": "tier", "operator": "In", "values": list(filters.tiers)}
        selection["labelSelector"] = {"matchExpressions": [expression]}
    own = dict(filters.arguments)
    if filters.owners_out and plugin == "RemoveDuplicates":
        own["excludeOwnerKinds"] = list(filters.owners_out)
    elif filters.owners_out:
        own["ownerKinds"] = {"exclude": list(filters.owners_out)}
    flags: Given = {
        "evictLocalStoragePods": filters.takes_local,
        "evictSystemCriticalPods": filters.takes_critical,
        "ignorePvcPods": filters.keeps_claims,
    }
    top: Given = {"kind": "DeschedulerPolicy", "apiVersion": f"descheduler/v1alpha{1 if filters.old else 2}"}
    if filters.selects_nodes:
        top["nodeSelector"] = "pool=a"
    if filters.old:
        more = {"thresholdPriority": 1000} if filters.threshold else {}
        given = {**selection, **more, **({nested: own} if own else {})}
        strategy: Given = {"enabled": True, **({"params": given} if given else {})}
        return json.dumps({**top, **flags, "strategies": {plugin: strategy}})
    return json.dumps({**top, "profiles": [_profile(plugin, {**selection, **own}, _evictor(filters, flags))]})


def _evictor(filters: Filters, flags: Given) -> Given:
    evictor = dict(flags)
    if filters.in_lists:
        off = [("PodsWithLocalStorage", filters.takes_local), ("SystemCriticalPods", filters.takes_critical)]
        disabled = ["FailedBarePods", *(name for name, is_off in off if is_off)]
        evictor = {"podProtections": {"defaultDisabled": disabled}}
        if filters.keeps_claims:
            evictor["podProtections"] = {"defaultDisabled": disabled, "extraEnabled": ["PodsWithPVC"]}
    if filters.evictor_tiers:
        expression = {"key": "tier", "operator": "In", "values": list(filters.evictor_tiers)}
        evictor["labelSelector"] = {"matchExpressions": [expression]}
    if filters.least:
        evictor["minReplicas"] = filters.least
    if filters.threshold:
        evictor["priorityThreshold"] = {"value": 1000}
    if filters.is_strict:
        evictor["noEvictionPolicy"] = "Mandatory"
    return evictor


def _profile(plugin: str, arguments: Given, evictor: Given) -> Given:
    extension = "deschedule" if plugin == "PodLifeTime" else "balance"
    configs = [{"name": "DefaultEvictor", "args": evictor}, {"name": plugin, "args": arguments}]
    return {"name": "p", "pluginConfig": configs, "plugins": {extension: {"enabled": [plugin]}}}
