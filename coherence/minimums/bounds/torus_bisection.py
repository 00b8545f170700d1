"""bisection of a torus: the fewest links between two equal halves of a k-ary n-cube.

## What
2 k^(n - 1) for an even k of at least 4: a plane cuts every ring twice.  No other halving cuts fewer: for k = 4 the
second eigenvalue of the graph, 2, proves k^n 2/4.

## Why it matters
It limits every collective in which halves exchange data; a torus that grows along one axis gets no wider.

## Example
4 x 4 x 4: 32 links.

## Source
W. Dally, IEEE Trans. Computers 39(6), 1990; for all even k: M. Azizoglu and O. Egecioglu, Discrete Applied Mathematics,
2004; spectral bound: M. Fiedler 1975.
"""

from __future__ import annotations

import itertools
from fractions import Fraction

from coherence.minimums.bound import Bound, Checked, Example, Inputs, Recheck, Role, Status, Symbol, Trend, Witness
from coherence.minimums.fabric.wiring import torus

LARGEST = 12  # eigenvalue of a 4 x 4 x 4 torus


def spectrum() -> Checked:
    """Of 4 x 4 and 4 x 4 x 4 every eigenvalue is 0 (once), 2, 4, ... 12, in whole numbers: a cut of halves has at
    least nodes * 2 / 4 links."""
    import numpy as np

    for axes in (2, 3):
        fabric = torus((4,) * axes)
        index = {name: k for k, name in enumerate(fabric.names)}
        nodes = len(index)
        laplace = np.zeros((nodes, nodes), dtype=np.int64)
        for wire in fabric.wires:
            source, other = index[wire.source], index[wire.target]
            laplace[source, source] += 1
            laplace[source, other] -= 1
        product = np.eye(nodes, dtype=np.int64)
        for root in range(2, LARGEST + 1, 2):
            product = product @ (laplace - root * np.eye(nodes, dtype=np.int64))
        flat = bool((product == product[0, 0]).all()) and int(product[0, 0]) != 0 and not (laplace @ product).any()
        if not flat:
            return Checked(False, f"{fabric}: an eigenvalue lies between 0 and 2")
    return Checked(True, "4 x 4 and 4 x 4 x 4: the second eigenvalue is 2, so halves have 8 and 32 links between them")


def halvings() -> Checked:
    """Every halving of a ring of 6 and of a 4 x 4 torus."""
    for sizes, least in (((6,), 2), ((4, 4), 8)):
        fabric = torus(sizes)
        bit = {name: 1 << k for k, name in enumerate(fabric.names)}
        edges = [(bit[w.source], bit[w.target]) for w in fabric.wires]
        first, *others = bit.values()
        halves = (first + sum(rest) for rest in itertools.combinations(others, len(bit) // 2 - 1))
        narrowest = min(sum(1 for a, b in edges if half & a and not half & b) for half in halves)
        if narrowest != least:
            return Checked(False, f"{fabric}: {narrowest} links")
    return Checked(True, "every halving of a ring of 6 and of a 4 x 4 torus")


def plane(inputs: Inputs) -> Fraction:
    """Links that are counted between the lower and the upper half of the first axis."""
    k, axes = int(inputs["side"]), int(inputs["axes"])
    fabric = torus((k,) * axes)
    low = {name for name in fabric.names if int(name[1:].split(".")[0]) < k // 2}
    return sum((wire.rate for wire in fabric.wires if wire.source in low and wire.target not in low), Fraction(0))


BOUND = Bound(
    name="torus_bisection",
    group="fabric",
    quantity="links between two equal halves",
    unit="1",
    kind=Status.TIGHT,
    role=Role.CEILING,
    loss="network",
    symbols=(
        Symbol("side", "1", "members along each axis, an even number", Trend.RISES, least=4, whole=True, sign="k"),
        Symbol("axes", "1", "axes", Trend.RISES, least=1, whole=True, sign="n"),
    ),
    formula="2 * power(side, axes - 1)",
    valid="side / 2 == floor(side / 2)",
    assumptions=(),
    source="Dally 1990",
    examples=(
        Example({"side": Fraction(4), "axes": Fraction(3)}, 32.0, "links of the plane, counted"),
        Example({"side": Fraction(6), "axes": Fraction(1)}, 2.0, "a ring is cut twice"),
    ),
    proofs=(
        Recheck("identity", "eigenvalues in whole numbers", spectrum),
        Recheck("enumeration", "every halving of small ones", halvings),
    ),
    witness=Witness("the plane through the middle, link by link", plane),
    telemetry=("shape of the fabric",),
    unread="all_gather_fabric and all_reduce_fabric find the cut of the links of a design",
)
