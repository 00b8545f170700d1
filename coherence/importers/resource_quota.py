"""ResourceQuota: what the pods of a namespace may hold together, as a capacity of which each of them needs a part.

The API server refuses a pod beyond it, so the most members that a workload may have, and the extra ones of an update,
need room in it.  It refuses one that states nothing of what is bounded, too: such a workload is listed.

SOURCE: Kubernetes documentation, Resource Quotas: compute resources (`cpu` is `requests.cpu`), count quotas, scopes.
"""

from __future__ import annotations

from collections.abc import Mapping

from coherence.importers._kubernetes import FieldView, Manifest
from coherence.importers._names import agree, sanitised
from coherence.importers._quantities import BYTES, added, exact, respelled, value_of
from coherence.importers._sketch import Container, Pods, Sketch, entry
from coherence.language.document import Node, Scalar, Table

KIND = "ResourceQuota"
GROUPS = ("v1",)
SPELLING: Mapping[str, str] = {}
PODS = ("pods", "count/pods")
REQUESTED = ("cpu", "memory", "ephemeral-storage")
SCOPED = "it counts some pods of the namespace only"
OBJECTS = "no amount that pods hold"
UNHELD = "no pod of these manifests holds any"
OTHERS = "pods of the namespace that are not among these files count too"


def add(manifest: Manifest, sketch: Sketch) -> None:
    """Adds nothing: whose pods it bounds is known when all manifests are read."""
    del manifest, sketch


def link(manifest: Manifest, sketch: Sketch) -> None:
    """Adds the capacity, and what a member of each workload of the namespace needs of it."""
    spec = manifest.spec
    hard = spec.table("hard")
    scopes = [key for key in ("scopes", "scopeSelector") if key in spec]
    for key in scopes:
        spec.remark(key, SCOPED)
    if hard is None or scopes:
        return
    near = [pods for pods in sketch.pods if agree(manifest.namespace, pods.namespace)]
    quota, place = sketch.names.policy(manifest.name.text, "quota"), manifest.name.place
    room = {
        name: most
        for key in hard.node.entries
        if (most := _shared(hard, key, name := _name(quota, key), near, sketch)) is not None
    }
    if room:
        note = Scalar(OTHERS, place)
        sketch.put("components", quota, place, {"note": note, **room})


def _name(quota: str, key: str) -> str:
    """Returns the name of a resource of a quota; bytes are plain numbers, which a repair may write as they are."""
    resource = key.removeprefix("requests.").removeprefix("limits.")
    return sanitised(f"{quota} {key}{' bytes' if resource.startswith(BYTES) else ''}")


def _shared(hard: FieldView, key: str, name: str, near: list[Pods], sketch: Sketch) -> Scalar | None:
    """Returns what there is of a resource, where pods hold any of it: each workload needs what its containers state."""
    source, resource = key.partition(".")[::2] if key.startswith(("requests.", "limits.")) else ("", key)
    counted, stated = key in PODS, hard.quantity(key)
    if stated is None:
        return None
    if not (source or counted or resource in REQUESTED):
        hard.remark(key, OBJECTS)
        return None
    held = {pods.thing: part for pods in near if (part := _held(pods, source, resource, stated, counted=counted))}
    for thing, part in held.items():
        _need(thing, name, part, sketch)
    if not held:
        hard.remark(key, UNHELD)
        return None
    for pods in near:
        if pods.thing not in held:
            sketch.not_modelled.append((stated.place, f"{pods.thing} states nothing of {key}: it may be refused"))
    return respelled(stated, exact(value_of(stated)))


def _held(pods: Pods, source: str, resource: str, stated: Scalar, *, counted: bool) -> Scalar | None:
    """Returns what one pod holds: its containers together."""
    if counted:
        return respelled(stated, "1")
    limits = source == "limits"
    parts = [_limit(c, resource) if limits else c.requests.get(resource) for c in pods.containers]
    known = [(resource, part) for part in parts if part is not None]
    return respelled(total := added(known)[resource], exact(value_of(total))) if known else None


def _limit(container: Container, resource: str) -> Scalar | None:
    view = container.limits
    return view.quantity(resource) if view is not None else None


def _need(thing: str, name: str, amount: Scalar, sketch: Sketch) -> None:
    """Adds a need to those of a workload."""
    component = sketch.get("components", thing)
    known = component.get("needs") if component is not None else None
    needs: dict[str, Node | None] = {**known.entries} if isinstance(known, Table) else {}
    sketch.state(thing, "needs", entry(known.place if known is not None else amount.place, {**needs, name: amount}))
