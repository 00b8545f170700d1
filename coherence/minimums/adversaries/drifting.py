"""Models of members that follow their neighbours: clocks on a way of links, states under random disturbances."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any, cast

from coherence.minimums.adversaries.search import Adversary, Chooser, HopelessError
from coherence.minimums.bound import Inputs
from coherence.minimums.bounds._fabrics import fabric_of
from coherence.minimums.bounds.network_coherence import linked, settled
from coherence.minimums.fabric.wiring import Fabric, both, fabric, ring
from coherence.minimums.floors import Number

ROUNDED = 1 + 1e-9  # of covariances in floating point, upwards


def corrected(choose: Chooser, bound: str, inputs: Inputs, dropped: frozenset[str]) -> Number:
    """Each member runs faster by what it likes while the skew of a part is prepared; then the worst part is skewed.

    Delays hide half of the uncertainty for each link of the part; all members of the way may have been faster.
    """
    assert bound
    links, uncertainty, slow, fast, drift = (
        Fraction(inputs[name]) for name in ("links", "uncertainty", "slowest", "fastest", "drift")
    )
    if dropped & {"messages_only", "unicast", "unrelated_delays"}:
        return Fraction(0)
    part, length, way = max(2, math.ceil(2 * (fast - slow) / (slow * drift))), int(links), [Fraction(0)] * int(links)
    while length:
        reach = (fast - slow) * length * uncertainty / (2 * drift)
        ahead = [choose((Fraction(0), reach / 2, reach)) for _ in range(len(way) + 1)]
        way = [skew + ahead[k] - ahead[k + 1] for k, skew in enumerate(way)]
        if "bounded_rates" in dropped:
            way = [Fraction(0)] * len(way)  # all are set to one time
        begins = max(range(len(way) - length + 1), key=lambda k: abs(sum(way[k : k + length], Fraction(0))))
        way = way[begins : begins + length]
        sign = 1 if sum(way) >= 0 else -1
        way = [skew + sign * slow * uncertainty / 2 for skew in way]
        length //= part
    return abs(way[0])


def coupled(choose: Chooser, bound: str, inputs: Inputs, dropped: frozenset[str]) -> Number:
    """Each link corrects by some of the gain that it may; covariances are those of the law."""
    assert bound
    size, full = linked(fabric_of(inputs))
    if "white_noise" in dropped:
        return 0.0  # all are disturbed alike
    weights, shares = {}, (0.0, 0.5, 1.0)
    for near, far in full:
        if near < far:
            weights[near, far] = choose(shares)
            weights[far, near] = weights[near, far]
    if dropped & {"relative_readings", "integrator"}:  # each fades by itself
        weights |= {(k, k): -1.0 for k in range(size)}
    value = _faded(size, weights) if dropped & {"relative_readings", "integrator"} else settled(size, weights)
    if not math.isfinite(value):
        raise HopelessError
    rate = float(inputs["noise"] / inputs["gain"])
    return value * rate * ROUNDED / (2 if "gain_law" in dropped else 1)  # with the rate of change: as much inertia more


def _faded(size: int, weights: dict[tuple[int, int], float]) -> float:
    """Returns the variance where each corrects by its own state as well (a weight of its own, with its sign turned)."""
    import numpy as np
    from scipy.linalg import solve_continuous_lyapunov

    from coherence.minimums.bounds.network_coherence import laplacian

    others = {pair: weight for pair, weight in weights.items() if pair[0] != pair[1]}
    law = np.array(laplacian(size, others), dtype=float) + np.eye(size)
    mean_free = np.eye(size) - 1 / size
    return float(np.trace(mean_free @ solve_continuous_lyapunov(law, np.eye(size)))) / size


def _clocks(links: int, *, fast: str = "1.5") -> Inputs:
    return {
        "links": Fraction(links), "uncertainty": Fraction(8), "slowest": Fraction(1), "drift": Fraction(1, 2),
        "fastest": Fraction(fast),
    }  # fmt: skip


def _graph(made: Fabric) -> Inputs:
    return {"fabric": cast("Any", made), "gain": Fraction(2), "noise": Fraction(1)}


LINE = fabric("abc", [*both("a", "b", 1), *both("b", "c", 1)], name="a line")
ADVERSARIES = (
    Adversary(
        "clocks that are corrected on a way",
        {"neighbour_skew": (_clocks(1), _clocks(2), _clocks(4), _clocks(3, fast="1.75"))},
        corrected,
        ("messages_only", "unicast", "unrelated_delays", "bounded_rates"),
    ),
    Adversary(
        "states that follow their neighbours",
        {"network_coherence": tuple(_graph(made) for made in (LINE, ring(3), ring(4)))},
        coupled,
        ("relative_readings", "integrator", "white_noise", "gain_law"),
    ),
)
