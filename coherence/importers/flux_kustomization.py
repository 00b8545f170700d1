"""Kustomization of Flux: the manifests of its namespace are written again at every interval.

SOURCE: Flux documentation, Kustomization: interval, targetNamespace, suspend; drift is corrected at each one.
"""

from __future__ import annotations

from coherence.importers._kubernetes import Manifest
from coherence.importers._sketch import Sketch, Sync

KIND = "Kustomization"
GROUPS = ("kustomize.toolkit.fluxcd.io",)
SPELLING = {"period": "interval"}


def add(manifest: Manifest, sketch: Sketch) -> None:
    """Notes that the manifests of the namespace are written again."""
    spec = manifest.spec
    namespace, interval, suspended = spec.scalar("targetNamespace"), spec.required("interval"), spec.scalar("suspend")
    period = spec.duration("interval") if interval is not None else None
    if suspended is not None and suspended.text == "true":
        return
    sketch.syncs.append(Sync(namespace.text if namespace else "", period, period=period))
