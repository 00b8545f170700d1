"""RayCluster: its worker groups, and the autoscaler that chooses how many workers each has.

SOURCE: KubeRay API, ray.io/v1 RayClusterSpec.
"""

from __future__ import annotations

from coherence.importers._kubernetes import Manifest
from coherence.importers._ray_groups import add_groups
from coherence.importers._sketch import Sketch

KIND = "RayCluster"
GROUPS = ("ray.io",)


def add(manifest: Manifest, sketch: Sketch) -> None:
    """Adds the groups."""
    add_groups(manifest.spec, sketch)
