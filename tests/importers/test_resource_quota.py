"""ResourceQuota: what pods of a namespace hold together, against what they may."""

from __future__ import annotations

import pytest

from coherence import importers
from coherence.checking.design_check import analyse
from coherence.findings.finding import Finding, Verdict

WEB = """\
apiVersion: apps/v1
kind: Deployment
metadata: {name: web, namespace: team}
spec:
  replicas: 4
  strategy: {type: RollingUpdate, rollingUpdate: {maxSurge: 1, maxUnavailable: 0}}
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec:
      containers:
      - {name: app, image: a, resources: {requests: {cpu: 500m, memory: 1Gi}, limits: {cpu: 1, nvidia.com/gpu: 1}}}
      - {name: side, image: s, resources: {requests: {cpu: 250m}, limits: {cpu: 500m}}}
---
"""


def sources_of(hard: str, *, more: str = "", namespace: str = "team") -> dict[str, str]:
    head = f"apiVersion: v1\nkind: ResourceQuota\nmetadata: {{name: small, namespace: {namespace}}}\n"
    return {"web.yaml": f"{WEB}{head}spec: {{hard: {{{hard}}}{more}}}\n"}


def found(hard: str, code: str, *, more: str = "", namespace: str = "team") -> list[Finding]:
    sources = sources_of(hard, more=more, namespace=namespace)
    findings = analyse(
        importers.design_from_sources(sources), sources, importers.design_from_sources, verify_repairs=False
    ).findings
    return [finding for finding in findings if finding.code == code]


@pytest.mark.parametrize(
    ("hard", "held"),
    [
        ("pods: 3", "4"),
        ("count/pods: 3", "4"),
        ("cpu: 2900m", "3"),
        ("requests.cpu: 2900m", "3"),
        ("limits.cpu: 5", "6"),
        ("requests.memory: 3Gi", "4294967296"),
        ("requests.nvidia.com/gpu: 3", "4"),
    ],
)
def test_workload_beyond_the_quota_is_a_conflict(hard: str, held: str) -> None:
    (conflict,) = [finding for finding in found(hard, "COH211") if finding.verdict is Verdict.CONFLICT]
    assert f"{held} " in conflict.message


@pytest.mark.parametrize(("hard", "hangs"), [("pods: 4", True), ("pods: 5", False), ("requests.cpu: 3", True)])
def test_extra_member_of_an_update_needs_room_in_it(hard: str, hangs: bool) -> None:
    verdicts = [finding.verdict for finding in found(hard, "COH212")]
    assert (Verdict.CONFLICT in verdicts) is hangs
    assert not found(hard, "COH211") or hard != "pods: 4"


def test_quota_of_another_namespace_bounds_nothing() -> None:
    assert not found("pods: 3", "COH211", namespace="other")


@pytest.mark.parametrize(
    ("hard", "more", "word"),
    [
        ("services: 5", "", "services (no amount"),
        ("pods: 3", ", scopes: [BestEffort]", "scopes (it counts some pods"),
        ("limits.memory: 1Gi", "", "limits.memory (no pod"),
    ],
)
def test_what_is_not_modelled_is_listed(hard: str, more: str, word: str) -> None:
    design = importers.design_from_sources(sources_of(hard, more=more))
    assert any(word in words for _, words in design.not_modelled)
    assert not found(hard, "COH211", more=more)


def test_workload_that_states_nothing_of_what_is_bounded_is_listed() -> None:
    bare = (
        WEB.replace("name: web", "name: bare", 1)
        .replace(", resources: {requests: {cpu: 500m, memory: 1Gi}, limits: {cpu: 1, nvidia.com/gpu: 1}}", "")
        .replace(", resources: {requests: {cpu: 250m}, limits: {cpu: 500m}}", "")
    )
    sources = {
        "web.yaml": sources_of("requests.cpu: 9")["web.yaml"] + f"---\n{bare.removesuffix(chr(10) + '---' + chr(10))}\n"
    }
    design = importers.design_from_sources(sources)
    assert any("bare states nothing of requests.cpu" in words for _, words in design.not_modelled)
