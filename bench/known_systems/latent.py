"""Systems with a latent common cause or collinear causes: refused, or identified by front door or instrument."""

from __future__ import annotations

import numpy as np

from bench.known_systems import KnownSystem, autoregressive, graph_of, series_of
from coherence.causal.fitting.graph import Influence

SYSTEMS = ("latent", "front_door", "instrument", "collinear")


def latent(seed: int, length: int) -> KnownSystem:
    """h acts on a and on the loss and is not measured: what a does cannot be told; b can."""
    rng = np.random.default_rng(seed)
    h, own, b, rest = (autoregressive(rng, length, mean=mean) for mean in (2.0, 1.0, 3.0, 1.0))
    a = h + own
    loss = a + 2 * h + 0.5 * b + rest
    graph = graph_of(
        Influence("h", "a"), Influence("h", "loss"), Influence("a", "loss"), Influence("b", "loss"), latent=("h",)
    )
    made = series_of({"a": a, "b": b, "loss": loss})
    return KnownSystem(made, graph, "loss", {"b": 0.5 * b.mean()}, 0.0, (frozenset({"a", "loss"}),))


def front_door(seed: int, length: int) -> KnownSystem:
    """h hides between a and the loss, but a acts through m alone: the way through m is told."""
    rng = np.random.default_rng(seed)
    h, own, between, rest = (autoregressive(rng, length, mean=mean) for mean in (2.0, 1.0, 1.5, 1.0))
    a = h + own
    m = 0.8 * a + between
    loss = 1.5 * m + 2 * h + rest
    graph = graph_of(
        Influence("h", "a"), Influence("h", "loss"), Influence("a", "m"), Influence("m", "loss"), latent=("h",)
    )
    shares = {"a": 1.2 * a.mean(), "m": 1.5 * between.mean()}
    return KnownSystem(series_of({"a": a, "m": m, "loss": loss}), graph, "loss", shares, float((2 * h + rest).mean()))


def instrument(seed: int, length: int) -> KnownSystem:
    """h hides between a and the loss; z moves a and touches the loss through a alone."""
    rng = np.random.default_rng(seed)
    h, z, own, rest = (autoregressive(rng, length, mean=mean) for mean in (2.0, 3.0, 1.0, 1.0))
    a = h + 1.2 * z + own
    loss = 1.5 * a + 2 * h + rest
    graph = graph_of(
        Influence("h", "a"), Influence("h", "loss"), Influence("z", "a"), Influence("a", "loss"), latent=("h",)
    )
    shares = {"z": 1.8 * z.mean(), "a": 1.5 * (h + own).mean()}
    return KnownSystem(series_of({"z": z, "a": a, "loss": loss}), graph, "loss", shares, float((2 * h + rest).mean()))


def collinear(seed: int, length: int) -> KnownSystem:
    """b is always twice a: only what they do together can be told."""
    rng = np.random.default_rng(seed)
    a, c, rest = (autoregressive(rng, length, mean=mean) for mean in (2.0, 1.0, 1.0))
    loss = a + 2 * a + 0.7 * c + rest
    graph = graph_of(*(Influence(name, "loss") for name in "abc"))
    shares = {"a + b": 3 * a.mean(), "c": 0.7 * c.mean()}
    made = series_of({"a": a, "b": 2 * a, "c": c, "loss": loss})
    return KnownSystem(made, graph, "loss", shares, rest.mean(), (frozenset({"a", "b"}),))
