"""RayJob: what it needs of a queue with its head, its workers and the pod that submits it, and its deadline."""

from __future__ import annotations

import pytest

from coherence.findings.finding import Verdict
from coherence.language.design import needed
from tests.importers.kueue_manifests import findings, not_modelled, queue, read

JOB = """\
apiVersion: ray.io/v1
kind: RayJob
metadata: {{name: sum, namespace: team, labels: {{kueue.x-k8s.io/queue-name: a}}}}
spec:
  entrypoint: python sum.py
  {more}
  rayClusterSpec:
    {cluster}
    headGroupSpec: {{template: {{spec: {{containers: [{{resources: {{requests: {{cpu: 1}}}}}}]}}}}}}
    workerGroupSpecs:
    - groupName: w
      replicas: {workers}
      numOfHosts: 2
      template: {{spec: {{containers: [{{resources: {{requests: {{cpu: 1}}}}}}]}}}}
---
"""
HTTP = "submissionMode: HTTPMode"


def job(workers: int = 1, more: str = "submissionMode: K8sJobMode", cluster: str = "rayVersion: 2.52.0") -> str:
    return JOB.format(workers=workers, more=more, cluster=cluster)


@pytest.mark.parametrize(
    ("more", "cpu"),
    [
        ("submissionMode: K8sJobMode", "3.5"),
        ("backoffLimit: 2", "3.5"),
        (HTTP, "3"),
        ("submissionMode: SidecarMode", "3.5"),
        ("submissionMode: SidecarMode\n  submitterPodTemplate: {spec: {containers: []}}", "3.5"),
        ("submitterPodTemplate: {spec: {containers: [{resources: {requests: {cpu: 2}}}]}}", "5"),
    ],
)
def test_it_needs_its_head_all_hosts_of_its_workers_and_who_submits_it(more: str, cpu: str) -> None:
    entry = read(queue("a", more="") + job(more=more)).jobs["sum_job"]
    assert str(needed(entry)["cpu_of_a"]) == cpu


def test_the_class_of_the_pod_that_submits_it_is_its_own_where_no_other_names_one() -> None:
    submitter = "submitterPodTemplate: {spec: {priorityClassName: low, containers: []}}"
    words = "the priority of low is not in these manifests"
    assert words in not_modelled(queue("a") + job(more=submitter))
    assert words not in not_modelled(queue("a") + job(more=f"{submitter}\n  {HTTP}"))


@pytest.mark.parametrize(("workers", "conflicts"), [(1, 0), (2, 1)])
def test_one_that_needs_more_than_its_queue_has_never_runs(workers: int, conflicts: int) -> None:
    found = findings(queue("a", more="") + job(workers, HTTP), "COH211")
    assert [finding.verdict for finding in found] == [Verdict.CONFLICT] * conflicts


def test_what_a_cluster_that_scales_itself_needs_is_not_known() -> None:
    text = queue("a", more="") + job(9, HTTP, "enableInTreeAutoscaling: true")
    assert not findings(text, "COH211")
    assert "what it needs of a queue is not known" in not_modelled(text)


def test_its_deadline_is_a_timer() -> None:
    (timer,) = read(job(more="activeDeadlineSeconds: 600")).timers.values()
    assert timer.then is not None
    assert (str(timer.after), timer.then.text) == ("600 s", "kill sum.run")
