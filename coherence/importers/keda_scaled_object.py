"""KEDA ScaledObject: the HPA that it creates, a proportional loop on the replicas of its target.

Bounds come from minReplicaCount and maxReplicaCount; each trigger gives a metric with its threshold.
The steps between 0 and 1 (pollingInterval, cooldownPeriod) are not in the loop.

SOURCE: KEDA documentation, ScaledObject specification and the scalers' parameters.
"""

from __future__ import annotations

from coherence.document import Node, Scalar
from coherence.importers import _scaling as scaling
from coherence.importers._kubernetes import Manifest, View, integer
from coherence.importers._scaling import Metric
from coherence.importers._sketch import Sketch, default_of, entry, listed

KIND = "ScaledObject"
GROUPS = ("keda.sh",)
PART = "keda_scaledobject"
SPELLING: dict[str, str] = {}

THRESHOLDS = ("threshold", "value", "queueLength", "targetValue", "targetQueueLength", "lagThreshold", "messageCount")
SERIES = ("query", "metricName", "queueName", "topic", "subscriptionName", "streamName")


def add(manifest: Manifest, sketch: Sketch) -> None:
    """Add the loop."""
    spec = manifest.spec
    found = scaling.workload(manifest, sketch, kind="Deployment")
    metrics = [
        m for m in (_metric(view, sketch, found.thing if found else "") for view in spec.tables("triggers")) if m
    ]
    low, high = spec.whole("minReplicaCount"), spec.whole("maxReplicaCount", least=1)
    for key in ("pollingInterval", "cooldownPeriod", "initialCooldownPeriod", "idleReplicaCount"):
        if key in spec:
            spec.remark(key, "the steps between 0 and 1")
    behavior = _behavior(spec)
    if found is None:
        return
    _, absent = default_of(PART, "actuation.bounds")
    low = Scalar("1", low.place if low else absent) if low is None or integer(low) == 0 else low
    high = high or Scalar("100", absent)
    name = sketch.names.policy(manifest.name.text, "scaledobject", "keda", "scaler")
    scaling.scales(sketch, found.thing, name, low, high)
    if not metrics:
        return
    target = scaling.aimed(sketch, name, found.thing, metrics, spec.place("triggers"))
    held, rate = scaling.timescale(behavior), scaling.rates(behavior, PART)
    bounds = listed([low, high], high.place)
    actuation: dict[str, Node | None] = {"signal": found.replicas, "bounds": bounds, "rate": rate}
    values: dict[str, Node | None] = {
        "uses": Scalar(PART, manifest.name.place),
        "target": entry(spec.place("triggers"), target),
        "timescale": entry(spec.place("advanced"), held) if any(held.values()) else None,
        "actuation": entry(found.place, actuation),
    }
    sketch.put("loops", name, manifest.name.place, values)


def _behavior(spec: View) -> View | None:
    """`advanced.horizontalPodAutoscalerConfig.behavior`, handed to the HPA as it is."""
    advanced = spec.table("advanced")
    config = advanced.table("horizontalPodAutoscalerConfig") if advanced else None
    return config.table("behavior") if config else None


def _metric(view: View, sketch: Sketch, thing: str) -> Metric | None:
    """One trigger: the series it reads and its threshold, per replica unless metricType is Value."""
    kind, metadata = view.required("type"), view.table("metadata")
    if kind is None or metadata is None:
        return None
    key = next((key for key in THRESHOLDS if key in metadata), None)
    if key is None:
        view.remark("metadata", f"the {kind.text} trigger has no threshold that is known here")
        return None
    setpoint = metadata.quantity(key)
    if setpoint is None or not scaling.above_zero(metadata, key, setpoint):
        return None
    metric_type = view.scalar("metricType")
    averaged = metric_type is None or metric_type.text != "Value"
    if kind.text in ("cpu", "memory"):
        return _resource(view, metadata, thing, kind, setpoint)
    named = next((name for name in SERIES if name in metadata), None)
    series = metadata.scalar(named) if named else None
    if series is None:
        view.remark("metadata", f"the {kind.text} trigger does not name what it reads")
        return None
    for other in (*SERIES, "serverAddress"):
        if other in metadata and other != named:
            metadata.use(other)
    sketch.mention("metrics", series.place, "series of the monitoring system: any value")
    return Metric(
        Scalar(f"metrics.{sketch.names.metric(_series(metadata, kind, series))}", series.place),
        setpoint,
        averaged=averaged,
    )


def _series(metadata: View, kind: Scalar, series: Scalar) -> str:
    """What a trigger reads: a Prometheus series by its query, else the kind, the queue and what is measured of it."""
    if kind.text == "prometheus":
        return series.text
    mode, group = metadata.scalar("mode"), metadata.scalar("consumerGroup")
    chosen = [one.text for one in (mode, group) if one is not None and one.text != "QueueLength"]
    return " ".join((kind.text, series.text, *chosen))


def _resource(view: View, metadata: View, thing: str, kind: Scalar, setpoint: Scalar) -> Metric:
    """CPU or memory as the HPA reads it: a share of the request, or an amount where metricType says so."""
    stated = view.scalar("metricType") or metadata.scalar("type")
    container = metadata.scalar("containerName")
    amount = stated is not None and stated.text == "AverageValue"
    words = (container.text if container else "", kind.text, "amount" if amount else "")
    unit = (" B" if kind.text == "memory" else "") if amount else " %"
    signal = scaling.signal_of(thing, " ".join(filter(None, words)), kind.place)
    return Metric(signal, Scalar(f"{setpoint.text}{unit}", setpoint.place))
