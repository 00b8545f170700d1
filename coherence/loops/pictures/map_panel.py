"""Draws where a network is stable, over a factor on the gain of one block and its extra delay."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from itertools import groupby
from typing import TYPE_CHECKING, Any

import numpy as np

from coherence.loops.analysis.gain_delay_map import GainDelayMap
from coherence.loops.analysis.network_answers import NetworkQuestion
from coherence.loops.analysis.network_questions import answered, slowest
from coherence.loops.multirate.sampled_system import Multirate
from coherence.loops.networks.network import Network
from coherence.loops.networks.stability_map import stability_map
from coherence.reporting.pictures.figure import Dots, Panel

if TYPE_CHECKING:
    from numpy.typing import NDArray

FACTORS, DELAYS = 61, 160  # of the map of one loop; an odd number of factors: one row is of the factor 1
STABLE, OTHER = "#7fb3d5", "#f3dcd6"
TITLE = "gain and delay"
Cell = tuple[float, float, float, float, str]


def map_panel(net: Network | Multirate, name: str, *, label: str = "") -> Panel:
    """Returns the map of one block; `label` is its name in the title.  Raises UsageError."""
    if isinstance(net, Network) and len(net.blocks) == len(net.couplings) == 1 and net.blocks[0].rate is None:
        cells = tuple(_exact_cells(net))
    else:
        numbers = answered(net, NetworkQuestion("map", (name,))).numbers
        cells = tuple(_cells(numbers.get("rows", ()), float(numbers.get("longest", 0.0))))
    return _panel(label or name, cells)


def lap_map_panel(known: GainDelayMap, name: str) -> Panel:
    """Returns the map of a sampled loop of a design, whose extra delay is in the landing of its commands."""
    rows = [{"factor": factor, "stable": stable} for factor, stable in known.rows]
    return _panel(name, tuple(_cells(rows, known.longest)))


def _panel(name: str, cells: tuple[Cell, ...]) -> Panel:
    here = Dots("as it is", ((0.0, 1.0),), "o", 0)
    title, x = f"{TITLE} of {name}", "extra delay, s"
    return Panel(title, x, "factor on the gain (ratio)", (), (here,), log="y", cells=cells)


def _exact_cells(net: Network) -> list[Cell]:
    """Returns the rectangles of one loop, each counted exactly at its middle."""
    block, gain = net.blocks[0], float(net.couplings[0].gain)
    longest = 10 * slowest(net)
    factors, extra = np.geomspace(0.1, 10, FACTORS), (np.arange(DELAYS) + 0.5) * longest / DELAYS
    counted = stability_map([-gain * c for c in block.numerator], block.denominator, factors, block.delay + extra)
    rows = [{"factor": float(k), "stable": _runs(row, longest)} for k, row in zip(factors, counted.stable, strict=True)]
    return _cells(rows, longest)


def _runs(stable: NDArray[np.bool_], longest: float) -> list[tuple[float, float]]:
    """Returns the stretches of stable cells as delays."""
    width, place, spans = longest / len(stable), 0, []
    for is_stable, group in groupby(stable.tolist()):
        count = len(list(group))
        spans += [(place * width, (place + count) * width)] if is_stable else []
        place += count
    return spans


def _cells(rows: Sequence[Mapping[str, Any]], longest: float) -> list[Cell]:
    """Returns one row of rectangles for each factor, from half way to its neighbours."""
    if len(rows) < 2:
        return []
    half = math.sqrt(rows[1]["factor"] / rows[0]["factor"])
    cells: list[Cell] = []
    for row in rows:
        low, high = row["factor"] / half, row["factor"] * half
        cells.append((0.0, low, longest, high, OTHER))
        cells += [(start, low, end, high, STABLE) for start, end in row["stable"]]
    return cells
