"""Reads a case of RCAEval: a folder with a wide table of metrics and the time of the fault.

`data.csv` (or `simple_metrics.csv`) has a column `time` (epoch seconds) and columns SERVICE_METRIC; `inject_time.txt`
holds the time at which the fault began.  Folders are SERVICE_FAULT/NUMBER, which is the label, read for scoring alone.
SOURCE: Pham et al. 2024, RCAEval: A Benchmark for Root Cause Analysis of Microservice Systems (arXiv 2412.17015).
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from coherence.causal.data.series import Series
from coherence.causal.telemetry.problems import quoted, refuse
from coherence.simulate.telemetry.bounded_files import whole_text

TABLES = ("data.csv", "simple_metrics.csv", "simple_data.csv")
TIME = "inject_time.txt"


@dataclass(frozen=True)
class RcaCase:
    """One incident: telemetry before and after the fault began, and the service in the folder's name."""

    name: str
    normal: Series
    incident: Series
    label: str


def is_case(folder: Path) -> bool:
    """Decides whether a folder is a case."""
    return (folder / TIME).is_file() and any((folder / name).is_file() for name in TABLES)


def rca_case(folder: Path) -> RcaCase:
    """Returns the case in a folder.  Raises InputError with file and line."""
    from coherence.causal import telemetry

    table = next(folder / name for name in TABLES if (folder / name).is_file())
    text = whole_text(folder / TIME, lenient=True).strip()
    try:
        began = float(text)
    except ValueError:
        raise refuse(folder / TIME, 1, f"{quoted(text)} is no time", "write seconds since 1970") from None
    series = telemetry.aligned(telemetry.read((str(table),)), keep=("constant", "copies"))
    normal, incident = series.between(-float("inf"), began), series.between(began, float("inf"))
    if not len(normal) or not len(incident):
        span = f"{series.times[0]:.0f} to {series.times[-1]:.0f}" if len(series) else "empty"
        raise refuse(folder / TIME, 1, f"{text} is not within the telemetry", f"the table is from {span} s")
    return RcaCase("/".join(folder.parts[-2:]), normal, incident, folder.parent.name.rpartition("_")[0])
