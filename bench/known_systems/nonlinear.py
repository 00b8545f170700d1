"""Systems with declared non-linear mechanisms: a product of two causes, a barrier's maximum, a saturating queue."""

from __future__ import annotations

from collections.abc import Callable
from itertools import permutations

import numpy as np

from bench.known_systems import KnownSystem, autoregressive, series_of
from coherence.causal.fitting.graph import CausalGraph, Influence
from coherence.language.expressions.parse import parse

SYSTEMS = ("retry_timeout", "barrier_max", "saturating_queue")


def retry_timeout(seed: int, length: int) -> KnownSystem:
    """loss = 0.8 retry timeout + rest: without either there is none, so the pair caused it, half each."""
    rng = np.random.default_rng(seed)
    retry, timeout = (
        np.abs(autoregressive(rng, length, mean=2.0)),
        np.abs(autoregressive(rng, length, mean=1.0, size=0.5)),
    )
    rest = autoregressive(rng, length, mean=0.3)
    loss = 0.8 * retry * timeout + rest
    pair = 0.8 * float((retry * timeout).mean())
    graph = CausalGraph(
        ("retry", "timeout", "loss"), (Influence("retry", "loss"), Influence("timeout", "loss")),
        frozenset({"loss"}), {"loss": parse("k * retry * timeout")},
    )  # fmt: skip
    made = series_of({"retry": retry, "timeout": timeout, "loss": loss})
    shares = {"retry": pair / 2, "timeout": pair / 2}
    return KnownSystem(
        made, graph, "loss", shares, rest.mean(), constants={"k": (0.0, 5.0)},
        interactions=(frozenset({"retry", "timeout"}),),
    )  # fmt: skip


def barrier_max(seed: int, length: int) -> KnownSystem:
    """The barrier waits for the slower of two workers; a common load slows the first one."""
    rng = np.random.default_rng(seed)
    load, own, second = (autoregressive(rng, length, mean=mean) for mean in (2.0, 1.0, 3.0))
    rest = autoregressive(rng, length, mean=0.2, size=0.3)
    first = 1.1 * load + own

    def value(*there: str) -> float:
        slow = 1.1 * load * ("load" in there) + own * ("first" in there)
        return float(np.maximum(slow, second * ("second" in there)).mean())

    shares = _by_hand(("load", "first", "second"), value)
    graph = CausalGraph(
        ("load", "first", "second", "wait"),
        (Influence("load", "first"), Influence("first", "wait"), Influence("second", "wait")),
        frozenset({"wait"}), {"wait": parse("max(first, second)")},
    )  # fmt: skip
    made = series_of({"load": load, "first": first, "second": second, "wait": np.maximum(first, second) + rest})
    return KnownSystem(made, graph, "wait", shares, rest.mean())


def saturating_queue(seed: int, length: int) -> KnownSystem:
    """queue = min(gain demand / capacity, limit) + rest; gain and limit unknown in ranges."""
    rng = np.random.default_rng(seed)
    demand = 4 + np.abs(autoregressive(rng, length, mean=3.0, size=2.0))
    capacity = 2 + np.abs(autoregressive(rng, length, mean=1.0, size=0.3))
    rest = autoregressive(rng, length, mean=0.5, size=0.3)
    made = np.minimum(2.0 * demand / capacity, 6.0)
    graph = CausalGraph(
        ("demand", "capacity", "queue"), (Influence("demand", "queue"), Influence("capacity", "queue")),
        frozenset({"queue"}), {"queue": parse("min(gain * demand / (2 + capacity), limit)")},
    )  # fmt: skip
    extra = capacity - 2

    def value(*there: str) -> float:
        above = 2.0 * demand * ("demand" in there) / (2 + extra * ("capacity" in there))
        return float(np.minimum(above, 6.0).mean())

    shares = _by_hand(("demand", "capacity"), value)
    series = series_of({"demand": demand, "capacity": extra, "queue": made + rest})
    return KnownSystem(
        series, graph, "queue", shares, rest.mean(), constants={"gain": (0.5, 10.0), "limit": (1.0, 50.0)},
        interactions=(frozenset({"demand", "capacity"}),),
    )  # fmt: skip


def _by_hand(players: tuple[str, ...], value: Callable[..., float]) -> dict[str, float]:
    """Shapley values by the definition: every order of the players."""
    orders = list(permutations(players))
    found = dict.fromkeys(players, 0.0)
    for order in orders:
        for number, player in enumerate(order):
            found[player] += (value(*order[: number + 1]) - value(*order[:number])) / len(orders)
    return found
