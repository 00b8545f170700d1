"""Application: whether the replicas of a manifest undo what an autoscaler chose."""

from __future__ import annotations

from pathlib import Path

import pytest

from coherence import importers
from coherence.checking.reports import check
from coherence.findings.finding import Verdict

WORKLOAD = """\
apiVersion: apps/v1
kind: Deployment
metadata: {name: web, namespace: prod}
spec: {replicas: 3}
---
apiVersion: autoscaling/v2
kind: HorizontalPodAutoscaler
metadata: {name: web, namespace: prod}
spec: {scaleTargetRef: {kind: Deployment, name: web}, minReplicas: 2, maxReplicas: 9}
"""
HEAL = "syncPolicy: {automated: {selfHeal: true}}"
POINTER = "ignoreDifferences: [{group: apps, kind: Deployment, jsonPointers: [/spec/replicas]}]"
QUERY = "ignoreDifferences: [{kind: '*', jqPathExpressions: [.spec.replicas]}]"
RESPECT = "syncPolicy: {automated: {selfHeal: true}, syncOptions: [RespectIgnoreDifferences=true]}"


def application(spec: str, *, namespace: str = "prod") -> str:
    head = "apiVersion: argoproj.io/v1alpha1\nkind: Application\nmetadata: {name: shop, namespace: argocd}\n"
    return f"{head}spec: {{destination: {{namespace: {namespace}}}, {spec}}}\n"


def mode(text: str) -> str | None:
    """Returns how the stated replicas are written; None where nobody writes them."""
    loop = importers.design_from_sources({"web.yaml": WORKLOAD, "app.yaml": text}).loops.get("web_apply")
    actuation = loop.actuation if loop is not None else None
    return str(getattr(actuation.mode, "text", "")) if actuation is not None else None


@pytest.mark.parametrize(
    ("spec", "written"),
    [
        (HEAL, "always"),
        ("syncPolicy: {automated: {selfHeal: false}}", "on change"),
        ("syncPolicy: {automated: {}}", "on change"),
        ("project: default", "on change"),
        (f"{HEAL}, {POINTER}", "on change"),  # a sync for another reason writes them still
        (f"{RESPECT}, {POINTER}", None),
        (f"{RESPECT}, {QUERY}", None),
        (RESPECT, "always"),
        (f"{RESPECT}, {POINTER.replace('kind: Deployment', 'kind: Deployment, name: web')}", None),
        (f"{RESPECT}, {POINTER.replace('kind: Deployment', 'kind: Deployment, name: other')}", "always"),
        (f"{RESPECT}, {POINTER.replace('kind: Deployment', 'kind: StatefulSet')}", "always"),
        (f"{HEAL}, ignoreDifferences: [{{kind: Service, jsonPointers: [/spec/replicas]}}]", "always"),
    ],
)
def test_who_writes_the_replicas(spec: str, written: str | None) -> None:
    assert mode(application(spec)) == written


def test_an_application_of_another_namespace_says_nothing() -> None:
    assert mode(application(HEAL, namespace="dev")) == "on change"


def test_self_heal_against_an_autoscaler_is_a_conflict_and_ignored_replicas_are_none(tmp_path: Path) -> None:
    (tmp_path / "web.yaml").write_text(WORKLOAD)
    (tmp_path / "app.yaml").write_text(application(HEAL))
    assert Verdict.CONFLICT in {f.verdict for f in check(tmp_path).findings if f.code == "COH205"}
    (tmp_path / "app.yaml").write_text(application(f"{RESPECT}, {POINTER}"))
    assert Verdict.CONFLICT not in {f.verdict for f in check(tmp_path).findings}


def test_a_sync_that_is_switched_off_heals_nothing() -> None:
    off = "syncPolicy: {automated: {enabled: false, selfHeal: true}}"
    assert mode(application(off)) == mode(application("syncPolicy: {}"))
