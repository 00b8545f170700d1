"""Defines what is kept of one run."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from coherence.simulate.study.course import RunCourse
from coherence.simulate.study.latencies import Latencies
from coherence.simulate.study.readings import Sample
from coherence.simulate.study.start_up import StationLoad


@dataclass(frozen=True)
class RunRecord:
    """Readings, latencies by source and loads by station of a run; `stopped`: why it ended before its time.

    `served`: times by inference server and kind; `course`: how the run went, where a picture is wanted.
    """

    sample: Sample
    latencies: Mapping[str, Latencies] = field(default_factory=dict)
    loads: Mapping[str, StationLoad] = field(default_factory=dict)
    served: Mapping[tuple[str, str], Latencies] = field(default_factory=dict)
    course: RunCourse = field(default_factory=RunCourse)
    stopped: str = ""

    def joined(self, other: RunRecord) -> RunRecord:
        """Returns what both show of one run."""
        return RunRecord(
            {**self.sample, **other.sample}, {**self.latencies, **other.latencies}, {**self.loads, **other.loads},
            {**self.served, **other.served}, self.course.joined(other.course), self.stopped or other.stopped,
        )  # fmt: skip
