"""messages of a distributed optimisation: how often two machines must hear of each other before a minimum is near.

## What
log(1/e)/log((r + 1)/(r - 1)) - 1 messages in a row, r the square root of the condition number, until an error is e of
what it was, for some pair of convex functions of which each machine holds one.  Each message shows one coordinate more
of a chain whose links the two functions hold in turn; the minimum has ((r - 1)/(r + 1))^i at the i-th coordinate.  Any
work between two messages is free.

## Why it matters
It bounds what local steps (and compression of time into them) can save: rounds grow with the root of the condition
number, unless the machines' functions are alike, as of data that was dealt by lot.

## Example
Condition 100, an error of 1 %: 22 messages.

## Source
Y. Arjevani and O. Shamir, "Communication complexity of distributed convex learning and optimization", NeurIPS 2015
(arXiv 1506.01900); K. Scaman et al., "Optimal algorithms for smooth and strongly convex distributed optimization in
networks", ICML 2017; Y. Nesterov 2004 (the chain).  The constants are those of the argument above.
"""

from __future__ import annotations

import math
from fractions import Fraction

from coherence.minimums.bound import Bound, Checked, Example, ProofGrade, Quantifier, Recheck, Status, Symbol, Trend


def chain() -> Checked:
    """Shows with sympy that the gradient of the chain vanishes at q^i, at the first coordinate and at any later one.

    f = (L - m)/8 (x1^2 - 2 x1 + sum of (x_i - x_(i+1))^2) + m/2 |x|^2, with L/m = r^2 and q = (r - 1)/(r + 1).
    """
    import sympy as sp

    r = sp.symbols("r", positive=True)
    q, ridge = (r - 1) / (r + 1), sp.Integer(4) / (r**2 - 1)  # 4 m/(L - m)
    first = 2 * q - q**2 - 1 + ridge * q
    later = 2 * q - 1 - q**2 + ridge * q  # over q^(i - 1)
    return Checked(sp.simplify(first) == 0 == sp.simplify(later), "the gradient at q^i vanishes, for every condition")


def spread() -> Checked:
    """Plays every order of five messages and free work: never is more than one coordinate more known than messages.

    The first function holds the first coordinate and links 2-3, 4-5, ..., the second one links 1-2, 3-4, ...
    """
    for mask in range(2**5):
        known = [reached(0, 0), reached(1, 0)]
        for sent in range(5):
            source = mask >> sent & 1
            known[1 - source] = max(known[1 - source], reached(1 - source, known[source]))
            if max(known) > sent + 2:
                return Checked(False, f"order {mask:05b}: {known}")
    return Checked(True, "all orders of five messages: k messages show at most k + 1 coordinates")


def reached(machine: int, coordinates: int) -> int:
    """Returns how many coordinates of the chain a machine can know that has been shown so many."""
    linked = coordinates + 1 if (coordinates % 2 == 0) is (machine == 0) else coordinates
    return max(coordinates, linked)


def error_left(condition: float, coordinates: int) -> float:
    """Returns the least error, over what it was, of a point that has so many coordinates of the chain."""
    root = math.sqrt(condition)
    return ((root - 1) / (root + 1)) ** coordinates


BOUND = Bound(
    name="optimisation_messages",
    group="collectives",
    quantity="messages in a row until an error is a share of what it was",
    unit="1",
    kind=Status.THEOREM,
    quantifier=Quantifier.WORST,
    loss="network",
    symbols=(
        Symbol("condition", "1", "largest over least curvature of each function", Trend.RISES, least=1.0, open_=True),
        Symbol(
            "error",
            "1",
            "share of the first distance to the minimum that may be left",
            Trend.FALLS,
            most=1.0,
            open_=True,
            sign="e",
        ),
    ),
    formula="max(0, log(1 / error) / log((sqrt(condition) + 1) / (sqrt(condition) - 1)) - 1)",
    assumptions=("gradient_span", "many_coordinates"),
    source="Arjevani and Shamir 2015; Scaman et al. 2017; Nesterov 2004",
    examples=(
        Example({"condition": 100, "error": Fraction(1, 100)}, 21.94889234017071, "log(100)/log(11/9) - 1", 1e-9),
        Example({"condition": 9, "error": Fraction(1, 2)}, 0.0, "one coordinate halves it, and is known at once"),
    ),
    proofs=(
        Recheck("identity", "the minimum of the chain", chain, ProofGrade.PART),
        Recheck("enumeration", "what messages show", spread),
    ),
    telemetry=("rounds of an optimisation", "curvature of the loss"),
    unread="no key states the curvature of what is learned",
)
