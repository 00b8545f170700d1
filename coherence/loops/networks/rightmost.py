"""Finds rightmost characteristic roots: starts from a generator or a contour, polished by Newton's method.

The generator of the delay equation moves each delayed output along its delay; on Chebyshev points it is a matrix
whose eigenvalues approach the roots from the right.  Newton's method then works on the exact characteristic
equation, with s - 1 / tr(P^-1 P').  Parts too large for the matrix start at the peaks of tr(M^-1 M') along a
contour, which are one Newton step from the roots beside it.

SOURCE: Breda, Maset & Vermiglio 2005, Pseudospectral differencing methods for characteristic roots of delay
differential equations; Trefethen 2000, Spectral Methods in MATLAB (differentiation matrix).
"""

from __future__ import annotations

import math
from functools import lru_cache

import numpy as np

from coherence.loops.networks.components import Characteristic, Complexes, Reals
from coherence.loops.networks.network import Block

LARGEST = 700  # rows of the generator's matrix
SETTLED = 1e-9  # relative size of the last Newton step
SAME = 1e-7  # relative distance of roots that count as one
STARTS = 48
SHORT = 1e-12  # of the fastest rate: delays shorter than this are as good as none where roots are only looked for
LARGE, FEW = 100, 8  # blocks above which few starts are taken, and how many
SAMPLES = 300  # of a contour, for a rational fit


def generator_roots(char: Characteristic, *, level: float = 0.5) -> Complexes | None:
    """Returns approximate rightmost roots with Im s >= 0; None where the matrix would be too large.

    Delays are resolved up to the frequency above which all feedback together is below `level`, if there is room.
    """
    highest = busy_frequency(char, level)
    room = (LARGEST if char.size <= 4 else LARGEST // 3) - sum(block.order for block in char.network.blocks)
    fewest = sum(_points(block.delay, 0.0) for block in char.network.blocks)
    if fewest > room:
        return None
    waves = highest * float(char.delays.sum())
    if waves:
        highest = min(highest, highest * max(room - fewest - char.size, 1) / (0.65 * waves))
    points = [_points(block.delay, highest) for block in char.network.blocks]
    values = np.linalg.eigvals(_generator(char, points))
    return np.asarray(values[values.imag >= 0])  # a real matrix: real ones are exactly real


def busy_frequency(char: Characteristic, level: float) -> float:
    """Returns the highest frequency, on a grid, at which the feedback's spectral radius may reach `level`."""
    top = 10 * max(char.largest_root, char.scale)
    top = max(top, 10 * float(np.max(np.abs(char.leads) * char.row_norms, initial=0.0)))
    grid = np.geomspace(char.scale / 10, top, 160)
    d, g = char.entries(0.0, 1j * grid)
    with np.errstate(all="ignore"):
        sizes = np.nan_to_num(np.abs(g / d), posinf=1e9, nan=1e9)
    if char.size > 40:
        loops = sizes.max(axis=1) * char.coupling_norm
    else:
        loops = np.abs(np.linalg.eigvals(sizes[:, :, None] * np.abs(char.gains))).max(axis=1, initial=0.0)
    reached = grid[loops >= level]
    return float(reached[-1]) if len(reached) else float(char.scale)


def polished(char: Characteristic, starts: Complexes, *, rounds: int = 40) -> Complexes:
    """Returns the exact roots that Newton's method reaches, without repetition, Im s >= 0, rightmost first."""
    with np.errstate(all="ignore"):  # some starts run off to infinity, and are dropped
        return _polished(char, starts, rounds if char.size <= 8 else min(rounds, 15))


def _polished(char: Characteristic, starts: Complexes, rounds: int) -> Complexes:
    if char.size > LARGE:
        return _distinct(np.array([z for start in starts[:FEW] for z in _by_vector(char, start)]), char.scale)
    s = np.array(starts, dtype=complex)
    step = np.full(len(s), np.inf + 0j)
    batch = max(1, 600_000 // max(1, char.size) ** 2)
    for _ in range(rounds):
        moving = np.flatnonzero(np.isfinite(s) & (np.abs(step) > 1e-14 * (np.abs(s) + char.scale)))[:STARTS]
        if not len(moving):
            break
        for k in range(0, len(moving), batch):
            part = moving[k : k + batch]
            step[part] = _newton(char, s[part])
            s[part] -= step[part]
    good = np.isfinite(s) & (np.abs(step) <= SETTLED * (np.abs(s) + char.scale))
    return _distinct(s[good], char.scale)


def _by_vector(char: Characteristic, start: complex) -> list[complex]:
    """Solves P(s) v = 0 by Newton's method, one factorisation a step, for parts where tr(P^-1 P') costs too much.

    SOURCE: Ruhe 1973, Algorithms for the nonlinear eigenvalue problem (inverse iteration).
    """
    from scipy.linalg import lu_factor, lu_solve

    s = complex(start)
    vector = np.random.default_rng(0).normal(size=char.size) + 0j
    for turn in range(20):
        p, slope = (made[0] for made in char.pencil(np.array([s])))
        if not np.all(np.isfinite(p)):
            return []
        factors = lu_factor(p, check_finite=False)
        for _ in range(0 if turn else 3):
            vector = lu_solve(factors, vector, check_finite=False)
            vector = vector / (np.linalg.norm(vector) or 1.0)
        image = lu_solve(factors, slope @ vector, check_finite=False)
        size = np.vdot(vector, image)
        step = np.vdot(vector, vector) / size if np.isfinite(size) and size else 0j
        s, vector = s - step, image / (np.linalg.norm(image) or 1.0)
        if not np.all(np.isfinite(vector)) or abs(step) <= 1e-13 * (abs(s) + char.scale):
            return [s]
    return []


def _newton(char: Characteristic, s: Complexes) -> Complexes:
    p, slope = char.pencil(s)
    with np.errstate(all="ignore"):
        step = p[:, 0, 0] / slope[:, 0, 0] if char.size == 1 else 1 / _traces(p, slope)
    far = np.abs(step) > (np.abs(s) + char.scale)
    return np.asarray(np.where(far, step / (np.abs(step) + 1e-300) * (np.abs(s) + char.scale) / 2, step))


def _traces(p: Complexes, slope: Complexes) -> Complexes:
    """Returns tr(P^-1 P'); infinite where P is singular, which ends the search: the point is a root."""
    try:
        return np.asarray(np.trace(np.linalg.solve(p, slope), axis1=1, axis2=2))
    except np.linalg.LinAlgError:
        traces = np.full(len(p), np.inf + 0j)
        for k, pencil in enumerate(p):
            if np.linalg.matrix_rank(pencil) == len(pencil):
                traces[k] = np.trace(np.linalg.solve(pencil, slope[k]))
        return traces


def _distinct(roots: Complexes, scale: float) -> Complexes:
    roots = np.where(np.abs(roots.imag) <= SAME * 1e-5 * (np.abs(roots) + scale), roots.real + 0j, roots)
    roots = roots.real + 1j * np.abs(roots.imag)
    distinct: list[complex] = []
    for root in sorted(roots, key=lambda z: (-z.real, z.imag)):
        if all(abs(root - other) > SAME * (abs(root) + scale) for other in distinct):
            distinct.append(complex(root))
    return np.array(distinct, dtype=complex)


def rightmost_starts(values: Complexes) -> Complexes:
    """Returns those approximate roots that may be rightmost: all right of the axis, and some left of it."""
    order = np.argsort(-values.real)
    right = int((values.real > 0).sum())
    return np.asarray(values[order][: max(right + 4, 8)])


def contour_starts(places: Complexes, logarithmic: Complexes, *, most: int = 24) -> Complexes:
    """Returns where the logarithmic derivative on a contour says that roots are, nearest to it or right of it first.

    It is a sum of 1 / (s - root): the poles of a rational function through its samples are roots.
    """
    finite = np.isfinite(logarithmic)
    places, logarithmic = places[finite], logarithmic[finite]
    if len(places) < 4:
        return places - 1 / logarithmic
    chosen = np.sort(np.argsort(-np.abs(logarithmic) * (1 + np.arange(len(places)) % 2))[:SAMPLES])
    places, logarithmic = places[chosen], logarithmic[chosen]
    poles = _rational_poles(np.concatenate([places, places.conj()]), np.concatenate([logarithmic, logarithmic.conj()]))
    poles = poles[(poles.imag >= -1e-3 * np.abs(poles)) & np.isfinite(poles)]
    return np.asarray(poles[np.argsort(-poles.real)][:most])


def _rational_poles(z: Complexes, f: Complexes, *, tolerance: float = 1e-8, largest: int = 50) -> Complexes:
    """Returns poles of the rational function that the AAA algorithm fits.

    SOURCE: Nakatsukasa, Sete & Trefethen 2018, The AAA algorithm for rational approximation.
    """
    rest, support, fit = np.ones(len(z), dtype=bool), [], np.full(len(z), f.mean())
    cauchy = np.zeros((len(z), 0), dtype=complex)
    weights = np.zeros(0, dtype=complex)
    for _ in range(min(largest, len(z) // 2 - 1)):
        worst = int(np.argmax(np.where(rest, np.abs(f - fit), -1)))
        rest[worst] = False
        support.append(worst)
        with np.errstate(all="ignore"):
            cauchy = np.column_stack([cauchy, 1 / (z - z[worst])])
        at = f[support]
        loewner = (f[rest, None] - at) * cauchy[rest]
        weights = np.linalg.svd(loewner, full_matrices=loewner.shape[0] < loewner.shape[1])[2][-1].conj()
        fit = f.copy()
        fit[rest] = (cauchy[rest] @ (weights * at)) / (cauchy[rest] @ weights)
        if np.max(np.abs(f - fit)) <= tolerance * np.max(np.abs(f)):
            break
    return _poles(z[support], weights)


def _poles(support: Complexes, weights: Complexes) -> Complexes:
    """Returns zeros of the sum of weights / (s - support), as a generalised eigenvalue problem."""
    from scipy.linalg import eigvals

    size = len(support) + 1
    a, b = np.zeros((size, size), dtype=complex), np.eye(size, dtype=complex)
    a[0, 1:], a[1:, 0], b[0, 0] = weights, 1, 0
    a[np.arange(1, size), np.arange(1, size)] = support
    with np.errstate(all="ignore"):
        values = eigvals(a, b)
    return np.asarray(values[np.isfinite(values)])


def multiplicity(char: Characteristic, root: complex, radius: float) -> float:
    """Returns the number of roots within `radius` of a root, by the trapezoidal rule on the circle: near an integer."""
    turn = np.exp(2j * np.pi * (np.arange(32) + 0.5) / 32)
    p, slope = char.pencil(root + radius * turn)
    return float((_traces(p, slope) * radius * turn).mean().real)


def _points(delay: float, highest: float) -> int:
    return min(math.ceil(14 + 0.65 * highest * delay), LARGEST) if delay > 0 else 0


def _generator(char: Characteristic, points: list[int]) -> Reals:
    """Returns d/dt of (states, delayed outputs): u = (I - K0 D0)^-1 (K0 C x + K1 v), K0 and K1 for outputs without
    and with.
    """
    blocks = char.network.blocks
    nodes = sum(block.order for block in blocks) + np.cumsum([0, *points])
    a, b, c, through = _open_loop(char, int(nodes[-1]))
    end, late = np.zeros((char.size, int(nodes[-1]))), char.delays > 0
    end[late, nodes[1:][late] - 1] = 1
    through_now = np.where(late, 0.0, through)
    now = np.where(late[:, None], end, c)
    inputs = np.linalg.solve(np.eye(char.size) - char.gains * through_now, char.gains @ now)
    a += b @ inputs
    sent = c + through[:, None] * inputs
    least = max(SHORT / max(float(np.abs(a).max(initial=0.0)), 1e-280), 1e-290)  # a start needs no shorter delay
    for row, count in enumerate(points):
        if count:
            matrix = _chebyshev(count) * (2 / max(blocks[row].delay, least))
            at = slice(nodes[row], nodes[row + 1])
            a[at, at] += matrix[1:, 1:]
            a[at] += np.outer(matrix[1:, 0], sent[row])
    return a


def closed_loop(char: Characteristic) -> tuple[Reals, Reals]:
    """Returns the matrix of a part without delays and feedthrough, and sums of the absolute terms of its entries."""
    a, b, c, _ = _open_loop(char, sum(block.order for block in char.network.blocks))
    fed = b @ (char.gains @ c)  # one term in each entry
    return a + fed, np.abs(a) + np.abs(fed)


def _open_loop(char: Characteristic, size: int) -> tuple[Reals, Reals, Reals, Reals]:
    """Returns x' = A x + B u, y = C x + D u of all blocks side by side, in `size` states; D as a diagonal."""
    blocks = char.network.blocks
    states = np.cumsum([0, *(b.order for b in blocks)])
    a, b, c = np.zeros((size, size)), np.zeros((size, char.size)), np.zeros((char.size, size))
    through = np.zeros(char.size)
    for row, block in enumerate(blocks):
        at = slice(states[row], states[row + 1])
        a[at, at], b[at, row], outputs, feed = _states(block)
        c[row, at], through[row] = outputs / char.units[row], feed / char.units[row]
    return a, b, c, through


def _states(block: Block) -> tuple[Reals, Reals, Reals, float]:
    """Returns a controllable realisation, with time scaled so that the coefficients are near one."""
    n, lead = block.order, block.denominator[0]
    monic = np.array(block.denominator) / lead
    top = np.concatenate([np.zeros(n + 1 - len(block.numerator)), np.array(block.numerator) / lead])
    sizes = [abs(x) ** (1 / k) for k, x in enumerate(monic) if k and x]
    scale = max(sizes, default=1.0)
    if scale**n < 1e-200:  # coefficients next to nothing: the numerator says how fast the closed loop can be
        scale = max([scale, *(abs(x) ** (1 / k) for k, x in enumerate(top) if k and x)])
    powers = scale ** np.arange(n + 1)
    monic, top = monic / powers, top / powers
    a = np.eye(n, k=-1)
    a[:1] = -monic[1:]
    b = np.zeros(n)
    b[:1] = 1
    return a * scale, b * scale, top[1:] - top[0] * monic[1:], float(top[0])


@lru_cache(maxsize=64)
def _chebyshev(count: int) -> Reals:
    """Returns the differentiation matrix on count + 1 Chebyshev points from 1 down to -1."""
    x = np.cos(np.pi * np.arange(count + 1) / count)
    weights = np.ones(count + 1)
    weights[[0, -1]] = 2
    weights *= (-1.0) ** np.arange(count + 1)
    difference = x[:, None] - x + np.eye(count + 1)
    matrix = np.outer(weights, 1 / weights) / difference
    matrix -= np.diag(matrix.sum(axis=1))
    return np.asarray(matrix)
