"""Fault tolerance of NVIDIA's resiliency extension: how long a rank may be in a section, or without a beat.

A section that has no end in its time ends the rank, and its restart all others.  A time of `null` is worked out from
the first run, and unknown here.

SOURCE: nvidia-resiliency-ext documentation, Fault Tolerance, FaultToleranceConfig: rank_section_timeouts,
rank_out_of_section_timeout, initial_rank_heartbeat_timeout 60 min, rank_heartbeat_timeout 45 min (null: calibrated).
"""

from __future__ import annotations

from coherence.importers._kubernetes import FieldView, Manifest
from coherence.importers._names import sanitised
from coherence.importers._sketch import Sketch
from coherence.language.document import Scalar, Table

KIND = "FaultTolerance"
VARIANTS = True
SPELLING = {"after": "rank_section_timeouts"}
ROOT = "fault_tolerance"
RANK = "rank"
BEATS = {"initial_rank_heartbeat_timeout": "load", "rank_heartbeat_timeout": "step"}
NOT_MODELLED = {
    "rank_out_of_section_timeout": "how long a rank may be between two sections",
    "safety_factor": "how much longer than measured a time is that is worked out",
    "workload_check_interval": "how often ranks are looked at",
}


def recognises(root: Table) -> bool:
    """Returns whether a document states the fault tolerance of ranks."""
    return isinstance(root.get(ROOT), Table)


def add(manifest: Manifest, sketch: Sketch) -> None:
    """Adds a timer for each section, and for beats whose time is written."""
    top = manifest.top.table(ROOT)
    if top is None:
        return
    top.pass_over("log_level")
    top.remark_all(NOT_MODELLED)
    sections = top.table("rank_section_timeouts")
    for name in sections.node.entries if sections is not None else ():
        if sections is not None:
            _timer(sections, name, name, sketch)
    for key, activity in BEATS.items():
        _timer(top, key, activity, sketch)


def _timer(view: FieldView, key: str, activity: str, sketch: Sketch) -> None:
    """Adds that a rank is ended where an activity of it takes longer."""
    after = view.decimal_seconds(key)
    if after is None:
        return
    part = f"{RANK}.{sanitised(activity)}"
    sketch.mention(RANK, Scalar(key, after.place).place, "a rank of training")
    sketch.put_timer(f"{RANK}_{activity}_limit", layer="runtime", during=part, after=after, then=f"restart {RANK}")
