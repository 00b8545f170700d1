"""Defines what is kept of one run."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from coherence.simulate.study.latencies import Latencies
from coherence.simulate.study.readings import Sample
from coherence.simulate.study.start_up import StationLoad


@dataclass(frozen=True)
class RunRecord:
    """Readings, latencies by source and loads by station of a run; `stopped`: why it ended before its time."""

    sample: Sample
    latencies: Mapping[str, Latencies] = field(default_factory=dict)
    loads: Mapping[str, StationLoad] = field(default_factory=dict)
    stopped: str = ""
