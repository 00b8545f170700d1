"""Chooses units of states by which the rows and columns of a matrix become of like size."""

from __future__ import annotations

from typing import TypeAlias

import numpy as np

Reals: TypeAlias = np.ndarray[tuple[int, ...], np.dtype[np.float64]]


def state_units(matrix: Reals) -> Reals:
    """Returns a power of two for each state, shape (n,): scaling by them rounds nothing and keeps the eigenvalues.

    All are one where scaled entries would leave the range of floats, or some are not finite.
    """
    ones = np.ones(len(matrix))
    if len(matrix) < 2 or not matrix.any() or not np.isfinite(matrix).all():
        return ones
    from scipy.linalg import matrix_balance

    with np.errstate(all="ignore"):  # scipy casts units beyond 2**63 to permutations, of which there are none
        _, (units, _) = matrix_balance(matrix, permute=False, separate=True)
        undone = in_units(in_units(matrix, units), 1 / units)
    return np.asarray(units, dtype=float) if (undone == matrix).all() else ones


def in_units(matrix: Reals, units: Reals) -> Reals:
    """Returns the matrix (n, n) in units of its states, shape (n,)."""
    return matrix * units / units[:, None]


def balanced(matrix: Reals) -> Reals:
    """Returns a similar matrix (n, n) with rows and columns of like size, without rounding."""
    return in_units(matrix, state_units(matrix))
