"""LLMInferenceService of KServe: its pods, and those of its workers, its prefill and its scheduler.

SOURCE: KServe API, serving.kserve.io LLMInferenceService: template, worker, prefill, router.scheduler.
"""

from __future__ import annotations

from coherence.importers._kserve import SPELLING, add_llm
from coherence.importers._kubernetes import Manifest
from coherence.importers._sketch import Sketch

__all__ = ["GROUPS", "KIND", "SPELLING", "add"]

KIND = "LLMInferenceService"
GROUPS = ("serving.kserve.io",)


def add(manifest: Manifest, sketch: Sketch) -> None:
    """Adds the pods."""
    add_llm(manifest, sketch)
