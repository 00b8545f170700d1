"""Workload of Kueue: what its pods request, its priority, and one that its owner says."""

from __future__ import annotations

import pytest

from coherence.language.design import needed
from tests.importers.kueue_manifests import job, not_modelled, queue, read

WORKLOAD = """\
apiVersion: kueue.x-k8s.io/v1beta2
kind: Workload
metadata: {{name: train, namespace: team{owner}}}
spec:
  queueName: a
  {more}
  podSets:
  - {{name: driver, count: 1, template: {{spec: {{containers: [{{resources: {{requests: {{cpu: 2}}}}}}]}}}}}}
  - {{name: worker, count: 3{least}, template: {{spec: {{containers: [{{resources: {{requests: {{cpu: 1}}}}}}]}}}}}}
---
"""


def workload(more: str = "priority: 7", owner: str = "", least: str = "") -> str:
    return WORKLOAD.format(more=more, owner=owner, least=least)


def test_all_its_pods_are_let_in_together_with_its_priority() -> None:
    train = read(queue("a") + workload()).jobs["train_job"]
    assert {key: str(need) for key, need in needed(train).items()} == {"cpu_of_all": "5"}
    assert str(train.priority) == "7"


def test_one_that_a_job_owns_is_said_by_the_job() -> None:
    text = queue("a") + job("train", "a", 2) + workload(owner=", ownerReferences: [{kind: Job}]")
    (train,) = read(text).jobs.values()
    assert {key: str(need) for key, need in needed(train).items()} == {"cpu_of_all": "2"}


@pytest.mark.parametrize(
    ("text", "why"),
    [
        (workload(least=", minCount: 1"), "with a part of its pods"),
        (workload("priorityClassRef: {name: high}"), "the priority of high is not in these manifests"),
    ],
)
def test_what_is_not_known_keeps_it_out(text: str, why: str) -> None:
    assert not read(queue("a") + text).jobs
    assert why in not_modelled(queue("a") + text)
