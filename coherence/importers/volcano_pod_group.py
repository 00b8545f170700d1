"""PodGroup of Volcano: pods of which so many start together, and what they request at least.

One that another object owns is said by that object.

SOURCE: Volcano API scheduling.volcano.sh/v1beta1, PodGroupSpec.
"""

from __future__ import annotations

from coherence.importers._job_queues import Gang
from coherence.importers._jobs import leaving_time
from coherence.importers._kubernetes import Manifest
from coherence.importers._sketch import Sketch
from coherence.language.document import Scalar

KIND = "PodGroup"
GROUPS = ("scheduling.volcano.sh",)
SPELLING: dict[str, str] = {}
QUEUE = "default"
NOT_MODELLED = {
    "minTaskMember": "how many pods of one task start together",
    "priorityClassName": "its priority is that of a class",
    "networkTopology": "which nodes are near each other",
}


def add(manifest: Manifest, sketch: Sketch) -> None:
    """Notes what its pods request together."""
    if "ownerReferences" in manifest.metadata:
        manifest.spec.remark("minMember", "its owner says it")
        return
    spec = manifest.spec
    spec.remark_all(NOT_MODELLED)
    spec.remark("minMember", "all of them together are one: minResources says what they need")
    queue, least = spec.scalar("queue"), spec.table("minResources")
    each = least.amounts() if least is not None else {}
    single, place = Scalar("1", manifest.name.place), manifest.name.place
    thing, name = sketch.names.thing(manifest.name.text, "", KIND), queue.text if queue else QUEUE
    sketch.queues.gangs.append(
        Gang(manifest.title, thing, place, name, single, single, each, leaving_time([]), mixed=True)
    )
