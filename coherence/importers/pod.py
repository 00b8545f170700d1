"""Pod without an owner: one copy of what it needs, its probes, its grace.

SOURCE: Kubernetes API, core/v1 PodSpec: restartPolicy Always where none is written.
"""

from __future__ import annotations

from coherence.importers import _pods as pods
from coherence.importers._kubernetes import Manifest
from coherence.importers._owners import is_made_by_another
from coherence.importers._sketch import Sketch
from coherence.language.document import Scalar

KIND = "Pod"
GROUPS = ("v1",)
SPELLING = pods.SPELLING


def add(manifest: Manifest, sketch: Sketch) -> None:
    """Adds the component, its probes and the time it is given to stop."""
    if is_made_by_another(manifest):
        return
    single, labels = Scalar("1", manifest.name.place), pods.labels_of(manifest.top)
    manifest.spec.remark("restartPolicy", "what was ended is taken to be started again")
    pods.add_workload(manifest, sketch, manifest.name, manifest.spec, copies=single, labels=labels)
