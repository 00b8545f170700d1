"""Two windows in which the input moved, or the mechanism changed, or both; and series with and without a new regime."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from bench.known_systems import autoregressive, graph_of, series_of
from coherence.causal.data.series import Floats, Series
from coherence.causal.fitting.graph import CausalGraph, Influence

SYSTEMS = ()


@dataclass(frozen=True)
class Pair:
    """Two windows, and what made the mean of the loss change: (cause, input or mechanism) -> amount."""

    before: Series
    after: Series
    graph: CausalGraph
    contributions: dict[tuple[str, str], float]
    changed: frozenset[str]


def change(seed: int, length: int, *, strength: float = 1.2, demand: float = 2.0) -> Pair:
    """demand -> work -> loss.  In the second window work = `strength` demand (0.8 before), demand about 3 + `demand`.

    The truth is the Shapley split of the realised change over demand, the mechanism of work, and own parts.
    """
    rng = np.random.default_rng(seed)
    windows: list[dict[str, Floats]] = []
    for gain, more in ((0.8, 0.0), (strength, demand)):
        d, own, rest = (
            autoregressive(rng, length, mean=3.0 + more),
            autoregressive(rng, length, mean=1.0),
            autoregressive(rng, length),
        )
        w = gain * d + own
        windows.append({"demand": d, "work": w, "loss": 1.5 * w + rest})
    graph = graph_of(Influence("demand", "work"), Influence("work", "loss"))
    first, second = (float(one["demand"].mean()) for one in windows)
    own_before = float(windows[0]["work"].mean()) - 0.8 * first
    own_after = float(windows[1]["work"].mean()) - strength * second
    found = {
        ("demand", "input"): 1.5 * (0.8 + strength) / 2 * (second - first),
        ("work", "input"): 1.5 * (own_after - own_before),
    }
    if strength != 0.8:
        found["work", "mechanism"] = 1.5 * (strength - 0.8) * (first + second) / 2
    changed = frozenset({"work"} if strength != 0.8 else set())
    return Pair(series_of(windows[0]), series_of(windows[1]), graph, found, changed)


def steady(seed: int, length: int, *, rho: float = 0.8) -> Floats:
    """One regime, autocorrelated."""
    return autoregressive(np.random.default_rng(seed), length, mean=5.0, rho=rho)


def shifted(seed: int, length: int, *, at: float = 0.6, by: float = 2.0, rho: float = 0.8) -> tuple[Floats, int]:
    """A series whose mean rises by `by` standard deviations, and where."""
    values, place = steady(seed, length, rho=rho), int(at * length)
    values[place:] += by
    return values, place
