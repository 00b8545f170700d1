"""Prometheus (the object of its operator): how often it scrapes and evaluates where nothing else says it.

SOURCE: prometheus-operator API, PrometheusSpec: scrapeInterval and evaluationInterval, 30s where none is written.
"""

from __future__ import annotations

from coherence.importers._kubernetes import Manifest
from coherence.importers._monitoring import duration
from coherence.importers._sketch import Sketch

KIND = "Prometheus"
GROUPS = ("monitoring.coreos.com",)


def add(manifest: Manifest, sketch: Sketch) -> None:
    """Notes both."""
    scrape, evaluation = duration(manifest.spec, "scrapeInterval"), duration(manifest.spec, "evaluationInterval")
    sketch.telemetry.scrapes += [scrape] if scrape else []
    sketch.telemetry.evaluations += [evaluation] if evaluation else []
