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


@pytest.mark.parametrize("text", [HPA, KEDA])
def test_without_the_option_a_design_has_no_queries(tmp_path: Path, text: str) -> None:
    assert "telemetry" not in imported(tmp_path, text)


def test_names_with_quotes_stay_within_their_label(tmp_path: Path) -> None:
    design = read_text(imported(tmp_path, HPA.replace("name: web, n", "name: 'a\"b', n"), "--telemetry"))
    assert 'horizontalpodautoscaler="a\\"b"' in str(design.telemetry["web.replicas"])
