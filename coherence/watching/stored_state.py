"""Keeps what a watch knows in one JSON file, so that a restart goes on where the last run ended.

The file is replaced whole, and has the name of its system, the queries and the step that it was written with: under
others it is refused, so that nothing that was learned is overwritten unasked.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Mapping, Sequence
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
from coherence.watching.state_shape import STATE

VERSION = 4
MARK = b'"written_by": "coherence watch"'
MOST_BYTES = 64 << 20


def state_of(monitor: SystemMonitor) -> dict[str, Any]:
    """Returns the state of a monitor as data for JSON."""
    return {
        "written_by": "coherence watch", "version": VERSION, "step": monitor.step,
        "system": monitor.system.system, "queries": dict(monitor.system.queries),
        "last": monitor.last if math.isfinite(monitor.last) else None, "scrapes": monitor.scrapes,
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
        "waiting": own.block.waiting, "records": [asdict(record) for record in own.records], "waves": own.waves,
        "burst": own.burst, "begun": own.begun, "usual": own.usual,
    }  # fmt: skip


def _detector_state(detector: Detector) -> dict[str, Any]:
    return {**detector.__dict__, "reference": detector.reference.tolist()}


def monitor_from(state: Mapping[str, Any], system: WatchedSystem, step: float, weeks: float) -> SystemMonitor:
    """Returns the monitor that a state was taken of; the state has been checked."""
    last = math.nan if state["last"] is None else float(state["last"])
    monitor = SystemMonitor(system, step, weeks, last, state["scrapes"])
    for name, saved in state["blocks"].items():
        if name in monitor.blocks:
            monitor.blocks[name] = _block_from(saved, monitor.blocks[name].block)
    monitor.signals = {name: [float(x) for x in column] for name, column in state["signals"].items()}
    monitor.periods = {name: PeriodShare(**share) for name, share in state["periods"].items()}
    monitor.detectors = {key: _detector_from(own) for key, own in state["detectors"].items()}
    monitor.alerts = {key: Alert(**alert) for key, alert in state["alerts"].items()}
    monitor.opened = dict(state["opened"])
    monitor.hours = {name: [(float(a), float(b)) for a, b in parts] for name, parts in state["hours"].items()}
    monitor.values = {name: float(value) for name, value in state["values"].items()}
    return monitor


def _detector_from(state: Mapping[str, Any]) -> Detector:
    reference = np.array(state["reference"], np.float64).reshape(-1, 2)
    return Detector(**{**state, "reference": reference})


def _block_from(state: Mapping[str, Any], block: WorkloadBlock) -> WatchedBlocks:
    present = np.array(state["present"], np.float64)
    twins = [tuple(np.array(array, np.float64) for array in twin) for twin in state["twins"]]
    rows = [tuple(map(float, row)) for row in state["rows"]]
    records = [BlockRecord(**{**r, "waves": tuple(r["waves"]), "twins": tuple(r["twins"])}) for r in state["records"]]
    waiting = [float(share) for share in state["waiting"]]
    own = WorkloadBlock(block.load, present, rows, twins, waiting)  # type: ignore[arg-type]
    waves = [float(amount) for amount in state["waves"]]
    return WatchedBlocks(own, records, waves, state["burst"], state["begun"], state["usual"])


def write_state(
    file: str | Path, monitor: SystemMonitor, waiting: Sequence[Mapping[str, Any]] = (), errors: int = 0
) -> None:
    """Writes the state, with the notices that wait and the count of errors.  Raises UsageError."""
    state = {**state_of(monitor), "waiting": list(waiting), "errors": errors}
    write_output(file, json.dumps(state, separators=(", ", ": ")).encode(), mark=MARK)


def read_state(
    file: str | Path, system: WatchedSystem, step: float, weeks: float
) -> tuple[SystemMonitor, Mapping[str, Any]] | None:
    """Returns the monitor of a file and its whole state; None where there is no file.

    Raises UsageError where the file is no state, or is that of another watch.
    """
    path = Path(file)
    try:
        if not path.exists() or not path.stat().st_size:
            return None
        with path.open("rb") as stored:
            state = _checked(json.loads(stored.read(MOST_BYTES)))
    except (OSError, ValueError, RecursionError) as error:
        raise UsageError(f"--state {path} is no state of a watch ({error}): remove it, or name another file") from None
    for other in _others(state, system, step):
        raise UsageError(f"--state {path} was kept {other}, or name another file, or remove this one")
    return monitor_from(state, system, step, weeks), state


def _checked(state: Any) -> Mapping[str, Any]:
    """Returns what a file has, as a state.  Raises ValueError."""
    if isinstance(state, dict) and state.get("version", VERSION) != VERSION:
        raise ValueError(f"its version is {str(state['version'])[:20]}, and {VERSION} is read")
    STATE(state, "")
    if (state["last"] is None) != (state["scrapes"] == 0):
        raise ValueError("last and scrapes contradict each other")
    return state  # type: ignore[no-any-return]


def _others(state: Mapping[str, Any], system: WatchedSystem, step: float) -> Iterator[str]:
    """Yields what the state was kept at that is another now, with what to give."""
    if state["step"] != step:
        yield f"with --every {state['step']:g} s, and this is {step:g} s: give --every '{state['step']:g} s'"
    if state["system"] != system.system:
        yield f"for the system '{state['system']}', and this is '{system.system}': give its design"
    for name in sorted({*state["queries"], *system.queries}):
        was, now = (f"`{asks[name]}`" if name in asks else "not asked" for asks in (state["queries"], system.queries))
        if was != now:
            yield f"when {name} was {was}, and now it is {now}: give `telemetry:` as it was"
