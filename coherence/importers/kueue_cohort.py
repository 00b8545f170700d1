"""Cohort of Kueue: what its queues share beside their own quotas.

Cohorts within cohorts lend to each other along a tree; their queues' jobs are not modelled.

SOURCE: Kueue API, CohortSpec: parentName (`parent` in v1alpha1), resourceGroups, fairSharing.
"""

from __future__ import annotations

from coherence.importers._kubernetes import Manifest
from coherence.importers._sketch import Sketch
from coherence.importers.kueue_cluster_queue import quotas_of

KIND = "Cohort"
GROUPS = ("kueue.x-k8s.io",)
TREE = "cohorts within cohorts lend along a tree"


def add(manifest: Manifest, sketch: Sketch) -> None:
    """Notes its own quotas, and whether it is a part of another."""
    spec, queues = manifest.spec, sketch.queues
    if not spec.node.entries:
        manifest.top.use("spec")
    for key in ("parentName", "parent"):
        parent = spec.node.get(key)
        spec.remark(key, TREE)
        if parent is not None:
            queues.trees |= {manifest.name.text: TREE, getattr(parent, "text", ""): TREE}
    spec.remark("fairSharing", "a weight counts where the configuration shares fairly")
    queues.beside += [(manifest.name.text, quota) for quota in quotas_of(spec)]
