"""Reads telemetry for the causal engine, puts it on one regular clock, and reports what was missing.

telemetry = read("telemetry/")                 # CSV, Parquet, OTLP; `queried` asks a Prometheus
series = aligned(telemetry, step=15)          # gauges as sampled, counters as rates, gaps stay gaps
print("\\n".join(render_report(report(telemetry, series))))
"""

from __future__ import annotations

from coherence.causal.telemetry.alignment import aligned
from coherence.causal.telemetry.chunks import chunks
from coherence.causal.telemetry.joining import joined
from coherence.causal.telemetry.missing import TelemetryReport, render_brief, render_report, report, report_to_dict
from coherence.causal.telemetry.naming import named, queries_of
from coherence.causal.telemetry.prometheus import queried
from coherence.causal.telemetry.sources import read

__all__ = [
    "TelemetryReport",
    "aligned",
    "chunks",
    "joined",
    "named",
    "queried",
    "queries_of",
    "read",
    "render_brief",
    "render_report",
    "report",
    "report_to_dict",
]
