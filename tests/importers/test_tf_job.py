"""TFJob: the pods of its members, its deadline, and its place in a queue."""

from __future__ import annotations

import pytest

from coherence.language.design import needed
from tests.importers.kueue_manifests import not_modelled, queue, read

JOB = """\
apiVersion: kubeflow.org/v1
kind: TFJob
metadata: {{name: train, namespace: team, labels: {{kueue.x-k8s.io/queue-name: a}}}}
spec:
  enableDynamicWorker: true
  runPolicy: {{activeDeadlineSeconds: 600}}
  tfReplicaSpecs:
    Chief: {{template: {{spec: {{containers: [{{resources: {{requests: {{cpu: 1}}}}}}]}}}}}}
    Worker: {{{workers}template: {{spec: {{containers: [{{resources: {{requests: {{cpu: 1}}}}}}]}}}}}}
---
"""


@pytest.mark.parametrize(("workers", "cpu"), [("replicas: 3, ", "4"), ("", "2")])
def test_all_members_are_let_in_together(workers: str, cpu: str) -> None:
    design = read(queue("a", more="") + JOB.format(workers=workers))
    assert {key: str(need) for key, need in needed(design.jobs["train_job"]).items()} == {"cpu_of_a": cpu}
    assert [str(timer.after) for timer in design.timers.values()] == ["600 s"]


def test_what_is_not_modelled_is_listed() -> None:
    assert "spec.enableDynamicWorker (" in not_modelled(JOB.format(workers=""))
