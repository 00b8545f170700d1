"""RayService: the deployments of its Serve config, and the worker groups of its cluster.

`serveConfigV2` is a config of Ray Serve written as a text.

SOURCE: KubeRay API, ray.io/v1 RayServiceSpec.
"""

from __future__ import annotations

from coherence.importers import _ray_serve as serve
from coherence.importers._embedded import embedded
from coherence.importers._kubernetes import FieldView, Manifest
from coherence.importers._ray_groups import add_groups
from coherence.importers._sketch import Sketch

KIND = "RayService"
GROUPS = ("ray.io",)
SPELLING = serve.SPELLING
UNREADABLE = "cannot be read as a config of Ray Serve"


def add(manifest: Manifest, sketch: Sketch) -> None:
    """Adds the deployments and the groups."""
    spec = manifest.spec
    cluster, text = spec.table("rayClusterConfig"), spec.scalar("serveConfigV2")
    version = cluster.scalar("rayVersion") if cluster else None
    if text is not None:
        root = embedded(text)
        if root is None:
            spec.remark("serveConfigV2", UNREADABLE)
        else:
            view = FieldView(root, spec.at("serveConfigV2"), manifest)
            serve.add_applications(view, sketch, version=version.text if version else "")
    if cluster is not None:
        add_groups(cluster, sketch)
