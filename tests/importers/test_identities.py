"""What documents define, and what their autoscalers name."""

from __future__ import annotations

from coherence.importers import documents_of, identities

TEXT = """apiVersion: apps/v1
kind: Deployment
metadata: {name: web, namespace: prod}
---
apiVersion: keda.sh/v1alpha1
kind: ScaledObject
metadata: {name: s}
spec: {scaleTargetRef: {name: web}}
---
apiVersion: autoscaling.k8s.io/v1
kind: VerticalPodAutoscaler
metadata: {name: v}
spec: {targetRef: {kind: StatefulSet, name: db}}
---
apiVersion: v1
kind: Secret
metadata: {name: s}
---
apiVersion: gateway.networking.k8s.io/v1
kind: HTTPRoute
metadata: {name: r}
---
- a list
"""


def test_objects_of_known_kinds_and_targets_are_named_with_their_namespaces() -> None:
    defined, scaled = identities(documents_of(TEXT, "a.yaml"))
    assert defined == {("Deployment", "prod", "web"), ("ScaledObject", "", "s"), ("VerticalPodAutoscaler", "", "v")}
    assert scaled == {("Deployment", "", "web"), ("StatefulSet", "", "db")}
