"""DaemonSet: pods with what they need, probes as timers, grace as a timer; how many there are is the nodes' matter.

SOURCE: Kubernetes API, apps/v1 DaemonSetSpec.
"""

from __future__ import annotations

from coherence.importers import _pods as pods
from coherence.importers._kubernetes import Manifest
from coherence.importers._sketch import Sketch

KIND = "DaemonSet"
GROUPS = ("apps", "extensions")
SPELLING = pods.SPELLING


def add(manifest: Manifest, sketch: Sketch) -> None:
    """Adds the component, its probes and the time it is given to stop."""
    spec = manifest.spec
    spec.remark("updateStrategy", "the replacement of pods node by node is not modelled")
    pods.add_pods(manifest, sketch, spec.table("template"), copies=None)
