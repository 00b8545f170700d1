"""Policies of AWS that change a capacity by steps while an alarm of CloudWatch holds.

An alarm holds when its metric was beyond the threshold for all of its periods.  A simple policy waits for its cooldown
after each step (the group's, 300 s, where it has none); of several steps the first is taken.

SOURCE: Amazon EC2 Auto Scaling user guide, Step and simple scaling policies, Scaling cooldowns: 300 s; CloudWatch
API reference, PutMetricAlarm.
"""

from __future__ import annotations

from collections.abc import Iterator

from coherence.importers._cloud import Cloud, Resource
from coherence.importers._names import sanitised
from coherence.importers._quantities import integer, respelled
from coherence.importers._sketch import Scaling, Sketch, entry, listed
from coherence.language.document import Node, Scalar

ALARM = "aws_cloudwatch_metric_alarm"
COOLDOWN = "300 s"
SHARES = ("CPU", "Memory", "Utilization")  # in the name of a metric that is a percentage
SIGNS = {
    "GreaterThanOrEqualToThreshold": ">=", "GreaterThanThreshold": ">",
    "LessThanOrEqualToThreshold": "<=", "LessThanThreshold": "<",
}  # fmt: skip
ABSOLUTE = "ChangeInCapacity"


def add_steps(policy: Resource, cloud: Cloud, bounds: tuple[Scalar, Scalar], thing: str, sketch: Sketch) -> bool:
    """Adds a loop for each alarm that a policy acts on; returns whether there is one."""
    step, kind = _step(policy), policy.scalar("adjustment_type")
    alarms = [alarm for alarm in cloud.all(ALARM) if set(_actions(alarm)) & policy.identifiers]
    if step is None or kind is None or kind.text != ABSOLUTE:
        return False
    triggers = [trigger for alarm in alarms if (trigger := _trigger(alarm, thing)) is not None]
    for when, period in triggers:
        low, high = bounds
        actuation: dict[str, Node | None] = {
            "signal": respelled(step, f"{thing}.replicas"),
            "law": respelled(step, "step"),
            "by": step,
            "bounds": listed([low, high], high.place),
        }
        values: dict[str, Node | None] = {
            "layer": respelled(when, "cluster"),
            "objective": respelled(when, "match capacity to a metric"),
            "timescale": entry(when.place, {"period": period, "cooldown": _cooldown(policy)}),
            "trigger": when,
            "actuation": entry(step.place, actuation),
        }
        name = sketch.names.policy(policy.name.text, "steps", "scal", "policy")
        sketch.put("loops", name, policy.name.place, values)
        sketch.scaled.setdefault(thing, []).append(Scaling(name, low, high))
    return bool(triggers)


def _step(policy: Resource) -> Scalar | None:
    """Returns by how much the capacity changes: of steps, by the first."""
    block = policy.block("step_scaling_policy_configuration", "step_adjustment", "step_adjustments")
    inner = block.block("step_adjustment", "step_adjustments") if block is not None else None
    stated = (inner or block or policy).scalar("scaling_adjustment")
    return stated if stated is not None and integer(stated) else None


def _cooldown(policy: Resource) -> Scalar:
    stated = policy.seconds("cooldown", "estimated_instance_warmup")
    return stated or Scalar(COOLDOWN, policy.name.place)


def _actions(alarm: Resource) -> Iterator[str]:
    yield from alarm.names_of("alarm_actions", "ok_actions")


def _trigger(alarm: Resource, thing: str) -> tuple[Scalar, Scalar] | None:
    """Returns when an alarm holds, and how often its metric has a value."""
    metric, operator = alarm.scalar("metric_name"), alarm.scalar("comparison_operator")
    threshold, period, periods = alarm.number("threshold"), alarm.whole("period"), alarm.whole("evaluation_periods")
    alarm.pass_over("alarm_name", "namespace", "statistic", "dimensions", "alarm_description", "unit")
    alarm.remark("datapoints_to_alarm", "how many of the periods are enough: all are taken")
    sign = SIGNS.get(operator.text) if operator is not None else None
    if metric is None or sign is None or threshold is None or period is None or periods is None:
        return None
    amount = f"{threshold.text} %" if any(word in metric.text for word in SHARES) else threshold.text
    lasts = (integer(period) or 0) * (integer(periods) or 1)
    text = f"{thing}.{sanitised(metric.text)} {sign} {amount} for {lasts} s"
    return respelled(threshold, text), respelled(period, f"{period.text} s")
