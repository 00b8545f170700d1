"""A closed loop over frequency, with its derivatives bounded over whole intervals of frequency.

With block i = N_i(s) / D_i(s) exp(-s tau_i) and couplings K, the closed loop y = (I - G K)^-1 G r is

    y = A(s)^-1 B(s) r,   A = diag(D) - diag(N exp(-s tau)) K,   B = diag(N exp(-s tau)),

and with B = diag(D) it is the sensitivity S = (I - G K)^-1: what leaves each block after a disturbance
at its output.  A and B have no poles, so integrators and resonances need no exception, and Taylor's
theorem bounds them over an interval m - h .. m + h.  From X = A^-1 and T = X B follow

    T' = X (B' - A' T),   T'' = X (B'' - A'' T - 2 A' T'),   |A(w)^-1 A(m)| <= 1 / (1 - h |X(m)| sup|A'|),

so that |T(w) - T(m) - (w - m) T'(m)| <= bend (w - m)^2 / 2 holds all over the interval.  All bounds are
mathematical; floating-point rounding comes on top (about 1e-13 relative).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from scipy.sparse.csgraph import connected_components

from coherence.base.errors import UsageError

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from coherence.loops.networks.network import Network

    Real = NDArray[np.float64]
    Complex = NDArray[np.complex128]

WORK = 400_000  # complex numbers of one batch of matrices


@dataclass(frozen=True)
class ClosedLoopResponse:
    """The arrays of a network, or of a part of its closed loop: entries [rows, columns] of T - shift I.

    `sensitivity`: T = S; otherwise T = y from r.  Polynomials stand ascending, `taylor[l]` holds those of
    the l-th derivative over l!.
    """

    names: tuple[str, ...]
    numerators: Real
    denominators: Real
    delays: Real
    gains: Real
    rows: tuple[int, ...]
    columns: tuple[int, ...]
    sensitivity: bool
    shift: float

    @property
    def size(self) -> int:
        return len(self.names)


@dataclass(frozen=True)
class Local:
    """Each interval of a batch at its middle: value, slope, and the bound `bend` of the second derivative.

    `contraction` < 1 where the bounds hold; it is h |A(m)^-1| sup|A'|.
    """

    value: Complex
    slope: Complex
    bend: Real
    contraction: Real


@dataclass(frozen=True)
class Frames:
    """A and the diagonal of B at the middles with two derivatives, row i times units[i]; `reach_a[k]` and `reach_b[k]`
    bound their k-th derivatives (1, 2, 3) over the intervals."""

    a: tuple[Complex, Complex, Complex]
    b: tuple[Complex, Complex, Complex]
    reach_a: tuple[Real, ...]
    reach_b: tuple[Real, ...]
    units: Real


def response(
    network: Network,
    *,
    outputs: Sequence[str] | None = None,
    inputs: Sequence[str] | None = None,
    sensitivity: bool = False,
    shift: float = 0.0,
) -> ClosedLoopResponse:
    """Returns the closed loop from some inputs to some outputs (all, where none are named).

    Raises UsageError for unknown names and for sampled blocks, which have no transfer function of s.
    """
    problems = [f"{b.name} is sampled every {b.rate:g} s: lift the network first" for b in network.blocks if b.rate]
    unknown = [name for name in (*(outputs or ()), *(inputs or ())) if name not in network.index]
    problems += [f"'{name}' is no block of the network" for name in unknown]
    if shift and outputs != inputs:
        problems.append("a shift needs the same outputs and inputs")
    if not network.blocks:
        problems.append("the network has no block")
    if problems:
        raise UsageError("; ".join(problems))
    gains = np.zeros((len(network.blocks),) * 2)
    for coupling in network.couplings:
        gains[network.index[coupling.target], network.index[coupling.source]] += coupling.gain
    everything = tuple(range(len(network.blocks)))
    return ClosedLoopResponse(
        network.names,
        _ascending([block.numerator for block in network.blocks]),
        _ascending([block.denominator for block in network.blocks]),
        np.array([block.delay for block in network.blocks]),
        gains,
        everything if outputs is None else tuple(network.index[name] for name in outputs),
        everything if inputs is None else tuple(network.index[name] for name in inputs),
        sensitivity,
        shift,
    )


def separate(of: ClosedLoopResponse) -> list[ClosedLoopResponse]:
    """Returns the parts that nothing couples to each other and that have inputs and outputs: theirs is the gain."""
    count, labels = connected_components(of.gains != 0, directed=False)
    responses = []
    for part in range(count):
        inside = np.flatnonzero(labels == part)
        place = {int(block): k for k, block in enumerate(inside)}
        rows = tuple(place[row] for row in of.rows if row in place)
        columns = tuple(place[column] for column in of.columns if column in place)
        if rows and columns:
            arrays = of.numerators[inside], of.denominators[inside], of.delays[inside], of.gains[np.ix_(inside, inside)]
            names = tuple(of.names[block] for block in inside)
            responses.append(ClosedLoopResponse(names, *arrays, rows, columns, of.sensitivity, of.shift))
    return responses


def _ascending(polynomials: Sequence[Sequence[float]]) -> Real:
    """Returns polynomials as rows of ascending coefficients, padded to one length, divided by nothing."""
    rows = np.zeros((len(polynomials), max(map(len, polynomials))))
    for row, polynomial in zip(rows, polynomials, strict=True):
        row[: len(polynomial)] = polynomial[::-1]
    return rows


def at(of: ClosedLoopResponse, omega: Real) -> Complex:
    """Returns T - shift I at some frequencies, one matrix each."""
    return local(of, np.asarray(omega, dtype=float), np.zeros(len(omega))).value


def frames(of: ClosedLoopResponse, middle: Real, half: Real) -> Frames:
    """Returns A and B at j middle with their derivatives along the axis, and what these reach within `half` of it."""
    top, bottom = taylor(of.numerators, middle), taylor(of.denominators, middle)
    n, d = delayed(top, of.delays, middle), tuple(bottom[k] * (1j**k * math.factorial(k)) for k in range(3))
    far_n, far_d = delayed_reach(reach(top, half), of.delays), reach(bottom, half)
    units = 1.0 / (far_d[0] + far_n[0] + np.finfo(float).tiny)
    own, far = (d, far_d) if of.sensitivity else (n, far_n)
    a = tuple(matrix(of, units * x, units * y) for x, y in zip(d, n, strict=True))
    b = tuple(units * x for x in own)
    reach_a = tuple(norms(of, units * x, units * y) for x, y in zip(far_d[1:], far_n[1:], strict=True))
    return Frames((a[0], a[1], a[2]), (b[0], b[1], b[2]), reach_a, tuple((units * x).max(1) for x in far[1:]), units)


def delayed(top: Sequence[Complex], delays: Real, middle: Real) -> tuple[Complex, Complex, Complex]:
    """Returns N exp(-s tau) and its first two derivatives along the axis."""
    turn = np.exp(-1j * middle[:, None] * delays)
    first, second = top[1] - delays * top[0], 2 * top[2] - 2 * delays * top[1] + delays**2 * top[0]
    return top[0] * turn, 1j * first * turn, -second * turn


def delayed_reach(far: Sequence[Real], delays: Real) -> tuple[Real, ...]:
    """Returns bounds of the derivatives 0 to 3 of N exp(-s tau), by Leibniz' rule."""
    return tuple(
        np.asarray(sum(math.comb(order, k) * delays ** (order - k) * far[k] for k in range(order + 1)))
        for order in range(4)
    )


def taylor(polynomials: Real, middle: Real) -> list[Complex]:
    """Returns p^(l)(j middle) / l! for l = 0, 1, ...: arrays of [interval, polynomial]; at least four of them."""
    degree = polynomials.shape[1] - 1
    powers = np.asarray((1j * middle[:, None]) ** np.arange(degree + 1), dtype=complex)
    derivatives = []
    for order in range(max(degree, 3) + 1):
        chosen = [math.comb(k, order) for k in range(order, degree + 1)]
        shifted = polynomials[:, order:] * np.array(chosen, dtype=float)
        derivatives.append(np.asarray(powers[:, : len(chosen)] @ shifted.T))
    return derivatives


def reach(terms: Sequence[Complex], half: Real) -> tuple[Real, ...]:
    """Returns bounds of |p|, |p'|, |p''| and |p'''| within `half` of the middle."""
    sizes = [np.abs(term) for term in terms]
    wide = half[:, None]

    def bound(order: int) -> Real:
        return np.asarray(sum(math.perm(k, order) * sizes[k] * wide ** (k - order) for k in range(order, len(sizes))))

    return tuple(bound(order) for order in range(4))


def norms(of: ClosedLoopResponse, diagonal: Real, scaled: Real, *, width: float | None = None) -> Real:
    """Returns a bound of |diag(x) - diag(y) K| for all complex |x| <= diagonal, |y| <= scaled; `width` is |K|."""
    lengths = np.linalg.norm(of.gains, axis=1)
    width = float(np.linalg.norm(of.gains, 2)) if width is None else width
    coupled = np.minimum(np.linalg.norm(scaled * lengths, axis=1), scaled.max(axis=1) * width)
    return np.asarray(diagonal.max(axis=1) + coupled)


def matrix(of: ClosedLoopResponse, diagonal: Complex, scaled: Complex) -> Complex:
    """Returns diag(x) - diag(y) K."""
    entries = -scaled[:, :, None] * of.gains
    index = np.arange(of.size)
    entries[:, index, index] += diagonal
    return np.asarray(entries)


def local(of: ClosedLoopResponse, middle: Real, half: Real) -> Local:
    """Returns value, slope and bend of T - shift I over the intervals middle - half .. middle + half."""
    step = max(1, WORK // of.size**2)
    parts = [_local(of, middle[k : k + step], half[k : k + step]) for k in range(0, len(middle), step)]
    return Local(
        np.concatenate([part.value for part in parts]),
        np.concatenate([part.slope for part in parts]),
        np.concatenate([part.bend for part in parts]),
        np.concatenate([part.contraction for part in parts]),
    )


def _local(of: ClosedLoopResponse, middle: Real, half: Real) -> Local:
    frame = frames(of, middle, half)
    with np.errstate(all="ignore"):
        inverse = _inverse(frame.a[0])
        values = _derivatives(frame, inverse, list(of.columns))
        size, rows = _size(inverse), list(of.rows)
        contraction = half * size * frame.reach_a[0]
        bend = _bend(frame, size, _size(values[0]), half, _size(values[2][:, rows]))
    value, slope = values[0][:, rows], values[1][:, rows]
    if of.shift:
        value = value - of.shift * np.eye(len(of.columns))
    contraction = np.where(np.isfinite(contraction), contraction, np.inf)
    return Local(value, slope, np.where(np.isfinite(bend), bend, np.inf), contraction)


def _derivatives(frame: Frames, inverse: Complex, columns: list[int]) -> tuple[Complex, Complex, Complex]:
    """Returns T = X B, T' = X (B' - A' T) and T'' = X (B'' - A'' T - 2 A' T') at the middles, in some columns."""
    narrow = np.ascontiguousarray(inverse[:, :, columns])
    value = narrow * frame.b[0][:, None, columns]
    slope = narrow * frame.b[1][:, None, columns] - inverse @ (frame.a[1] @ value)
    bent = narrow * frame.b[2][:, None, columns] - inverse @ (frame.a[2] @ value + 2 * (frame.a[1] @ slope))
    return value, slope, bent


def _bend(frame: Frames, size: Real, gain: Real, half: Real, centre: Real) -> Real:
    """Returns a bound of |T''| over each interval, from norms alone or from T'' at the middle and a bound of T'''.

    `size`, `gain` and `centre`: |X|, |T| and |T''| at the middles.
    """
    (a1, a2, a3), (b1, b2, b3) = frame.reach_a, frame.reach_b
    contraction = half * size * a1
    grown = np.where(contraction < 1, 1 / (1 - contraction), np.inf)
    reach = (gain + half * size * b1) * grown
    size = size * grown
    first = size * (b1 + a1 * reach)
    second = size * (b2 + a2 * reach + 2 * a1 * first)
    third = size * (b3 + a3 * reach + 3 * a2 * first + 3 * a1 * second)
    return np.asarray(np.minimum(second, centre + half * third))


def _inverse(matrices: Complex) -> Complex:
    """Returns inverses; infinite where there is none."""
    if matrices.shape[1] == 1:
        return np.asarray(1 / matrices)
    try:
        return np.asarray(np.linalg.inv(matrices))
    except np.linalg.LinAlgError:
        return np.stack([_one_inverse(matrix) for matrix in matrices])


def _one_inverse(matrix: Complex) -> Complex:
    try:
        return np.asarray(np.linalg.inv(matrix))
    except np.linalg.LinAlgError:
        return np.full(matrix.shape, np.inf + 0j)


def _size(matrices: Complex) -> Real:
    """Returns an upper bound of the largest singular value: itself for small matrices, the cheaper sqrt(|M|_1
    |M|_inf) else.
    """
    sizes = np.abs(matrices)
    if 1 in matrices.shape[1:]:  # of a vector: its length
        return np.asarray(np.hypot.reduce(sizes, axis=(1, 2)))
    bound = np.sqrt(sizes.sum(axis=1).max(axis=1) * sizes.sum(axis=2).max(axis=1))
    if 1 < matrices.shape[1] <= 40 and bool(np.isfinite(bound).all()):
        return np.asarray(np.linalg.norm(matrices, 2, axis=(1, 2)))
    return np.asarray(bound)
