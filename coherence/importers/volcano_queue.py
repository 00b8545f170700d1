"""Queue of Volcano: what its jobs may use at most; its share of all nodes is listed.

SOURCE: Volcano API scheduling.volcano.sh/v1beta1, QueueSpec: weight 1, reclaimable true, no capability.
"""

from __future__ import annotations

from coherence.importers._kubernetes import Manifest
from coherence.importers._sketch import Sketch

KIND = "VolcanoQueue"
OBJECT = "Queue"
GROUPS = ("scheduling.volcano.sh",)
SPELLING = {"count": "capability"}
TREE = "queues within queues share along a tree"
NOT_MODELLED = {
    "weight": "its share of all nodes, which no manifest says",
    "deserved": "what others take back from it, where the scheduler reclaims",
    "guarantee": "what no other queue may use",
    "reclaimable": "whether others take back what it uses above its share",
    "priority": "which queue is first",
    "dequeueStrategy": "whether a first job that does not fit is passed",
    "affinity": "on which nodes its jobs run",
    "type": "what its jobs are",
    "extendClusters": "jobs of other clusters",
}


def add(manifest: Manifest, sketch: Sketch) -> None:
    """Notes what its jobs may use at most."""
    spec = manifest.spec
    spec.remark_all(NOT_MODELLED)
    parent = spec.scalar("parent")
    if parent is not None and parent.text not in ("", "root"):
        sketch.queues.trees_of_volcano |= {manifest.name.text: TREE, parent.text: TREE}
        spec.remark("parent", TREE)
    most = spec.table("capability")
    sketch.queues.capabilities[manifest.name.text] = most.amounts() if most is not None else {}
