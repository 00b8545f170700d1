"""Ray Serve: a config file of its own, with the deployments of its applications.

SOURCE: Ray documentation, Serve Config Files.
"""

from __future__ import annotations

from coherence.importers._kubernetes import Manifest
from coherence.importers._ray_serve import SPELLING, add_applications, is_config
from coherence.importers._sketch import Sketch
from coherence.language.document import Table

__all__ = ["KIND", "LOCAL_NAMES", "SPELLING", "VARIANTS", "add", "recognises"]

KIND = "RayServe"
VARIANTS = True
LOCAL_NAMES = True


def recognises(root: Table) -> bool:
    """Returns whether a document is a config of Ray Serve."""
    return is_config(root)


def add(manifest: Manifest, sketch: Sketch) -> None:
    """Adds the deployments."""
    add_applications(manifest.top, sketch)
