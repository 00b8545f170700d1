"""Job: its pods, in which time it ends, how often it is tried; a job that a queue of Kueue lets in.

SOURCE: Kubernetes API, batch/v1 JobSpec.
"""

from __future__ import annotations

from coherence.importers import _pods as pods
from coherence.importers._jobs import SPELLING as OWN
from coherence.importers._jobs import add_limits, enqueue, members_at_once, pod_set
from coherence.importers._kubernetes import Manifest
from coherence.importers._sketch import Sketch

KIND = "Job"
GROUPS = ("batch",)
SPELLING = {**pods.SPELLING, **OWN, "copies": "parallelism"}


def add(manifest: Manifest, sketch: Sketch) -> None:
    """Adds the component with its limits, and the job where it waits in a queue."""
    spec = manifest.spec
    thing = pods.add_pods(manifest, sketch, spec.table("template"), copies=members_at_once(spec))
    add_limits(spec, thing, sketch)
    enqueue(manifest, sketch, [pod_set(spec)], pods.specifications([spec]))
