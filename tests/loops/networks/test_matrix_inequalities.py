"""Linear matrix inequalities with known answers."""

from __future__ import annotations

import numpy as np

from coherence.loops.networks.matrix_inequalities import Inequality, solved

FREE = np.zeros(3, dtype=bool)
BASIS = np.array([[[1.0, 0], [0, 0]], [[0, 1], [1, 0]], [[0, 0], [0, 1]]])  # of symmetric matrices (2, 2)
EVERY = np.arange(3)


def falling(*matrices: np.ndarray) -> list[Inequality]:
    """Returns A' P A - P < 0 and P > 0."""
    return [*(Inequality(EVERY, (a.T @ BASIS @ a - BASIS)[None]) for a in matrices), Inequality(EVERY, -BASIS[None])]


def test_a_matrix_that_contracts_has_a_form() -> None:
    a = np.array([[0.9, 5.0], [0.0, 0.8]])
    y = solved(falling(a), FREE)
    assert y is not None
    p = np.tensordot(y, BASIS, 1)
    assert np.linalg.eigvalsh(p)[0] > 0
    assert np.linalg.eigvalsh(a.T @ p @ a - p)[-1] < 0


def test_a_matrix_that_grows_has_none() -> None:
    assert solved(falling(np.array([[1.001, 0.0], [0.0, 0.5]])), FREE) is None


def test_two_matrices_that_grow_in_turn_have_none() -> None:
    """Each has the eigenvalue 0 alone; their product doubles."""
    up, down = np.array([[0.0, 2.0], [0.0, 0.0]]), np.array([[0.0, 0.0], [1.0, 0.0]])
    assert solved(falling(up), FREE) is not None
    assert solved(falling(up, down), FREE) is None


def test_numbers_that_must_be_positive_are() -> None:
    """y - 1/4 < 0 has an answer above 0, y < 0 has none."""
    both = np.array([True, True])
    one = [Inequality(np.arange(2), np.array([[[[1.0]], [[-0.25]]]]))]
    y = solved(one, both)
    assert y is not None
    assert 0 < y[0] < 0.25 * y[1]
    assert solved([Inequality(np.arange(1), np.array([[[[1.0]]]]))], np.array([True])) is None


def test_inequalities_of_one_shape_may_stand_together() -> None:
    a, b = np.array([[0.9, 0.3], [0.0, 0.8]]), np.array([[0.5, 0.0], [0.2, -0.7]])
    together = Inequality(EVERY, np.array([a.T @ BASIS @ a - BASIS, b.T @ BASIS @ b - BASIS]))
    y = solved([together, Inequality(EVERY, -BASIS[None])], FREE)
    assert y is not None
    assert all(each.margin(y) < 0 for each in falling(a, b))
