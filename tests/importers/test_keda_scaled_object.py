"""ScaledObject: triggers, bounds and the behavior of the HPA that it creates."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path

import pytest

from coherence import importers
from coherence.checking.reports import check
from coherence.language.design import Design, Loop
from coherence.language.schema_kinds import Quantity
from coherence.verify.timers.firing import FiringWindow, firing

HEAD = """\
apiVersion: keda.sh/v1alpha1
kind: ScaledObject
metadata: {name: web, namespace: prod}
spec:
  scaleTargetRef: {name: web}
"""
DEPTH = "  triggers: [{type: prometheus, metadata: {query: depth, threshold: '5'}}]\n"


def read(text: str) -> Design:
    return importers.design_from_sources({"so.yaml": text})


def loop(rest: str) -> Loop:
    return read(HEAD + rest).loops["web_scaledobject"]


@pytest.mark.parametrize(
    ("trigger", "expected"),
    [
        ("{type: prometheus, metadata: {query: 'vllm:waiting', threshold: '5'}}", ("metrics.vllm_waiting", "5")),
        ("{type: prometheus, metadata: {metricName: label, query: depth, threshold: 5}}", ("metrics.depth", "5")),
        ("{type: rabbitmq, metadata: {queueName: hello, queueLength: '20'}}", ("metrics.rabbitmq_hello", "20")),
        (
            "{type: rabbitmq, metadata: {queueName: hello, mode: MessageRate, value: '20'}}",
            ("metrics.rabbitmq_hello_messagerate", "20"),
        ),
        ("{type: cpu, metricType: Utilization, metadata: {value: '60'}}", ("web.cpu", "60 %")),
        ("{type: cpu, metricType: AverageValue, metadata: {value: 500m}}", ("web.cpu_amount", "0.5")),
        ("{type: memory, metadata: {type: AverageValue, value: 1Ki}}", ("web.memory_amount", "1 KiB")),
    ],
)
def test_triggers(trigger: str, expected: tuple[str, str]) -> None:
    target = loop(f"  triggers: [{trigger}]\n").target
    assert target is not None
    assert target.signal is not None
    assert target.setpoint is not None
    assert (target.signal.text, target.setpoint.text) == expected


def test_the_threshold_stands_where_it_is_written() -> None:
    target = loop(DEPTH).target
    assert target is not None
    assert target.setpoint is not None
    assert str(target.setpoint.place) == f"so.yaml:6:{DEPTH.index(chr(39)) + 1}"


@pytest.mark.parametrize(
    ("counts", "expected"),
    [
        ("", [(1, "models/loops/keda_scaledobject.yaml"), (100, "models/loops/keda_scaledobject.yaml")]),
        ("  minReplicaCount: 0\n  maxReplicaCount: 3\n", [(1, "so.yaml"), (3, "so.yaml")]),  # the HPA stays above 0
        ("  minReplicaCount: 2\n", [(2, "so.yaml"), (100, "models/loops/keda_scaledobject.yaml")]),
    ],
)
def test_bounds(counts: str, expected: list[tuple[int, str]]) -> None:
    actuation = loop(counts + DEPTH).actuation
    assert actuation is not None
    assert [(int(b.low), b.place.file) for b in actuation.bounds if isinstance(b, Quantity)] == expected


def test_behavior_is_handed_on() -> None:
    behavior = "{scaleDown: {stabilizationWindowSeconds: 45, policies: [{type: Pods, value: 1, periodSeconds: 90}]}}"
    found = loop(f"{DEPTH}  advanced: {{horizontalPodAutoscalerConfig: {{behavior: {behavior}}}}}\n")
    assert found.timescale is not None
    assert found.timescale.hold_down is not None
    assert found.timescale.hold_down.low == 45
    assert found.actuation is not None
    down = [rate for rate in found.actuation.rate if rate.way is not None and rate.way.text == "down"]
    assert [(rate.by.text, rate.per.text) for rate in down if rate.by and rate.per] == [("1", "90 s")]


def test_what_is_not_in_the_loop_is_listed() -> None:
    rest = "  minReplicaCount: 1\n  pollingInterval: 5\n  cooldownPeriod: 30\n"
    rest += "  fallback: {failureThreshold: 3, replicas: 6}\n"
    listed = " ".join(words for _, words in read(HEAD + rest + DEPTH).not_modelled)
    assert all(key in listed for key in ("spec.pollingInterval", "spec.cooldownPeriod", "spec.fallback"))


def test_the_cooldown_is_over_at_a_poll_and_never_early_but_for_the_second_that_is_cut_off() -> None:
    design = read(HEAD + "  pollingInterval: 20\n  cooldownPeriod: 300\n" + DEPTH)
    (timer,) = design.timers.values()
    fires = firing(timer)
    assert fires is not None
    assert fires.window == FiringWindow(Fraction(299), Fraction(320))


@pytest.mark.parametrize("way", ["", "-scale-in", "-scale-out"])
def test_what_an_annotation_pauses_is_listed(way: str) -> None:
    annotated = HEAD.replace("namespace: prod", f"annotations: {{autoscaling.keda.sh/paused{way}: 'true'}}")
    design = read(annotated + DEPTH)
    assert not design.loops
    assert any("an annotation pauses" in words for _, words in design.not_modelled)


def test_a_trigger_without_a_known_threshold_is_listed() -> None:
    made = read(HEAD + "  triggers: [{type: mongodb, metadata: {dbName: shop}}]\n")
    assert "web_scaledobject" not in made.loops
    assert any("mongodb" in words for _, words in made.not_modelled)


CRON = "type: cron, metadata: {timezone: UTC, start: 0 6 * * *, end: 0 20 * * *, desiredReplicas: '%s'}"


@pytest.mark.parametrize(
    ("bounds", "asked", "expected"),
    [
        ("", "10", (1, 10)),
        ("  maxReplicaCount: 7\n", "10", (1, 7)),
        ("  minReplicaCount: 3\n", "10", (3, 10)),
        ("  minReplicaCount: 3\n", "2", (3, 3)),
        ("  minReplicaCount: 3\n", "0", (3, 3)),
        ("", "0", (1, 1)),
        ("  idleReplicaCount: 0\n  minReplicaCount: 5\n", "3", (1, 5)),
    ],
)
def test_a_cron_trigger_alone_moves_replicas_up_to_what_it_asks_for(
    bounds: str, asked: str, expected: tuple[int, int]
) -> None:
    made = read(f"{HEAD}{bounds}  triggers: [{{{CRON % asked}}}]\n")
    found = made.loops["web_scaledobject"]
    assert bounds_of(found) == expected
    assert found.target is not None
    assert isinstance(found.target.setpoint, Quantity)
    assert found.target.setpoint.low == 1
    assert found.target.kind is not None
    assert found.target.kind.text == "average"
    listed = " ".join(words for _, words in made.not_modelled)
    assert all(f"metadata.{key}" in listed for key in ("timezone", "start", "end"))


def test_the_largest_of_several_cron_triggers_is_its_most() -> None:
    found = loop(f"  triggers: [{{{CRON % 4}}}, {{{CRON % 12}}}]\n")
    assert bounds_of(found) == (1, 12)


@pytest.mark.parametrize(
    "triggers",
    [
        f"[{{{CRON % 4}}}, {{type: kafka, metadata: {{topic: t, consumerGroup: g}}}}]",  # lagThreshold 10 by default
        f"[{{{CRON % 4}}}, {{type: external, metadata: {{scalerAddress: 'own:6000'}}}}]",
        f"[{{metricType: Value, {CRON % 4}}}]",  # replicas times 4 at each look
        f"[{{name: day, {CRON % 4}}}]\n  advanced: {{scalingModifiers: {{formula: day * 3, target: '1'}}}}",
        f"[{{{CRON % 4}}}]\n  fallback: {{failureThreshold: 3, replicas: 20}}",
    ],
)
def test_a_cron_trigger_that_may_not_be_all_that_asks_leaves_the_bounds(triggers: str) -> None:
    found = loop(f"  maxReplicaCount: 30\n  triggers: {triggers}\n")
    assert bounds_of(found) == (1, 30)
    assert found.target is not None
    assert found.target.kind is not None
    assert found.target.kind.text == ("value" if "Value" in triggers else "average")


def test_a_cron_trigger_beside_a_share_is_divided_by_the_replicas() -> None:
    """As the HPA that KEDA makes: the larger of ceil(asked / 1) and ceil(replicas * cpu / 60 %)."""
    found = loop(f"  triggers: [{{type: cpu, metricType: Utilization, metadata: {{value: '60'}}}}, {{{CRON % 9}}}]\n")
    assert found.target is not None
    assert found.target.signal is not None
    assert found.target.kind is not None
    assert found.target.signal.text == "max(web.cpu / 60 %, metrics.cron_prod_web_spec_triggers_1 / web.replicas / 1)"
    assert found.target.kind.text == "utilization"
    assert bounds_of(found) == (1, 100)


def test_schedules_of_one_name_in_two_namespaces_are_two() -> None:
    text = HEAD + f"  triggers: [{{{CRON % 9}}}]\n"
    found = read(f"{text}---\n{text.replace('prod', 'dev')}")
    signals = {each.target.signal.text for each in found.loops.values() if each.target and each.target.signal}
    assert signals == {f"metrics.cron_{space}_web_spec_triggers_0" for space in ("prod", "dev")}


def bounds_of(found: Loop) -> tuple[int, ...]:
    assert found.actuation is not None
    return tuple(int(end.low) for end in found.actuation.bounds if isinstance(end, Quantity))


def test_a_schedule_beside_an_autoscaler_of_the_same_replicas_is_a_second_one(tmp_path: Path) -> None:
    hpa = (
        "---\napiVersion: autoscaling/v2\nkind: HorizontalPodAutoscaler\nmetadata: {name: web, namespace: prod}\n"
        "spec:\n  scaleTargetRef: {apiVersion: apps/v1, kind: Deployment, name: web}\n  maxReplicas: 10\n"
        "  metrics: [{type: Resource, resource: {name: cpu, target: {type: Utilization, averageUtilization: 60}}}]\n"
    )
    (tmp_path / "all.yaml").write_text(f"{HEAD}  triggers: [{{{CRON % 9}}}]\n{hpa}", encoding="utf-8")
    seen = check(tmp_path)
    assert [finding.code for finding in seen.findings if finding.verdict == "conflict"] == ["COH205"]
