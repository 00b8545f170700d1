"""Counts roots of a characteristic function right of a vertical line: the argument principle with proved steps.

The line is covered by segments.  On each, E(s) = M(c)^-1 (M(s) - M(c)) stays below `STEP` in the Frobenius norm,
by a bound on the first two derivatives; so det M has no zero there, and the change of its argument differs from
Im tr E by at most |E|^2 / (2 (1 - |E|)), too little to hide a turn.  Beyond a radius R all feedback together is
smaller than one, so the arc that closes the contour holds no root and its argument is known.  Rounding is part
of the bound, to first order; nothing is sampled on a fixed grid.

SOURCE: Nyquist 1932; the bound is log det(I + E) = tr E - tr E^2 / 2 + ...
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from coherence.loops.networks.components import ROUNDING, Bounds, Characteristic, Complexes, Reals

FACTORED = 64  # blocks from which one matrix is factored at a time
STEP = 0.75  # of |E|: two neighbours' errors add to 2.25 < pi
BATCH = 600_000  # entries of the matrices that are inverted at once
Integers = np.ndarray[tuple[int, ...], np.dtype[np.int_]]
SMALLEST = 1e-12  # width of a segment relative to its height, below which a root is taken to lie on the line
LIMIT = 60_000  # segments
ERROR = 1e-6  # distance of the count from an integer


@dataclass(frozen=True)
class Count:
    """`roots`: right of Re s = sigma, with multiplicity; None where `reason` says why it was not reached.

    `at`: the frequency next to which a root lies on the line (rad/s), if that is the reason.  `radius`: beyond
    it no such root exists.  `places` and `logarithmic` are points of the line and tr(M^-1 M') there.
    """

    roots: int | None
    sigma: float
    radius: float
    segments: int
    reason: str = ""
    at: float | None = None
    places: Complexes | None = None
    logarithmic: Complexes | None = None


class _Cover:
    """Accepted segments, as columns."""

    def __init__(self) -> None:
        self.rows: list[Reals] = []
        self.logarithmic: list[Complexes] = []

    def add(self, columns: Iterable[Reals], logarithmic: Complexes) -> None:
        self.rows.append(np.array(list(columns)))
        self.logarithmic.append(logarithmic)

    def sorted(self) -> tuple[Reals, Complexes]:
        table, psi = np.concatenate(self.rows, axis=1), np.concatenate(self.logarithmic)
        order = np.argsort(table[0])
        return table[:, order], psi[order]


def count_right_of(char: Characteristic, sigma: float = 0.0, *, limit: int = LIMIT) -> Count:
    """Counts roots with Re s > sigma.  Neutral parts need a difference operator that decays (see `delayed`)."""
    try:
        radius = closing_radius(char, sigma)
    except ZeroDivisionError:
        return Count(None, sigma, math.inf, 0, "an algebraic loop without delay has no solution")
    if not math.isfinite(radius):
        return Count(
            None, sigma, radius, 0, "no radius bounds the roots: feedback at high frequencies is not below one"
        )
    cover, segments, bad = _covered(char, sigma, radius, limit)
    if bad is not None:
        on_line = segments < limit
        reason = f"a root on or next to Re s = {sigma:.3g} at {bad:.6g} rad/s" if on_line else "too many steps"
        places, psi = _samples(cover, sigma)
        return Count(None, sigma, radius, segments, reason, bad if on_line else None, places, psi)
    return _counted(char, sigma, radius, cover, segments)


def _counted(char: Characteristic, sigma: float, radius: float, cover: _Cover, segments: int) -> Count:
    change = _argument(char, sigma, radius, cover)
    places, psi = _samples(cover, sigma)
    if change is None:
        return Count(None, sigma, radius, segments, "the argument between two steps is not known", None, places, psi)
    turns = (_arc(char, sigma, radius) - change) / math.pi
    roots = round(turns)
    if abs(turns - roots) > ERROR or roots < 0:
        reason = f"the argument gives {turns:.3g} roots: accuracy is lost"
        return Count(None, sigma, radius, segments, reason, None, places, psi)
    return Count(roots, sigma, radius, segments, "", None, places, psi)


def _samples(cover: _Cover, sigma: float) -> tuple[Complexes, Complexes]:
    if not cover.rows:
        return np.zeros(0, dtype=complex), np.zeros(0, dtype=complex)
    table, psi = cover.sorted()
    return sigma + 1j * table[0], psi


def closing_radius(char: Characteristic, sigma: float) -> float:
    """Returns a radius beyond which the feedback's spectral radius is below one for Re s >= sigma;
    inf if there is none.
    """
    radius = 2.5 * max(char.largest_root, abs(sigma), char.scale)
    late = np.abs(char.through_late) * np.exp(-min(sigma, 0.0) * char.delays)
    _, inverse = char.transfer_bound(sigma, radius)
    limit = _feedback(char, inverse, late)
    if limit >= 1 - 1e-6:
        return math.inf
    enough = max(0.5, (1 + limit) / 2)
    for _ in range(200):
        bound, inverse = char.transfer_bound(sigma, radius)
        if _feedback(char, inverse, bound, enough) <= enough:
            return radius
        radius *= 1.3
    return math.inf


def _feedback(char: Characteristic, inverse: Reals, bound: Reals, enough: float = 0.0) -> float:
    return feedback_bound(np.abs(inverse) @ (bound[:, None] * np.abs(char.gains)), inverse, bound, char, enough)


def feedback_bound(absolute: Reals, inverse: Reals, bound: Reals, char: Characteristic, enough: float = 0.0) -> float:
    """Returns an upper bound of the spectral radius of X diag(g) K for all |g_i| <= bound_i.

    `enough`: whether the bound is above it is all that is asked (0: the bound itself).
    """
    weights = np.ones(char.size)
    best = math.inf
    for _ in range(30):
        image = absolute @ weights
        ratios = image / weights
        best = min(best, float(ratios.max()))
        if best <= enough:
            return best
        if enough and ratios.min() > enough:  # so is the spectral radius of `absolute` (Collatz and Wielandt)
            break
        weights = image / np.max(image) + weights / np.max(weights) * 0.3 + 1e-9
    if char.size > 2:
        best = min(best, float(np.linalg.norm(inverse, 2) * np.max(bound, initial=0.0) * char.coupling_norm))
    return best


def _covered(char: Characteristic, sigma: float, radius: float, limit: int) -> tuple[_Cover, int, float | None]:
    """Returns segments from 0 to `radius`; the frequency where that failed, if it did."""
    cover, segments = _Cover(), 0
    low, high = _first(char, radius)
    batch = max(1, BATCH // max(1, char.size) ** 2)
    while len(low):
        ends, starts = [], []
        for k in range(0, len(low), batch):
            a, b = low[k : k + batch], high[k : k + batch]
            size, columns, psi = segment_errors(char, sigma, a, b)
            good = size <= STEP
            cover.add([column[good] for column in columns], psi[good])
            narrow = ~good & (b - a < SMALLEST * (b + char.scale * 1e-3))
            segments += len(a)
            if narrow.any() or segments > limit:
                return cover, segments, float(a[narrow][0]) if narrow.any() else float(a[0])
            parts = np.clip(np.ceil(np.nan_to_num(size[~good], nan=8, posinf=8) / 0.6), 2, 8).astype(int)
            left, right = split(a[~good], b[~good], parts)
            starts.append(left)
            ends.append(right)
        low, high = np.concatenate(starts), np.concatenate(ends)
    return cover, segments, None


def _first(char: Characteristic, radius: float) -> tuple[Reals, Reals]:
    """Returns segments that grow with frequency."""
    start = min(char.scale / 4, radius / 2)
    edges = np.concatenate([[0.0], np.geomspace(start, radius, max(4, math.ceil(math.log(radius / start) * 3)))])
    return edges[:-1], edges[1:]


def split(low: Reals, high: Reals, parts: Integers) -> tuple[Reals, Reals]:
    """Splits each segment in equal parts."""
    which = np.repeat(np.arange(len(low)), parts)
    place = np.arange(len(which)) - np.repeat(np.cumsum(parts) - parts, parts)
    width, count = (high - low)[which], parts[which]
    left = low[which] + width * place / count
    right = np.where(place + 1 == count, high[which], low[which] + width * (place + 1) / count)
    return left, right


def segment_errors(
    char: Characteristic, sigma: float, low: Reals, high: Reals
) -> tuple[Reals, tuple[Reals, ...], Complexes]:
    """Returns bounds of |E| on the segments; (centre, arg det, Im tr E at both ends); tr(M^-1 dM/ds) at the centre."""
    centre, radius = (low + high) / 2, (high - low) / 2
    d, g = char.bounds(sigma, centre, radius)
    m = char.matrix(d.value, g.value)
    inverse, sign = inverted(m)
    columns = np.linalg.norm(inverse, axis=1)
    size = step_error(char, inverse, columns, d, g, radius)
    diagonal = np.einsum("kii->ki", inverse)
    backward = np.einsum("ij,kji->ki", char.gains, inverse) if char.size < 64 else _diagonal(char.gains, inverse)
    ends = [_trace(char, sigma, end, (d, g), (diagonal, backward)).imag for end in (low, high)]
    psi = (diagonal * d.slope - backward * g.slope).sum(axis=1)
    return size, (centre, np.angle(sign), *ends), psi


def _diagonal(gains: Reals, inverse: Complexes) -> Complexes:
    """Returns the diagonal of K M^-1."""
    return np.asarray((gains * inverse.transpose(0, 2, 1)).sum(axis=2))


def inverted(m: Complexes) -> tuple[Complexes, Complexes]:
    """Returns M^-1 and the sign of det M; infinite where M is singular."""
    if m.shape[1] == 1:
        with np.errstate(all="ignore"):
            return 1 / m, m[:, 0, 0] / np.abs(m[:, 0, 0])
    if m.shape[1] >= FACTORED:
        factored = [_factored(matrix) for matrix in m]
        return np.array([inverse for inverse, _ in factored]), np.array([sign for _, sign in factored])
    try:
        return np.linalg.inv(m), np.linalg.slogdet(m)[0]
    except np.linalg.LinAlgError:
        inverse = np.full(m.shape, np.inf + 0j)
        for k, matrix in enumerate(m):
            if np.linalg.matrix_rank(matrix) == len(matrix):
                inverse[k] = np.linalg.inv(matrix)
        return inverse, np.linalg.slogdet(m)[0]


def _factored(m: Complexes) -> tuple[Complexes, complex]:
    """Inverts one matrix as `inverted` does, with one factorisation for both."""
    from scipy.linalg.lapack import zgetrf, zgetri

    factors, pivots, failed = zgetrf(m)
    if failed:
        return np.full(m.shape, np.inf + 0j), 1.0 + 0j  # singular
    diagonal = np.diag(factors)
    swaps = int((pivots != np.arange(len(pivots))).sum())
    sign = complex(np.exp(1j * np.angle(diagonal).sum())) * (-1) ** swaps
    return zgetri(factors, pivots)[0], sign


def step_error(char: Characteristic, inverse: Complexes, columns: Reals, d: Bounds, g: Bounds, radius: Reals) -> Reals:
    """Returns a bound of |E| on segments about the points whose M^-1 is given, with the norms of its columns."""
    with np.errstate(all="ignore"):
        first = _slope_norm(char, inverse, d.slope, g.slope) * radius
        curved = (column_norm(columns, d.second) + through(char, columns, g.second)) * radius**2 / 2
        coarse = column_norm(columns, d.first) * radius + through(char, columns, np.abs(g.value) + g.highest)
        own, back = (10 * ROUNDING * np.abs(row.value) + row.doubt for row in (d, g))
        noise = column_norm(columns, own) + through(char, columns, back)
        return np.asarray(np.nan_to_num(np.minimum(first + curved, coarse) + noise, nan=np.inf))


def _slope_norm(char: Characteristic, inverse: Complexes, d: Complexes, g: Complexes) -> Reals:
    """Returns the Frobenius norm of M^-1 M'; K is real, so real and imaginary part are multiplied apart."""
    through = inverse * g[:, None, :]
    own = inverse * d[:, None, :]
    real, imaginary = own.real - through.real @ char.gains, own.imag - through.imag @ char.gains
    return np.asarray(np.sqrt(np.einsum("kij,kij->k", real, real) + np.einsum("kij,kij->k", imaginary, imaginary)))


def column_norm(columns: Reals, factors: Reals) -> Reals:
    """Returns the Frobenius norm of M^-1 diag(factors)."""
    return np.asarray(np.linalg.norm(columns * factors, axis=1))


def through(char: Characteristic, columns: Reals, factors: Reals) -> Reals:
    """Returns a bound of the Frobenius norm of M^-1 diag(f) K for |f| <= factors."""
    together = column_norm(columns, factors) * char.coupling_norm
    return np.asarray(np.minimum(together, (columns * factors) @ char.row_norms))


def _trace(
    char: Characteristic,
    sigma: float,
    end: Reals,
    rows: tuple[Bounds, Bounds],
    diagonals: tuple[Complexes, Complexes],
) -> Complexes:
    d, g = char.entries(sigma, sigma + 1j * end)
    diagonal, backward = diagonals
    with np.errstate(all="ignore"):
        change = diagonal * (d - rows[0].value) - backward * (g - rows[1].value)
    return np.asarray(change.sum(axis=1))


def _argument(char: Characteristic, sigma: float, radius: float, cover: _Cover) -> float | None:
    """Returns the change of arg det M from sigma to sigma + j radius; None where two steps disagree."""
    table = cover.sorted()[0]
    sign = np.linalg.slogdet(char.matrix(*char.entries(sigma, sigma + 1j * np.array([0.0, radius]))))[0]
    args = np.concatenate([[np.angle(sign[0])], table[1], [np.angle(sign[1])]])
    left, right = np.concatenate([table[2], [0.0]]), np.concatenate([[0.0], table[3]])
    expected, seen = right - left, np.diff(args)
    turns = np.round((expected - seen) / math.tau)
    if np.any(np.abs(expected - seen - turns * math.tau) > math.pi - 0.5):
        return None
    return float((seen + turns * math.tau).sum())


def _arc(char: Characteristic, sigma: float, radius: float) -> float:
    """Returns the change of arg F on the quarter arc from the real axis up to sigma + j radius."""
    s = np.array([sigma + 1j * radius])
    d, g = char.entries(sigma, s)
    through = char.through_now
    closing = np.eye(char.size) - through[:, None] * char.gains
    feedback = np.linalg.solve(closing, (g / d)[0][:, None] * char.gains - through[:, None] * char.gains)
    loops = np.angle(1 - np.linalg.eigvals(feedback)).sum() if char.size else 0.0
    a = char.shifts(sigma)
    rows = np.where(char.present, np.angle(s[0] - char.roots) - np.angle(s[0] + a), 0.0)
    return float(loops + rows.sum())
