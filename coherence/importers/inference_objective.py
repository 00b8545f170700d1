"""InferenceObjective and InferenceModel of the Gateway API: whose requests a pool turns away first; both are listed.

SOURCE: Gateway API Inference Extension, inference.networking.x-k8s.io/v1alpha2 InferenceObjectiveSpec: priority (0
where none is written); InferenceModelSpec (before 1.0): criticality, targetModels.
"""

from __future__ import annotations

from coherence.importers._kubernetes import Manifest
from coherence.importers._sketch import Sketch

KINDS = ("InferenceObjective", "InferenceModel")
GROUPS = ("inference.networking.x-k8s.io",)
FIRST = "whose requests are turned away first where a pool is full is not modelled"
NOT_MODELLED = {
    "priority": FIRST,
    "criticality": FIRST,
    "targetModels": "which share goes to which model is not modelled",
}


def add(manifest: Manifest, sketch: Sketch) -> None:
    """Lists what it says."""
    del sketch
    manifest.spec.pass_over("poolRef", "modelName")
    manifest.spec.remark_all(NOT_MODELLED)
