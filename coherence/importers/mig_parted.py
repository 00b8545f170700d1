"""Configurations of NVIDIA's mig-parted: into which slices each accelerator is cut, and whether there are as many.

An accelerator with MIG has seven slices of computing, some have four; `3g.40gb` takes three of them.  A configuration
that wants more is refused when a node is labelled with it, and the node keeps what it had.  Where slices may lie, and
how much memory they take together, is not counted.

SOURCE: NVIDIA Multi-Instance GPU User Guide, GPU Instances: 7 compute slices of A100, H100, H200, B200, 4 of A30 and
RTX PRO 6000; mig-parted, examples/config.yaml.
"""

from __future__ import annotations

import re

from coherence.base import units
from coherence.importers._kubernetes import FieldView, Manifest
from coherence.importers._names import sanitised
from coherence.importers._quantities import integer, respelled
from coherence.importers._sketch import Sketch
from coherence.language.document import Items, Scalar, Table

KIND = "MigParted"
VARIANTS = True
IN_CONFIG_MAP = "mig-configs"
SPELLING: dict[str, str] = {}
ROOT = "mig-configs"
SLICES, FEWER = "7", "4"
OF_FEWER = re.compile(r"(?:1g\.6gb|2g\.12gb|4g\.24gb|2g\.48gb|4g\.96gb)(?:\+.*|\..*)?")  # A30, RTX PRO 6000
PROFILE = re.compile(r"(?:(?P<compute>[0-9])c\.)?(?P<slices>[0-9])g\.[0-9]{1,4}gb(?:\+[a-z.]+|\.me|-me)*")


def recognises(root: Table) -> bool:
    """Returns whether a document says how accelerators are cut."""
    return isinstance(root.get(ROOT), Table)


def add(manifest: Manifest, sketch: Sketch) -> None:
    """Adds for each configuration a limit on the slices of one accelerator."""
    manifest.top.pass_over("version")
    configurations = manifest.top.table(ROOT)
    for name, entries in configurations.node.entries.items() if configurations is not None else ():
        views = configurations.tables(name) if configurations is not None and isinstance(entries, Items) else []
        for view in views:
            view.pass_over("devices", "mig-enabled", "device-filter")
            _cut(view, name, sketch)


def _cut(view: FieldView, name: str, sketch: Sketch) -> None:
    """Adds the limit of one entry, where it cuts anything."""
    devices = view.table("mig-devices")
    total, first, profiles = 0, None, list(devices.node.entries) if devices is not None else []
    for profile in profiles:
        count = devices.whole(profile) if devices is not None else None
        match = PROFILE.fullmatch(profile)
        if match is None and devices is not None:
            words = f"'{units.shorten(profile)}' is no profile of a slice"
            devices.problem(devices.place(profile), words, "write for example 3g.40gb")
        elif match is not None and count is not None:
            total, first = total + int(match["slices"]) * (integer(count) or 0), first or count
    if first is None:
        return
    thing = sketch.names.fresh(f"mig_{sanitised(name)}")
    note = Scalar(f"accelerators that are cut as {units.shorten(name)}", first.place)
    sketch.put("components", thing, first.place, {"note": note, "slices": respelled(first, str(total))})
    most = respelled(first, FEWER if any(map(OF_FEWER.fullmatch, profiles)) else SLICES)
    sketch.put_limit(f"{thing}_slices", f"{thing}.slices", most)
