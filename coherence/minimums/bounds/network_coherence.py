"""coherence of a network: how far members drift apart that each follow their neighbours under random disturbances.

## What
noise/(2 gain n) times the sum of 1/l over the eigenvalues l of the graph's Laplacian but the zero: the variance of a
member about the mean of all, where each corrects by at most `gain` times its difference from each neighbour.  It is
exact in fractions, from the trace of an inverse.

## Why it matters
On a ring it grows with n, on a square grid with log n, in three dimensions it stays: what local corrections can hold
together depends on the graph, not on their tuning.

## Example
A ring of 100, noise 1 Hz, gain 1 Hz: 4.17 (variance), a torus of 10 x 10: 0.21.

## Source
B. Bamieh, M. Jovanovic, P. Mitra and S. Patterson, "Coherence in large-scale networks: dimension-dependent limitations
of local feedback", IEEE Trans. Automatic Control 57(9), 2012.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from fractions import Fraction
from typing import Any, cast

from coherence.base.errors import UsageError
from coherence.minimums.bound import (
    Bound,
    Checked,
    Example,
    Inputs,
    Quantifier,
    Recheck,
    Status,
    Symbol,
    Trend,
    Witness,
)
from coherence.minimums.bounds._fabrics import FABRIC, fabric_of
from coherence.minimums.fabric.wiring import Fabric, ring, torus

MOST = 1_000  # members
EXACT = 30  # members up to which the inverse is of fractions
Weights = Mapping[tuple[int, int], Any]  # (who corrects, towards whom) -> share of the difference in a second


def variance(inputs: Inputs) -> Fraction | float:
    """Of the law that uses all of its gain on every link."""
    size, weights = linked(fabric_of(inputs))
    return inputs["noise"] / inputs["gain"] * trace(size, weights) / (2 * size)


def linked(graph: Fabric) -> tuple[int, Weights]:
    """Returns the number of nodes, and a weight of 1 for each link, also where its wire goes one way alone: both ends
    correct.  Raises UsageError beyond MOST.
    """
    nodes = graph.nodes
    if len(nodes) > MOST:
        raise UsageError(f"{graph} has more than {MOST} nodes")
    index = {name: k for k, name in enumerate(nodes)}
    counted = Counter((index[wire.source], index[wire.target]) for wire in graph.wires)
    joined = {*counted, *((far, near) for near, far in counted)}
    return len(nodes), {(near, far): Fraction(max(counted[near, far], counted[far, near])) for near, far in joined}


def trace(size: int, weights: Weights) -> Fraction | float:
    """Returns the sum of 1/l: with J/n added the zero becomes a one, and the trace of the inverse is one more."""
    if size > EXACT:
        import numpy as np

        return float(np.trace(np.linalg.inv(np.array(laplacian(size, weights), dtype=float) + 1 / size))) - 1
    rows = [[entry + Fraction(1, size) for entry in row] for row in laplacian(size, weights)]
    return sum((inverse[k] for k, inverse in enumerate(_inverse(rows))), Fraction(0)) - 1


def laplacian(size: int, weights: Weights) -> list[list[Any]]:
    """Returns the matrix whose product with the states is what they are corrected by, with its sign turned."""
    rows: list[list[Any]] = [[Fraction(0)] * size for _ in range(size)]
    for (who, other), weight in weights.items():
        rows[who][who] += weight
        rows[who][other] -= weight
    return rows


def _inverse(rows: list[list[Fraction]]) -> list[list[Fraction]]:
    """Returns the inverse of a positive matrix, by elimination."""
    size = len(rows)
    whole = [[*row, *(Fraction(int(k == at)) for at in range(size))] for k, row in enumerate(rows)]
    for k in range(size):
        whole[k] = [entry / whole[k][k] for entry in whole[k]]
        for other in range(size):
            if other != k and whole[other][k]:
                factor = whole[other][k]
                whole[other] = [entry - factor * mine for entry, mine in zip(whole[other], whole[k], strict=True)]
    return [row[size:] for row in whole]


def settled(size: int, weights: Weights) -> float:
    """Returns the variance about the mean of all by the equation of Lyapunov, for weights of any law (noise 1 Hz)."""
    import numpy as np
    from scipy.linalg import null_space, solve_continuous_lyapunov

    basis = null_space(np.ones((1, size)))  # of deviations from the mean
    law = basis.T @ np.array(laplacian(size, weights), dtype=float) @ basis
    if min(np.linalg.eigvals(law).real) <= 1e-12:
        return float("inf")  # a part that nothing holds to the rest
    return float(np.trace(solve_continuous_lyapunov(law, np.eye(size - 1)))) / size


def closed_forms() -> Checked:
    """Rings have (n^2 - 1)/(24 n), complete graphs (n - 1)/(2 n^2), exactly; of a torus the sum over waves agrees."""
    import math

    for n in (2, 3, 5, 12):
        every = {(a, b): Fraction(1) for a in range(n) for b in range(n) if a != b}
        if n > 2 and trace(*linked(ring(n))) != Fraction(n * n - 1, 12):
            return Checked(False, f"a ring of {n}")
        if trace(n, every) != Fraction(n - 1, n):
            return Checked(False, f"a complete graph of {n}")
    waves = [2 - 2 * math.cos(2 * math.pi * k / 4) for k in range(4)]
    summed = sum(1 / (a + b + c) for a in waves for b in waves for c in waves if a + b + c > 1e-9)
    return Checked(abs(trace(*linked(torus((4, 4, 4)))) / summed - 1) < 1e-9, "rings, complete graphs, and a torus")


def followed(inputs: Inputs) -> float:
    """Solves the covariances of the law with all of its gain on every link."""
    return float(inputs["noise"] / inputs["gain"]) * settled(*linked(fabric_of(inputs)))


def _given(made: Fabric) -> Inputs:
    return {"fabric": cast("Any", made), "gain": Fraction(1), "noise": Fraction(1)}


BOUND = Bound(
    name="network_coherence",
    group="limited information",
    quantity="mean variance of a member about the mean of all",
    unit="1",
    kind=Status.TIGHT,
    quantifier=Quantifier.MEAN,
    loss="B",
    symbols=(
        FABRIC,
        Symbol("gain", "Hz", "largest share of a difference that is corrected in a second", Trend.FALLS, open_=True),
        Symbol("noise", "Hz", "variance that disturbances add to each member in a second", Trend.RISES),
    ),
    compute=variance,
    assumptions=("gain_law", "linear_law", "relative_readings", "alike_ways", "white_noise", "integrator"),
    source="Bamieh, Jovanovic, Mitra and Patterson 2012",
    examples=(
        Example(_given(ring(4)), 5 / 32, "eigenvalues 2, 2, 4: 5/8 over 4"),
        Example(_given(ring(10)), 99 / 240, "(n^2 - 1)/(24 n)"),
    ),
    proofs=(Recheck("identity", "rings, complete graphs and a torus", closed_forms),),
    witness=Witness("covariances by the equation of Lyapunov", followed, 1 + 1e-9),
    telemetry=("states of all members",),
    display=(
        r"\frac{\mathrm{noise}}{2 \, \mathrm{gain} \, n} \sum_{l_i \ne 0} \frac{1}{l_i} \quad \text{over "
        r"the eigenvalues of the Laplacian}"
    ),
    unread="no key states that members correct by their neighbours, and the noise that each has",
)
