"""Systems whose shares the data identify: additive, mediated, confounded, Simpson, delays, nulls, colliders, a gap."""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from bench.known_systems import KnownSystem, autoregressive, graph_of, series_of
from coherence.causal.fitting.graph import Influence

SYSTEMS = ("additive", "mediated", "confounded", "simpson", "long_delay", "null", "collider", "missing_cause")
LATE, NULLS = 45, 20


def additive(seed: int, length: int) -> KnownSystem:
    """loss = 2 a + 0.5 b - c + 4."""
    rng = np.random.default_rng(seed)
    a, b, c = (autoregressive(rng, length, mean=mean) for mean in (3.0, 5.0, 1.0))
    rest = 4 + autoregressive(rng, length)
    loss = 2 * a + 0.5 * b - c + rest
    graph = graph_of(*(Influence(name, "loss") for name in "abc"))
    shares = {"a": 2 * a.mean(), "b": 0.5 * b.mean(), "c": -c.mean()}
    return KnownSystem(series_of({"a": a, "b": b, "c": c, "loss": loss}), graph, "loss", shares, rest.mean())


def mediated(seed: int, length: int) -> KnownSystem:
    """a -> m -> loss and a -> loss: the way through m counts for a, what m has of its own for m."""
    rng = np.random.default_rng(seed)
    a, own = autoregressive(rng, length, mean=3.0), autoregressive(rng, length, mean=2.0)
    m = 0.8 * a + own
    rest = autoregressive(rng, length)
    loss = 0.5 * a + 0.7 * m + rest
    graph = graph_of(Influence("a", "m"), Influence("a", "loss"), Influence("m", "loss"))
    shares = {"a": (0.5 + 0.7 * 0.8) * a.mean(), "m": 0.7 * own.mean()}
    return KnownSystem(series_of({"a": a, "m": m, "loss": loss}), graph, "loss", shares, rest.mean())


def confounded(seed: int, length: int) -> KnownSystem:
    """A measured common cause z of a and of the loss."""
    rng = np.random.default_rng(seed)
    z, own, rest = (autoregressive(rng, length, mean=mean) for mean in (2.0, 1.0, 0.5))
    a = 1.5 * z + own
    loss = a + 2 * z + rest
    graph = graph_of(Influence("z", "a"), Influence("z", "loss"), Influence("a", "loss"))
    shares = {"z": 3.5 * z.mean(), "a": own.mean()}
    return KnownSystem(series_of({"z": z, "a": a, "loss": loss}), graph, "loss", shares, rest.mean())


def simpson(seed: int, length: int) -> KnownSystem:
    """a lowers the loss in every regime z, and looks as if it raised it over all of them."""
    rng = np.random.default_rng(seed)
    z = np.sign(autoregressive(rng, length, mean=0.4, rho=0.9)) + 1
    a = 2 * z + autoregressive(rng, length, mean=1.0, size=0.5)
    rest = autoregressive(rng, length)
    loss = -a + 5 * z + rest
    graph = graph_of(Influence("z", "a"), Influence("z", "loss"), Influence("a", "loss"))
    shares = {"z": 3 * z.mean(), "a": -(a - 2 * z).mean()}
    found = float(np.polyfit(a, loss, 1)[0])
    return KnownSystem(
        series_of({"z": z, "a": a, "loss": loss}), graph, "loss", shares, rest.mean(), more={"naive slope": found}
    )


def long_delay(seed: int, length: int) -> KnownSystem:
    """a acts 45 samples later; the design says 30 to 60."""
    rng = np.random.default_rng(seed)
    a, b = autoregressive(rng, length + LATE, mean=3.0), autoregressive(rng, length, mean=1.0)
    rest = autoregressive(rng, length, mean=1.0)
    loss = 1.5 * a[:length] + b + rest
    now = a[LATE:]
    graph = graph_of(Influence("a", "loss", Fraction(30), Fraction(60)), Influence("b", "loss"))
    shares = {"a": 1.5 * now[60:].mean(), "b": b[60:].mean()}
    made = series_of({"a": now, "b": b, "loss": loss})
    return KnownSystem(made, graph, "loss", shares, float(loss[60:].mean() - sum(shares.values())))


def null(seed: int, length: int) -> KnownSystem:
    """20 autocorrelated signals that do nothing, beside one that does."""
    rng = np.random.default_rng(seed)
    nulls = {f"null{number:02d}": autoregressive(rng, length, mean=2.0, rho=0.8) for number in range(NULLS)}
    a, rest = autoregressive(rng, length, mean=2.0), autoregressive(rng, length, mean=1.0, rho=0.8)
    graph = graph_of(*(Influence(name, "loss") for name in ["a", *nulls]))
    shares = {"a": a.mean()} | dict.fromkeys(nulls, 0.0)
    return KnownSystem(series_of({"a": a, **nulls, "loss": a + rest}), graph, "loss", shares, rest.mean())


def collider(seed: int, length: int) -> KnownSystem:
    """Both a and the loss act on c: c explains the loss well and causes none of it."""
    rng = np.random.default_rng(seed)
    a, own, rest = (autoregressive(rng, length, mean=mean) for mean in (2.0, 1.0, 1.0))
    loss = a + rest
    c = loss - 0.5 * a + 0.2 * own
    graph = graph_of(Influence("a", "loss"), Influence("a", "c"), Influence("loss", "c"))
    return KnownSystem(series_of({"a": a, "loss": loss, "c": c}), graph, "loss", {"a": a.mean(), "c": 0.0}, rest.mean())


def missing_cause(seed: int, length: int) -> KnownSystem:
    """Half of the loss has a cause that the design does not know, unrelated to what it knows: it is the remainder."""
    rng = np.random.default_rng(seed)
    a, unknown, rest = (
        autoregressive(rng, length, mean=2.0),
        autoregressive(rng, length, mean=4.0),
        autoregressive(rng, length),
    )
    loss = a + unknown + rest
    left = unknown + rest
    return KnownSystem(
        series_of({"a": a, "loss": loss}), graph_of(Influence("a", "loss")), "loss", {"a": a.mean()}, left.mean()
    )
