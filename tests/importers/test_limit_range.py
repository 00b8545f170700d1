"""LimitRange: stated requests between its bounds, of containers and of pods."""

from __future__ import annotations

import pytest

from coherence import importers
from coherence.checking.design_check import analyse
from coherence.findings.finding import Verdict

PODS = """\
apiVersion: apps/v1
kind: Deployment
metadata: {name: web, namespace: prod}
spec:
  template:
    spec:
      containers:
      - {name: app, resources: {requests: {cpu: 600m, memory: 256Mi}}}
      - {name: side, resources: {requests: {cpu: 300m}}}
---
"""


def verdicts(item: str, *, namespace: str = "prod") -> list[Verdict]:
    head = f"apiVersion: v1\nkind: LimitRange\nmetadata: {{name: sizes, namespace: {namespace}}}\n"
    sources = {"web.yaml": f"{PODS}{head}spec: {{limits: [{item}]}}\n"}
    findings = analyse(
        importers.design_from_sources(sources), sources, importers.design_from_sources, verify_repairs=False
    ).findings
    return [finding.verdict for finding in findings if finding.code == "COH209"]


@pytest.mark.parametrize(
    ("item", "expected"),
    [
        ("{type: Container, max: {cpu: 500m}}", [Verdict.CONFLICT, Verdict.PROVED]),
        ("{type: Container, max: {cpu: 600m}}", [Verdict.PROVED, Verdict.PROVED]),
        ("{type: Container, min: {cpu: 400m}}", [Verdict.CONFLICT, Verdict.PROVED]),
        ("{type: Pod, max: {cpu: 800m}}", [Verdict.CONFLICT]),
        ("{type: Pod, max: {cpu: 900m, memory: 256Mi}}", [Verdict.PROVED, Verdict.PROVED]),
        ("{type: PersistentVolumeClaim, max: {storage: 1Gi}}", []),
    ],
)
def test_a_stated_request_keeps_to_it_or_not(item: str, expected: list[Verdict]) -> None:
    assert sorted(verdicts(item)) == sorted(expected)


def test_a_range_of_another_namespace_bounds_nothing() -> None:
    assert verdicts("{type: Container, max: {cpu: 500m}}", namespace="dev") == []


def test_what_containers_get_that_state_nothing_is_listed() -> None:
    head = "apiVersion: v1\nkind: LimitRange\nmetadata: {name: sizes}\n"
    design = importers.design_from_sources(
        {"a.yaml": f"{head}spec: {{limits: [{{type: Container, default: {{cpu: 1}}}}]}}\n"}
    )
    assert any("limits[0].default (" in words for _, words in design.not_modelled)
