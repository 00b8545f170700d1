"""Proves convergence by a quadratic Lyapunov function, where a chain of sets is too slow.

Near its rest a design runs through one cycle of modes, each of which it leaves by one affine edge.  Once round the
cycle is y -> A y about the rest.  With V(y) = y' P y, P > 0 and rho P - A' P A >= 0 in exact rationals, V shrinks by
rho < 1 each time round.  In V <= c0 no other edge can be taken, V <= c touches no bad set, and rho^N c0 <= c: so after
N rounds no run is bad.  The way into V <= c0 is a short chain of sets.  P is guessed in floats; every claim is written
as an SMT-LIB script about the exact numbers: sums of squares, signs, and linear arithmetic.

SOURCE: A. M. Lyapunov 1892; sums of squares as certificates: P. Parrilo, PhD thesis, Caltech 2000.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from coherence.verify.convergence.lyapunov_claims import (
    bounded_claim,
    box_claim,
    closed_claims,
    goal_claims,
    rounds_claim,
    shrink_claims,
)
from coherence.verify.convergence.mode_cycles import ModeCycle, begun_at, mode_cycles
from coherence.verify.convergence.quadratic import ZERO, Matrix, Vector, congruence, minus, squares
from coherence.verify.invariants.numeric import Floats
from coherence.verify.systems.piecewise_affine import Polyhedron, TransitionSystem

MOST_STATES = 10
DIGITS = 10**7
PART = Fraction(1, 5)  # of the way from the square of the largest pole to 1 at which rho lies


@dataclass(frozen=True, slots=True)
class Basin:
    """From a state of the set on, within `steps` steps no run is bad; the scripts that say so."""

    steps: int
    scripts: tuple[str, ...]


def basin(
    system: TransitionSystem, goal: TransitionSystem, broken: str, level: Mapping[str, Polyhedron], open_: Iterable[int]
) -> Basin | str:  # fmt: skip
    """Returns a proof for the runs in the boxes of `level` (per mode), where only the edges `open_` seem open."""
    states = len(system.variables)
    if not 0 < states <= MOST_STATES:
        return f"a quadratic function is sought for at most {MOST_STATES} states"
    edges = [system.edges[k] for k in open_]
    cycles = mode_cycles(edges, level, states)
    if isinstance(cycles, str):
        return cycles
    scripts: list[str] = []
    steps = 0
    # a run is anywhere in a cycle: the boxes of all its modes count, each from its own start
    for cycle in [begun_at(whole, k) for whole in cycles for k in range(len(whole.modes))]:
        part = _from_start(cycle, system, goal, broken, level[cycle.modes[0]])
        if isinstance(part, str):
            return part
        steps = max(steps, part.steps)
        scripts += part.scripts
    return Basin(steps, tuple(scripts))


def _from_start(
    cycle: ModeCycle, system: TransitionSystem, goal: TransitionSystem, broken: str, start: Polyhedron
) -> Basin | str:
    reach = _reach(start, cycle.rests[0])
    if reach is None:
        return f"no bounds of {cycle.modes[0]}"
    guess = _function(cycle.matrices[-1], reach)
    if guess is None:
        return "not every pole lies inside the unit circle"
    matrix, rho = guess
    pairs = zip(matrix, reach, strict=True)
    most = sum((abs(p) * a * b for row, a in pairs for p, b in zip(row, reach, strict=True)), ZERO)
    names = [f"y{k}" for k in range(len(reach))]
    scripts = [bounded_claim(start, system, cycle.rests[0], reach), *shrink_claims(cycle, matrix, rho, names)]
    scripts.append(box_claim(matrix, reach, most))
    closed = closed_claims(cycle, system, matrix, most, names)
    if isinstance(closed, str):
        return closed
    goals = goal_claims(cycle, goal, broken, matrix, names)
    if isinstance(goals, str):
        return goals
    least, goal_scripts = goals
    rounds = rounds_claim(rho, most, least)
    if rounds is None:
        return "too many rounds until it is inside"
    count, script = rounds
    return Basin((count + 1) * len(cycle.modes), (*scripts, *closed, *goal_scripts, script))


def _reach(start: Polyhedron, rest: Vector) -> Vector | None:
    """Returns how far a state of the set is from the rest, at most, variable by variable."""
    sides = [_sides(start, k) for k in range(len(rest))]
    distances = []
    for (low, high), middle in zip(sides, rest, strict=True):
        if low is None or high is None:
            return None
        distances.append(max(abs(high - middle), abs(low - middle)))
    return distances


def _sides(start: Polyhedron, index: int) -> tuple[Fraction | None, Fraction | None]:
    """Returns the lowest and highest value of a variable by the rows about it alone."""
    low: Fraction | None = None
    high: Fraction | None = None
    for row in start:
        c = row.linear.coefficients[index]
        if not c or any(d for k, d in enumerate(row.linear.coefficients) if k != index):
            continue
        edge = -row.linear.constant / c
        if c > 0 or row.relation == "==":
            high = edge if high is None else min(high, edge)
        if c < 0 or row.relation == "==":
            low = edge if low is None else max(low, edge)
    return low, high


def _function(matrix: Matrix, reach: Vector) -> tuple[Matrix, Fraction] | None:
    """Returns (P, rho) with P > 0 and rho P - A' P A >= 0, exactly; None where none was found."""
    from scipy.linalg import solve_discrete_lyapunov

    size = np.array([float(value) or 1.0 for value in reach])
    size = np.maximum(size, size.max() * 1e-6)
    scaled: Floats = np.array([[float(c) for c in row] for row in matrix]) * size[None, :] / size[:, None]
    pole = float(np.abs(np.linalg.eigvals(scaled)).max(initial=0.0))
    if pole >= 1:
        return None
    for part in (PART, Fraction(1, 2), Fraction(4, 5)):
        rho = Fraction(math.ceil((pole**2 + (1 - pole**2) * float(part)) * DIGITS), DIGITS)
        if rho >= 1:
            continue
        guess = solve_discrete_lyapunov((scaled / math.sqrt(float(rho))).T, np.eye(len(reach)))
        guess = guess / np.abs(guess).max() / np.outer(size, size)
        form_matrix = _rounded((guess + guess.T) / 2, size)
        if squares(form_matrix) is None or len(squares(form_matrix) or ()) < len(reach):
            continue
        if squares(minus([[rho * p for p in row] for row in form_matrix], congruence(form_matrix, matrix))) is not None:
            return form_matrix, rho
    return None


def _rounded(matrix: Floats, size: Floats) -> Matrix:
    """Returns nearby decimals, in the scale of the states."""
    scales = [Fraction(10) ** round(-math.log10(s)) for s in size.tolist()]
    return [
        [Fraction(round(float(matrix[i, j]) / float(a * b) * DIGITS), DIGITS) * a * b for j, b in enumerate(scales)]
        for i, a in enumerate(scales)
    ]
