"""Witsenhausen's counterexample: what two controllers pay at least of which one sees all and the other may move all.

## What
The first controller knows the state x0 (normal, of standard deviation s) and moves it to x1 at k^2 for each square; the
second one reads x1 with normal noise of variance 1 and moves it for nothing.  With a mean square p^2 of the first
move the reading tells at most log(1 + (s + p)^2)/2 of the state, so that what is left has a mean square of at least the
square of s/sqrt((s + p)^2 + 1) - p.  The floor is the least of k^2 p^2 + that square, over all p.

## Why it matters
It is the smallest case in which loops that share a goal and no readings gain by signalling through the plant: linear
laws are not the best.  The floor holds for vectors as well; for one number it is 6 times below the best law that is
known at k = .2, s = 5 (.1669), and more for larger s.

## Example
k = .2, s = 5: .0276.  The best linear laws pay .96, the best of several levels .17.

## Source
H. Witsenhausen, "A counterexample in stochastic optimum control", SIAM J. Control 6(1), 1968; P. Grover, S. Y. Park and
A. Sahai, "Approximately optimal solutions to the finite-dimensional Witsenhausen counterexample", IEEE TAC 58(9), 2013.
"""

from __future__ import annotations

import math
from fractions import Fraction

from coherence.base.bisection import halved
from coherence.minimums.bound import (
    Bound,
    Checked,
    Example,
    Inputs,
    ProofGrade,
    Quantifier,
    Recheck,
    Status,
    Symbol,
    Trend,
    Witness,
)
from coherence.minimums.bounds._inductions import refuted

REACH, POINTS = 8.0, 1600  # of a law of normal numbers: standard deviations each way, and points of its integral


def unheard(spread: float, moved: float) -> float:
    """Returns the least root mean square that the second controller leaves, where the first one moved by so much."""
    return max(0.0, spread / math.hypot(spread + moved, 1) - moved)


def cost(inputs: Inputs) -> float:
    """Returns the least over all moves p.

    The cost is convex in p: what is left, r, falls at least as fast as p rises, so that r'^2 >= 1, and with v = s + p
    r r'' = r s (2 v^2 - 1)/(v^2 + 1)^(5/2) is more than -1/2 (r <= s <= v).  So a tangent lies below it everywhere.
    """
    price, spread = float(inputs["price"]), float(inputs["spread"])

    def slope(moved: float) -> float:
        v = spread + moved
        return 2 * price**2 * moved - 2 * unheard(spread, moved) * (spread * v / math.hypot(v, 1) ** 3 + 1)

    falls, rises = halved(lambda moved: slope(moved) < 0, 0.0, spread)
    return max(0.0, (price * falls) ** 2 + unheard(spread, falls) ** 2 + slope(falls) * (rises - falls))


def levels(price: float, spread: float, step: float) -> float:
    """Returns what is paid where the first controller moves the state to the nearest multiple of a step.

    The second one takes the mean of the levels that its reading leaves.
    """
    import numpy as np

    most = math.ceil(REACH * spread / step)
    at = step * np.arange(-most, most + 1)
    edges = np.concatenate([[-np.inf], (at[1:] + at[:-1]) / 2, [np.inf]]) / spread
    chance = np.diff([0.5 * math.erfc(-edge / math.sqrt(2)) for edge in edges])
    density = np.exp(-(edges**2) / 2) / math.sqrt(2 * math.pi)
    tail = np.concatenate([[0.0], edges[1:-1] * density[1:-1], [0.0]])
    first = spread * (density[:-1] - density[1:])  # means of x0 over its cells, times their chances
    second = spread**2 * (chance + tail[:-1] - tail[1:])
    moved = float(np.sum(second - 2 * at * first + at**2 * chance))
    reading = np.linspace(at[0] - REACH, at[-1] + REACH, max(POINTS, int(20 * (at[-1] + REACH))))
    weights = chance * np.exp(-((reading[:, None] - at) ** 2) / 2) / math.sqrt(2 * math.pi)
    seen = weights.sum(axis=1)
    mean = (weights @ at) / np.maximum(seen, 1e-300)
    square = (weights @ at**2) - mean**2 * seen
    return price**2 * moved + float(np.trapezoid(np.maximum(square, 0.0), reading))


def linear(price: float, spread: float, part: float) -> float:
    """Returns what is paid where the first controller leaves a part of the state, and the second one scales."""
    here = (part * spread) ** 2
    return (price * spread * (1 - part)) ** 2 + here / (1 + here)


def cheapest_law(inputs: Inputs) -> float:
    """Returns the least of linear laws and of levels, over parts and steps of a grid."""
    price, spread = float(inputs["price"]), float(inputs["spread"])
    lines = min(linear(price, spread, k / 200) for k in range(201))
    return min(lines, *(levels(price, spread, spread * k / 10) for k in range(6, 40)))


def triangle() -> Checked:
    """Of root mean squares: what is left of x0 is no more than the first move and what is left of x1 together."""
    claims = ("(>= far 0.0)", "(>= moved 0.0)", "(>= left 0.0)", "(>= told 0.0)", "(>= far told)",
              "(<= far (+ moved left))", "(>= told moved)",
              "(< (* left left) (* (- told moved) (- told moved)))")  # fmt: skip
    return refuted("what the reading does not tell, less the first move", "QF_NRA", ("far", "moved", "left", "told"),
                   claims)  # fmt: skip


def every_law() -> Checked:
    """Linear laws and levels at four pairs of inputs pay no less, and no first move of a thousand costs less."""
    for price, spread in ((0.2, 5.0), (1.0, 1.0), (0.5, 2.0), (0.1, 10.0)):
        given: Inputs = {"price": price, "spread": spread}
        moves = ((price * spread * k / 1000) ** 2 + unheard(spread, spread * k / 1000) ** 2 for k in range(1001))
        if min(cheapest_law(given), *moves) < cost(given):
            return Checked(False, f"k = {price}, s = {spread}")
    return Checked(True, "235 laws and 1,001 moves at each of four pairs")


BOUND = Bound(
    name="separate_controllers_cost",
    group="limited information",
    quantity="mean cost of both controllers, over the variance of the noise",
    unit="1",
    kind=Status.THEOREM,
    quantifier=Quantifier.MEAN,
    loss="B",
    symbols=(
        Symbol("price", "1", "root of the price of a first move's square", Trend.RISES, open_=True, most=1e3, sign="k"),
        Symbol(
            "spread",
            "1",
            "standard deviation of the state over that of the noise",
            Trend.RISES,
            most=1e3,
            sign=r"\sigma",
        ),
    ),
    compute=cost,
    assumptions=("gaussian_readings", "told_through_state"),
    source="Witsenhausen 1968; Grover, Park and Sahai 2013",
    examples=(
        Example({"price": Fraction(1, 5), "spread": 5}, 0.027604808032521525, "200,000 moves, one by one", 1e-6),
        Example({"price": 1, "spread": 1}, 0.1821843446957794, "200,000 moves, one by one", 1e-6),
        Example({"price": 1000, "spread": 3}, 9 / 10, "a move is too dear: the variance that a reading leaves", 1e-5),
    ),
    proofs=(
        Recheck("smt", "what is left after the first move", triangle, ProofGrade.PART),
        Recheck("enumeration", "linear laws, levels and moves", every_law, ProofGrade.RELATED),
    ),
    witness=Witness("the best of linear laws and of levels, by their integrals", cheapest_law, 8.0),
    telemetry=("cost of a move", "noise of a reading"),
    display=r"\min_{p \ge 0} \; k^2 p^2 + \max\left( 0, \frac{\sigma}{\sqrt{(\sigma + p)^2 + 1}} - p \right)^2",
    unread="no key states what the moves of loops cost",
)
