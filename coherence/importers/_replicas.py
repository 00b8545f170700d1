"""Replicas of a workload: how many there are, their range where something scales them, and who writes their number.

SOURCE: Kubernetes API, apps/v1 DeploymentSpec, StatefulSetSpec: replicas.
"""

from __future__ import annotations

from coherence.importers._kubernetes import FieldView, Manifest
from coherence.importers._quantities import integer, respelled
from coherence.importers._sketch import Sketch, entry
from coherence.language.document import Node, Scalar


def replicas(spec: FieldView) -> Scalar:
    """Returns the number of replicas; one, where none is written."""
    return spec.whole("replicas") or Scalar("1", spec.node.place)


def link_scaling(manifest: Manifest, sketch: Sketch) -> None:
    """Adds, where something scales the workload, the range of its members, and what an apply of its manifest writes."""
    thing = sketch.names.thing(manifest.name.text, manifest.namespace, manifest.kind)
    loop_name, component = sketch.scaled.get(thing), sketch.get("components", thing)
    if not loop_name or component is None:
        return
    low = min((scaling.low for scaling in loop_name), key=lambda end: integer(end) or 0)
    high = max((scaling.high for scaling in loop_name), key=lambda end: integer(end) or 0)
    stated = manifest.spec.whole("replicas")
    if (integer(low) or 0) <= (integer(high) or 0):
        component.entries["copies"] = respelled(high, f"varies: {low.text} .. {high.text}")
        component.keys["copies"] = high.place
    if stated is not None:
        place = stated.place
        actuation = {
            "signal": Scalar(f"{thing}.replicas", place),
            "law": Scalar("set", place),
            "to": stated,
            "mode": Scalar("on change", place),
        }
        loop: dict[str, Node | None] = {
            "layer": Scalar("orchestration", place),
            "objective": Scalar("the number of replicas in the manifest, whenever it is applied", place),
            "actuation": entry(place, actuation),
        }
        sketch.put("loops", sketch.names.fresh(f"{thing}_apply"), place, loop)
