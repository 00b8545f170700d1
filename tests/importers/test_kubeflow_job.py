"""Jobs of Kubeflow: the pods of their members, their deadline, and their place in a queue."""

from __future__ import annotations

import re

import pytest

from coherence.base.errors import InputError
from coherence.findings.finding import Verdict
from coherence.language.design import needed
from tests.importers.kueue_manifests import findings, not_modelled, queue, read

JOB = """\
apiVersion: kubeflow.org/v1
kind: PyTorchJob
metadata: {{name: train, namespace: team, labels: {{kueue.x-k8s.io/queue-name: a}}}}
spec:
  runPolicy: {{activeDeadlineSeconds: 600, cleanPodPolicy: None}}
  pytorchReplicaSpecs:
    Master: {{template: {{spec: {{containers: [{{resources: {{requests: {{cpu: 2}}}}}}]}}}}}}
    Worker: {{replicas: {workers}, template: {{spec: {{containers: [{{resources: {{requests: {{cpu: 1}}}}}}]}}}}}}
---
"""

OTHER = """\
apiVersion: kubeflow.org/v1
kind: {kind}
metadata: {{name: train, namespace: team, labels: {{kueue.x-k8s.io/queue-name: a}}}}
spec:
  {field}: true
  runPolicy: {{activeDeadlineSeconds: 600}}
  {key}:
    {first}: {{template: {{spec: {{containers: [{{resources: {{requests: {{cpu: 1}}}}}}]}}}}}}
    Worker: {{{workers}template: {{spec: {{containers: [{{resources: {{requests: {{cpu: 1}}}}}}]}}}}}}
---
"""
TF = {"kind": "TFJob", "key": "tfReplicaSpecs", "first": "Chief", "field": "enableDynamicWorker"}
MPI = {"kind": "MPIJob", "key": "mpiReplicaSpecs", "first": "Launcher", "field": "slotsPerWorker"}


@pytest.mark.parametrize(
    ("words", "workers", "cpu"),
    [(TF, "replicas: 3, ", "4"), (TF, "", "2"), (MPI, "replicas: 3, ", "4"), (MPI, "", "2")],
)
def test_all_members_of_other_frameworks_are_let_in_together(words: dict[str, str], workers: str, cpu: str) -> None:
    text = OTHER.format(workers=workers, **words)
    design = read(queue("a", more="") + text)
    assert {key: str(need) for key, need in needed(design.jobs["train_job"]).items()} == {"cpu_of_a": cpu}
    assert [str(timer.after) for timer in design.timers.values()] == ["600 s"]
    assert f"spec.{words['field']} (" in not_modelled(text)


def test_a_queue_counts_a_worker_of_an_mpi_job_whose_operator_starts_none() -> None:
    design = read(queue("a", more="") + OTHER.format(workers="", **MPI))
    assert str(design.components["train_worker"].copies) == "0"
    assert {key: str(need) for key, need in needed(design.jobs["train_job"]).items()} == {"cpu_of_a": "2"}


@pytest.mark.parametrize("first", ["Evaluator", "Worker"])
def test_the_class_of_an_evaluator_counts_last(first: str) -> None:
    members = {"Evaluator": "low", "Worker": "high"}
    pods = [f"{name}: {{template: {{spec: {{priorityClassName: {members[name]}}}}}}}" for name in sorted(members)]
    pods = pods if first == "Evaluator" else pods[::-1]
    text = OTHER.partition("  {field}")[0].format(kind="TFJob") + f"  tfReplicaSpecs: {{{', '.join(pods)}}}\n---\n"
    assert "the priority of high is not in these manifests" in not_modelled(queue("a") + text)


def test_all_members_are_let_in_together() -> None:
    design = read(queue("a", more="") + JOB.format(workers=2))
    assert {key: str(need) for key, need in needed(design.jobs["train_job"]).items()} == {"cpu_of_a": "4"}
    assert str(design.components["train_worker"].copies) == "2"
    assert [str(timer.after) for timer in design.timers.values()] == ["600 s"]


@pytest.mark.parametrize(("workers", "conflicts"), [(2, 0), (3, 1)])
def test_one_that_needs_more_than_its_queue_has_never_runs(workers: int, conflicts: int) -> None:
    found = findings(queue("a", more="") + JOB.format(workers=workers), "COH211")
    assert [finding.verdict for finding in found] == [Verdict.CONFLICT] * conflicts


def test_what_another_scheduler_does_is_listed() -> None:
    assert "runPolicy.cleanPodPolicy (" in not_modelled(JOB.format(workers=2))


def test_its_own_class_says_its_priority() -> None:
    text = queue("a") + JOB.format(workers=2).replace("None}", "None, schedulingPolicy: {priorityClass: high}}")
    assert "the priority of high is not in these manifests" in not_modelled(text)


@pytest.mark.parametrize("member", ["Master", "Worker"])
def test_its_own_class_counts_before_that_of_any_pod_and_a_pod_of_any_kind_may_name_one(member: str) -> None:
    names = re.sub(rf"({member}: .*?spec: {{)", r"\1priorityClassName: low, ", JOB.format(workers=2))
    of_pod = queue("a") + names
    assert "the priority of low is not in these manifests" in not_modelled(of_pod)
    both = of_pod.replace("None}", "None, schedulingPolicy: {priorityClass: high}}")
    assert "the priority of high is not in these manifests" in not_modelled(both)


def test_it_holds_its_room_for_the_longest_grace_of_its_pods() -> None:
    workers = "template: {spec: {terminationGracePeriodSeconds: 90, containers: [{resources: {requests: {cpu: 1"
    text = JOB.format(workers=2).replace("template: {spec: {containers: [{resources: {requests: {cpu: 1", workers)
    assert str(read(queue("a") + text).jobs["train_job"].constants["leaves_after"]) == "0 s .. 90 s"


def test_a_number_of_workers_is_whole() -> None:
    with pytest.raises(InputError, match=r"queues\.yaml:8"):
        read(JOB.format(workers="many"))
