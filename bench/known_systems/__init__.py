"""Makes causal systems whose truth is known in closed form: every causal estimate is measured against them.

Each system is a function (seed, length) -> KnownSystem, listed in SYSTEMS of its module.  Inputs and errors are
autocorrelated, as telemetry is: estimates that take samples for independent fail here.  The truth of a share is the
true coefficient times the realised mean.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from itertools import accumulate

import numpy as np

from coherence.causal.attribution.mechanisms import Range
from coherence.causal.data.series import Floats, Series
from coherence.causal.fitting.graph import CausalGraph, Influence

RHO = 0.6  # autocorrelation of inputs and errors from sample to sample


@dataclass(frozen=True)
class KnownSystem:
    """A record, its declared graph, and what is true of it.

    `shares`: own part -> what it contributed to the mean of `loss`; `together`: sets that must not be split;
    `off`: loop -> mean loss with that loop off, where that is asked; `remainder`: what nothing declared explains.
    """

    series: Series
    graph: CausalGraph
    loss: str
    shares: Mapping[str, float]
    remainder: float
    together: tuple[frozenset[str], ...] = ()
    off: Mapping[str, float] = field(default_factory=dict)
    constants: Mapping[str, float | Range] = field(default_factory=dict)
    interactions: tuple[frozenset[str], ...] = ()
    more: Mapping[str, float] = field(default_factory=dict)


SystemMaker = Callable[[int, int], KnownSystem]


def autoregressive(
    rng: np.random.Generator, length: int, *, mean: float = 0.0, size: float = 1.0, rho: float = RHO
) -> Floats:
    """Returns a stationary AR(1) series with this mean, standard deviation and autocorrelation."""
    shocks = rng.normal(0.0, size * np.sqrt(1 - rho**2), length)
    shocks[0] = rng.normal(0.0, size)
    return np.array([mean + level for level in accumulate(shocks.tolist(), lambda past, new: rho * past + new)])


def series_of(values: Mapping[str, Floats], *, step: float = 1.0) -> Series:
    """Returns these signals as one Series, sampled every `step` seconds."""
    return Series(tuple(values), np.column_stack(list(values.values())), step)


def graph_of(
    *influences: Influence, latent: tuple[str, ...] = (), computed: frozenset[str] = frozenset()
) -> CausalGraph:
    """Returns the graph that has these influences and no other node than theirs and the latent ones."""
    nodes = tuple(dict.fromkeys([*latent, *(name for one in influences for name in (one.cause, one.effect))]))
    return CausalGraph(nodes, influences, computed)


def known_systems() -> dict[str, SystemMaker]:
    """Returns name -> maker of every known system, found in the modules of this folder."""
    import importlib
    import pkgutil

    makers: dict[str, SystemMaker] = {}
    for info in sorted(pkgutil.iter_modules(__path__), key=lambda info: info.name):
        module = importlib.import_module(f"{__name__}.{info.name}")
        makers |= {name: module.__dict__[name] for name in getattr(module, "SYSTEMS", ())}
    return makers
