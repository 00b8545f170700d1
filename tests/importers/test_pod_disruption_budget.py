"""PodDisruptionBudget: the pods of its selector, its number, and drains that wait for ever."""

from __future__ import annotations

from pathlib import Path

import pytest

from coherence import importers
from coherence.base.errors import InputError
from coherence.checking.reports import check
from coherence.findings.finding import Verdict
from coherence.language.design import Design

WEB = """\
apiVersion: apps/v1
kind: Deployment
metadata: {name: web, namespace: prod}
spec: {replicas: 3, template: {metadata: {labels: {app: web}}, spec: {containers: []}}}
"""
BUDGET = """\
---
apiVersion: policy/v1
kind: PodDisruptionBudget
metadata: {name: web, namespace: prod}
spec: {minAvailable: 2, selector: {matchLabels: {app: web}}}
"""


def read(text: str) -> Design:
    return importers.design_from_sources({"web.yaml": text})


def answers(text: str, folder: Path) -> list[Verdict]:
    (folder / "web.yaml").write_text(text)
    return [f.verdict for f in check(folder).findings if f.code == "COH209"]


@pytest.mark.parametrize(
    ("number", "verdict"),
    [
        ("minAvailable: 2", Verdict.PROVED),
        ("minAvailable: 3", Verdict.CONFLICT),
        ('minAvailable: "67%"', Verdict.CONFLICT),  # 2.01 of 3 round up to 3
        ('minAvailable: "66%"', Verdict.PROVED),
        ("maxUnavailable: 0", Verdict.CONFLICT),
        ('maxUnavailable: "1%"', Verdict.PROVED),  # 0.03 of 3 round up to 1
    ],
)
def test_a_drain_ends_where_one_pod_may_go(number: str, verdict: Verdict, tmp_path: Path) -> None:
    assert answers(WEB + BUDGET.replace("minAvailable: 2", number), tmp_path) == [verdict]


def test_two_budgets_over_one_pod_refuse_every_eviction(tmp_path: Path) -> None:
    other = BUDGET.replace("name: web", "name: other").replace("minAvailable: 2", "maxUnavailable: 1")
    assert Verdict.CONFLICT in answers(WEB + BUDGET + other, tmp_path)


def test_a_budget_of_another_namespace_finds_nothing() -> None:
    design = read(WEB + BUDGET.replace("namespace: prod", "namespace: dev"))
    assert not design.limits
    assert any("finds no pod of these manifests" in words for _, words in design.not_modelled)


def test_a_budget_over_several_workloads_is_named() -> None:
    design = read(WEB + "---\n" + WEB.replace("name: web", "name: api") + BUDGET)
    assert not design.limits
    assert any("one budget over web, api" in words for _, words in design.not_modelled)


def test_both_numbers_are_refused_as_the_api_refuses_them() -> None:
    with pytest.raises(InputError, match="exclude each other"):
        read(WEB + BUDGET.replace("minAvailable: 2", "minAvailable: 2, maxUnavailable: 1"))


@pytest.mark.parametrize("number", ["-1", "2.5", "50%%", "some", "[1]"])
def test_what_is_no_number_of_pods_is_refused(number: str) -> None:
    with pytest.raises(InputError, match="minAvailable"):
        read(WEB + BUDGET.replace("minAvailable: 2", f"minAvailable: {number}"))


def test_the_finding_points_at_the_manifest(tmp_path: Path) -> None:
    (tmp_path / "web.yaml").write_text(WEB + BUDGET.replace("minAvailable: 2", "minAvailable: 3"))
    (finding,) = [f for f in check(tmp_path).findings if f.code == "COH209"]
    edits = {(edit.place.line, edit.new) for repair in finding.repairs for edit in repair.edits}
    assert (finding.places[0].line, edits) == (9, {(4, "4"), (9, "2")})


@pytest.mark.parametrize(
    ("number", "verdict"),
    [
        ("maxUnavailable: 1", Verdict.UNDECIDED),
        ('minAvailable: "10%"', Verdict.UNDECIDED),
        ("minAvailable: 1", Verdict.PROVED),
        ("minAvailable: 3", Verdict.UNDECIDED),
    ],
)
def test_of_pods_whose_owner_has_no_scale_only_a_least_number_lets_one_go(
    number: str, verdict: Verdict, tmp_path: Path
) -> None:
    job = WEB.replace("apps/v1", "batch/v1").replace("Deployment", "Job").replace("replicas", "parallelism")
    assert answers(job + BUDGET.replace("minAvailable: 2", number), tmp_path) == [verdict]


def test_a_budget_of_a_daemon_set_by_percent_is_listed_for_drains_pass_over_its_pods() -> None:
    agents = WEB.replace("Deployment", "DaemonSet").replace("replicas: 3, ", "")
    design = read(agents + BUDGET.replace("minAvailable: 2", 'minAvailable: "50%"'))
    assert not design.limits
    assert any("of the pods of a DaemonSet it lets none go" in words for _, words in design.not_modelled)


JOB = WEB.replace("apps/v1", "batch/v1").replace("Deployment", "Job").replace("replicas", "parallelism")
CRON = """\
apiVersion: batch/v1
kind: CronJob
metadata: {name: web, namespace: prod}
spec:
  schedule: "0 2 * * *"
  jobTemplate:
    spec:
      activeDeadlineSeconds: 90000
      template: {metadata: {labels: {app: web}}, spec: {restartPolicy: OnFailure, containers: [{name: r}]}}
"""
POD = """\
apiVersion: v1
kind: Pod
metadata: {name: web, namespace: prod, labels: {app: web}}
spec: {restartPolicy: Always, containers: [{name: a}]}
"""


@pytest.mark.parametrize(
    ("text", "verdict", "words"),
    [
        (JOB, Verdict.UNDECIDED, "until those on it end by themselves"),
        (JOB.replace("parallelism", "activeDeadlineSeconds: 7200, parallelism"), Verdict.NOTE, "for up to 2 h"),
        (CRON, Verdict.NOTE, "for up to 25 h"),
        (POD, Verdict.CONFLICT, "waits for ever"),
        (POD.replace("Always", "Never"), Verdict.UNDECIDED, "until those on it end by themselves"),
    ],
)
def test_a_drain_waits_until_pods_that_end_by_themselves_have_ended(
    text: str, verdict: Verdict, words: str, tmp_path: Path
) -> None:
    (tmp_path / "web.yaml").write_text(text + BUDGET.replace("minAvailable: 2", "maxUnavailable: 1"))
    (finding,) = [f for f in check(tmp_path).findings if f.code == "COH209"]
    assert (finding.verdict, words in finding.message) == (verdict, True)


def test_how_long_a_run_of_such_pods_is_is_asked_for() -> None:
    from coherence.checking.fact_kinds.activities import facts
    from coherence.checking.fact_queries import OpenQuestion

    design = read(JOB + BUDGET.replace("minAvailable: 2", "maxUnavailable: 1"))
    (name,) = design.limits
    asked = facts(design, OpenQuestion(("COH209",), (name,)))
    assert [fact.path for fact in asked] == [("components", "web", "takes", "run")]
