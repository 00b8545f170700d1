"""Queries of what autoscalers read and write, as the `telemetry:` of a design."""

from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import CliRunner

from coherence.causal.telemetry import queries_of
from coherence.cli.import_ import command
from coherence.language.reading import read_text

HPA = """
apiVersion: autoscaling/v2
kind: HorizontalPodAutoscaler
metadata: {name: web, namespace: shop}
spec:
  scaleTargetRef: {apiVersion: apps/v1, kind: Deployment, name: web}
  maxReplicas: 10
  metrics: [{type: Resource, resource: {name: cpu, target: {type: Utilization, averageUtilization: 60}}}]
"""
KEDA = """
apiVersion: keda.sh/v1alpha1
kind: ScaledObject
metadata: {name: jobs}
spec:
  scaleTargetRef: {name: worker}
  maxReplicaCount: 10
  triggers:
    - type: prometheus
      metadata: {serverAddress: "http://p:9090", query: "sum(rate(work_total[1m]))", threshold: "5"}
"""


def imported(folder: Path, text: str, *options: str) -> str:
    """Returns the design that `coherence import` prints."""
    (folder / "all.yaml").write_text(text)
    done = CliRunner().invoke(command, ["all", str(folder / "all.yaml"), *options], catch_exceptions=False)
    assert done.exit_code == 0
    return done.output


def test_an_autoscaler_has_queries_of_kube_state_metrics(tmp_path: Path) -> None:
    design = read_text(imported(tmp_path, HPA, "--telemetry"))
    of = 'namespace="shop",horizontalpodautoscaler="web"'
    seen = (
        f'kube_horizontalpodautoscaler_status_target_metric{{{of},metric_name="cpu",metric_target_type="utilization"}}'
    )
    assert {name: str(query) for name, query in design.telemetry.items()} == {
        "web.replicas": f"kube_horizontalpodautoscaler_status_desired_replicas{{{of}}}", "web.cpu": f"{seen} / 100",
    }  # fmt: skip
    assert set(queries_of(design.telemetry)) == {"web.replicas", "web.cpu"}


def test_a_trigger_that_is_a_query_is_that_query(tmp_path: Path) -> None:
    queries = {str(query) for query in read_text(imported(tmp_path, KEDA, "--telemetry")).telemetry.values()}
    own = '{horizontalpodautoscaler="keda-hpa-jobs"}'
    assert queries == {f"kube_horizontalpodautoscaler_status_desired_replicas{own}", "sum(rate(work_total[1m]))"}


TARGET = "kube_horizontalpodautoscaler_status_target_metric"
OF = 'namespace="shop",horizontalpodautoscaler="web"'
CURRENT = f"kube_horizontalpodautoscaler_status_current_replicas{{{OF}}}"


@pytest.mark.parametrize(("metric", "name", "kind", "more"), [
    ("type: Pods, pods: {metric: {name: rps}, target: {averageValue: 100}}", "rps", "average", ""),
    ("type: Resource, resource: {name: memory, target: {averageValue: 500Mi}}", "memory", "average", ""),
    ("type: ContainerResource, containerResource: {name: cpu, container: app, target: {averageUtilization: 60}}", "cpu",
     "utilization", " / 100"),
    ("type: External, external: {metric: {name: queue-length}, target: {averageValue: 30}}", "queue-length", "average",
     f" * ignoring(metric_name, metric_target_type) {CURRENT}"),
    ("type: External, external: {metric: {name: lag}, target: {value: 30}}", "lag", "value", ""),
])  # fmt: skip
def test_a_metric_is_asked_for_as_the_status_shows_it(
    metric: str, name: str, kind: str, more: str, tmp_path: Path
) -> None:
    """The names and types of kube-state-metrics; an average of the status is a total over its replicas."""
    text = HPA[: HPA.index("  metrics:")] + f"  metrics: [{{{metric}}}]\n"
    (query,) = (
        str(query) for signal, query in read_text(imported(tmp_path, text, "--telemetry")).telemetry.items()
        if signal != "web.replicas"
    )  # fmt: skip
    assert query == f'{TARGET}{{{OF},metric_name="{name}",metric_target_type="{kind}"}}{more}'


def test_a_trigger_whose_name_in_the_status_is_not_known_has_no_query(tmp_path: Path) -> None:
    lag = 'type: kafka\n      metadata: {bootstrapServers: k, consumerGroup: g, topic: t, lagThreshold: "5"}\n'
    text = KEDA[: KEDA.index("type: prometheus")] + lag
    assert list(read_text(imported(tmp_path, text, "--telemetry")).telemetry) == ["worker.replicas"]


@pytest.mark.parametrize("text", [HPA, KEDA])
def test_without_the_option_a_design_has_no_queries(tmp_path: Path, text: str) -> None:
    assert "telemetry" not in imported(tmp_path, text)


def test_names_with_quotes_stay_within_their_label(tmp_path: Path) -> None:
    design = read_text(imported(tmp_path, HPA.replace("name: web, n", "name: 'a\"b', n"), "--telemetry"))
    assert 'horizontalpodautoscaler="a\\"b"' in str(design.telemetry["web.replicas"])
