"""LocalQueue of Kueue: by which name the jobs of a namespace find their ClusterQueue.

SOURCE: Kueue API, LocalQueueSpec.
"""

from __future__ import annotations

from coherence.importers._kubernetes import Manifest
from coherence.importers._sketch import Sketch

KIND = "LocalQueue"
GROUPS = ("kueue.x-k8s.io",)


def add(manifest: Manifest, sketch: Sketch) -> None:
    """Notes the queue behind it."""
    spec = manifest.spec
    behind = spec.required("clusterQueue")
    spec.remark("fairSharing", "a weight counts where admission goes by what was used")
    stopped = spec.scalar("stopPolicy")
    if stopped is not None and stopped.text != "None":
        spec.remark("stopPolicy", "it lets nobody in: jobs that wait here are not modelled")
    elif behind is not None:
        sketch.queues.doors[manifest.namespace, manifest.name.text] = behind.text
