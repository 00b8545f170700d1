"""ScaledObject: the HPA that KEDA creates, a proportional loop on the replicas of its target.

minReplicaCount and maxReplicaCount are the bounds, each trigger is a series with its threshold,
`advanced.horizontalPodAutoscalerConfig.behavior` is the HPA's.  The HPA stays between one and the maximum, at
its own pace; the way to 0 (minReplicaCount 0, the default) is a timer, in which alone pollingInterval and
cooldownPeriod count.

SOURCE: KEDA documentation, ScaledObject specification (2.22), and the parameters of its scalers.
"""

from __future__ import annotations

from coherence.importers import _scaling as scaling
from coherence.importers._kubernetes import FieldView, Manifest
from coherence.importers._quantities import as_amount, integer, respelled, value_of
from coherence.importers._queries import add_queries
from coherence.importers._scaling import Autoscaler, Metric
from coherence.importers._sketch import Sketch, default_of, listed
from coherence.language.document import Items, Node, Scalar

KIND = "ScaledObject"
GROUPS = ("keda.sh",)
PART, COOLDOWN = "keda_scaledobject", "keda_cooldown"
SPELLING = {"hold_down": "stabilizationWindowSeconds", "hold_up": "stabilizationWindowSeconds"}
THRESHOLDS = (
    "threshold",
    "value",
    "queueLength",
    "lagThreshold",
    "targetValue",
    "targetQueryValue",
    "targetQueueLength",
    "targetMetricValue",
    "listLength",
    "messageCount",
    "pendingEntriesCount",
    "subscriptionSize",
    "targetPipelinesQueueLength",
)
WHAT = ("query", "metricName", "queueName", "queueURL", "topic", "listName", "stream", "subscriptionName", "streamName")
CHOICE = ("mode", "consumerGroup", "namespace", "vhostName")  # what is measured of it, where that is written
ZERO = "only counts on the way to 0 replicas, which this one does not take"
PAUSED = "autoscaling.keda.sh/paused"
AT_ANY_TIME = "when its window opens and closes is not modelled: it may ask at any time"


def add(manifest: Manifest, sketch: Sketch) -> None:
    """Adds the loop, and the timer that scales to 0."""
    spec = manifest.spec
    if manifest.annotation(PAUSED) == "true" or manifest.annotation(f"{PAUSED}-replicas"):
        manifest.top.remark("spec", "an annotation pauses it")
        return
    if any(manifest.annotation(f"{PAUSED}-scale-{way}") == "true" for way in ("in", "out")):
        manifest.top.remark("spec", "an annotation pauses one direction, which is not modelled")
        return
    workload = scaling.workload(manifest, sketch, kind="Deployment")
    views = spec.tables("triggers")
    metrics = [metric for view in views if (metric := _metric(view, sketch, workload[0] if workload else ""))]
    least, most = _bound(spec, "minReplicaCount", 0), _bound(spec, "maxReplicaCount", 1)
    idle = spec.whole("idleReplicaCount")
    if workload is None:
        return
    name = sketch.names.policy(manifest.name.text, "scaledobject", "keda", "scaler")
    low = idle or least
    zero = integer(low) == 0
    _way_to_zero(spec, sketch, name, workload[0], zero=zero)
    if not metrics:
        spec.remark("scaleTargetRef", "no trigger that is modelled: not taken as a writer of the replicas")
        return
    replicas = [metric.most for metric in metrics if metric.most is not None]
    if len(replicas) == len(views) and not _asks_otherwise(spec):
        fewest = respelled(low, "1") if zero else low
        most = max((fewest, least, min((most, max(replicas, key=value_of)), key=value_of)), key=value_of)
    config = spec.inner("advanced", "horizontalPodAutoscalerConfig")
    loop = Autoscaler(
        name, PART, *workload, metrics, spec.node.entries["triggers"].place,
        respelled(low, "1") if zero else low, most, config.table("behavior") if config else None, _sensor(spec, views),
    )  # fmt: skip
    scaling.add_loop(sketch, manifest, loop, fewest=low)
    add_queries(manifest, sketch, loop)


def _asks_otherwise(spec: FieldView) -> bool:
    """Returns whether replicas may be asked for by what no trigger states: a formula over them, or a fallback."""
    return spec.inner("advanced", "scalingModifiers") is not None or "fallback" in spec


def _bound(spec: FieldView, key: str, default: int) -> Scalar:
    """Returns a bound, else the default that stands in the part: 0 and 100."""
    stated = spec.whole(key, least=default)
    bounds, place = default_of(PART, "actuation.bounds")
    ends = [end for end in bounds if isinstance(end, Scalar)] if isinstance(bounds, Items) else []
    return stated or (Scalar("0", place) if default == 0 else ends[-1])


def _way_to_zero(spec: FieldView, sketch: Sketch, name: str, thing: str, *, zero: bool) -> None:
    """The cool-down after the last trigger was active."""
    if not zero:
        for key in ("pollingInterval", "cooldownPeriod", "initialCooldownPeriod"):
            if key != "pollingInterval" or key not in spec or not _caches(spec):
                spec.remark(key, ZERO)
        return
    place = spec.place("cooldownPeriod") if "cooldownPeriod" in spec else spec.manifest.name.place
    polls = spec.seconds("pollingInterval")  # the last active one is kept in whole seconds, rounded down
    sketch.put_timer(
        f"{name}_cooldown",
        place,
        uses=COOLDOWN,
        start=f"last trigger of {name} active",
        after=spec.seconds("cooldownPeriod"),
        jitter=respelled(polls, f"-1 s .. {polls.text}") if polls is not None else None,
        then=f"scale {thing} to 0",
    )


def _caches(spec: FieldView) -> bool:
    """Returns whether every trigger answers the HPA from the value of the last poll."""
    views = spec.tables("triggers")
    return bool(views) and all((flag := view.scalar("useCachedMetrics")) and flag.text == "true" for view in views)


def _sensor(spec: FieldView, views: list[FieldView]) -> Node | None:
    """With useCachedMetrics a value is sampled once in a pollingInterval (30 s), else at each request."""
    if not _caches(spec):
        for view in views:
            if (flag := view.scalar("useCachedMetrics")) and flag.text == "true":
                view.remark("useCachedMetrics", "of some triggers only")
        return None
    default, _ = default_of(COOLDOWN, "jitter")
    poll = spec.seconds("pollingInterval") or default
    assert isinstance(poll, Scalar)
    return listed([respelled(poll, f"relist {poll.text}")], poll.place)


def _metric(view: FieldView, sketch: Sketch, thing: str) -> Metric | None:
    """Returns one trigger: what it reads and its threshold, per replica unless metricType is Value."""
    kind, metadata = view.required("type"), view.table("metadata")
    if kind is None or metadata is None:
        return None
    if kind.text == "cron":
        return _schedule(view, metadata, kind, sketch)
    key = next((key for key in THRESHOLDS if key in metadata), None)
    if key is None:
        why = f"a {kind.text} trigger that states no threshold that is known here"
        view.remark("metadata", f"{why}: a writer of {thing}.replicas that is not modelled")
        return None
    setpoint, stated = metadata.quantity(key), view.scalar("metricType")
    if setpoint is None or not scaling.above_zero(metadata, key, setpoint):
        return None
    if kind.text in ("cpu", "memory"):
        return _resource(metadata, thing, kind, setpoint, stated or metadata.scalar("type"))
    read = next((name for name in WHAT if name in metadata), None)
    series = metadata.scalar(read) if read else None
    metadata.pass_over("metricName")
    kind_of = "average" if stated is None or stated.text != "Value" else "value"
    raw, place = _raw(metadata, kind, series, view), (series or kind).place
    signal, query = scaling.series_signal(sketch, raw, place), kind.text == "prometheus" and read == "query"
    return Metric(signal, setpoint, type=kind_of, series=series if query else None, is_query=query)


def _schedule(view: FieldView, metadata: FieldView, kind: Scalar, sketch: Sketch) -> Metric | None:
    """Returns what a cron trigger asks for: its number of replicas in its window, 1 outside, whatever the load.

    SOURCE: KEDA 2.22, pkg/scalers/cron_scaler.go: an AverageValue metric with target 1 whose value is desiredReplicas
    in the window, else defaultDesiredReplicas, 1.  As a Value, that number multiplies the replicas at each look.
    """
    if metadata.required("desiredReplicas") is None or (most := metadata.whole("desiredReplicas")) is None:
        return None
    for key in ("timezone", "start", "end"):
        metadata.remark(key, AT_ANY_TIME)
    stated = view.scalar("metricType")
    of = " ".join(filter(None, (view.manifest.namespace, view.manifest.name.text)))
    signal = scaling.series_signal(sketch, f"cron {of} {view.path}", kind.place)
    if stated is not None and stated.text == "Value":
        return Metric(signal, respelled(most, "1"), type="value")
    return Metric(signal, respelled(most, "1"), type="average", most=most)


def _raw(metadata: FieldView, kind: Scalar, series: Scalar | None, view: FieldView) -> str:
    """Returns what a trigger reads: a query as it is; else its kind, the queue and what is measured of it."""
    if series is not None and ("query" in metadata or kind.text == "prometheus"):
        return series.text
    chosen = [choice.text for key in CHOICE if (choice := metadata.scalar(key)) and choice.text != "QueueLength"]
    where = series.text if series is not None else f"{view.manifest.name.text} {view.path}"
    return " ".join((kind.text, where, *chosen))


def _resource(metadata: FieldView, thing: str, kind: Scalar, setpoint: Scalar, stated: Scalar | None) -> Metric:
    """Returns CPU or memory as the HPA reads it: a share of the request, or an amount where metricType says so."""
    container = metadata.scalar("containerName")
    share = stated is None or stated.text != "AverageValue"
    text = f"{setpoint.text} %" if share else setpoint.text
    if kind.text == "memory" and not share:
        text = as_amount(setpoint, kind.text).text
    signal, shown = scaling.resource_signal(thing, kind, container, share=share), "utilization" if share else "average"
    return Metric(signal, respelled(setpoint, text), shown=(kind.text, shown))
