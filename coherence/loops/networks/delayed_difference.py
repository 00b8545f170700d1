"""Decides whether the difference operator decays: feedthrough around loops with delay (neutral type).

At high frequency every block is its feedthrough D_i behind its delay, and what is left of the network is the
difference equation y_i(t + tau_i) = D_i u_i(t), u = K y.  If it grows, infinitely many roots lie right of the axis.  It
decays for all delays alike if the spectral radius is below one with absolute values; a difference operator that
decays only for exactly these delays is fragile, and is not called stable.

SOURCE: Hale & Verduyn Lunel 1993, Introduction to Functional Differential Equations, section 9.6.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from coherence.loops.networks.components import Characteristic, Reals
from coherence.loops.networks.winding import feedback_bound

CLEAR = 1e-9  # distance of a spectral radius from 1 that decides
REGISTERS = 800  # grid steps of all delays together


@dataclass(frozen=True)
class Growth:
    """Of the difference operator: `decays` for all delays, `grows` for these; neither: `reason` says why."""

    decays: bool
    grows: bool
    reason: str = ""


def difference_growth(char: Characteristic) -> Growth:
    """Raises ZeroDivisionError for an algebraic loop without solution."""
    _, inverse = char.transfer_bound(0.0, 1e3 * max(char.largest_root, char.scale))
    late = char.through_late
    if not late.any():
        return Growth(True, False)
    size = np.abs(late)
    if feedback_bound(np.abs(inverse) @ (size[:, None] * np.abs(char.gains)), inverse, size, char) < 1 - CLEAR:
        return Growth(True, False)
    radius = _exact_radius(char, late)
    if radius is not None and radius > 1 + CLEAR:
        return Growth(False, True, f"feedthrough around a loop with delay grows {radius:.6g} times per grid step")
    why = "may grow" if radius is None else f"has spectral radius {radius:.6g} for exactly these delays"
    return Growth(False, False, f"feedthrough around loops with delay {why}, and does not decay for all near ones")


def _exact_radius(char: Characteristic, late: Reals) -> float | None:
    """Returns the growth per step of the common grid of the delays; None where that grid is too fine."""
    steps = _steps([d for d, gain in zip(char.delays, late, strict=True) if gain])
    if steps is None or sum(steps) > REGISTERS:
        return None
    rows = np.flatnonzero(late)
    now = char.through_now
    through = np.linalg.solve(np.eye(char.size) - char.gains * now, char.gains)[np.ix_(rows, rows)]
    ends = np.cumsum(steps)
    matrix = np.eye(int(ends[-1]), k=-1)
    for row, end, count in zip(range(len(rows)), ends, steps, strict=True):
        matrix[end - count] = 0
        matrix[end - count, ends - 1] = late[rows[row]] * through[row]
    return float(np.abs(np.linalg.eigvals(matrix)).max())


def _steps(delays: list[float]) -> list[int] | None:
    """Returns the delays in steps of their common divisor, if they have one."""
    exact = [Fraction(delay).limit_denominator(10**6) for delay in delays]
    if any(abs(float(e) - d) > 1e-12 * d or e == 0 for e, d in zip(exact, delays, strict=True)):
        return None
    common = math.lcm(*(e.denominator for e in exact))
    whole = [int(e * common) for e in exact]
    divisor = math.gcd(*whole)
    return [count // divisor for count in whole]
