"""JobSet: the pods of all its jobs wait in a queue together."""

from __future__ import annotations

from coherence.language.design import needed
from tests.importers.kueue_manifests import not_modelled, queue, read

POD = "template: {spec: {containers: [{name: work, resources: {requests: {cpu: 1}}}]}}"
SET = f"""\
apiVersion: jobset.x-k8s.io/v1alpha2
kind: JobSet
metadata: {{name: train, namespace: team, labels: {{kueue.x-k8s.io/queue-name: a}}}}
spec:
  failurePolicy: {{maxRestarts: 3}}
  replicatedJobs:
  - {{name: driver, template: {{spec: {{activeDeadlineSeconds: 60, {POD}}}}}}}
  - {{name: workers, replicas: 2, template: {{spec: {{parallelism: 4, {POD}}}}}}}
"""


def test_all_its_pods_are_let_in_together() -> None:
    design = read(queue("a", "nominalQuota: 20", more="") + SET)
    assert {key: str(need) for key, need in needed(design.jobs["train_job"]).items()} == {"cpu_of_a": "9"}


def test_each_of_its_jobs_has_its_pods() -> None:
    design = read(SET)
    assert str(design.components["train_workers"].copies) == "8"
    assert list(design.timers) == ["train_driver_deadline"]
    assert "failurePolicy.maxRestarts (" in not_modelled(SET)
