"""Encloses all roots of a part without delays: eigenvalues of its closed loop, each within one proved radius.

With eigenvectors V as computed and any matrix W near their inverse, the eigenvalues are those of (W V)^-1 W A V: the
computed ones plus a matrix whose row sums are bounded, all rounding included, so Gershgorin's disks hold them.

SOURCE: Rump 1999, INTLAB, and Miyajima 2010, Fast enclosure for all eigenvalues in generalized eigenvalue problems
(the idea); Higham 2002, Accuracy and Stability of Numerical Algorithms, section 3 (rounding of products).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from coherence.loops.networks.components import Characteristic, Complexes, Reals
from coherence.loops.networks.rightmost import LARGEST, closed_loop
from coherence.loops.networks.scaling import in_units, state_units

FEWEST = 20  # blocks from which this is cheaper than counting along a contour
STATED = 16 * float(
    np.finfo(float).eps
)  # of the terms of the matrix: at most eight roundings from the blocks as stated


class EnclosedRoots(NamedTuple):
    """All roots with multiplicity: each disk of this radius about one holds some, and all disks together hold all."""

    roots: Complexes
    radius: float


def enclosed_roots(char: Characteristic) -> EnclosedRoots | None:
    """Returns the roots of a part without delays and feedthrough; None for others, and where it is small or huge."""
    states = sum(block.order for block in char.network.blocks)
    if char.size < FEWEST or not 0 < states <= LARGEST or char.delays.any() or char.through_now.any():
        return None
    matrix, terms = (np.asarray(entries, dtype=np.float64) for entries in closed_loop(char))
    units = state_units(matrix)
    matrix, terms = in_units(matrix, units), in_units(terms, units)
    if not np.isfinite(matrix).all():
        return None
    try:
        values, vectors = np.linalg.eig(matrix)
        radius = _radius(matrix, terms, values, vectors)
    except np.linalg.LinAlgError:
        return None  # vectors that are dependent
    return EnclosedRoots(values, radius) if np.isfinite(radius) else None


def _radius(matrix: Reals, terms: Reals, values: Complexes, vectors: Complexes) -> float:
    """Returns how far the eigenvalues may lie from the computed ones; inf where the vectors are nearly dependent."""
    inverse = np.linalg.inv(vectors)
    left, right = np.abs(inverse), np.abs(vectors).sum(axis=1)
    rounding = (2 * len(values) + 16) * np.finfo(float).eps  # of a product, relative to that of absolute values
    product, unit = inverse @ (matrix @ vectors), inverse @ vectors
    np.fill_diagonal(product, product.diagonal() - values)
    np.fill_diagonal(unit, unit.diagonal() - 1)
    doubt = 2 * rounding * np.abs(matrix) + STATED * terms
    away = np.abs(product).sum(axis=1) + left @ (doubt @ right)
    askew = float((np.abs(unit).sum(axis=1) + rounding * (left @ right)).max())
    if not askew < 0.5:
        return float("inf")
    return 1.01 * (float(away.max()) + askew * float(np.abs(values).max())) / (1 - 1.01 * askew)
