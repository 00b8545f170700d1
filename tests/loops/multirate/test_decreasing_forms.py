"""Forms that fall with every lap of maps with two linear pieces."""

from __future__ import annotations

import numpy as np
import pytest

from coherence.loops.multirate.bent_laps import BentLap
from coherence.loops.multirate.decreasing_forms import proved

START = np.array([1.0, 0.3])


def two_pieces(above: np.ndarray, below: np.ndarray) -> BentLap:
    """Returns the map that is `above` where x[0] > 0 and `below` elsewhere; they agree on x[0] = 0."""
    turn = (above - below)[:, :1] / 2
    return BentLap(1.0, (above + below) / 2, turn, np.array([[1.0, 0.0]]), np.zeros((1, 1)))


def spiral(growth: float, angle: float) -> np.ndarray:
    return growth * np.array([[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]])


@pytest.mark.parametrize(
    ("above", "below", "grows"),
    [(spiral(0.9, 0.3), spiral(0.9, 0.3), False), (spiral(1.1, 0.3), spiral(1.1, 0.3), True)],
)
def test_one_form_proves_what_all_pieces_do(above: np.ndarray, below: np.ndarray, grows: bool) -> None:
    lap = two_pieces(above, below)
    assert proved(lap, START, 0, grows=grows)
    assert not proved(lap, START, 0, grows=not grows)


def test_a_form_for_each_piece_proves_what_no_single_form_does() -> None:
    """Above, a step leads below and may be long; below, a short one stays: 2 above counts once."""
    above, below = np.array([[-2.0, 0.0], [1.0, 0.5]]), np.array([[0.9, 0.0], [0.2, 0.5]])
    lap = two_pieces(above, below)
    assert not proved(lap, START, 0, grows=False)
    assert proved(lap, START, 1, grows=False)


def test_what_neither_grows_nor_decays_is_not_proved() -> None:
    lap = two_pieces(spiral(1.0, 0.3), spiral(1.0, 0.3))
    assert not any(proved(lap, START, laps, grows=grows) for laps in (0, 1, 2) for grows in (False, True))


@pytest.mark.parametrize("nilpotent", [[[3.0, 9.0], [-1.0, -3.0]], [[1.0, 1.0], [-1.0, -1.0]]])
def test_a_lap_that_ends_at_rest_after_two_is_proved_where_rounding_spoils_coordinates(
    nilpotent: list[list[float]],
) -> None:
    """Its square is 0, so eigenvalues are rounding alone, and the mean of its pieces has a singular equation."""
    lap = two_pieces(np.array(nilpotent), np.array(nilpotent))
    assert proved(lap, START, 0, grows=False)
    assert not proved(lap, START, 0, grows=True)
