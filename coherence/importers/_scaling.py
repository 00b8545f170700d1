"""What a HorizontalPodAutoscaler and a ScaledObject have in common: targets, behavior, the workload they write."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from coherence import units
from coherence.document import Items, Node, Scalar, Table
from coherence.importers._kubernetes import Manifest, View, amount, exact, respelled
from coherence.importers._names import sanitised
from coherence.importers._sketch import Aim, Scaling, Sketch, default_of, entry, listed
from coherence.places import Place

WAYS = (("scaleUp", "up"), ("scaleDown", "down"))


@dataclass(frozen=True, slots=True)
class Metric:
    """A signal with its setpoint.  `averaged`: a total over all pods, divided by their number."""

    signal: Scalar
    setpoint: Scalar
    averaged: bool = False


@dataclass(frozen=True, slots=True)
class Workload:
    """The thing that is scaled: its name in the design, and where the manifest names it."""

    thing: str
    place: Place

    @property
    def replicas(self) -> Scalar:
        return Scalar(f"{self.thing}.replicas", self.place)


def workload(manifest: Manifest, sketch: Sketch, *, kind: str = "") -> Workload | None:
    """The target of `scaleTargetRef`; None (with a problem) where none is named."""
    reference = manifest.spec.table("scaleTargetRef")
    if reference is None:
        manifest.spec.problem(
            manifest.spec.node.place, "spec.scaleTargetRef is missing", "name the workload that is scaled"
        )
        return None
    name, stated = reference.required("name"), reference.scalar("kind")
    reference.use("apiVersion")
    if name is None:
        return None
    shown = stated.text if stated else kind
    thing = sketch.names.thing(name.text, manifest.namespace, shown)
    sketch.mention(thing, name.place, f"{shown} {name.text}: its manifest is not among these".strip())
    return Workload(thing, name.place)


def percent_or_amount(view: View, *, resource: str = "") -> tuple[Scalar, str] | None:
    """(setpoint, key) of a metric target.  Shares are percent, memory is in bytes, everything else a plain number."""
    for key in ("averageUtilization", "averageValue", "value"):
        if key not in view:
            continue
        found = view.percent(key) if key == "averageUtilization" else view.quantity(key)
        if found is None:
            return None
        if resource == "memory" and key != "averageUtilization":
            found = respelled(found, f"{found.text} B")
        return (found, key) if above_zero(view, key, found) else None
    view.problem(view.node.place, f"{view.path} has no value", "add `averageUtilization`, `averageValue` or `value`")
    return None


def above_zero(view: View, key: str, found: Scalar) -> bool:
    """A setpoint must be above zero, for the measured value is divided by it."""
    if units.quantity(found.text)[0] > 0:
        return True
    view.problem(found.place, f"{view.at(key)} is 0", "a target must be above 0")
    return False


def aimed(sketch: Sketch, loop: str, thing: str, metrics: Sequence[Metric], place: Place) -> dict[str, Node | None]:
    """`target:` for one metric, or for the one of several that asks for most.

    Of several metrics the largest recommendation wins, so the loop follows max(m_i / s_i) with setpoint 100 %.
    SOURCE: Kubernetes API, HorizontalPodAutoscalerSpec.metrics: the largest replica count across all metrics.
    """
    if len(metrics) == 1:
        table = entry(place, {"signal": metrics[0].signal, "setpoint": metrics[0].setpoint})
        sketch.aims.append(Aim(loop, thing, table, metrics[0].averaged))
        return dict(table.entries)
    shares = ", ".join(f"{metric.signal.text} / {metric.setpoint.text}" for metric in metrics)
    return {"signal": Scalar(f"max({shares})", place), "setpoint": Scalar("100 %", place)}


def timescale(behavior: View | None) -> dict[str, Node | None]:
    """`hold_down` and `hold_up` from the stabilization windows."""
    if behavior is None:
        return {}
    down, up = behavior.table("scaleDown"), behavior.table("scaleUp")
    window = "stabilizationWindowSeconds"
    return {"hold_down": down.seconds(window) if down else None, "hold_up": up.seconds(window) if up else None}


def tolerance(behavior: View | None) -> Scalar | None:
    """The tolerance of both ways; one way alone is not modelled."""
    rules = [behavior.table(key) for key, _ in WAYS] if behavior else []
    stated = [rule for rule in rules if rule is not None and "tolerance" in rule]
    found = [rule.quantity("tolerance") for rule in stated]
    values = {one.text for one in found if one is not None}
    if len(found) == len(WAYS) and len(values) == 1:
        return found[0]
    for rule in stated:
        rule.remark("tolerance", "differs between up and down")
    return None


def rates(behavior: View | None, part: str) -> Items | None:
    """`actuation.rate` from the policies; None where the part's default says it all.

    Several policies of one way: the one that allows most wins (selectPolicy Max).
    """
    stated = {way: rule for key, way in WAYS if behavior is not None and (rule := behavior.table(key)) is not None}
    if behavior is None or not any("policies" in rule or "selectPolicy" in rule for rule in stated.values()):
        return None
    made: list[Node] = []
    for _, way in WAYS:
        rule = stated.get(way)
        made += _policies(rule, way, part) if rule is not None else _defaults(part, way)
    return listed(made, behavior.node.place)


def _defaults(part: str, way: str) -> list[Node]:
    found, _ = default_of(part, "actuation.rate")
    tables = [table for table in found if isinstance(table, Table)] if isinstance(found, Items) else []
    ways = [(table.get("way"), table) for table in tables]
    return [table for said, table in ways if isinstance(said, Scalar) and said.text == way]


def _policies(rule: View, way: str, part: str) -> list[Node]:
    select = rule.scalar("selectPolicy")
    if select is not None and select.text == "Disabled":
        if "policies" in rule:
            rule.remark("policies", f"selectPolicy is {select.text}")
        return [
            entry(
                select.place,
                {"by": respelled(select, "0"), "per": respelled(select, "15 s"), "way": respelled(select, way)},
            )
        ]
    if select is not None and select.text not in ("Max", "Min"):
        rule.problem(
            select.place, f"{rule.at('selectPolicy')} is '{units.shorten(select.text)}'", "write Max, Min or Disabled"
        )
    if "policies" not in rule:
        return _defaults(part, way)
    policies = rule.tables("policies")
    if select is not None and select.text == "Min" and len(policies) > 1:
        rule.remark("policies", "selectPolicy Min: the policy that allows least wins")
        return []
    return [made for made in (_policy(policy, way) for policy in policies) if made is not None]


def _policy(policy: View, way: str) -> Node | None:
    kind, period = policy.required("type"), policy.seconds("periodSeconds")
    if period is None:
        policy.problem(policy.node.place, f"{policy.at('periodSeconds')} is missing", "add `periodSeconds: 15`")
    if kind is None or period is None:
        return None
    percent = kind.text == "Percent"
    value = policy.percent("value") if percent else policy.whole("value")
    if kind.text not in ("Percent", "Pods"):
        policy.problem(kind.place, f"{policy.at('type')} is '{units.shorten(kind.text)}'", "write Pods or Percent")
    key = "percent" if percent else "by"
    return entry(policy.node.place, {key: value, "per": period, "way": respelled(kind, way)}) if value else None


def scales(sketch: Sketch, thing: str, loop: str, low: Scalar, high: Scalar) -> None:
    """Remember who writes the replicas of a thing."""
    sketch.scaled.setdefault(thing, []).append(Scaling(loop, low, high))


def separate_totals(sketch: Sketch) -> None:
    """Loops that compare a total and loops that compare the same total per replica.

    They share one signal; it is listed that their readings differ.  Where both would come to rest at
    about the same value the average becomes a signal of its own, so that nothing is proved about equals
    that are not equal.
    """
    for total in (aim for aim in sketch.aims if not aim.averaged):
        for share in (aim for aim in sketch.aims if aim.averaged and aim.thing == total.thing):
            one, other = total.target.get("signal"), share.target.get("signal")
            if isinstance(one, Scalar) and isinstance(other, Scalar) and one.text == other.text:
                words = f"{other.text}: {share.loop} divides it by the replicas, {total.loop} does not; taken as it is"
                if _close(total, share):
                    words = f"{other.text}: {share.loop} divides it by the replicas: another signal than {total.loop}'s"
                    _rename(sketch, share, Scalar(f"{other.text}_per_replica", other.place))
                sketch.not_modelled.append((other.place, words))


def _close(one: Aim, other: Aim) -> bool:
    values = [
        amount(s.text) for s in (one.target.get("setpoint"), other.target.get("setpoint")) if isinstance(s, Scalar)
    ]
    known = [value for value in values if value is not None]
    return len(known) < len(WAYS) or max(known) <= min(known) * Fraction(3, 2)


def _rename(sketch: Sketch, aim: Aim, signal: Scalar) -> None:
    loop = sketch.section("loops").entries[aim.loop]
    target = loop.get("target") if isinstance(loop, Table) else None
    if isinstance(target, Table):
        target.entries["signal"] = signal


def signal_of(thing: str, metric: str, place: Place) -> Scalar:
    """A signal of a thing."""
    return Scalar(f"{thing}.{sanitised(metric)}", place)


def bytes_text(value: Fraction) -> str:
    """A number of bytes."""
    return f"{exact(value)} B"
