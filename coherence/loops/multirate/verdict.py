"""The verdict on sampled loops of several rates: Floquet multipliers, none of which rounding moves over the circle.

Where the lap is rational the roots are counted exactly (`sampled_verdict`).  Otherwise, with a bound e on the error of
the lap's matrix M, no matrix within e of M has an eigenvalue on |z| = 1 if sigma_min(z I - M) > e there; the
least singular value changes by no more than z does, so finitely many points prove it for the whole circle.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from coherence.loops.multirate.lifting import Lifted, lift
from coherence.loops.multirate.sampled_system import Multirate, multirate
from coherence.loops.networks.network import Network
from coherence.loops.networks.sampled_verdict import stability
from coherence.loops.networks.scaling import balanced

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Array = NDArray[Any]

ROUNDING = 1e-13  # error of the lap's matrix relative to its norm, per variable
EXACT_SIZE = 40  # variables up to which roots are counted exactly
CELLS = 200_000  # points of the circle times variables before the proof is given up


@dataclass(frozen=True)
class Floquet:
    """What a sampled system does from lap to lap.

    `verdict`: stable, unstable, marginal or undecided, with the `reason` and the number of `unstable`
    multipliers; `multipliers` by falling modulus; `growth` per second of the dominant mode (1/s, its real
    part); `period` of the dominant mode in s, None where it does not turn, counted along its commands.
    """

    verdict: str
    reason: str
    unstable: int | None
    multipliers: Array
    lap: float
    growth: float
    period: float | None

    @property
    def modulus(self) -> float:
        """Returns the growth of the dominant mode per lap."""
        return float(abs(self.multipliers[0])) if len(self.multipliers) else 0.0


def floquet(system: Multirate | Network | Lifted) -> Floquet:
    """Returns the verdict on a sampled system.  UsageError: nothing is sampled, or delays that cannot be lifted."""
    lifted = (
        system if isinstance(system, Lifted) else lift(multirate(system) if isinstance(system, Network) else system)
    )
    multipliers, modes = _modes(lifted.floats)
    verdict, reason, unstable = _decided(lifted, multipliers)
    modulus = abs(multipliers[0]) if len(multipliers) else 0.0
    growth = math.log(modulus) / float(lifted.period) if modulus else -math.inf
    return Floquet(
        verdict, reason, unstable, multipliers, float(lifted.period), growth, _period(lifted, multipliers, modes)
    )


def _modes(matrix: Array) -> tuple[Array, Array]:
    """Returns eigenvalues by falling modulus (of a pair: the upper first) and their vectors."""
    if not len(matrix):
        return np.zeros(0, dtype=complex), np.zeros((0, 0), dtype=complex)
    multipliers, vectors = np.linalg.eig(matrix)
    order = sorted(
        range(len(multipliers)), key=lambda i: (-round(float(abs(multipliers[i])), 12), -multipliers[i].imag)
    )
    return multipliers[order].astype(complex), vectors[:, order].astype(complex)


def _decided(lifted: Lifted, multipliers: Array) -> tuple[str, str, int | None]:
    if lifted.exact and len(lifted.matrix) <= EXACT_SIZE:
        stable, counts = stability(lifted.matrix.tolist())
        name = {True: "stable", False: "unstable", None: "marginal"}[stable]
        return name, "exact root count of the rational lap", counts.outside
    matrix = balanced(lifted.floats)
    allowed = ROUNDING * max(1, len(matrix)) * max(1.0, float(np.linalg.norm(matrix, 2)) if len(matrix) else 0.0)
    outside = int((np.abs(multipliers) > 1).sum())
    if clear_of_circle(matrix, 1.0, allowed):
        reason = f"no multiplier within rounding ({allowed:.0e}) of the unit circle"
        return ("unstable" if outside else "stable"), reason, outside
    if clear_of_circle(matrix, 1 + 1e-6, allowed) and (np.abs(multipliers) > 1 + 1e-6).any():
        return "unstable", "a multiplier lies outside the circle; another is within rounding of it", None
    return "undecided", f"a multiplier is within rounding ({allowed:.0e}) of the unit circle", None


def clear_of_circle(matrix: Array, radius: float, distance: float) -> bool:
    """Decides whether sigma_min(z I - M) > distance is proved for all |z| = radius."""
    n = len(matrix)
    middle, half = np.linspace(0, math.pi, 17)[1::2], math.pi / 16
    spent = 0
    while len(middle) and n:
        spent += len(middle) * n
        if spent > CELLS:
            return False
        z = radius * np.exp(1j * middle)
        least = np.linalg.svd(z[:, None, None] * np.eye(n) - matrix, compute_uv=False)[:, -1]
        if (least <= distance).any():
            return False
        left = middle[least - radius * half <= distance]
        half /= 2
        middle = np.concatenate([left - half, left + half])
    return True


def _period(lifted: Lifted, multipliers: Array, modes: Array) -> float | None:
    """Returns the seconds per turn of the dominant mode: the turns of the command that turns most, between decisions
    of one lap.
    """
    if not len(multipliers) or not abs(multipliers[0]):
        return None
    rate = 0.0
    for rows in lifted.commands.values():
        course = rows.astype(float) @ modes[:, 0]
        ends = np.append(course, course[0] * multipliers[0])
        if np.abs(ends).min() > 1e-9 * np.abs(modes[:, 0]).max():
            turn = abs(float(np.angle(ends[1:] / ends[:-1]).sum()))
            rate = max(rate, turn / float(lifted.period))
    if rate == 0.0:
        rate = abs(float(np.angle(multipliers[0]))) / float(lifted.period)
    return math.tau / rate if rate > 1e-9 / float(lifted.period) else None
