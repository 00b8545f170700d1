"""Systems whose causal truth is known in closed form: what every estimate of this engine is measured against.

Each kind is a function (seed, length) -> Kind.  Inputs and errors are autocorrelated, as telemetry is: estimates that
take samples for independent fail here.  The truth of a share is the true coefficient times the realised mean.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from itertools import accumulate

import numpy as np

from coherence.causal.attribution.mechanisms import Range
from coherence.causal.data.series import Floats, Series
from coherence.causal.fitting.graph import Graph, Influence

RHO = 0.6  # autocorrelation of inputs and errors from sample to sample


@dataclass(frozen=True)
class Kind:
    """A record, its declared graph, and what is true of it.

    `shares`: own part -> what it contributed to the mean of `loss`; `together`: sets that must not be split;
    `off`: loop -> mean loss with that loop off, where that is asked; `remainder`: what nothing declared explains.
    """

    series: Series
    graph: Graph
    loss: str
    shares: Mapping[str, float]
    remainder: float
    together: tuple[frozenset[str], ...] = ()
    off: Mapping[str, float] = field(default_factory=dict)
    constants: Mapping[str, float | Range] = field(default_factory=dict)
    interactions: tuple[frozenset[str], ...] = ()
    more: Mapping[str, float] = field(default_factory=dict)


Maker = Callable[[int, int], Kind]


def wander(rng: np.random.Generator, length: int, *, mean: float = 0.0, size: float = 1.0, rho: float = RHO) -> Floats:
    """A stationary AR(1) series with this mean and standard deviation."""
    shocks = rng.normal(0.0, size * np.sqrt(1 - rho**2), length)
    shocks[0] = rng.normal(0.0, size)
    return np.array([mean + level for level in accumulate(shocks.tolist(), lambda past, new: rho * past + new)])


def recorded(values: Mapping[str, Floats], *, step: float = 1.0) -> Series:
    """A series of these signals."""
    return Series(tuple(values), np.column_stack(list(values.values())), step)


def drawn(*influences: Influence, latent: tuple[str, ...] = (), computed: frozenset[str] = frozenset()) -> Graph:
    """A graph of influences alone."""
    nodes = tuple(dict.fromkeys([*latent, *(name for one in influences for name in (one.cause, one.effect))]))
    return Graph(nodes, influences, computed)


def every() -> dict[str, Maker]:
    """Name -> maker of every kind, found in the modules of this folder."""
    import importlib
    import pkgutil

    found: dict[str, Maker] = {}
    for module in sorted(one.name for one in pkgutil.iter_modules(__path__)):
        made = importlib.import_module(f"{__name__}.{module}")
        found |= {name: made.__dict__[name] for name in made.KINDS}
    return found
