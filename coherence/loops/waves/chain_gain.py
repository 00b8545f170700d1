"""Computes how much a chain of tiers amplifies: peak over frequencies, variance of noise, worst amplitude.

The peak of a rational hop is the largest of its values where |G|^2 is stationary, and is proved by an exact
inequality (`waves.passes_nothing_above`) just above it.  Of n equal hops it is the n-th power.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

from coherence.base.errors import UsageError
from coherence.loops.waves.chains import Hop, checked, passes_nothing_above, unstable_poles

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Array = NDArray[Any]

PROOF = Fraction(1, 10**9)  # relative distance above the peak at which the bound is proved
GRID = 4000  # frequencies of the first search over a chain of different hops
TAIL = 1e-14  # of an impulse response that is left out


@dataclass(frozen=True)
class ChainPeak:
    """A largest gain at `frequency` (rad/s; infinity: in the limit), proved to lie below `bound`."""

    value: float
    frequency: float
    bound: float

    @property
    def period(self) -> float:
        """Returns seconds of the wave that grows most; infinite for slow changes."""
        return math.tau / self.frequency if self.frequency else math.inf


def peak(hops: Hop | Sequence[Hop]) -> ChainPeak:
    """Returns the largest gain from the first tier to the last.  UsageError: a hop that does not settle.

    Of different hops the value is searched for and `bound` is the product of their own bounds.
    """
    chain = _settling(hops)
    distinct = {(h.numerator, h.denominator, h.step): h for h in chain}
    if len(distinct) == 1:
        hop_peak = _peak(chain[0])
        return ChainPeak(hop_peak.value ** len(chain), hop_peak.frequency, hop_peak.bound ** len(chain))
    bound = math.prod(_peak(hop).bound for hop in chain)
    where = _searched(chain)
    return ChainPeak(float(_size(chain, where)), where, bound)


def growth(hops: Sequence[Hop], frequency: float) -> tuple[float, ...]:
    """Returns the gain from the first tier to tier 1, 2, ... at one frequency (rad/s): the shape of the wave."""
    sizes = [float(abs(checked(hop).at(frequency))) for hop in hops]
    return tuple(float(x) for x in np.cumprod(sizes))


def _settling(hops: Hop | Sequence[Hop]) -> list[Hop]:
    chain = [checked(hop) for hop in ([hops] if isinstance(hops, Hop) else hops)]
    if not chain:
        raise UsageError("a chain without hops: give at least one")
    if len({hop.step for hop in chain}) > 1:
        raise UsageError("the hops are sampled differently: lift them to one step first")
    for hop in chain:
        if unstable_poles(hop):
            raise UsageError(f"{hop.name} alone does not settle: its gain means nothing")
    return chain


def _peak(hop: Hop) -> ChainPeak:
    candidates = [0.0, *_stationary(hop)]
    if hop.step is not None:
        candidates.append(math.pi / hop.step)
    sizes = np.abs(hop.at(np.array(candidates)))
    top = int(sizes.argmax())
    value_, where = float(sizes[top]), candidates[top]
    if hop.step is None and len(hop.numerator) == len(hop.denominator):
        limit = abs(float(hop.numerator[0] / hop.denominator[0]))
        if limit > value_:
            value_, where = limit, math.inf
    level = Fraction(value_) * (1 + PROOF)
    return ChainPeak(value_, where, float(level) if passes_nothing_above(hop, level) else math.inf)


def _stationary(hop: Hop) -> list[float]:
    """Returns frequencies at which d|G|^2/dw = 0: (N/D)' = 0 of the squares, N' D - N D' = 0."""
    top, bottom = ([float(c) for c in side] for side in (hop.numerator, hop.denominator))
    return _on_axis(top, bottom) if hop.step is None else _on_circle(top, bottom, hop.step)


def _on_axis(top: Sequence[float], bottom: Sequence[float]) -> list[float]:
    a, b = _even(top), _even(bottom)  # polynomials in w^2
    slope, other = (np.polyder(x) if len(x) > 1 else np.zeros(1) for x in (a, b))
    left, right = np.convolve(slope, b), np.convolve(a, other)
    size = max(len(left), len(right))
    difference = np.pad(left, (size - len(left), 0)) - np.pad(right, (size - len(right), 0))
    roots: Array = np.roots(difference)
    return [math.sqrt(r.real) for r in roots if r.real > 0 and abs(r.imag) <= 1e-5 * abs(r)]


def _on_circle(top: Sequence[float], bottom: Sequence[float], step: float) -> list[float]:
    n = max(len(top), len(bottom)) - 1
    padded = [[0.0] * (n + 1 - len(side)) + list(side) for side in (top, bottom)]
    a, b = (np.convolve(side, side[::-1]) for side in padded)
    slope = np.arange(n, -n - 1, -1.0)  # z d/dz of z^n .. z^-n
    roots: Array = np.roots(np.convolve(slope * a, b) - np.convolve(a, slope * b))
    return [abs(float(np.angle(r))) / step for r in roots if abs(abs(r) - 1) <= 1e-4]


def _even(p: Sequence[float]) -> Array:
    """Returns |p(jw)|^2 as a polynomial in w^2."""
    mirrored = [c * (-1) ** (len(p) - 1 - i) for i, c in enumerate(p)]
    product = np.convolve(p, mirrored)[::-1][::2]  # of s^0, s^2, ...
    return np.asarray((product * (-1.0) ** np.arange(len(product)))[::-1])


def _size(chain: Sequence[Hop], frequency: Any) -> Any:
    return np.exp(sum(np.log(np.maximum(np.abs(hop.at(frequency)), 1e-300)) for hop in chain))


def _searched(chain: Sequence[Hop]) -> float:
    """Returns the frequency of the largest gain of different hops:
    a dense search around all their own peaks, refined.
    """
    from scipy.optimize import minimize_scalar

    own = [w for hop in chain for w in _stationary(hop) if w > 0]
    step = chain[0].step
    poles = [abs(r) for hop in chain for r in np.roots([float(c) for c in hop.denominator])]
    if step is None:
        scales = [x for x in (*own, *poles) if x > 0] or [1.0]
        grid = np.concatenate([[0.0], np.geomspace(min(scales) / 1e3, max(scales) * 1e3, GRID), own])
    else:
        grid = np.concatenate([np.linspace(0, math.pi / step, GRID), own])
    grid = np.unique(grid)
    sizes = _size(chain, grid)
    k = int(sizes.argmax())
    low, high = grid[max(k - 1, 0)], grid[min(k + 1, len(grid) - 1)]
    optimum = minimize_scalar(lambda w: -float(_size(chain, w)), bounds=(low, high), method="bounded",
                            options={"xatol": 1e-12 * max(1.0, high)})  # fmt: skip
    return float(optimum.x) if -optimum.fun > sizes[k] else float(grid[k])


def variance_ratio(hops: Hop | Sequence[Hop]) -> float:
    """Returns the variance at the last tier over that of independent samples at the first:
    the sum of squared impulse response.

    Continuous hops: variance per unit of white noise (1/s), infinite where noise passes through undelayed by a lag.
    SOURCE: Zhou, Doyle, Glover, Robust and Optimal Control, 4.6 (Gramians).
    """
    from scipy.linalg import solve_continuous_lyapunov, solve_discrete_lyapunov

    chain = _settling(hops)
    a, b, c, d = cascade(chain)
    if chain[0].step is None and d:
        return math.inf
    if not len(a):
        return float(d * d)
    solve = solve_continuous_lyapunov if chain[0].step is None else solve_discrete_lyapunov
    gramian = solve(a, -b @ b.T if chain[0].step is None else b @ b.T)
    return float((c @ gramian @ c.T)[0, 0] + d * d)


def amplitude_ratio(hops: Hop | Sequence[Hop]) -> float:
    """Returns the largest deviation at the last tier that an input within +-1 can cause (l1 norm of the impulse
    response).

    Of continuous hops it is taken from 20,000 samples of the step response: a lower bound, good to about 1e-6.
    """
    from scipy.linalg import expm

    chain = _settling(hops)
    a, b, c, d = cascade(chain)
    if not len(a):
        return float(abs(d))
    radius = float(np.abs(np.linalg.eigvals(a)).max())
    if chain[0].step is not None:
        count = 1 if radius == 0 else math.ceil(math.log(TAIL) / math.log(max(radius, TAIL))) + 1
        return float(abs(d) + _total(a, b, c, len(a) + 2 * count))
    horizon = -math.log(TAIL) / float(-np.linalg.eigvals(a).real.max())
    n, h = len(a), horizon / 20_000
    whole = np.zeros((n + 1, n + 1))
    whole[:n, :n], whole[:n, n:] = a * h, b * h
    step = expm(whole)
    return float(abs(d) + _total(step[:n, :n], step[:n, n:], c, 20_000))


def _total(a: Array, b: Array, c: Array, count: int) -> float:
    """Returns the sum of |c a^k b| for k < count."""
    total, state = 0.0, b
    for _ in range(count):
        total += abs(float((c @ state)[0, 0]))
        state = a @ state
    return total


def cascade(chain: Sequence[Hop]) -> tuple[Array, Array, Array, float]:
    """Returns the hops one after another, without their delays, as x' = A x + B u, y = C x + D u (or x[k+1] = ...)."""
    from coherence.loops.multirate.plant import canonical

    a, b, c, d = np.zeros((0, 0)), np.zeros((0, 1)), np.zeros((1, 0)), 1.0
    for hop in chain:
        p, q, r, s = canonical([float(x) for x in hop.numerator], [float(x) for x in hop.denominator], exact=False)
        a = np.block([[a, np.zeros((len(a), len(p)))], [q @ c, p]])
        b, c, d = np.vstack([b, q * d]), np.hstack([s[0, 0] * c, r]), d * float(s[0, 0])
    return a, b, c, d
