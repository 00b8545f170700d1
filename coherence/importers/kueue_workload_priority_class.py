"""WorkloadPriorityClass of Kueue: the priority of the jobs that name it.

SOURCE: Kueue API, WorkloadPriorityClass.
"""

from __future__ import annotations

from coherence.importers._kubernetes import Manifest
from coherence.importers._sketch import Sketch

KIND = "WorkloadPriorityClass"
GROUPS = ("kueue.x-k8s.io",)


def add(manifest: Manifest, sketch: Sketch) -> None:
    """Notes the priority."""
    manifest.top.pass_over("description")
    value = manifest.top.required("value")
    if value is not None:
        sketch.queues.priorities[manifest.name.text] = value
