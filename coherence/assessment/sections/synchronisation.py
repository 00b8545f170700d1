"""Draws which loops act together: how firmly the acts of one stand at one phase between the acts of another.

Mean phase coherence: the length of the mean of exp(2 pi i phi), phi the phase of an act of the one between two acts of
the other.  1: always at the same phase; independent acts come to about 0.9 / sqrt(acts).
SOURCE: Mardia and Jupp 2000, Directional Statistics, 5.3.2 (the Rayleigh test); Pikovsky et al. 2001.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping

import numpy as np

from coherence.assessment.parts.answers import Assessment
from coherence.assessment.parts.elements import note, pictured, reproduced, table
from coherence.reporting.pictures.heat_map import HeatRow, matrix_map
from coherence.reporting.pictures.markup import Child
from coherence.simulate.study.course import Array, WriteMark

ORDER, TITLE = 67, "Synchronisation of loops"
FEW, MOST = 5, 12  # acts of a loop, and loops
SURE = 0.05


def section(assessment: Assessment) -> tuple[Child, ...]:
    """Returns the map of phase coherence between loops that act in the run; what is missing where none is."""
    writes: dict[str, list[WriteMark]] = {}
    for write in assessment.runs.course.writes:
        writes.setdefault(write.loop, []).append(write)
    acting = {name: marks for name, marks in writes.items() if len(marks) >= FEW}
    if len(acting) < 2:
        words = assessment.runs.refused or f"fewer than two loops changed something {FEW} times or more in the run"
        return (note(f"Not drawn: {words}."),)
    names = list(acting)[:MOST]
    rows = [HeatRow(row, tuple(_coherence(acting, row, column) for column in names)) for row in names]
    drawn = matrix_map(f"Synchronisation in {assessment.system}", names, rows)
    caption = ("Phase coherence of the acts of the loop of the row between those of the loop of the column: 100 % is "
               "always at the same phase.")  # fmt: skip
    header = ("loops", "acts", "coherence", "chance alone, at 5 %", "against each other")
    return (
        pictured(drawn, caption, wide=True),
        table("Pairs of loops", header, list(_pairs(acting, names)), numbers="1 2 3 4"),
        reproduced("simulate", assessment.path, *assessment.runs.command),
    )


def _phases(acting: Mapping[str, list[WriteMark]], name: str, other: str) -> Array:
    """Returns the phase of each act of the one between two acts of the other, from 0 to 1."""
    times = np.array([mark.time for mark in acting[name]])
    beats = np.unique([mark.time for mark in acting[other]])
    inside = times[(times >= beats[0]) & (times < beats[-1])]
    if len(beats) < 2 or not len(inside):
        return np.array([])
    places = np.searchsorted(beats, inside, side="right") - 1
    phases: Array = (inside - beats[places]) / (beats[places + 1] - beats[places])
    return phases


def _coherence(acting: Mapping[str, list[WriteMark]], name: str, other: str) -> float | None:
    phases = _phases(acting, name, other)
    if name == other or len(phases) < FEW:
        return None
    return float(abs(np.exp(2j * math.pi * phases).mean()))


def _pairs(acting: Mapping[str, list[WriteMark]], names: list[str]) -> Iterator[tuple[str, ...]]:
    for first in names:
        for other in names:
            coherence = _coherence(acting, first, other)
            if coherence is not None:
                count = len(_phases(acting, first, other))
                chance = min(1.0, math.sqrt(-math.log(SURE) / count))
                yield (f"{first} between {other}", str(count), f"{100 * coherence:.0f} %", f"{100 * chance:.0f} %",
                       f"{100 * _against(acting[first], acting[other]):.0f} %")  # fmt: skip


def _against(mine: list[WriteMark], others: list[WriteMark]) -> float:
    """Returns the share of the acts whose direction is against that of the last act of the other loop."""
    times = np.array([mark.time for mark in others])
    ups = [mark.after > mark.before for mark in others]
    pairs = [
        (mark.after > mark.before, ups[place])
        for mark in mine
        if (place := int(np.searchsorted(times, mark.time, side="right")) - 1) >= 0
    ]
    return sum(up is not last for up, last in pairs) / len(pairs) if pairs else 0.0
