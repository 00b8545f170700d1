"""Measures interaction of loops: relative gains, Niederlinski's index, structured singular values.

    relative gain array      RGA(G) = G * (G^-1)^T, entry by entry: gain of a pair with all other loops open over
                             its gain with all other loops closed and tight (pair on entries near 1, never < 0)
    Niederlinski's index     det G / prod G_ii: where < 0, integral control of the diagonal pairing is unstable
                             or becomes so as soon as one loop is opened
    mu(M)                    1 / the least |d| of diagonal complex factors with det(I - diag(d) M) = 0;
                             bounded above by min over D of |D M D^-1|, equal to it for up to three loops

SOURCE: Bristol 1966; Grosdidier, Morari and Holt, Ind. Eng. Chem. Fundam. 24 (1985); Packard and Doyle, The complex
structured singular value, Automatica 29 (1993), 3 and 9; smooth bound: the Schatten norm of high order.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from scipy.optimize import minimize

from coherence.base.errors import UsageError

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    Real = NDArray[np.float64]
    Complex = NDArray[np.complex128]

ORDERS = (8, 64, 512)  # of the Schatten norms whose minimisers approach the one of the largest singular value


@dataclass(frozen=True)
class Scaled:
    """An upper bound of mu, and the positive diagonal D with |D M D^-1| = bound."""

    bound: float
    scaling: Real


def relative_gains(gain: ArrayLike) -> Complex:
    """Returns the relative gain array of a square matrix (real for real matrices).  UsageError: singular."""
    matrix = _square(gain)
    try:
        inverse = np.linalg.inv(matrix)
    except np.linalg.LinAlgError:
        raise UsageError("the gain matrix is singular: its relative gains do not exist") from None
    return np.asarray(matrix * inverse.T)


def niederlinski(gain: ArrayLike) -> float:
    """Returns Niederlinski's index of the diagonal pairing of real steady-state gains.  UsageError:
    a zero on the diagonal.
    """
    matrix = _square(gain)
    if np.iscomplexobj(matrix) and np.any(matrix.imag):
        raise UsageError("Niederlinski's index is one of real steady-state gains")
    diagonal = np.diag(matrix).real
    if not np.all(diagonal):
        raise UsageError("a paired gain is zero: Niederlinski's index does not exist")
    return float(np.linalg.det(matrix.real / diagonal[:, None]))


def _square(gain: ArrayLike) -> Complex:
    matrix = np.asarray(gain)
    if matrix.ndim != 2 or matrix.shape[0] != matrix.shape[1] or not np.isfinite(matrix).all():
        raise UsageError("a square matrix of finite gains is needed")
    return matrix


def structured(matrix: ArrayLike, *, start: Real | None = None) -> Scaled:
    """Returns an upper bound of mu for diagonal complex factors, one per row."""
    given = np.asarray(_square(matrix), dtype=complex)
    first = np.zeros(len(given)) if start is None else np.log(start)
    first = min((first, _balanced(given)), key=lambda x: _largest(given, x))
    best = first
    for order in ORDERS if len(given) > 1 and np.any(given) else ():
        optimum = minimize(_schatten, first, args=(given, order), jac=True, method="L-BFGS-B")
        first = np.clip(optimum.x - optimum.x.mean(), -40, 40)
        best = min((best, first), key=lambda x: _largest(given, x))
    scaling = np.exp(best)
    return Scaled(_largest(given, best), np.asarray(scaling))


def _largest(matrix: Complex, exponents: Real) -> float:
    d = np.exp(exponents - exponents.mean())
    return float(np.linalg.norm(d[:, None] * matrix / d, 2))


def _balanced(matrix: Complex) -> Real:
    """Returns Osborne's scaling: rows and columns of equal length, by turns."""
    x = np.zeros(len(matrix))
    size = np.abs(matrix) ** 2
    np.fill_diagonal(size, 0)
    for _ in range(20):
        for k in range(len(x)):
            weights = np.exp(2 * (x[k] - x))
            row, column = float(size[k] @ weights), float(size[:, k] @ (1 / weights))
            if row > 0 and column > 0:
                x[k] += 0.25 * np.log(column / row)
    return np.asarray(np.clip(x - x.mean(), -40, 40))


def _schatten(exponents: Real, matrix: Complex, order: int) -> tuple[float, Real]:
    """Returns log (sum sigma^order)^(1/order) of D M D^-1, which is convex in log D, and its gradient."""
    d = np.exp(np.clip(exponents - exponents.mean(), -40, 40))
    left, sigma, right = np.linalg.svd(d[:, None] * matrix / d)
    relative = sigma / sigma[0]
    weights = relative**order
    total = float(weights.sum())
    gradient = (np.abs(left) ** 2 @ weights - np.abs(right.conj().T) ** 2 @ weights) / total
    return float(np.log(sigma[0]) + np.log(total) / order), np.asarray(gradient - gradient.mean())
