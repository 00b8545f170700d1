"""Service: which pods answer for its name, so that what monitors the Service monitors them.

SOURCE: Kubernetes API, core/v1 ServiceSpec.selector.
"""

from __future__ import annotations

from coherence.importers._kubernetes import FieldView, Manifest, texts
from coherence.importers._monitoring import Endpoint
from coherence.importers._sketch import Sketch

KIND = "Service"
GROUPS = ("v1",)


def add(manifest: Manifest, sketch: Sketch) -> None:
    """Notes its labels and its pods."""
    selector = manifest.spec.table("selector")
    metadata = FieldView(manifest.metadata, "metadata", manifest)
    labels = metadata.table("labels")
    pods = texts(selector.node if selector else None)
    manifest.spec.use("selector")
    sketch.telemetry.endpoints.append(Endpoint(manifest.namespace, texts(labels.node if labels else None), pods))
