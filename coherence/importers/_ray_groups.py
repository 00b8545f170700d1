"""Worker groups of a Ray cluster: how many pods each has, and the loop of its autoscaler.

With `enableInTreeAutoscaling` a group grows while something waits for room, and a worker without work for
`idleTimeoutSeconds` goes, also where the next work would come a moment later: `<name>.gap`; without it `replicas`
holds.

SOURCE: KubeRay documentation, Configuring Autoscaling: idleTimeoutSeconds 60; Ray source, autoscaler/_private/
constants.py: AUTOSCALER_UPDATE_INTERVAL_S 5.
"""

from __future__ import annotations

from coherence.importers._kubernetes import FieldView
from coherence.importers._quantities import between, integer, respelled
from coherence.importers._sketch import Sketch, entry, listed
from coherence.language.document import Node, Scalar

PERIOD, IDLE, MOST = "5 s", "60 s", "2147483647"


def add_groups(cluster: FieldView, sketch: Sketch) -> None:
    """Adds the groups of a cluster."""
    scales, options = cluster.scalar("enableInTreeAutoscaling"), cluster.table("autoscalerOptions")
    idle = options.seconds("idleTimeoutSeconds", zero_is_absent=True) if options else None
    cluster.pass_over("rayVersion")
    cluster.remark("headGroupSpec", "the head is not scaled")
    if options is not None:
        options.remark("upscalingMode", "how many workers come at once is not modelled")
    for group in cluster.tables("workerGroupSpecs"):
        name, number = group.required("groupName"), group.whole("replicas")
        if name is None:
            continue
        group.pass_over("rayStartParams")
        thing = sketch.names.thing(
            f"{cluster.manifest.name.text} {name.text}", cluster.manifest.namespace, "worker group"
        )
        sketch.mention(thing, name.place, f"worker group {name.text}")
        if scales is not None and scales.text == "true":
            group.remark("replicas", "the autoscaler chooses how many, within its bounds")
            copies = _loop(group, thing, idle, sketch)
        else:
            copies = number or Scalar("1", group.node.place)
        if copies is not None:
            sketch.state(thing, "copies", copies)


def _loop(group: FieldView, thing: str, idle: Scalar | None, sketch: Sketch) -> Scalar | None:
    """Adds what makes a group larger and smaller, and returns the range of its workers."""
    place = group.node.place
    low, high = group.whole("minReplicas") or Scalar("0", place), group.whole("maxReplicas") or Scalar(MOST, place)
    waits = idle or Scalar(IDLE, place)
    rules = [
        entry(place, {"when": Scalar(f"{thing}.pending > 0", place), "by": Scalar("1", place)}),
        entry(waits.place, {"when": respelled(waits, f"{thing}.idle for {waits.text}"), "by": Scalar("-1", place)}),
    ]
    signal: dict[str, Node | None] = {
        "signal": Scalar(f"{thing}.replicas", place),
        "bounds": listed([low, high], high.place),
    }
    values: dict[str, Node | None] = {
        "layer": Scalar("cluster", place),
        "objective": Scalar("as many workers as have work", place),
        "timescale": entry(place, {"period": Scalar(PERIOD, place)}),
        "rules": listed(rules, place),
        "actuation": entry(place, signal),
    }
    sketch.put("loops", sketch.names.fresh(f"{thing}_autoscaler"), place, values)
    sketch.put_timer(
        f"{thing}_idle", layer="cluster", objective="end workers without work", during=f"{thing}.gap", after=waits,
        then=f"remove {thing}",
    )  # fmt: skip
    if (integer(low) or 0) > (integer(high) or 0):
        return None
    return between(low, high)
