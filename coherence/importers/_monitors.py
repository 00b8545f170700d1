"""Parts common to a ServiceMonitor and a PodMonitor: what they select, where, and how often it is scraped.

SOURCE: prometheus-operator API, monitoring.coreos.com/v1: without `namespaceSelector` the monitor's own namespace.
"""

from __future__ import annotations

from coherence.importers._kubernetes import FieldView, Manifest
from coherence.importers._monitoring import Monitor
from coherence.importers._promql import seconds
from coherence.importers._quantities import duration_text, respelled
from coherence.importers._selectors import matches
from coherence.importers._sketch import Sketch
from coherence.language.document import Scalar, Table


def add_monitor(manifest: Manifest, sketch: Sketch, endpoints: str) -> None:
    """Notes the intervals of the endpoints of one monitor."""
    spec = manifest.spec
    selector = spec.table("selector") or FieldView(Table({}, {}, spec.node.place), "spec.selector", manifest)
    matches(selector, {})  # reads it, and reports what is wrong
    intervals = [duration(endpoint, "interval") for endpoint in spec.tables(endpoints)]
    of_pods = endpoints == "podMetricsEndpoints"
    sketch.telemetry.monitors.append(Monitor(_namespaces(spec), selector, intervals, of_pods))


def _namespaces(spec: FieldView) -> list[str]:
    chosen = spec.table("namespaceSelector")
    every = chosen.scalar("any") if chosen else None
    if every is not None and every.text == "true":
        return []
    named = [name.text for name in chosen.scalars("matchNames")] if chosen else []
    return named or [spec.manifest.namespace]


def duration(view: FieldView, key: str) -> Scalar | None:
    """Returns a duration of Prometheus, in the language's spelling."""
    stated = view.scalar(key)
    if stated is None:
        return None
    length = seconds(stated.text.strip())
    if not length:
        view.problem(stated.place, f"{view.at(key)} is no duration above zero", "write for example 30s or 1m")
        return None
    return respelled(stated, duration_text(length))
