"""Computes how far a loop is from another one, and certifies that it is stable because that one is: the nu-gap.

Two loops that are opened at one place and closed by v = w have the loops P1 and P2 (P = -L, negative feedback).  With
S = (I + P)^-1 and T = I - S,

    b(P1)         = inf over |z| = 1 of 1 / (sqrt(2) |[T1; S1]|)                          the margin of the first
    delta(P1, P2) = sup over |z| = 1 of |V2^-1 (S2 - S1) V1^-1|,  V* V = S* S + T* T      their distance

(S and T are coprime factors of P, and S2 T1 - T2 S1 = S2 - S1), where the winding condition holds; else delta = 1.
It holds where [P1, -P2~] has exactly as many poles outside of the circle as P2 has states.  Where the distance at each
z is less than r < 1 times the margin there, P2 closed by the same 1 is stable where P1 is: its factor is that of P1
times one in which the identity outweighs the rest at each z, so that it winds as often.  Then
sin(arcsin b - arcsin r b) is a lower bound of b(P2).  delta < b(P1) is the case r = delta / b.

Suprema are bounded on arcs, as in `sampled_margins`; S on |t - m| <= h differs from S(m) by at most
h |C R| |R B| / (1 - h |R|), and |V^-1| <= sqrt(2), as S + T = I.  The product of the norms of the three factors is
taken, which with several decisions a lap is more than the norm of their product.  The loops must have one lap, and
decide as often in it.

SOURCE: Vinnicombe, Uncertainty and Feedback, 2001, 3.1 and 3.2; IEEE Trans. Automatic Control 38 (1993), 1371.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from coherence.loops.margins.sampled_margins import MOST_STATES, balanced, bounded, closed_lap, inside, norms
from coherence.loops.multirate.opened_lap import OpenedLap

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    Array = NDArray[Any]
    Bounds = Callable[[Array, float], tuple[Array, Array]]  # values at angles, and their bounds on arcs around them

ARCS = 20_000  # of one supremum
NARROW = 1e-9  # half an arc, at a pole on the circle
LEAST = math.sqrt(0.5)  # of [T; S], as S + T = I
FINE = 5e-3  # excess of a bound over the largest value that was met
CLEAR = 1e-9  # from the circle: a pole nearer to it is on no side of it
HIDDEN = 1e-9  # least singular value with which a mode is seen and moved
SAFE = 1e-9  # by which a margin exceeds a distance, for rounding


@dataclass(frozen=True)
class NuGap:
    """How far a loop is from another one.  `margin`: at least b of the first one, 0 where it is not proved stable.

    `distance` is at most `bound`; at each angle the distance is at most `part` of the margin there.  `reason` says why
    there is no distance below 1, or no certificate.
    """

    margin: float
    distance: float
    bound: float
    reason: str = ""
    part: float = 1.0

    @property
    def certified(self) -> bool:
        """Decides whether the second loop is certified to be stable because the first one is."""
        return not self.reason

    @property
    def margin_left(self) -> float:
        """Returns a lower bound of the margin of the second loop; 0 without a certificate."""
        return math.sin(math.asin(self.margin) - math.asin(self.part * self.margin)) if self.certified else 0.0


def nu_gap(first: OpenedLap, second: OpenedLap) -> NuGap:
    """Returns the distance of two loops that are opened at one place, and the margin of the first one."""
    if (first.period, first.decisions) != (second.period, second.decisions):
        return NuGap(0.0, 1.0, 1.0, "the loops decide at other times: their laps cannot be laid beside each other")
    if max(len(first.a), len(second.a)) > MOST_STATES:
        return NuGap(0.0, 1.0, 1.0, f"a lap remembers more than {MOST_STATES} values")
    first, second = (_with_state(balanced(lap)) for lap in (first, second))
    if not inside(first, 1.0):
        return NuGap(0.0, 1.0, 1.0, "the first one is not proved stable, and has no margin")
    here = _Sensitivity(first)
    margin = 1 / (math.sqrt(2) * _supremum(partial(bounded, here.both, 0 * here.both.d))[1])
    if not _winds(first, second):
        return NuGap(margin, 1.0, 1.0, "the winding condition does not hold")
    apart = _chordal(first, second)
    distance, bound = _supremum(apart)
    part = bound / margin if bound + SAFE < margin else _supremum(_parts(here, apart))[1]
    if part + SAFE >= 1:
        return NuGap(margin, distance, min(bound, 1.0), "the distance is not below the margin")
    if not _all_seen(second):
        return NuGap(margin, distance, min(bound, 1.0), "the second one has a mode that its loop does not see or move")
    return NuGap(margin, distance, min(bound, 1.0), part=part)


def _parts(here: _Sensitivity, apart: Bounds) -> Bounds:
    """Returns the distance at some angles as a part of the margin there, and what it cannot exceed around them."""
    both = here.both

    def part(middle: Array, half: float) -> tuple[Array, Array]:
        sizes, bounds = bounded(both, 0 * both.d, middle, half)
        (distances, most) = apart(middle, half)
        return math.sqrt(2) * sizes * distances, math.sqrt(2) * bounds * most

    return part


def _with_state(lap: OpenedLap) -> OpenedLap:
    """Returns a lap that remembers something: one that nothing moves, where it remembers nothing."""
    if len(lap.a):
        return lap
    none = np.zeros((lap.decisions, 1))
    return replace(lap, a=np.zeros((1, 1)), b=none.T, c=none)


class _Sensitivity:
    """S and T = I - S of a loop over the circle, from its closed lap."""

    def __init__(self, lap: OpenedLap) -> None:
        self.whole, self.unit = closed_lap(lap, 1.0), np.eye(lap.decisions)

    @property
    def both(self) -> OpenedLap:
        """Returns [T; S]."""
        own = self.whole
        return replace(own, c=np.vstack([-own.c, own.c]), d=np.vstack([-own.d, self.unit + own.d]))

    def without(self, other: _Sensitivity) -> OpenedLap:
        """Returns the difference of two S."""
        a, e = self.whole, other.whole
        corner = np.zeros((len(a.a), len(e.a)))
        states = np.block([[a.a, corner], [corner.T, e.a]])
        return replace(a, a=states, b=np.vstack([a.b, e.b]), c=np.hstack([a.c, -e.c]), d=a.d - e.d)

    def least(self, middle: Array, half: float, *, axis: int) -> tuple[Array, Array]:
        """Returns the least singular values of [T; S] (axis 1) or [T, S] (axis 2), and lower bounds on arcs."""
        own = self.whole
        z = np.exp(1j * middle)[:, None, None]
        with np.errstate(all="ignore"):
            resolvent = np.linalg.inv(z * np.eye(len(own.a)) - own.a)
            left, right = own.c @ resolvent, resolvent @ own.b
            reach = half * np.linalg.norm(resolvent, axis=(1, 2))  # no less than the largest singular value
            off = np.where(reach < 1, half * norms(left) * norms(right) / (1 - reach), np.inf)
        value = self.unit + own.d + left @ own.b
        sizes = np.linalg.svd(np.concatenate([self.unit - value, value], axis=axis), compute_uv=False).min(axis=-1)
        return sizes, np.maximum(sizes - math.sqrt(2) * off, LEAST)


def _chordal(first: OpenedLap, second: OpenedLap) -> Bounds:
    """Returns the distance at some angles, and what it cannot exceed on the arcs around them."""
    here, there = _Sensitivity(first), _Sensitivity(second)
    apart, unit = there.without(here), 0 * here.unit

    def distance(middle: Array, half: float) -> tuple[Array, Array]:
        sizes, bounds = bounded(apart, unit, middle, half)
        (size, least), (far, nearest) = here.least(middle, half, axis=1), there.least(middle, half, axis=2)
        return sizes / (size * far), bounds / (least * nearest)

    return distance


def _supremum(of: Bounds) -> tuple[float, float]:
    """Returns the largest value met over the upper half of the circle, and a bound of all on it."""
    half = math.pi / 64
    middle = np.arange(32) * 2 * half + half
    best, settled, spent = 0.0, 0.0, 0
    while len(middle):
        spent += len(middle)
        values, bounds = of(middle, half)
        best = max(best, float(values.max()))
        still = ~(bounds <= best * (1 + FINE) + 1e-6)
        settled = max(settled, float(bounds[~still].max(initial=0.0)))
        if spent > ARCS or half < NARROW:
            return best, max(settled, float(bounds.max()))
        half /= 2
        middle = np.concatenate([middle[still] - half, middle[still] + half])
    return best, settled


def _winds(first: OpenedLap, second: OpenedLap) -> bool:
    """Decides whether [P1, -P2~] has as many poles inside as P1 has states, and outside as P2 has; none on the circle.

    P2~(z) = P2(1/z)^T: its state x = z (A2^T x + C2^T w).
    """
    from scipy.linalg import eigvals

    a, b, c, d = first.loop
    e, f, g, h = (matrix.T for matrix in second.loop)  # A2^T, B2^T, C2^T, D2^T
    n, m, k = len(a), len(e), first.decisions
    left, right = np.zeros((n + m + 2 * k, n + m + 2 * k)), np.zeros((n + m + 2 * k, n + m + 2 * k))
    x, y, u, w = slice(0, n), slice(n, n + m), slice(n + m, n + m + k), slice(n + m + k, None)
    left[x, x], left[x, u], right[x, x] = a, b, np.eye(n)  # z x = A1 x + B1 u
    left[y, y], right[y, y], right[y, w] = np.eye(m), e, g  # y = z (A2^T y + C2^T w)
    left[u, u], left[u, y], left[u, w] = np.eye(k), f, h  # u = -(B2^T y + D2^T w)
    left[w, w], left[w, x], left[w, u] = np.eye(k), -c, -d  # w = C1 x + D1 u
    try:
        alpha, beta = eigvals(left, right, homogeneous_eigvals=True)
    except (np.linalg.LinAlgError, ValueError):
        return False
    sizes, units = np.abs(alpha), np.abs(beta)
    if not np.isfinite(sizes).all() or (np.abs(sizes - units) <= CLEAR * (sizes + units)).any():
        return False
    return int((sizes < units).sum()) == n


def _all_seen(lap: OpenedLap) -> bool:
    """Decides whether every mode that does not fade by itself is moved by the input and seen in the output."""
    unit = np.eye(len(lap.a))
    for mode in np.linalg.eigvals(lap.a):
        if abs(mode) >= 1 - CLEAR:
            moved = np.linalg.svd(np.hstack([lap.a - mode * unit, lap.b]), compute_uv=False).min()
            seen = np.linalg.svd(np.vstack([lap.a - mode * unit, lap.c]), compute_uv=False).min()
            if min(moved, seen) <= HIDDEN:
                return False
    return True
