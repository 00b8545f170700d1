"""Systems with feedback: lagged, with a loop that can be off; simultaneous, refused or identified by an instrument."""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from bench.known_systems import KnownSystem, autoregressive, graph_of, series_of
from coherence.causal.fitting.graph import Influence

SYSTEMS = ("lagged_feedback", "feedback_alone", "own_past", "simultaneous", "simultaneous_instrument", "direction")
WARM = 300
ONE = Fraction(1)


def _run(
    a: float, b: float, c: float, drives: tuple[np.ndarray, np.ndarray, np.ndarray]
) -> tuple[np.ndarray, np.ndarray]:
    """load(t) = a retries(t - 1) + c demand + own; retries(t) = b load(t - 1) + own."""
    demand, first, second = drives
    load, retries = np.zeros(len(demand)), np.zeros(len(demand))
    for time in range(1, len(demand)):
        load[time] = a * retries[time - 1] + c * demand[time] + first[time]
        retries[time] = b * load[time - 1] + second[time]
    return load, retries


def lagged_feedback(seed: int, length: int) -> KnownSystem:
    """demand -> load -> retries -> load, one sample each; the loop `retry` may be off."""
    rng = np.random.default_rng(seed)
    demand, first, second = (autoregressive(rng, length + WARM, mean=mean) for mean in (3.0, 1.0, 0.5))
    load, retries = _run(0.6, 0.5, 1.2, (demand, first, second))
    demand, load, retries = demand[WARM:], load[WARM:], retries[WARM:]
    graph = graph_of(
        Influence("demand", "load", by="plant"), Influence("retries", "load", ONE, ONE, 1, "plant"),
        Influence("load", "retries", ONE, ONE, 1, "retry"),
    )  # fmt: skip
    d, x, y = demand[1:].mean(), load[1:].mean(), retries[1:].mean()
    own_x, own_y = x - 0.6 * y - 1.2 * d, y - 0.5 * x
    gain = 1 / (1 - 0.3)
    shares = {"demand": gain * 1.2 * d, "retries": gain * 0.6 * own_y}
    made = series_of({"demand": demand, "load": load, "retries": retries})
    return KnownSystem(made, graph, "load", shares, gain * own_x, off={"retry": 1.2 * d + own_x})


def feedback_alone(seed: int, length: int) -> KnownSystem:
    """The same circle with nothing that acts on it from outside: only memory-free innovations tell its gains."""
    rng = np.random.default_rng(seed)
    first, second = (autoregressive(rng, length + WARM, mean=mean) for mean in (1.0, 0.5))
    load, retries = _run(0.6, 0.5, 0.0, (first, first, second))
    load, retries = load[WARM:], retries[WARM:]
    graph = graph_of(
        Influence("retries", "load", ONE, ONE, 1, "plant"), Influence("load", "retries", ONE, ONE, 1, "retry")
    )
    x, y = load[1:].mean(), retries[1:].mean()
    gain = 1 / (1 - 0.3)
    shares = {"retries": gain * 0.6 * (y - 0.5 * x)}
    return KnownSystem(series_of({"load": load, "retries": retries}), graph, "load", shares, gain * (x - 0.6 * y))


def own_past(seed: int, length: int) -> KnownSystem:
    """A loss that remembers: 0.7 of its last value, with autocorrelated errors besides."""
    rng = np.random.default_rng(seed)
    a, rest = autoregressive(rng, length + WARM, mean=2.0), autoregressive(rng, length + WARM, mean=1.0)
    loss = np.zeros(length + WARM)
    for time in range(1, length + WARM):
        loss[time] = 0.7 * loss[time - 1] + a[time] + rest[time]
    a, loss = a[WARM:], loss[WARM:]
    graph = graph_of(Influence("a", "loss"), Influence("loss", "loss", ONE, ONE, 1))
    share = float(a[3:].mean() / 0.3)
    return KnownSystem(series_of({"a": a, "loss": loss}), graph, "loss", {"a": share}, float(loss[3:].mean() - share))


def simultaneous(seed: int, length: int) -> KnownSystem:
    """x and y act on each other within the sample, and nothing else moves them: refused."""
    rng = np.random.default_rng(seed)
    first, second = autoregressive(rng, length, mean=1.0), autoregressive(rng, length, mean=2.0)
    x, y = (first + 0.5 * second) / 0.8, (second + 0.4 * first) / 0.8
    graph = graph_of(Influence("x", "y"), Influence("y", "x"))
    return KnownSystem(series_of({"x": x, "y": y}), graph, "y", {}, 0.0, (frozenset({"x", "y"}),))


def simultaneous_instrument(seed: int, length: int) -> KnownSystem:
    """The same, with z acting on x alone and w on y alone: both ways can be told."""
    rng = np.random.default_rng(seed)
    z, w, first, second = (autoregressive(rng, length, mean=mean) for mean in (3.0, 2.0, 1.0, 1.0))
    own_x, own_y = first + 1.5 * z, second + 1.2 * w
    x, y = (own_x + 0.5 * own_y) / 0.8, (own_y + 0.4 * own_x) / 0.8
    graph = graph_of(Influence("x", "y"), Influence("y", "x"), Influence("z", "x"), Influence("w", "y"))
    shares = {"z": 0.4 * 1.5 * z.mean() / 0.8, "w": 1.2 * w.mean() / 0.8, "x": 0.4 * first.mean() / 0.8}
    made = series_of({"z": z, "w": w, "x": x, "y": y})
    return KnownSystem(made, graph, "y", shares, second.mean() / 0.8)


def direction(seed: int, length: int) -> KnownSystem:
    """The design does not know which of x and y acts on the other: it declares both, and the shares are refused."""
    rng = np.random.default_rng(seed)
    x, rest = autoregressive(rng, length, mean=2.0), autoregressive(rng, length, mean=1.0)
    graph = graph_of(Influence("x", "y"), Influence("y", "x"))
    return KnownSystem(series_of({"x": x, "y": 1.3 * x + rest}), graph, "y", {}, 0.0, (frozenset({"x", "y"}),))
