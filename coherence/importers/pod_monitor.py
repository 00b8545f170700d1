"""PodMonitor: how often the pods that it selects are scraped.

A loop that reads one of their metrics gets a sensor: see the module _telemetry.

SOURCE: prometheus-operator API, PodMonitorSpec.
"""

from __future__ import annotations

from coherence.importers._kubernetes import Manifest
from coherence.importers._monitors import add_monitor
from coherence.importers._sketch import Sketch

KIND = "PodMonitor"
GROUPS = ("monitoring.coreos.com",)


def add(manifest: Manifest, sketch: Sketch) -> None:
    """Notes the intervals."""
    add_monitor(manifest, sketch, "podMetricsEndpoints")
