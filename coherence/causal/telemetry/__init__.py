"""Telemetry for the causal engine: read, put on one regular clock, and a report of what was missing.

told = read("telemetry/")                 # CSV, Parquet, OTLP; `queried` asks a Prometheus
series = aligned(told, step=15)           # gauges as sampled, counters as rates, gaps stay gaps
print("\\n".join(lines(report(told, series))))
"""

from __future__ import annotations

from coherence.causal.telemetry.alignment import aligned
from coherence.causal.telemetry.chunks import chunks
from coherence.causal.telemetry.joining import joined
from coherence.causal.telemetry.missing import Report, as_json, lines, report
from coherence.causal.telemetry.naming import named, queries_of
from coherence.causal.telemetry.prometheus import queried
from coherence.causal.telemetry.sources import read

__all__ = [
    "Report",
    "aligned",
    "as_json",
    "chunks",
    "joined",
    "lines",
    "named",
    "queried",
    "queries_of",
    "read",
    "report",
]
