"""LLMInferenceService of KServe: its pods, and those of its workers, its prefill and its scheduler.

A LLMInferenceServiceConfig says the same of every service that says nothing else.

SOURCE: KServe API, serving.kserve.io LLMInferenceService: template, worker, prefill, router.scheduler.
"""

from __future__ import annotations

from coherence.importers import _pods as pods
from coherence.importers._kserve import named
from coherence.importers._kubernetes import Manifest
from coherence.importers._sketch import Sketch

KINDS = ("LLMInferenceService", "LLMInferenceServiceConfig")
GROUPS = ("serving.kserve.io",)
SPELLING = pods.SPELLING


def add(manifest: Manifest, sketch: Sketch) -> None:
    """Adds the pods of each part of a service that says how they are."""
    spec = manifest.spec
    spec.pass_over("model", "baseRefs")
    for view, suffix in ((spec, ""), (spec.table("prefill"), "prefill")):
        copies = view.whole("replicas") if view is not None else None
        for key, word in (("template", ""), ("worker", "worker")):
            pod = view.table(key) if view is not None else None
            if pod is not None:
                name = named(manifest, " ".join(filter(None, (suffix, word))))
                pods.add_workload(manifest, sketch, name, pod, copies=copies, labels={})
    scheduler = spec.inner("router", "scheduler", "template")
    if scheduler is not None:
        pods.add_workload(manifest, sketch, named(manifest, "scheduler"), scheduler, copies=None, labels={})
