"""Configuration of the Prometheus adapter as a file of its own: the rules by which it answers for metrics.

SOURCE: prometheus-adapter documentation, Configuration.
"""

from __future__ import annotations

from coherence.importers._adapter_rules import add_rules, is_rules
from coherence.importers._kubernetes import Manifest
from coherence.importers._sketch import Sketch
from coherence.language.document import Table

KIND = "PrometheusAdapter"
VARIANTS = True


def recognises(root: Table) -> bool:
    """Returns whether a document is a configuration of the adapter."""
    return is_rules(root)


def add(manifest: Manifest, sketch: Sketch) -> None:
    """Notes the rules."""
    add_rules(manifest.top, sketch)
