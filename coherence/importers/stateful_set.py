"""StatefulSet: pods with what they need, probes as timers, grace as a timer, and who writes its replicas.

Pods are replaced one by one, each after the next higher one is ready.

SOURCE: Kubernetes API, apps/v1 StatefulSetSpec.
"""

from __future__ import annotations

from coherence.importers import _pods as pods
from coherence.importers._kubernetes import Manifest
from coherence.importers._replicas import link_scaling as link
from coherence.importers._replicas import replicas
from coherence.importers._sketch import Sketch

__all__ = ["GROUPS", "KIND", "SPELLING", "add", "link"]

KIND = "StatefulSet"
GROUPS = ("apps",)
SPELLING = pods.SPELLING


def add(manifest: Manifest, sketch: Sketch) -> None:
    """Adds the component, its probes and the time it is given to stop."""
    spec = manifest.spec
    spec.pass_over("serviceName")
    spec.remark("updateStrategy", "one pod after the other is replaced, which is not modelled")
    pods.add_pods(manifest, sketch, spec.table("template"), copies=replicas(spec))
