"""ClusterServingRuntime of KServe: the pods of a server of models of all namespaces, with its time to load one.

SOURCE: KServe API, serving.kserve.io/v1alpha1 ServingRuntimeSpec: containers, builtInAdapter.modelLoadingTimeoutMillis.
"""

from __future__ import annotations

from coherence.importers._kserve import SPELLING, add_runtime
from coherence.importers._kubernetes import Manifest
from coherence.importers._sketch import Sketch

__all__ = ["GROUPS", "KIND", "SPELLING", "add"]

KIND = "ClusterServingRuntime"
GROUPS = ("serving.kserve.io",)


def add(manifest: Manifest, sketch: Sketch) -> None:
    """Adds the pods."""
    add_runtime(manifest, sketch)
