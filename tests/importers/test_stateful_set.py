"""StatefulSet: its pods are those of a Deployment; what differs is said."""

from __future__ import annotations

from coherence import importers
from coherence.language.design import Design

SET = """\
apiVersion: apps/v1
kind: StatefulSet
metadata: {name: db, namespace: prod}
spec:
  updateStrategy: {type: RollingUpdate}
  template:
    spec:
      terminationGracePeriodSeconds: 30
      containers: [{name: db, resources: {requests: {memory: 2Gi}}, livenessProbe: {periodSeconds: 5}}]
"""


def read(text: str) -> Design:
    return importers.design_from_sources({"db.yaml": text})


def test_the_way_in_which_pods_are_replaced_is_named() -> None:
    assert any("spec.updateStrategy (" in words for _, words in read(SET).not_modelled)


def test_its_replicas_beside_an_autoscaler_are_a_writer() -> None:
    scaler = """\
---
apiVersion: autoscaling/v2
kind: HorizontalPodAutoscaler
metadata: {name: db, namespace: prod}
spec: {scaleTargetRef: {kind: StatefulSet, name: db}, maxReplicas: 5}
"""
    assert set(read(SET.replace("spec:\n", "spec:\n  replicas: 3\n", 1) + scaler).loops) == {"db_hpa", "db_apply"}
    assert set(read(SET + scaler).loops) == {"db_hpa"}


def test_one_replica_is_the_default() -> None:
    copies = read(SET).components["db"].copies
    assert copies is not None
    assert copies.text == "1"
