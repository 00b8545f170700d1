"""An autoscaler of KEDA that reads Prometheus, for tests of what the monitoring beside it says."""

from __future__ import annotations

SCALED_OBJECT = """\
---
apiVersion: keda.sh/v1alpha1
kind: ScaledObject
metadata: {name: web}
spec:
  scaleTargetRef: {name: web}
  minReplicaCount: 1
  triggers: [{type: prometheus, metadata: {query: "%s", threshold: '5'}}]
"""


def scaled_object(query: str) -> str:
    """Returns the text of a ScaledObject of `web` with a query."""
    return SCALED_OBJECT % query
