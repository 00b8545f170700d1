"""ResourceFlavor of Kueue: which nodes a quota stands for; taints and topology decide beside the quota.

SOURCE: Kueue API, ResourceFlavorSpec.
"""

from __future__ import annotations

from coherence.importers._kubernetes import Manifest
from coherence.importers._sketch import Sketch

KIND = "ResourceFlavor"
GROUPS = ("kueue.x-k8s.io",)
OBSTACLES = {
    "nodeTaints": "only jobs that tolerate its taints are given the flavor",
    "topologyName": "jobs are let in by the room of racks and hosts",
}


def add(manifest: Manifest, sketch: Sketch) -> None:
    """Notes what decides beside the quota."""
    spec = manifest.spec
    spec.pass_over("nodeLabels")
    for key, why in OBSTACLES.items():
        if key in spec:
            spec.remark(key, why)
            sketch.queues.flavors[manifest.name.text] = why
