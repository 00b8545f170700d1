"""Chooses units of states by which the rows and columns of a matrix become of like size."""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
from scipy.linalg import matrix_balance

Reals: TypeAlias = np.ndarray[tuple[int, ...], np.dtype[np.float64]]
SMALLEST, LARGEST = 1e-150, 1e150  # entries beyond would leave the range of floats when they are scaled


def state_units(matrix: Reals) -> Reals:
    """Returns a power of two for each state, shape (n,): scaling by them rounds nothing and keeps the eigenvalues.

    All are one where the entries are too far apart to be scaled, or not finite.
    """
    entries = np.abs(matrix[matrix != 0])
    if not len(entries) or not np.isfinite(entries).all() or entries.min() < SMALLEST or entries.max() > LARGEST:
        return np.ones(len(matrix))
    _, (units, _) = matrix_balance(matrix, permute=False, separate=True)
    return np.asarray(units, dtype=float)


def in_units(matrix: Reals, units: Reals) -> Reals:
    """Returns the matrix (n, n) in units of its states, shape (n,)."""
    return matrix * units / units[:, None]


def balanced(matrix: Reals) -> Reals:
    """Returns a similar matrix (n, n) with rows and columns of like size, without rounding."""
    return in_units(matrix, state_units(matrix))
