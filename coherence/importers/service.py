"""Service: which pods answer for its name, so that what monitors the Service monitors them.

SOURCE: Kubernetes API, core/v1 ServiceSpec.selector.
"""

from __future__ import annotations

from coherence.importers._kubernetes import FieldView, Manifest
from coherence.importers._monitoring import Endpoint
from coherence.importers._sketch import Sketch
from coherence.language.document import Scalar, Table

KIND = "Service"
GROUPS = ("v1",)


def add(manifest: Manifest, sketch: Sketch) -> None:
    """Notes its labels and its pods."""
    selector = manifest.spec.table("selector")
    metadata = FieldView(manifest.metadata, "metadata", manifest)
    labels = metadata.table("labels")
    pods = _texts(selector.node) if selector else {}
    manifest.spec.use("selector")
    sketch.telemetry.endpoints.append(Endpoint(manifest.namespace, _texts(labels.node) if labels else {}, pods))


def _texts(table: Table) -> dict[str, str]:
    return {key: node.text for key, node in table.entries.items() if isinstance(node, Scalar)}
