"""MPIJob of Kubeflow's MPI operator: the pods of its launcher and its workers, and the job that a queue lets in.

SOURCE: MPI operator API v2beta1, MPIJobSpec: one launcher, no workers where their number is not written.
"""

from __future__ import annotations

from coherence.importers._kubeflow import SPELLING, add_job
from coherence.importers._kubernetes import Manifest
from coherence.importers._sketch import Sketch

KIND = "MPIJob"
GROUPS = ("kubeflow.org",)
NOT_MODELLED = {
    "slotsPerWorker": "how many ranks a pod has",
    "runLauncherAsWorker": "the launcher has ranks, too",
    "launcherCreationPolicy": "whether the launcher waits for its workers",
}
__all__ = ["GROUPS", "KIND", "SPELLING", "add"]


def add(manifest: Manifest, sketch: Sketch) -> None:
    """Adds the pods of its launcher and its workers, and the job where it waits in a queue."""
    manifest.spec.remark_all(NOT_MODELLED)
    manifest.spec.pass_over("sshAuthMountPath", "mpiImplementation")
    add_job(manifest, sketch, "mpiReplicaSpecs", {"Worker": "0"})
