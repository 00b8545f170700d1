"""PyTorchJob of Kubeflow: the pods of its master and its workers, and the job that a queue of Kueue lets in as a whole.

SOURCE: Kubeflow training operator API v1, PyTorchJobSpec: replicas 1 of each; runPolicy, elasticPolicy.
"""

from __future__ import annotations

from coherence.importers._kubeflow import SPELLING, add_job
from coherence.importers._kubernetes import Manifest
from coherence.importers._sketch import Sketch

KIND = "PyTorchJob"
GROUPS = ("kubeflow.org",)
NOT_MODELLED = {
    "elasticPolicy": "between how many members it runs, and how they meet",
    "nprocPerNode": "how many ranks a pod has",
}
__all__ = ["GROUPS", "KIND", "SPELLING", "add"]


def add(manifest: Manifest, sketch: Sketch) -> None:
    """Adds the pods of its master and its workers, and the job where it waits in a queue."""
    manifest.spec.remark_all(NOT_MODELLED)
    add_job(manifest, sketch, "pytorchReplicaSpecs")
