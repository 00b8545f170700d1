"""HorizontalPodAutoscaler: a proportional loop on the replicas of its target.

minReplicas and maxReplicas are the bounds, the metric's target is the setpoint, `behavior` gives the hold
windows and the rate.  A Resource or Pods metric is a signal of the workload (`web.cpu`, a share of the
request); an Object or External metric is a series of its own.

SOURCE: Kubernetes API, autoscaling/v2 HorizontalPodAutoscalerSpec (v1: targetCPUUtilizationPercentage).
"""

from __future__ import annotations

from collections.abc import Iterator

from coherence.base.outside_text import masked
from coherence.base.places import Place
from coherence.importers import _scaling as scaling
from coherence.importers._kubernetes import FieldView, Manifest
from coherence.importers._names import sanitised
from coherence.importers._queries import add_queries
from coherence.importers._scaling import Autoscaler, Metric
from coherence.importers._sketch import Sketch, default_of, default_scalar
from coherence.language.document import Items, Node, Scalar, Table

KIND = "HorizontalPodAutoscaler"
GROUPS = ("autoscaling",)
PART = "kubernetes_hpa"
DEFAULT_PART = "kubernetes_hpa_default_metric"
SPELLING = {"hold_down": "stabilizationWindowSeconds", "hold_up": "stabilizationWindowSeconds"}
SOURCES = {
    "Resource": "resource",
    "ContainerResource": "containerResource",
    "Pods": "pods",
    "Object": "object",
    "External": "external",
}


def add(manifest: Manifest, sketch: Sketch) -> None:
    """Adds the loop."""
    spec = manifest.spec
    workload = scaling.workload(manifest, sketch)
    metrics, place = _metrics(manifest, sketch, workload[0] if workload else "")
    spec.required("maxReplicas")
    low, high = spec.whole("minReplicas"), spec.whole("maxReplicas", least=1)
    if workload is None or high is None:
        return
    if not metrics:
        spec.remark("scaleTargetRef", "no metric that is modelled: not taken as a writer of the replicas")
        return
    _, fewest = default_of(PART, "actuation.bounds")
    name = sketch.names.policy(manifest.name.text, "hpa", "autoscaler", "scaler")
    behavior = spec.table("behavior")
    loop = Autoscaler(name, PART, *workload, metrics, place, low or Scalar("1", fewest), high, behavior)
    scaling.add_loop(sketch, manifest, loop)
    add_queries(manifest, sketch, loop)


def _metrics(manifest: Manifest, sketch: Sketch, thing: str) -> tuple[list[Metric], Place]:
    """Returns every metric with its setpoint, and the place of all; without any, 80 % of the CPU request."""
    spec = manifest.spec
    first_version = spec.percent("targetCPUUtilizationPercentage", least=1)
    views = spec.tables("metrics")
    if first_version is None and not views:
        first_version = default_scalar(DEFAULT_PART, "target.setpoint")
    if first_version is not None:
        place = first_version.place
        return [Metric(Scalar(f"{thing}.cpu", place), first_version, shown=("cpu", "utilization"))], place
    metrics = [_metric(view, manifest, sketch, thing) for view in views]
    listed = spec.node.entries["metrics"]
    return [metric for metric in metrics if metric is not None], listed.place


def _metric(view: FieldView, manifest: Manifest, sketch: Sketch, thing: str) -> Metric | None:
    kind = view.required("type")
    if kind is None:
        return None
    key = SOURCES.get(kind.text, "")
    source = view.table(key)
    if source is None:
        known = f"write one of {', '.join(SOURCES)} and what belongs to it"
        view.problem(kind.place, f"{view.path} of type '{kind.text}' says nothing that is known", known)
        return None
    if kind.text in ("Resource", "ContainerResource"):
        return _resource(source, thing)
    if "metricName" in source:
        view.remark(key, "the form of autoscaling/v2beta1; write autoscaling/v2")
        return None
    described, target = source.table("metric"), source.table("target")
    name = described.required("name") if described else None
    if described is None or target is None:
        source.problem(source.node.place, f"{source.path} needs a metric with a name and a target", "add them")
    if described is None or target is None or name is None:
        return None
    target.pass_over("type")
    setpoint = scaling.target_value(target)
    if setpoint is None:
        return None
    if kind.text == "Pods":
        own = Scalar(f"{thing}.{sanitised(_series_name(described, name, sketch))}", name.place)
        return Metric(own, setpoint[0], series=name, is_own=True, shown=(name.text, "average"))
    signal = _series(source, described, name, manifest, sketch)
    kind_of = "average" if setpoint[1] == "averageValue" else "value"
    return Metric(signal, setpoint[0], type=kind_of, series=name, shown=(name.text, kind_of))


def _resource(source: FieldView, thing: str) -> Metric | None:
    """Returns CPU or memory: of the pod, or of one container."""
    name, container, target = source.required("name"), source.scalar("container"), source.table("target")
    older = "targetAverageUtilization"
    if target is None and older not in source:
        words = "add `target: {type: Utilization, averageUtilization: 80}`"
        source.problem(source.node.place, f"{source.path} has no target", words)
    if name is None or (target is None and older not in source):
        return None
    if target is None:
        setpoint = source.percent(older, least=1)
        pair = (setpoint, older) if setpoint is not None else None
    else:
        target.pass_over("type")
        pair = scaling.target_value(target, resource=name.text)
    if pair is None:
        return None
    share = pair[1].endswith("Utilization")
    shown = (name.text, "utilization" if share else "average")
    return Metric(scaling.resource_signal(thing, name, container, share=share), pair[0], shown=shown)


def _series(source: FieldView, described: FieldView, name: Scalar, manifest: Manifest, sketch: Sketch) -> Scalar:
    """Returns the signal of an Object or External metric: of the object it describes, or of the monitoring system."""
    about = source.table("describedObject")
    kind, owner = (about.scalar("kind"), about.scalar("name")) if about else (None, None)
    if about is not None:
        about.pass_over("apiVersion")
    if kind is not None and owner is not None and kind.text != "Namespace":
        thing = sketch.names.thing(owner.text, manifest.namespace, kind.text)
        sketch.mention(thing, owner.place, f"{kind.text} {owner.text}: its manifest is not among these")
        return Scalar(f"{thing}.{sanitised(_series_name(described, name, sketch))}", name.place)
    return scaling.series_signal(sketch, _series_name(described, name, sketch), name.place)


def _series_name(described: FieldView, name: Scalar, sketch: Sketch) -> str:
    """Returns the name of a metric with the labels that choose one series among several of it."""
    described.use("selector")
    return " ".join([name.text, *map(sketch.concealed, _texts(described.node.get("selector")))])


def _texts(node: Node | None) -> Iterator[str]:
    """Yields every key and value below a node."""
    if isinstance(node, Scalar):
        yield node.text
    elif isinstance(node, Items):
        for item in node:
            yield from _texts(item)
    elif isinstance(node, Table):
        for key, child in sorted(node.entries.items()):
            if isinstance(child, Scalar) and masked(f"{key}={child.text}") != f"{key}={child.text}":
                yield f"{key}={child.text}"  # a credential, which the key alone shows
                continue
            yield from (() if key.startswith("match") else (key,))
            yield from _texts(child)
