"""DaemonSet: its pods are those of a Deployment; what differs is said."""

from __future__ import annotations

from coherence import importers
from coherence.language.design import Design

SET = """\
apiVersion: apps/v1
kind: DaemonSet
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


def test_how_many_there_are_is_not_said() -> None:
    assert read(SET).components["db"].copies is None
