"""Autoscaling of AWS: groups of instances and scalable targets, whose capacity follows a metric.

Target tracking makes two alarms of its own, with samples of a minute: it adds after 3 of them above the target and
removes after 15 below nine tenths of it.  What a policy waits after an action stands in its cooldown or its warm-up.

SOURCE: Amazon EC2 Auto Scaling user guide, Target tracking scaling policies; Application Auto Scaling API,
PutScalingPolicy.  Defaults are in the part aws_target_tracking.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from coherence.importers._aws_steps import SHARES, add_steps
from coherence.importers._cloud import SIZE, Cloud, Resource
from coherence.importers._names import sanitised
from coherence.importers._quantities import between, integer, respelled
from coherence.importers._scaling import asks_for_most
from coherence.importers._sketch import Scaling, Sketch, entry, listed
from coherence.language.document import Node, Scalar

GROUP, POLICY = "aws_autoscaling_group", "aws_autoscaling_policy"
TARGET, TARGET_POLICY = "aws_appautoscaling_target", "aws_appautoscaling_policy"
PART = "aws_target_tracking"
STEPS = "no alarm among these files acts by it, or not by a number of members"


def groups(cloud: Cloud, things: dict[str, str], sketch: Sketch) -> None:
    """Adds each group with its bounds, and the time that an instance has to become healthy."""
    for group in cloud.all(GROUP, TARGET):
        stated = group.scalar("resource_id", "auto_scaling_group_name", "name")
        thing = sketch.names.thing(_title(stated) if stated else group.name.text, "", "group")
        things[group.name.text] = thing
        low, high = group.whole("min_size", "min_capacity"), group.whole("max_size", "max_capacity")
        varies = low is not None and high is not None and (integer(low) or 0) <= (integer(high) or 0)
        copies = between(low, high) if varies and low is not None and high is not None else None
        note = Scalar(f"group {thing}", group.name.place)
        sketch.put("components", thing, group.name.place, {"copies": copies, "note": note})
        group.remark("desired_capacity", SIZE)
        group.remark("default_cooldown", "of policies without a cooldown of their own")
        _grace(group, thing, sketch)


def _title(stated: Scalar) -> str:
    """Returns the name of a scalable target: the last part of `service/cluster/name`."""
    return stated.text.rpartition("/")[2] or stated.text


def _grace(group: Resource, thing: str, sketch: Sketch) -> None:
    """Adds that an instance which a load balancer finds unhealthy is replaced once the grace period is over."""
    kind, grace = group.scalar("health_check_type"), group.seconds("health_check_grace_period")
    if kind is None or "ELB" not in kind.text or grace is None:
        group.view.remark(group.key("health_check_grace_period") or "", "no load balancer says who is unhealthy")
        return
    sketch.put_timer(
        f"{thing}_health_check_grace",
        layer="cluster",
        objective="replace instances that do not serve",
        during=f"{thing}.load",
        after=grace,
        then=f"replace {thing}",
    )


OWNERS = ("autoscaling_group_name", "auto_scaling_group_name", "scaling_target_id", "resource_id")


def policies(cloud: Cloud, things: dict[str, str], sketch: Sketch) -> None:
    """Adds a loop for each group whose policies track a target, and one for each alarm of a policy that steps."""
    tracking: dict[str, list[Tracking]] = {}
    for policy in cloud.all(POLICY, TARGET_POLICY):
        group = policy.named(cloud, [GROUP, TARGET], *OWNERS)
        block = policy.block("target_tracking_configuration", "target_tracking_scaling_policy_configuration")
        policy.pass_over("policy_type", "name", "policy_name", "scalable_dimension", "service_namespace")
        if group is None or group.name.text not in things:
            continue
        thing, bounds = things[group.name.text], _bounds(group)
        if block is not None and bounds is not None:
            tracked = _tracking(policy, block, thing, bounds, sketch)
            tracking.setdefault(thing, []).extend([tracked] if tracked is not None else ())
        elif block is None and (bounds is None or not add_steps(policy, cloud, bounds, thing, sketch)):
            policy.view.manifest.remarks.append((policy.name.place, f"{policy.name.text} ({STEPS})"))
    for thing, several in tracking.items():
        if several:
            _loop(several, thing, sketch)


@dataclass(frozen=True)
class Tracking:
    """A policy that tracks a target: its metric with the setpoint, the bounds of its group, how long it waits."""

    policy: Resource
    metric: tuple[Scalar, Scalar]
    bounds: tuple[Scalar, Scalar]
    times: Mapping[str, Scalar | None]


def _tracking(
    policy: Resource, block: Resource, thing: str, bounds: tuple[Scalar, Scalar], sketch: Sketch
) -> Tracking | None:  # fmt: skip
    """Returns what a policy tracks; None where that is not known, or where it only adds."""
    setpoint, (signal, is_share) = block.number("target_value"), _signal(block, thing, sketch)
    if setpoint is None or signal is None:
        return None
    if block.is_true("disable_scale_in"):
        policy.view.manifest.remarks.append((policy.name.place, f"{policy.name.text} (it only adds: not modelled)"))
        return None
    warm = policy.seconds("estimated_instance_warmup")
    cooldowns = [block.seconds("scale_in_cooldown"), block.seconds("scale_out_cooldown")]
    for name in ("scale_in_cooldown", "scale_out_cooldown") if not _same(cooldowns) else ():
        block.remark(name, "a cooldown of its own for each way is not modelled")
    target = respelled(setpoint, f"{setpoint.text} %" if is_share else setpoint.text)
    times = {"cooldown": cooldowns[0] if _same(cooldowns) else None, "lands": warm}
    return Tracking(policy, (signal, target), bounds, times)


def _loop(several: Sequence[Tracking], thing: str, sketch: Sketch) -> None:
    """Adds the loop of a group, which follows the policy that asks for most and removes only where all agree."""
    first, place = several[0], several[0].policy.name.place
    for other in several[1:]:
        if _texts(other.times) != _texts(first.times):
            words = f"{other.policy.name.text} (of several policies of a group the times of the first are taken)"
            other.policy.view.manifest.remarks.append((other.policy.name.place, words))
    (signal, setpoint), (low, high) = asks_for_most([it.metric for it in several], first.metric[1].place), first.bounds
    actuation: dict[str, Node | None] = {
        "signal": respelled(setpoint, f"{thing}.replicas"),
        "bounds": listed([low, high], high.place),
    }
    values: dict[str, Node | None] = {
        "uses": Scalar(PART, place),
        "target": entry(setpoint.place, {"signal": signal, "setpoint": setpoint}),
        "timescale": entry(place, first.times) if any(first.times.values()) else None,
        "actuation": entry(place, actuation),
    }
    name = sketch.names.policy(first.policy.name.text, "tracking", "scal", "policy")
    sketch.put("loops", name, place, values)
    sketch.scaled.setdefault(thing, []).append(Scaling(name, low, high))


def _texts(times: Mapping[str, Scalar | None]) -> list[str]:
    return [node.text if node is not None else "" for node in times.values()]


def _bounds(group: Resource) -> tuple[Scalar, Scalar] | None:
    """Returns the least and the most members of a group, where both are known."""
    low, high = group.whole("min_size", "min_capacity"), group.whole("max_size", "max_capacity")
    return (low, high) if low is not None and high is not None else None


def _same(cooldowns: list[Scalar | None]) -> bool:
    texts = {cooldown.text for cooldown in cooldowns if cooldown is not None}
    return len(texts) == 1 and None not in cooldowns


def _signal(tracking: Resource, thing: str, sketch: Sketch) -> tuple[Scalar | None, bool]:
    """Returns what a policy tracks, and whether it is a percentage."""
    predefined = tracking.block("predefined_metric_specification")
    custom = tracking.block("customized_metric_specification")
    if predefined is not None:
        kind = predefined.scalar("predefined_metric_type")
        if kind is not None:
            return respelled(kind, f"{thing}.{sanitised(kind.text)}"), any(word in kind.text for word in SHARES)
    if custom is not None:
        name = custom.scalar("metric_name")
        if name is not None:
            sketch.mention("metrics", name.place, "series of the monitoring system: any value")
            return respelled(name, f"metrics.{sketch.names.metric(sketch.concealed(name.text))}"), False
    return None, False
