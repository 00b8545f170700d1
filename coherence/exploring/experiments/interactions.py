"""Interactions of modes: requests to servers that become slower by a fifth (one mode) and get more load (another mode).

Both changes at one server, at a load of .6: waits grow as 1 / (1 - load), so that together they do more than each
alone.  Each change at a server of its own, one after the other: what users wait is the sum, and effects add.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from coherence.causal.signatures.interactions import FourRuns, interaction
from coherence.causal.signatures.signature import Signature
from coherence.exploring.experiments.experiment import Chance, Experiment, PowerCurve, waits

if TYPE_CHECKING:
    import numpy as np

RUNS, REQUESTS, LOAD = 12, 4_000, 0.6
SLOWER, MORE = 0.2, 0.15  # shares of a service and of the load
COUNTS = (1_000, 2_000, REQUESTS)


def waited(gaps: np.ndarray, services: np.ndarray) -> float:
    """Returns how long requests wait on average."""
    return float(waits(gaps, services).mean())


def four(drawn: Chance, *, together: bool, requests: int = REQUESTS) -> FourRuns:
    """Returns the mean time in queues of requests without changes, with each, and with both, on the same draws."""
    gaps, services = drawn.exponential(1 / LOAD, requests), drawn.exponential(1.0, requests)
    closer, longer = gaps / (1 + MORE), services * (1 + SLOWER)
    if together:
        return FourRuns(waited(gaps, services), waited(gaps, longer), waited(closer, services), waited(closer, longer))
    others = drawn.exponential(1 / LOAD, requests), drawn.exponential(1.0, requests)
    slow, fast = waited(gaps, longer), waited(gaps, services)
    busy, calm = waited(others[0] / (1 + MORE), others[1]), waited(*others)
    return FourRuns(fast + calm, slow + calm, fast + busy, slow + busy)


def answered(drawn: Chance, *, together: bool, requests: int = REQUESTS) -> Signature:
    """Returns what the test answers about runs of one system."""
    return interaction([four(drawn, together=together, requests=requests) for _ in range(RUNS)])


def apart(drawn: Chance) -> Signature:
    """Returns what the test answers where each change is at a server of its own; each run has its own chances."""
    fours = ([four(drawn, together=False) for _ in range(4)] for _ in range(RUNS))
    return interaction([FourRuns(a.none, b.first, c.second, d.both) for a, b, c, d in fours])


EXPERIMENT = Experiment(
    "6 interactions of modes",
    "Modes interact multiplicatively. Of two that meet in one queue that is so; where each has a queue of its own "
    "their effects add, however large they are.",
    __doc__ or "",
    {"each at a server of its own": apart},
    {"both at one server": partial(answered, together=True)},
    (
        PowerCurve(
            "both at one server", "requests of a run", COUNTS, lambda n: partial(answered, together=True, requests=n)
        ),
    ),
)
