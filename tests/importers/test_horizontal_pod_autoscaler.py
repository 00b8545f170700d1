"""HorizontalPodAutoscaler: metrics, bounds and behavior as one proportional loop."""

from __future__ import annotations

import pytest

from coherence import importers
from coherence.base.errors import InputError
from coherence.language.design import Design, Loop
from coherence.language.schema_kinds import Quantity

HEAD = """\
apiVersion: autoscaling/v2
kind: HorizontalPodAutoscaler
metadata: {name: web, namespace: prod}
spec:
  scaleTargetRef: {apiVersion: apps/v1, kind: Deployment, name: web}
  maxReplicas: 5
"""
CPU = "  metrics: [{type: Resource, resource: {name: cpu, target: {type: Utilization, averageUtilization: 50}}}]\n"

SHARE = "target: {averageUtilization: 60}"
INGRESS = "describedObject: {kind: Ingress, name: main}"


def read(text: str) -> Design:
    return importers.design_from_sources({"hpa.yaml": text})


def loop(rest: str) -> Loop:
    return read(HEAD + rest).loops["web_hpa"]


def aim(rest: str) -> tuple[str, str]:
    """(signal, setpoint) as they are written in the language."""
    target = loop(rest).target
    assert target is not None
    assert target.signal is not None
    assert target.setpoint is not None
    return target.signal.text, target.setpoint.text


def metric(kind: str, source: str) -> str:
    return f"  metrics: [{{type: {kind}, {source}}}]\n"


def rates(rest: str) -> list[tuple[str, str, str]]:
    """(way, size, per) of every rate."""
    actuation = loop(rest).actuation
    assert actuation is not None
    found = []
    for rate in actuation.rate:
        size = " and ".join(part.text for part in (rate.by, rate.percent) if part is not None)
        assert rate.way is not None
        assert rate.per is not None
        found.append((rate.way.text, size, rate.per.text))
    return found


def bounds(found: Loop) -> list[tuple[object, str]]:
    assert found.actuation is not None
    return [(b.low, b.place.file) for b in found.actuation.bounds if isinstance(b, Quantity)]


@pytest.mark.parametrize(
    ("rest", "expected"),
    [
        (CPU, ("web.cpu", "50 %")),
        (metric("Resource", "resource: {name: cpu, target: {averageValue: 500m}}"), ("web.cpu_amount", "0.5")),
        (
            metric("Resource", "resource: {name: memory, target: {averageValue: 1Ki}}"),
            ("web.memory_amount", "1 KiB"),
        ),
        (
            metric("ContainerResource", f"containerResource: {{name: cpu, container: app, {SHARE}}}"),
            ("web.app_cpu", "60 %"),
        ),
        (metric("Pods", "pods: {metric: {name: queue}, target: {averageValue: 4}}"), ("web.queue", "4")),
        (
            metric("Object", f"object: {{{INGRESS}, metric: {{name: rps}}, target: {{value: 10k}}}}"),
            ("main.rps", "10000"),
        ),
        (metric("External", "external: {metric: {name: depth}, target: {averageValue: 30}}"), ("metrics.depth", "30")),
        ("  targetCPUUtilizationPercentage: 70\n", ("web.cpu", "70 %")),
        ("", ("web.cpu", "80 %")),
        ("  metrics: []\n", ("web.cpu", "80 %")),
    ],
)  # fmt: skip
def test_metrics(rest: str, expected: tuple[str, str]) -> None:
    assert aim(rest) == expected


def test_series_chosen_by_labels_are_two() -> None:
    template = (
        "{type: External, external: {metric: {name: depth, selector: {matchLabels: {q: %s}}}, target: {value: 3}}}"
    )
    signal, _ = aim(f"  metrics: [{template % 'a'}, {template % 'b'}]\n")
    assert signal == "max(metrics.depth_q_a / 3, metrics.depth_q_b / 3)"


def test_values_stand_where_the_manifest_has_them() -> None:
    found = loop(CPU)
    assert found.target is not None
    assert found.target.setpoint is not None
    start = CPU.index("50") + 1
    assert (str(found.target.setpoint.place), found.target.setpoint.place.end_column) == (
        f"hpa.yaml:7:{start}",
        start + 2,
    )


def test_one_replica_where_no_least_is_stated() -> None:
    assert bounds(loop(CPU)) == [(1, "models/loops/kubernetes_hpa.yaml"), (5, "hpa.yaml")]
    assert bounds(loop("  minReplicas: 2\n" + CPU)) == [(2, "hpa.yaml"), (5, "hpa.yaml")]


def test_the_first_version_is_read() -> None:
    text = HEAD.replace("autoscaling/v2", "autoscaling/v1") + "  targetCPUUtilizationPercentage: 70\n"
    assert "web_hpa" in read(text).loops


def test_windows() -> None:
    behavior = "  behavior: {scaleDown: {stabilizationWindowSeconds: 60}, scaleUp: {stabilizationWindowSeconds: 0}}\n"
    found = loop(CPU + behavior).timescale
    assert found is not None
    assert found.hold_down is not None
    assert found.hold_up is not None
    assert (found.hold_down.text, found.hold_down.place.line) == ("60 s", 8)
    assert (found.hold_up.text, found.hold_up.place.line) == ("0 s", 8)
    absent = loop(CPU).timescale
    assert absent is not None
    assert absent.hold_down is not None
    assert absent.hold_down.low == 300


def test_policies() -> None:
    down = "{policies: [{type: Percent, value: 10, periodSeconds: 60}, {type: Pods, value: 2, periodSeconds: 30}]}"
    assert rates(f"  behavior: {{scaleDown: {down}}}\n") == [
        ("up", "4 and 100 %", "15 s"),  # the default way up stays
        ("down", "10 %", "60 s"),
        ("down", "2", "30 s"),
    ]


def test_a_way_that_is_disabled_never_moves() -> None:
    assert rates("  behavior: {scaleDown: {selectPolicy: Disabled}}\n") == [
        ("up", "4 and 100 %", "15 s"),
        ("down", "0", "15 s"),
    ]


def test_the_least_of_several_policies_is_listed_as_not_modelled() -> None:
    policies = "[{type: Pods, value: 1, periodSeconds: 60}, {type: Percent, value: 10, periodSeconds: 60}]"
    rest = f"  behavior: {{scaleDown: {{selectPolicy: Min, policies: {policies}}}}}\n"
    assert rates(rest) == [("up", "4 and 100 %", "15 s")]
    assert any("selectPolicy Min" in words for _, words in read(HEAD + rest).not_modelled)


@pytest.mark.parametrize(
    "text",
    [
        HEAD.replace("  maxReplicas: 5\n", ""),
        HEAD.replace("  scaleTargetRef: {apiVersion: apps/v1, kind: Deployment, name: web}\n", ""),
        HEAD + CPU.replace("50", "0"),
        HEAD + CPU.replace("50", "half"),
        HEAD + "  metrics: [{type: Guess}]\n",
        HEAD + "  behavior: {scaleUp: {selectPolicy: Most}}\n",
    ],
)
def test_wrong_manifests_are_refused(text: str) -> None:
    with pytest.raises(InputError):
        read(text)
