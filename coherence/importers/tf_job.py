"""TFJob of Kubeflow: the pods of its chief, its workers and its parameter servers, and the job that a queue lets in.

SOURCE: Kubeflow training operator API v1, TFJobSpec: replicas 1 of each.
"""

from __future__ import annotations

from coherence.importers._kubeflow import SPELLING, add_job
from coherence.importers._kubernetes import Manifest
from coherence.importers._sketch import Sketch

KIND = "TFJob"
GROUPS = ("kubeflow.org",)
NOT_MODELLED = {
    "successPolicy": "which members must end for it to have ended",
    "enableDynamicWorker": "workers may come and go",
}
__all__ = ["GROUPS", "KIND", "SPELLING", "add"]


def add(manifest: Manifest, sketch: Sketch) -> None:
    """Adds the pods of all kinds of members, and the job where it waits in a queue."""
    manifest.spec.remark_all(NOT_MODELLED)
    add_job(manifest, sketch, "tfReplicaSpecs")
