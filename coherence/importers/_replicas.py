"""Replicas of a workload: how many there are, their range where something scales them, and who writes their number.

SOURCE: Kubernetes API, apps/v1 DeploymentSpec, StatefulSetSpec: replicas.
"""

from __future__ import annotations

from coherence.importers._kubernetes import FieldView, Manifest, word
from coherence.importers._names import agree
from coherence.importers._quantities import between, integer
from coherence.importers._sketch import Sketch, Sync, entry
from coherence.language.document import Node, Scalar, Table

RELEASE = "meta.helm.sh/release-name"


def replicas(spec: FieldView) -> Scalar:
    """Returns the number of replicas; one, where none is written."""
    return spec.whole("replicas") or Scalar("1", spec.node.place)


def link_scaling(manifest: Manifest, sketch: Sketch) -> None:
    """Adds, where something scales the workload, the range of its members, and what an apply of its manifest writes."""
    thing = sketch.names.thing(manifest.name.text, manifest.namespace, manifest.kind)
    scalings = sketch.scaled.get(thing)
    if not scalings or sketch.get("components", thing) is None:
        return
    low = min((scaling.low for scaling in scalings), key=lambda end: integer(end) or 0)
    high = max((scaling.high for scaling in scalings), key=lambda end: integer(end) or 0)
    stated = manifest.spec.whole("replicas")
    if (integer(low) or 0) <= (integer(high) or 0):
        sketch.state(thing, "copies", between(low, high))
    if stated is not None:
        _apply(stated, thing, manifest, sketch)


def _apply(stated: Scalar, thing: str, manifest: Manifest, sketch: Sketch) -> None:
    """Adds the loop that writes the stated number: when it changes, or wherever a sync undoes what others write."""
    release = _release(manifest)
    near = [sync for sync in sketch.syncs if agree(sync.namespace, manifest.namespace)]
    syncs = [sync for sync in near if sync.release in ("", release)]
    if syncs and all(sync.respects and _ignores(sync, manifest) for sync in syncs):
        return
    heals = next((sync for sync in syncs if sync.heals is not None and not _ignores(sync, manifest)), None)
    place = stated.place
    mode = Scalar("always" if heals else "on change", heals.heals.place if heals and heals.heals else place)
    actuation = {"signal": Scalar(f"{thing}.replicas", place), "law": Scalar("set", place), "to": stated, "mode": mode}
    loop: dict[str, Node | None] = {
        "layer": Scalar("orchestration", place),
        "objective": Scalar("the number of replicas in the manifest, whenever it is applied", place),
        "timescale": entry(place, {"period": heals.period}) if heals and heals.period else None,
        "actuation": entry(place, actuation),
    }
    sketch.put("loops", sketch.names.fresh(f"{thing}_apply"), place, loop)


def _ignores(sync: Sync, manifest: Manifest) -> bool:
    """Returns whether a sync leaves alone what others make of the replicas of a workload."""
    return any(agree(kind, manifest.kind) and agree(name, manifest.name.text) for kind, name in sync.ignored)


def _release(manifest: Manifest) -> str:
    """Returns the release of Helm that a workload says it belongs to; empty where it says none."""
    annotations = manifest.metadata.get("annotations")
    return word(annotations, RELEASE) if isinstance(annotations, Table) else ""
