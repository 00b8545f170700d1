"""HorizontalPodAutoscaler: a proportional loop on the replicas of its target.

minReplicas and maxReplicas are the bounds, the metric target is the setpoint, `behavior` gives the hold
windows and the rate.  A Resource or Pods metric is a signal of the target (`web.cpu`, a share of the
request); an Object or External metric is a series of its own.

SOURCE: Kubernetes API, autoscaling/v2 HorizontalPodAutoscalerSpec (v1: targetCPUUtilizationPercentage).
"""

from __future__ import annotations

from coherence.document import Node, Scalar
from coherence.importers import _scaling as scaling
from coherence.importers._kubernetes import Manifest, View
from coherence.importers._names import sanitised
from coherence.importers._scaling import Metric, Workload
from coherence.importers._sketch import Sketch, default_of, entry, listed

KIND = "HorizontalPodAutoscaler"
GROUPS = ("autoscaling",)
PART = "kubernetes_hpa"
DEFAULT_PART = "kubernetes_hpa_default_metric"
SPELLING = {"hold_down": "stabilizationWindowSeconds", "hold_up": "stabilizationWindowSeconds"}


def add(manifest: Manifest, sketch: Sketch) -> None:
    """Add the loop."""
    spec, behavior = manifest.spec, manifest.spec.table("behavior")
    found = scaling.workload(manifest, sketch)
    metrics = metrics_of(manifest, sketch, found) if found else []
    low, high = spec.whole("minReplicas"), spec.whole("maxReplicas", least=1)
    if "maxReplicas" not in spec:
        spec.problem(spec.node.place, "spec.maxReplicas is missing", "add `maxReplicas: ...`")
    if found is None or high is None:
        return
    _, absent = default_of(PART, "actuation.bounds")
    low = low or Scalar("1", absent)
    name = sketch.names.policy(manifest.name.text, "hpa", "autoscaler", "scaler")
    scaling.scales(sketch, found.thing, name, low, high)
    if not metrics:
        return
    target = scaling.aimed(sketch, name, found.thing, metrics, spec.place("metrics"))
    target["tolerance"] = scaling.tolerance(behavior)
    held, rate = scaling.timescale(behavior), scaling.rates(behavior, PART)
    values: dict[str, Node | None] = {
        "uses": Scalar(PART, manifest.name.place),
        "target": entry(spec.place("metrics"), target),
        "timescale": entry(spec.place("behavior"), held) if any(held.values()) else None,
        "actuation": entry(
            found.place, {"signal": found.replicas, "bounds": listed([low, high], high.place), "rate": rate}
        ),
    }
    sketch.put("loops", name, manifest.name.place, values)


def metrics_of(manifest: Manifest, sketch: Sketch, found: Workload) -> list[Metric]:
    """Every metric with its setpoint; without any, 80 % of the CPU request."""
    spec = manifest.spec
    first_version = spec.percent("targetCPUUtilizationPercentage")
    if first_version is not None:
        scaling.above_zero(spec, "targetCPUUtilizationPercentage", first_version)
        return [Metric(Scalar(f"{found.thing}.cpu", first_version.place), first_version)]
    listed_metrics = spec.tables("metrics")
    if not listed_metrics:
        setpoint, _ = default_of(DEFAULT_PART, "target.setpoint")
        assert isinstance(setpoint, Scalar)
        return [Metric(Scalar(f"{found.thing}.cpu", setpoint.place), setpoint)]
    made = [_metric(view, manifest, sketch, found.thing) for view in listed_metrics]
    return [metric for metric in made if metric is not None]


SOURCES = {
    "Resource": "resource",
    "ContainerResource": "containerResource",
    "Pods": "pods",
    "Object": "object",
    "External": "external",
}


def _metric(view: View, manifest: Manifest, sketch: Sketch, thing: str) -> Metric | None:
    kind = view.required("type")
    if kind is None:
        return None
    source = view.table(SOURCES.get(kind.text, "type of metric"))
    if source is None:
        view.problem(
            kind.place, f"{view.path} of type '{kind.text}' has no such source", f"write one of {', '.join(SOURCES)}"
        )
        return None
    if kind.text in ("Resource", "ContainerResource"):
        return _resource(source, thing)
    described = source.table("metric")
    name = described.required("name") if described else None
    target = source.table("target")
    if described is None or name is None or target is None:
        source.problem(
            source.node.place,
            f"{source.path} needs a metric with a name, and a target",
            "see the reference of autoscaling/v2",
        )
        return None
    target.use("type")
    found = scaling.percent_or_amount(target)
    if found is None:
        return None
    setpoint, key = found
    if kind.text == "Pods":
        return Metric(scaling.signal_of(thing, name.text, name.place), setpoint)
    signal = _series(source, described, name, manifest, sketch)
    return Metric(Scalar(signal, name.place), setpoint, averaged=key == "averageValue")


def _resource(source: View, thing: str) -> Metric | None:
    """CPU or memory: of the pod, or of one container."""
    name, container, target = source.required("name"), source.scalar("container"), source.table("target")
    if name is None or (target is None and "targetAverageUtilization" not in source):
        source.problem(
            source.node.place,
            f"{source.path} has no target",
            "add `target: {type: Utilization, averageUtilization: 80}`",
        )
        return None
    if target is None:
        key = "targetAverageUtilization"
        setpoint = source.percent(key)
        known = (setpoint, key) if setpoint is not None and scaling.above_zero(source, key, setpoint) else None
    else:
        target.use("type")
        known = scaling.percent_or_amount(target, resource=name.text)
    if known is None:
        return None
    # a share of the request and an amount are two signals
    words = (container.text if container else "", name.text, "" if known[1].endswith("Utilization") else "amount")
    return Metric(scaling.signal_of(thing, " ".join(filter(None, words)), name.place), known[0])


def _series(source: View, described: View, name: Scalar, manifest: Manifest, sketch: Sketch) -> str:
    """The signal of an Object or External metric: of the object it describes, or of the monitoring system."""
    thing = source.table("describedObject")
    kind, object_name = (thing.scalar("kind"), thing.scalar("name")) if thing else (None, None)
    if thing is not None:
        thing.use("apiVersion")
    if kind is not None and object_name is not None and kind.text != "Namespace":
        owner = sketch.names.thing(object_name.text, manifest.namespace, kind.text)
        sketch.mention(owner, object_name.place, f"{kind.text} {object_name.text}: its manifest is not among these")
        return f"{owner}.{sanitised(name.text)}"
    sketch.mention("metrics", name.place, "series of the monitoring system: any value")
    chosen = described.table("selector")
    if chosen is not None:
        described.use("selector")
    return f"metrics.{sketch.names.metric(' '.join([name.text, *_texts(chosen)]))}"


def _texts(view: View | None) -> list[str]:
    """Keys and values of the labels that choose one series among several of a name."""
    labels = view.node.get("matchLabels") if view is not None else None
    entries = getattr(labels, "entries", {})
    return [word for key, value in sorted(entries.items()) for word in (key, getattr(value, "text", ""))]
