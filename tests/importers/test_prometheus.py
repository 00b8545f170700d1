"""Prometheus: how often it scrapes and evaluates, for what says nothing else."""

from __future__ import annotations

import pytest

from coherence import importers
from tests.importers.scaled_objects import scaled_object

TEXT = """\
apiVersion: monitoring.coreos.com/v1
kind: Prometheus
metadata: {name: p}
spec: {%s}
---
apiVersion: monitoring.coreos.com/v1
kind: PodMonitor
metadata: {name: m}
spec: {selector: {}, podMetricsEndpoints: [{port: http}]}
---
apiVersion: monitoring.coreos.com/v1
kind: PrometheusRule
metadata: {name: r}
spec: {groups: [{name: g, rules: [{record: 'a:b', expr: 'rate(c[5m])'}]}]}
"""


@pytest.mark.parametrize(
    ("spec", "times"),
    [
        ("scrapeInterval: 10s, evaluationInterval: 20s", ["10 s", "5 min", "20 s", "5 min"]),
        ("replicas: 2", ["30 s", "5 min", "30 s", "5 min"]),
    ],
)
def test_its_times_are_those_of_the_chain(spec: str, times: list[str]) -> None:
    target = (
        importers.design_from_sources({"p.yaml": TEXT.replace("%s", spec) + scaled_object("a:b")})
        .loops["web_scaledobject"]
        .target
    )
    assert target is not None
    assert [link.duration.text for link in target.sensor if link.duration] == times
