"""LLMInferenceServiceConfig of KServe: the pods that a service has where it says nothing else.

SOURCE: KServe API, serving.kserve.io LLMInferenceServiceConfig: template, worker, prefill, router.scheduler.
"""

from __future__ import annotations

from coherence.importers._kserve import SPELLING, add_llm
from coherence.importers._kubernetes import Manifest
from coherence.importers._sketch import Sketch

__all__ = ["GROUPS", "KIND", "SPELLING", "add"]

KIND = "LLMInferenceServiceConfig"
GROUPS = ("serving.kserve.io",)


def add(manifest: Manifest, sketch: Sketch) -> None:
    """Adds the pods."""
    add_llm(manifest, sketch)
