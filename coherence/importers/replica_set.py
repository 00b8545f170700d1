"""ReplicaSet and ReplicationController without an owner: pods with what they need, probes, grace, replicas.

SOURCE: Kubernetes API, apps/v1 ReplicaSetSpec; core/v1 ReplicationControllerSpec.
"""

from __future__ import annotations

from coherence.importers import _pods as pods
from coherence.importers._kubernetes import Manifest
from coherence.importers._owners import is_made_by_another
from coherence.importers._replicas import link_scaling as link
from coherence.importers._replicas import replicas
from coherence.importers._sketch import Sketch

__all__ = ["GROUPS", "KINDS", "SPELLING", "add", "link"]

KINDS = ("ReplicaSet", "ReplicationController")
GROUPS = ("apps", "v1")
SPELLING = pods.SPELLING


def add(manifest: Manifest, sketch: Sketch) -> None:
    """Adds the component, its probes and the time it is given to stop."""
    if is_made_by_another(manifest):
        return
    spec = manifest.spec
    pods.add_pods(manifest, sketch, spec.table("template"), copies=replicas(spec))
