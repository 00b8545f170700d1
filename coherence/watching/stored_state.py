"""Keeps what a watch knows in one JSON file, so that a restart goes on where the last run ended.

The file is replaced whole, and has the names and the step that it was written with: another design begins anew.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np

from coherence.base.errors import UsageError
from coherence.base.output_files import write_output
from coherence.watching.blocks import WorkloadBlock
from coherence.watching.monitor import Alert, SystemMonitor, WatchedBlocks
from coherence.watching.oscillations import PeriodShare
from coherence.watching.rolling import BlockRecord
from coherence.watching.sequential import Detector
from coherence.watching.signals import WatchedSystem

VERSION = 1
MARK = b'"written_by": "coherence watch"'
MOST_BYTES = 64 << 20


def state_of(monitor: SystemMonitor) -> dict[str, Any]:
    """Returns the state of a monitor as data for JSON."""
    return {
        "written_by": "coherence watch", "version": VERSION, "step": monitor.step,
        "signals_watched": sorted(monitor.system.queries), "last": monitor.last, "scrapes": monitor.scrapes,
        "blocks": {name: _block_state(own) for name, own in monitor.blocks.items()}, "signals": monitor.signals,
        "periods": {name: asdict(share) for name, share in monitor.periods.items()},
        "detectors": {key: _detector_state(detector) for key, detector in monitor.detectors.items()},
        "alerts": {key: asdict(alert) for key, alert in monitor.alerts.items()}, "opened": monitor.opened,
        "hours": monitor.hours, "values": monitor.values,
    }  # fmt: skip


def _block_state(own: WatchedBlocks) -> dict[str, Any]:
    return {
        "present": own.block.present.tolist(), "rows": own.block.rows,
        "twins": [[array.tolist() for array in twin] for twin in own.block.twins],
        "records": [asdict(record) for record in own.records], "waves": own.waves, "burst": own.burst,
        "begun": own.begun, "usual": own.usual,
    }  # fmt: skip


def _detector_state(detector: Detector) -> dict[str, Any]:
    return {**detector.__dict__, "reference": detector.reference.tolist()}


def monitor_from(state: Mapping[str, Any], system: WatchedSystem, step: float, weeks: float) -> SystemMonitor:
    """Returns the monitor that a state was taken of.  Raises KeyError, TypeError, ValueError of what is none."""
    monitor = SystemMonitor(system, step, weeks, float(state["last"]), int(state["scrapes"]))
    for name, saved in state["blocks"].items():
        if name in monitor.blocks:
            monitor.blocks[name] = _block_from(saved, monitor.blocks[name].block)
    monitor.signals = {name: [float(x) for x in column] for name, column in state["signals"].items()}
    monitor.periods = {name: PeriodShare(**share) for name, share in state["periods"].items()}
    monitor.detectors = {key: _detector_from(own) for key, own in state["detectors"].items()}
    monitor.alerts = {key: Alert(**alert) for key, alert in state["alerts"].items()}
    monitor.opened = {kind: int(count) for kind, count in state["opened"].items()}
    monitor.hours = {name: [(float(a), float(b)) for a, b in parts] for name, parts in state["hours"].items()}
    monitor.values = {name: float(value) for name, value in state["values"].items()}
    return monitor


def _detector_from(state: Mapping[str, Any]) -> Detector:
    reference = np.array(state["reference"], np.float64).reshape(-1, 2)
    return Detector(**{**state, "reference": reference})


def _block_from(state: Mapping[str, Any], block: WorkloadBlock) -> WatchedBlocks:
    present = np.array(state["present"], np.float64)
    if present.shape != block.present.shape:
        raise ValueError("another grid of twins")
    twins = [tuple(np.array(array, np.float64) for array in twin) for twin in state["twins"]]
    rows = [tuple(map(float, row)) for row in state["rows"]]
    records = [BlockRecord(**{**r, "waves": tuple(r["waves"]), "twins": tuple(r["twins"])}) for r in state["records"]]
    own = WorkloadBlock(block.load, present, rows, twins)  # type: ignore[arg-type]
    waves = [float(amount) for amount in state["waves"]]
    return WatchedBlocks(own, records, waves, state["burst"], state["begun"], state["usual"])


def write_state(file: str | Path, monitor: SystemMonitor, more: Mapping[str, Any]) -> None:
    """Writes the state, with what else is to last.  Raises UsageError."""
    text = json.dumps({**state_of(monitor), **more}, separators=(", ", ": "))
    write_output(file, text.encode(), mark=MARK)


def read_state(
    file: str | Path, system: WatchedSystem, step: float, weeks: float
) -> tuple[SystemMonitor, Mapping[str, Any]] | None:
    """Returns the monitor of a file and the rest of its state; None where there is no file, or of another design.

    Raises UsageError where the file is no state.
    """
    path = Path(file)
    try:
        if not path.exists() or not path.stat().st_size:
            return None
        state = json.loads(path.read_bytes()[:MOST_BYTES])
        if state["version"] != VERSION or state["step"] != step or state["signals_watched"] != sorted(system.queries):
            return None
        monitor = monitor_from(state, system, step, weeks)
    except (OSError, KeyError, TypeError, ValueError, AttributeError, RecursionError) as error:
        raise UsageError(f"--state {path} is no state of a watch ({error}): remove it, or name another file") from None
    return (monitor, state) if math.isfinite(monitor.last) else None
