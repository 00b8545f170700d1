"""Defines how a design is run: for how long, under which seeds, with which constants and outages."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction


@dataclass(frozen=True)
class Setting:
    """How long to run and what to leave out at the beginning (s), under which seeds; `values` fix open constants.

    `trace`: workload -> arrival times (s), instead of chance; `pauses`: (station, start, lasts) of outages (s).
    """

    until: float
    warmup: float = 0.0
    seeds: tuple[int, ...] = (1, 2, 3, 4, 5)
    values: Mapping[str, Fraction] = field(default_factory=dict)
    trace: Mapping[str, tuple[float, ...]] = field(default_factory=dict)
    pauses: tuple[tuple[str, float, float], ...] = ()
