"""Parts common to a HorizontalPodAutoscaler and a ScaledObject: their target, their metrics, their loop."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from coherence.base.places import Place
from coherence.importers._kubernetes import FieldView, Manifest
from coherence.importers._monitoring import MetricReading
from coherence.importers._names import sanitised
from coherence.importers._policies import rates, timescale, tolerance
from coherence.importers._quantities import as_amount, respelled, value_of
from coherence.importers._sketch import Aim, Scaling, Sketch, default_scalar, entry, listed
from coherence.language.document import Node, Scalar, Table

CLOSE = Fraction(3, 2)  # setpoints this near to each other are not told apart by a tolerance or two


@dataclass(frozen=True)
class Metric:
    """A signal with its setpoint.  `type`: as the `type` of a target; `average`: a total divided by the replicas.

    `series`: its name for an adapter of metrics, or the query that it is.  `shown`: its name and the type of its target
    (value, average, utilization) in the status of a HorizontalPodAutoscaler, where they are known.
    """

    signal: Scalar
    setpoint: Scalar
    type: str = "utilization"
    series: Scalar | None = None
    is_query: bool = False
    is_own: bool = False  # of the workload that is scaled
    most: Scalar | None = None  # the largest number of replicas that it asks for, where it states one
    shown: tuple[str, str] | None = None

    @property
    def averaged(self) -> bool:
        return self.type == "average"


@dataclass(frozen=True)
class Autoscaler:
    """A proportional loop on the replicas of `thing`, in the words of its manifest."""

    name: str
    part: str
    thing: str
    target: Place
    metrics: Sequence[Metric]
    metrics_place: Place
    low: Scalar
    high: Scalar
    behavior: FieldView | None = None
    sensor: Node | None = None


def workload(
    manifest: Manifest, sketch: Sketch, *, kind: str = "", key: str = "scaleTargetRef"
) -> tuple[str, Place] | None:
    """Returns the thing that `scaleTargetRef` names and where; None (with a problem) where none is named."""
    spec = manifest.spec
    reference = spec.table(key)
    if reference is None:
        if key not in spec:
            spec.problem(spec.node.place, f"spec.{key} is missing", "name the workload that is scaled")
        return None
    name, stated = reference.required("name"), reference.scalar("kind")
    reference.pass_over("apiVersion")
    if name is None:
        return None
    shown = stated.text if stated else kind
    thing = sketch.names.thing(name.text, manifest.namespace, shown)
    sketch.mention(thing, name.place, f"{shown} {name.text}: its manifest is not among these".strip())
    return thing, name.place


def target_value(view: FieldView, *, resource: str = "") -> tuple[Scalar, str] | None:
    """(setpoint, key) of a metric target: shares in percent, memory in bytes, everything else a plain number."""
    for key in ("averageUtilization", "averageValue", "value"):
        if key in view:
            scalar = view.percent(key) if key == "averageUtilization" else view.quantity(key)
            if scalar is not None and resource == "memory" and key != "averageUtilization":
                scalar = as_amount(scalar, resource)
            return (scalar, key) if scalar is not None and above_zero(view, key, scalar) else None
    view.problem(view.node.place, f"{view.path} has no value", "add `averageUtilization`, `averageValue` or `value`")
    return None


def above_zero(view: FieldView, key: str, number: Scalar) -> bool:
    """A setpoint must be above zero, for the measured value is divided by it."""
    if value_of(number) > 0:
        return True
    view.problem(number.place, f"{view.at(key)} is 0", "a target must be above 0")
    return False


def add_loop(sketch: Sketch, manifest: Manifest, autoscaler: Autoscaler, *, fewest: Scalar | None = None) -> None:
    """Adds the loop, and remember whose replicas it writes; `fewest`: how few there may be beside its own bound."""
    target = _target(autoscaler)
    target["tolerance"] = tolerance(autoscaler.behavior)
    target["sensor"] = autoscaler.sensor
    actuation: dict[str, Node | None] = {
        "signal": Scalar(f"{autoscaler.thing}.replicas", autoscaler.target),
        "bounds": listed([autoscaler.low, autoscaler.high], autoscaler.high.place),
        "rate": rates(autoscaler.behavior, autoscaler.part),
    }
    aim = entry(autoscaler.metrics_place, target)
    values: dict[str, Node | None] = {
        "uses": Scalar(autoscaler.part, manifest.name.place),
        "target": aim,
        "timescale": timescale(autoscaler.behavior),
        "actuation": entry(autoscaler.target, actuation),
    }
    sketch.put("loops", autoscaler.name, manifest.name.place, values)
    sketch.scaled.setdefault(autoscaler.thing, []).append(
        Scaling(autoscaler.name, fewest or autoscaler.low, autoscaler.high)
    )
    if len(autoscaler.metrics) == 1:
        metric = autoscaler.metrics[0]
        sketch.aims.append(Aim(autoscaler.name, autoscaler.thing, aim, metric.averaged))
        if metric.series is not None:
            owner = autoscaler.thing if metric.is_own else ""
            sketch.telemetry.readings.append(MetricReading(autoscaler.name, aim, owner, metric.series, metric.is_query))


def _target(autoscaler: Autoscaler) -> dict[str, Node | None]:
    """Signal and setpoint of one metric, or of the one of several that asks for most.

    Of several metrics the largest recommendation wins, so the loop follows max(m_i / s_i) with setpoint 100 %;
    where only some are totals that the replicas share, each of those is divided by them.
    SOURCE: Kubernetes API, HorizontalPodAutoscalerSpec.metrics: the largest replica count across all metrics.
    """
    first, place = autoscaler.metrics[0], autoscaler.metrics_place
    if len(autoscaler.metrics) == 1:
        return {"signal": first.signal, "setpoint": first.setpoint, "type": _type(autoscaler)}
    alike = len({metric.averaged for metric in autoscaler.metrics}) == 1
    pairs = [(m.signal if alike else _of_one(m, autoscaler), m.setpoint) for m in autoscaler.metrics]
    signal, setpoint = asks_for_most(pairs, place)
    return {"signal": signal, "setpoint": setpoint, "type": _type(autoscaler)}


def _of_one(metric: Metric, autoscaler: Autoscaler) -> Scalar:
    """Returns what a metric is of one replica: a total divided by the replicas that the loop writes."""
    signal = metric.signal
    return respelled(signal, f"{signal.text} / {autoscaler.thing}.replicas") if metric.averaged else signal


def asks_for_most(metrics: Sequence[tuple[Scalar, Scalar]], place: Place) -> tuple[Scalar, Scalar]:
    """Returns the signal and the setpoint of one metric, or of the one of several that is farthest beyond its own."""
    if len(metrics) == 1:
        return metrics[0]
    shares = ", ".join(f"{signal.text} / {setpoint.text}" for signal, setpoint in metrics)
    return Scalar(f"max({shares})", place), Scalar("100 %", place)


def _type(autoscaler: Autoscaler) -> Scalar | None:
    """Returns the type of all metrics, where it is not the part's own; of unlike ones the one that divides nothing."""
    types, place = {metric.type for metric in autoscaler.metrics}, autoscaler.metrics_place
    shown = types.pop() if len(types) == 1 else "utilization"
    return Scalar(shown, place) if shown != default_scalar(autoscaler.part, "target.type").text else None


def separate_totals(sketch: Sketch) -> None:
    """Loops that compare a total, and loops that compare the same total per replica.

    They share one signal, and it is listed that their readings differ.  Where both would come to rest at
    about the same value the average becomes a signal of its own, so that nothing is proved of unequals.
    """
    averaged: dict[str, list[Aim]] = {}
    for aim in sketch.aims:
        if aim.averaged:
            averaged.setdefault(aim.thing, []).append(aim)
    for total in [aim for aim in sketch.aims if not aim.averaged]:
        for share in averaged.get(total.thing, ()):
            total_signal, other = total.target.get("signal"), share.target.get("signal")
            if not isinstance(total_signal, Scalar) or not isinstance(other, Scalar) or total_signal.text != other.text:
                continue
            words = "taken as it is"
            if _close(total.target, share.target):
                words = f"another signal than that of {total.loop}"
                share.target.entries["signal"] = respelled(other, f"{other.text}_per_replica")
            note = f"{share.loop}: {other.text} is divided by the replicas, unlike in {total.loop}; {words}"
            sketch.not_modelled.append((other.place, note))


def _close(one: Table, other: Table) -> bool:
    """Returns whether two targets have about the same setpoint."""
    stated = [table.get("setpoint") for table in (one, other)]
    low, high = sorted(value_of(s) for s in stated if isinstance(s, Scalar))
    return high <= low * CLOSE


def resource_signal(thing: str, resource: Scalar, container: Scalar | None, *, share: bool) -> Scalar:
    """Returns CPU or memory of a thing: a share of the request and an amount are two signals."""
    words = (container.text if container else "", resource.text, "" if share else "amount")
    return Scalar(f"{thing}.{sanitised(' '.join(filter(None, words)))}", resource.place)


def series_signal(sketch: Sketch, raw: str, place: Place) -> Scalar:
    """Returns a series of the monitoring system: the same text is the same signal for every loop."""
    sketch.mention("metrics", place, "series of the monitoring system: any value")
    return Scalar(f"metrics.{sketch.names.metric(sketch.concealed(raw))}", place)
