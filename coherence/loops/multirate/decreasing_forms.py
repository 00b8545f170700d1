"""Proves stability or instability of a map that bends: quadratic forms that fall with every lap.

V(x) = x' P x where P is one form, or one for each piece: for the signs of z in this lap, or in this one and the next.
Where V falls, V(F x) < V(x), and V is positive, what is near the point comes to it; where V falls and is negative
somewhere, what starts there leaves it.  Between two pieces it need fall only where a lap does go from the one to the
other: products of numbers with known signs are added.

SOURCE: Johansson and Rantzer 1998, Computation of piecewise quadratic Lyapunov functions (IEEE TAC 43); for the
negative side: Chetaev's theorem.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from coherence.loops.multirate.bent_laps import BentLap
from coherence.loops.networks.matrix_inequalities import Inequality, solved

Array = Any
MOST_NUMBERS = 420
TINY = 1e-300
WORST_NORM = 1e4  # condition of coordinates beyond which rounding is not far below the margin


def proved(lap: BentLap, start: Array, laps: int, *, grows: bool, check: Callable[[], object] = bool) -> bool:
    """Decides whether forms are found that prove a lap stable, or, where it `grows`, unstable by `start` (n,).

    `laps`: of how many the signs tell pieces apart; 0: one form.
    """
    words, n = list(itertools.product(lap.signs, repeat=laps)), len(lap.end)
    if n * (n + 1) // 2 * len(words) > MOST_NUMBERS:
        return False
    lap, start = _in_norm(lap, start)
    basis = symmetric_basis(n)
    falling, weights = _between_words(lap, basis, words) if laps else (_in_pieces(lap, basis), 0)
    count = len(basis) * len(words)
    if count + weights > MOST_NUMBERS:
        return False
    forms = np.arange(count).reshape(-1, len(basis))
    above = [] if grows else [Inequality(form, -basis[None]) for form in forms]
    y = solved([*falling, *above], np.arange(count + weights) >= count, check)
    if y is None or not grows:
        return y is not None
    own = np.tensordot(y[forms[_word_of(lap, start, words)]], basis, 1)
    return bool(start @ own @ start < 0)


def _word_of(lap: BentLap, start: Array, words: Sequence[Sequence[Array]]) -> int:
    """Returns the number of the word that a start goes through."""
    x, seen = start[:, None], []
    for _ in words[0]:
        x, z = lap.step(x)
        seen.append(np.where(z[:, 0] >= 0, 1.0, -1.0))
    return next(k for k, word in enumerate(words) if np.array_equal(np.array(word), np.array(seen)))


def symmetric_basis(n: int) -> Array:
    """Returns the symmetric matrices (n (n + 1) / 2, n, n) with one pair of entries each."""
    pairs = list(itertools.combinations_with_replacement(range(n), 2))
    basis = np.zeros((len(pairs), n, n))
    for k, (i, j) in enumerate(pairs):
        basis[k, i, j] = basis[k, j, i] = 1.0
    return basis


def _in_pieces(lap: BentLap, basis: Array) -> list[Inequality]:
    matrices = np.array([lap.matrix(signs) for signs in lap.signs])[:, None]
    return [Inequality(np.arange(len(basis)), matrices.swapaxes(2, 3) @ basis @ matrices - basis)]


def _between_words(lap: BentLap, basis: Array, words: Sequence[Sequence[Array]]) -> tuple[list[Inequality], int]:
    """Returns what makes the forms fall from each word to those that go on with it, and the number of weights of
    products in it.
    """
    size = len(basis)
    first = weights = len(words) * size
    falling = []
    for (k, word), (m, following) in itertools.product(enumerate(words), repeat=2):
        if not all(np.array_equal(one, other) for one, other in zip(word[1:], following[:-1], strict=True)):
            continue
        matrix = lap.matrix(word[0])
        later = matrix.T @ basis @ matrix
        products = _products(lap, [*word, following[-1]])
        own, then = np.arange(k * size, (k + 1) * size), np.arange(m * size, (m + 1) * size)
        index = [own] if k == m else [own, then]
        change = [later - basis] if k == m else [-basis, later]
        index.append(np.arange(weights, weights + len(products)))
        falling.append(Inequality(np.concatenate(index), np.concatenate([*change, products])[None]))
        weights += len(products)
    return falling, weights - first


def _products(lap: BentLap, word: Sequence[Array]) -> Array:
    """Returns the form of the product of each two numbers that are not negative in the laps of a word, scaled."""
    passed, rows = np.eye(len(lap.end)), []
    for signs in word:
        rows.append(signs[:, None] * lap.compared(signs) @ passed)
        passed = lap.matrix(signs) @ passed
    whole = np.concatenate(rows)
    whole = whole / np.maximum(np.linalg.norm(whole, axis=1), TINY)[:, None]
    pairs = itertools.combinations(whole, 2)
    return np.array([np.outer(one, other) + np.outer(other, one) for one, other in pairs])


def _in_norm(lap: BentLap, start: Array) -> tuple[BentLap, Array]:
    """Returns the lap in coordinates in which its pieces contract alike, as far as they do."""
    matrices = [lap.matrix(signs) for signs in lap.signs]
    norm = _norm(matrices)
    back = np.linalg.inv(norm)
    return BentLap(lap.length, norm @ lap.end @ back, norm @ lap.drive, lap.seen @ back, lap.through), norm @ start


def _norm(matrices: Sequence[Array]) -> Array:
    """Returns the root of the form that the mean of all pieces, made to contract, leaves shortest.

    Coordinates decide nothing, so those that rounding spoils (pieces that are nearly nilpotent) are left out.
    """
    n = len(matrices[0])
    try:
        norm = _root_of_mean_form(matrices)
    except np.linalg.LinAlgError:
        return np.eye(n)
    return norm if np.linalg.cond(norm) <= WORST_NORM else np.eye(n)


def _root_of_mean_form(matrices: Sequence[Array]) -> Array:
    n = len(matrices[0])
    mean = sum(np.kron(each.T, each.T) for each in matrices) / len(matrices)
    radius = max(abs(np.linalg.eigvals(mean))) if n else 0.0
    scaled = mean / max(radius * 1.1, 1e-9)
    form = np.linalg.solve(np.eye(n * n) - scaled, np.eye(n).reshape(-1)).reshape(n, n)
    return np.linalg.cholesky((form + form.T) / 2).T
