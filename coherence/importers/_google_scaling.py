"""Autoscaling of Google Compute Engine: managed groups of instances, whose size follows the metrics of a policy.

It adds at once and removes only what was not needed for ten minutes, or for the time that an instance takes to start,
where that is longer.  Of several metrics the one that asks for most counts; without any it is 60 % of the CPU.

SOURCE: Compute Engine API v1, AutoscalingPolicy; Compute Engine documentation, Autoscaling groups of instances.
Defaults are in the part google_instance_autoscaler.
"""

from __future__ import annotations

from collections.abc import Iterator

from coherence.importers._cloud import SIZE, Cloud, Resource
from coherence.importers._names import sanitised
from coherence.importers._quantities import between, exact, integer, respelled, value_of
from coherence.importers._scaling import asks_for_most
from coherence.importers._sketch import Scaling, Sketch, default_scalar, entry, listed
from coherence.language.document import Node, Scalar

GROUPS = ("google_compute_instance_group_manager", "google_compute_region_instance_group_manager")
SCALERS = ("google_compute_autoscaler", "google_compute_region_autoscaler")
KINDS = (*GROUPS, *SCALERS)
PART, CPU = "google_instance_autoscaler", "0.6"
BOTH_WAYS = ("", "ON")
ONLY_ADDS = "it only adds, or is switched off: not modelled"
WIRING = ("project", "zone", "region", "name", "description", "self_link", "creation_timestamp")


def add_resources(cloud: Cloud, sketch: Sketch) -> None:
    """Adds the groups, and the loops of their autoscalers."""
    things = {group.name.text: _group(group, sketch) for group in cloud.all(*GROUPS)}
    for scaler in cloud.all(*SCALERS):
        scaler.pass_over(*WIRING)
        policy, group = scaler.block("autoscaling_policy"), scaler.named(cloud, GROUPS, "target")
        if group is not None:
            group.remark("target_size", SIZE)
        if policy is not None:
            _scale(scaler, policy, things.get(group.name.text) if group is not None else None, sketch)


def _group(group: Resource, sketch: Sketch) -> str:
    """Adds a group with its size, and the time that an instance has before its health is looked at."""
    stated, size = group.scalar("name"), group.whole("target_size")
    thing = sketch.names.thing(stated.text if stated is not None else group.name.text, "", "group")
    sketch.put(
        "components", thing, group.name.place, {"copies": size, "note": Scalar(f"group {thing}", group.name.place)}
    )
    group.pass_over(*WIRING, "base_instance_name", "named_port", "version")
    healing = group.block("auto_healing_policies")
    delay = healing.seconds("initial_delay_sec") if healing is not None else None
    if delay is not None and healing is not None:
        healing.pass_over("health_check")
        sketch.put_timer(
            f"{thing}_initial_delay", layer="cluster", objective="replace instances that do not serve",
            during=f"{thing}.load", after=delay, then=f"replace {thing}",
        )  # fmt: skip
    return thing


def _scale(scaler: Resource, policy: Resource, group: str | None, sketch: Sketch) -> None:
    """Adds the loop of a policy; of a group that does not stand here, to the name of the autoscaler."""
    low, high, mode = policy.whole("min_replicas"), policy.whole("max_replicas"), policy.scalar("mode")
    policy.remark("scaling_schedules", "at which times there are more is not modelled")
    if mode is not None and mode.text not in BOTH_WAYS:
        policy.remark("mode", ONLY_ADDS)
        return
    if low is None or high is None:
        return
    thing = group or sketch.names.thing(scaler.name.text, "", "group")
    sketch.mention(thing, scaler.name.place, f"group {thing}: it is not in this file")
    if (integer(low) or 0) <= (integer(high) or 0):
        sketch.state(thing, "copies", between(low, high))
    actuation: dict[str, Node | None] = {
        "signal": respelled(low, f"{thing}.replicas"),
        "bounds": listed([low, high], high.place),
        "rate": _rate(policy),
    }
    values: dict[str, Node | None] = {
        "uses": Scalar(PART, scaler.name.place),
        "target": _target(list(_metrics(policy, thing, sketch)), policy, thing),
        "timescale": _times(policy),
        "actuation": entry(policy.view.node.place, actuation),
    }
    name = sketch.names.policy(scaler.name.text, "autoscaler", "scal")
    sketch.put("loops", name, scaler.name.place, values)
    sketch.scaled.setdefault(thing, []).append(Scaling(name, low, high))


def _times(policy: Resource) -> Node | None:
    """Returns how long an instance takes to start, which is how long nothing is removed where it is longer."""
    start = policy.seconds("cooldown_period")
    if start is None:
        return None
    longer = value_of(start) > value_of(default_scalar(PART, "timescale.hold_down"))
    return entry(start.place, {"lands": start, "hold_down": start if longer else None})


def _metrics(policy: Resource, thing: str, sketch: Sketch) -> Iterator[tuple[Scalar, Scalar]]:
    """Yields each signal with its setpoint."""
    for name, signal in (("cpu_utilization", "cpu"), ("load_balancing_utilization", "load_balancing_utilization")):
        block = policy.block(name)
        target = block.number("target") if block is not None else None
        if block is not None:
            block.remark("predictive_method", "a load that is foreseen is not modelled")
        if target is not None:
            yield respelled(target, f"{thing}.{signal}"), _percent(target)
    for metric in policy.blocks("metric"):
        series, target = metric.scalar("name"), metric.number("target", "single_instance_assignment")
        metric.pass_over("type", "filter")
        if series is not None and target is not None and value_of(target) > 0:
            yield respelled(series, f"{thing}.{sanitised(sketch.concealed(series.text))}"), target


def _percent(share: Scalar) -> Scalar:
    return respelled(share, f"{exact(value_of(share) * 100)} %")


def _target(metrics: list[tuple[Scalar, Scalar]], policy: Resource, thing: str) -> Node:
    """Returns the signal and its setpoint; without any metric that of the CPU."""
    place = policy.view.node.place
    own = Scalar(f"{thing}.cpu", place), _percent(Scalar(CPU, place))
    signal, setpoint = asks_for_most(metrics or [own], place)
    return entry(place, {"signal": respelled(setpoint, signal.text), "setpoint": setpoint})


def _rate(policy: Resource) -> Node | None:
    """Returns how many may be removed within a time."""
    control = policy.block("scale_in_control")
    most = control.block("max_scaled_in_replicas") if control is not None else None
    per = control.seconds("time_window_sec") if control is not None else None
    if most is None or per is None:
        return None
    percent, fixed = most.number("percent"), most.whole("fixed")
    share = respelled(percent, f"{percent.text} %") if percent is not None else None
    values: dict[str, Node | None] = {"by": fixed, "percent": share, "per": per, "way": respelled(per, "down")}
    return listed([entry(most.view.node.place, values)], per.place)
