"""Defines how a design is run: for how long, under which seeds, with which constants and outages."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from fractions import Fraction

from coherence.simulate.serving.streamed_trace import StreamedTrace
from coherence.simulate.serving.trace import ArrivalTrace


@dataclass(frozen=True)
class Setting:
    """How long to run and what to leave out at the beginning (s), under which seeds; `values` fix open constants.

    `trace`: workload -> arrivals and, for an inference server, tokens, instead of chance; `pauses`: (station, start,
    lasts) of outages (s).  `finds_start_up`: a test says what is left out, `warmup` or more; `precision`: runs are
    made longer, or more, until the intervals of latencies are this share of their values to each side; `live`:
    requests, calls and tries alive at one time, each, beyond which a run stops; `events`: of one run, beyond which it
    stops, so that no design runs for days because a number in it is wrong; `draws`: the first run keeps its course,
    for a picture.
    """

    until: float
    warmup: float = 0.0
    seeds: tuple[int, ...] = (1, 2, 3, 4, 5)
    values: Mapping[str, Fraction] = field(default_factory=dict)
    trace: Mapping[str, ArrivalTrace | StreamedTrace] = field(default_factory=dict)
    pauses: tuple[tuple[str, float, float], ...] = ()
    finds_start_up: bool = False
    precision: float | None = None
    live: int = 2_000_000
    events: int = 100_000_000
    draws: bool = False

    def alone(self, seed: int) -> Setting:
        """Returns the setting of the run of one seed."""
        return replace(self, seeds=(seed,))
