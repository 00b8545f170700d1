"""Small systems whose indices are known."""

from __future__ import annotations

import numpy as np

from coherence.causal.data.request_log import RequestLog, request_log
from coherence.causal.data.series import Floats
from coherence.causal.twins.coordinated_twin import starts

NEED = 0.1


def arrivals(rng: np.random.Generator, rate: float, until: float, *, bursts: bool, times: float = 2.0) -> Floats:
    """Poisson arrivals of a mean rate, `times` as fast for the last tenth of every 100 s if there are bursts."""
    if not bursts:
        return np.sort(rng.uniform(0, until, rng.poisson(rate * until)))
    quiet = rate / (0.9 + 0.1 * times)
    came = np.sort(rng.uniform(0, until, rng.poisson(quiet * times * until)))
    return came[((came % 100) >= 90) | (rng.random(len(came)) < 1 / times)]


def pool(
    load: float, *, overhead: float = 0.0, bursts: bool = False, servers: int = 20, seed: int = 1, until: float = 120.0,
    deadline: float = 0.25, times: float = 2.0,
) -> RequestLog:  # fmt: skip
    """One pool, first come first served, whose services take `overhead` longer than their needs."""
    rng = np.random.default_rng(seed)
    came = arrivals(rng, load * servers / NEED, until, bursts=bursts, times=times)
    needs = rng.gamma(8.0, NEED / 8.0, len(came))
    took = needs * (1 + overhead)
    begun = starts(came, took, servers)
    return request_log(
        came, needs, begun + took, completed=np.ones(len(came), bool), deadline=deadline, attempts=1.0, held=took,
        service=rng.choice(["a", "b"], len(came)), layers={"queue": (begun, None), "execution": (begun + took, None)},
    )  # fmt: skip
