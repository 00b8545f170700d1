"""Autoscaling of Azure Monitor: the rules of each profile of a setting, which change a number of instances by steps.

Any rule that adds is enough, and goes first; to remove, all rules that remove must hold, and the metric, spread over
fewer instances, must stay on its side of the thresholds of those that add (the guard against flapping).  What a rule
compares is the mean, or another statistic, over its window: that is the signal.

SOURCE: Azure Monitor documentation, Understand autoscale settings, Autoscale evaluation; Understand autoscale flapping;
REST API 2022-10-01, ScaleRule, ScaleAction.  Autoscale looks every 30 to 60 s, by the type of the resource.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from coherence.importers._cloud import SIZE, Cloud, Resource
from coherence.importers._names import sanitised
from coherence.importers._quantities import between, duration_text, integer, respelled
from coherence.importers._sketch import Scaling, Sketch, entry, listed
from coherence.language.document import Node, Scalar

SETTING = "azurerm_monitor_autoscale_setting"
SETS = (
    "azurerm_linux_virtual_machine_scale_set", "azurerm_windows_virtual_machine_scale_set",
    "azurerm_orchestrated_virtual_machine_scale_set", "azurerm_virtual_machine_scale_set", "azurerm_service_plan",
)  # fmt: skip
KINDS = (SETTING, *SETS)
SIZES = ("instances", "worker_count")
PERIOD = "1 min"
SIGNS = {
    "GreaterThan": ">", "GreaterThanOrEqual": ">=", "LessThan": "<", "LessThanOrEqual": "<=", "Equals": "==",
    "NotEquals": "!=",
}  # fmt: skip
OPPOSITE = {">": "<=", ">=": "<", "<": ">=", "<=": ">", "==": "!=", "!=": "=="}
SHARES = ("Percent", "Percentage", "Utilization")  # in the name of a metric that is a percentage
COUNT = "ChangeCount"
DURATION = re.compile(r"P(?:([0-9]+)D)?(?:T(?:([0-9]+)H)?(?:([0-9]+)M)?(?:([0-9]+(?:\.[0-9]+)?)S)?)?")
UNITS = (86400, 3600, 60, 1)
WINDOW = "what is compared over it is the signal"
RULES = {
    "time_grain": WINDOW, "time_window": WINDOW, "statistic": WINDOW, "time_aggregation": WINDOW,
    "divide_by_instance_count": "the metric is taken as it is",
}  # fmt: skip
SEVERAL = "of several profiles the first is taken"


@dataclass(frozen=True)
class ScalingStep:
    """A rule: when it holds, by how many it changes the instances (below 0: it removes), and its cooldown."""

    signal: str
    sign: str
    threshold: Scalar
    by: Scalar
    cooldown: Scalar | None

    @property
    def removes(self) -> bool:
        return self.by.text.startswith("-")

    @property
    def trigger(self) -> str:
        return f"{self.signal} {self.sign} {self.threshold.text}"


def add_resources(cloud: Cloud, sketch: Sketch) -> None:
    """Adds the sets of instances, and the loops of their settings."""
    things = {item.name.text: _set(item, sketch) for item in cloud.all(*SETS)}
    for setting in cloud.all(SETTING):
        owner, enabled = setting.named(cloud, SETS, "target_resource_id"), setting.scalar("enabled")
        setting.pass_over("resource_group_name", "location", "notification")
        setting.remark("predictive", "a load that is foreseen is not modelled")
        if enabled is None or enabled.text != "false":
            _scale(setting, owner, things.get(owner.name.text) if owner is not None else None, sketch)


def _scale(setting: Resource, owner: Resource | None, known: str | None, sketch: Sketch) -> None:
    """Adds what a setting does to its instances; without their resource to a group of its name."""
    if owner is not None:
        owner.remark_all(dict.fromkeys(SIZES, SIZE))
    stated = setting.scalar("name")
    thing = known or sketch.names.thing(stated.text if stated is not None else setting.name.text, "", "group")
    sketch.mention(thing, setting.name.place, f"group {thing}: it is not in this file")
    profiles = setting.blocks("profile")
    for profile in profiles[1:]:
        setting.view.manifest.remarks.append((profile.view.node.place, f"{setting.name.text} ({SEVERAL})"))
        profile.view.use(*profile.view.node.entries)
    if profiles:
        _profile(setting, profiles[0], thing, sketch)


def _set(item: Resource, sketch: Sketch) -> str:
    stated = item.scalar("name")
    thing = sketch.names.thing(stated.text if stated is not None else item.name.text, "", "group")
    instances = item.whole(*SIZES)
    sketch.put(
        "components", thing, item.name.place, {"copies": instances, "note": Scalar(f"group {thing}", item.name.place)}
    )
    return thing


def _profile(setting: Resource, profile: Resource, thing: str, sketch: Sketch) -> None:
    """Adds a loop for each rule that adds, and one for those that remove together."""
    capacity = profile.block("capacity")
    low, high = (capacity.whole("minimum"), capacity.whole("maximum")) if capacity is not None else (None, None)
    profile.pass_over("name")
    for key in ("fixed_date", "recurrence"):
        profile.remark(key, "at which times the profile counts is not modelled")
    steps = [step for rule in profile.blocks("rule") if (step := _step(rule, thing, sketch)) is not None]
    if capacity is None or low is None or high is None or not steps:
        return
    capacity.remark("default", "how many there are while no metric is read")
    if (integer(low) or 0) <= (integer(high) or 0):
        sketch.state(thing, "copies", between(low, high))
    adding, removing = [step for step in steps if not step.removes], [step for step in steps if step.removes]
    for step in adding:
        _loop(setting, "out", step.trigger, step, (low, high), thing, sketch)
    if removing:
        least = max(removing, key=lambda step: integer(step.by) or 0)  # of several the one that leaves most
        guards = [_guard(step, least, removing, thing) for step in adding]
        words = " and ".join([*(step.trigger for step in removing), *guards])
        _loop(setting, "in", words, least, (low, high), thing, sketch)


def _guard(adding: ScalingStep, removing: ScalingStep, steps: Sequence[ScalingStep], thing: str) -> str:
    """Returns that a rule which adds does not hold, nor would when its metric is spread over fewer instances."""
    sign = OPPOSITE[adding.sign]
    if adding.signal not in {step.signal for step in steps} or adding.sign not in (">", ">="):
        return f"{adding.signal} {sign} {adding.threshold.text}"
    fewer = f"({thing}.replicas - {abs(integer(removing.by) or 0)})"
    return f"{adding.signal} * {thing}.replicas {sign} {adding.threshold.text} * {fewer}"


def _loop(
    setting: Resource,
    way: str,
    trigger: str,
    step: ScalingStep,
    bounds: tuple[Scalar, Scalar],
    thing: str,
    sketch: Sketch,
) -> None:
    place, (low, high) = step.threshold.place, bounds
    actuation: dict[str, Node | None] = {
        "signal": respelled(step.by, f"{thing}.replicas"),
        "law": respelled(step.by, "step"),
        "by": step.by,
        "bounds": listed([low, high], high.place),
    }
    values: dict[str, Node | None] = {
        "layer": Scalar("cluster", place),
        "objective": Scalar("match capacity to a metric", place),
        "timescale": entry(place, {"period": Scalar(PERIOD, place), "cooldown": step.cooldown}),
        "trigger": Scalar(trigger, place),
        "actuation": entry(step.by.place, actuation),
    }
    name = sketch.names.fresh(f"{setting.name.text}_{way}")
    sketch.put("loops", name, setting.name.place, values)
    sketch.scaled.setdefault(thing, []).append(Scaling(name, low, high))


def _step(rule: Resource, thing: str, sketch: Sketch) -> ScalingStep | None:
    """Returns what a rule does; None where that is no number of instances."""
    metric, action = rule.block("metric_trigger"), rule.block("scale_action")
    if metric is None or action is None:
        return None
    metric.view.remark_all(RULES)
    metric.pass_over("metric_resource_id", "metric_namespace", "dimensions")
    name, operator, threshold = metric.scalar("metric_name"), metric.scalar("operator"), metric.number("threshold")
    kind, way, count = action.scalar("type"), action.scalar("direction"), action.whole("value")
    sign = SIGNS.get(operator.text) if operator is not None else None
    if name is None or sign is None or threshold is None or way is None or not count or not integer(count):
        return None
    if kind is None or kind.text != COUNT:
        action.remark("type", "a change by a share, or to a number, is not modelled")
        return None
    unit = " %" if any(word in name.text for word in SHARES) else ""
    number = respelled(count, f"{'-' if way.text == 'Decrease' else ''}{count.text}")
    signal = f"{thing}.{sanitised(sketch.concealed(name.text))}"
    return ScalingStep(signal, sign, respelled(threshold, f"{threshold.text}{unit}"), number, _cooldown(action))


def _cooldown(action: Resource) -> Scalar | None:
    """Returns a duration of ISO 8601, such as PT5M; None where it is none, which is listed."""
    stated = action.scalar("cooldown")
    match = DURATION.fullmatch(stated.text) if stated is not None else None
    if stated is None or match is None or not any(match.groups()):
        action.remark("cooldown", "no duration of days, hours, minutes and seconds")
        return None
    seconds = sum(
        (Fraction(part) * unit for part, unit in zip(match.groups(), UNITS, strict=True) if part), Fraction(0)
    )
    return respelled(stated, duration_text(seconds))
