"""ServiceMonitor and PodMonitor: how often the endpoints of Services, or the pods, that they select are scraped.

A loop that reads one of their metrics gets a sensor: see the module _telemetry.

SOURCE: prometheus-operator API, monitoring.coreos.com/v1: without `namespaceSelector` the monitor's own namespace.
"""

from __future__ import annotations

from coherence.importers._kubernetes import FieldView, Manifest
from coherence.importers._monitoring import Monitor, duration
from coherence.importers._selectors import matches
from coherence.importers._sketch import Sketch
from coherence.language.document import Table

KINDS = ("ServiceMonitor", "PodMonitor")
GROUPS = ("monitoring.coreos.com",)


def add(manifest: Manifest, sketch: Sketch) -> None:
    """Notes the intervals of its endpoints."""
    spec, of_pods = manifest.spec, manifest.kind == "PodMonitor"
    selector = spec.table("selector") or FieldView(Table({}, {}, spec.node.place), "spec.selector", manifest)
    matches(selector, {})  # reads it, and reports what is wrong
    endpoints = spec.tables("podMetricsEndpoints" if of_pods else "endpoints")
    intervals = [duration(endpoint, "interval") for endpoint in endpoints]
    sketch.telemetry.monitors.append(Monitor(_namespaces(spec), selector, intervals, of_pods))


def _namespaces(spec: FieldView) -> list[str]:
    chosen = spec.table("namespaceSelector")
    every = chosen.scalar("any") if chosen else None
    if every is not None and every.text == "true":
        return []
    named = [name.text for name in chosen.scalars("matchNames")] if chosen else []
    return named or [spec.manifest.namespace]
