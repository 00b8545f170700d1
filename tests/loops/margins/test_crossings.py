"""Frequencies at which the loop has modulus one or is real, against closed forms."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from coherence.loops.margins.crossings import REAL, UNIT, Crossings, crossings
from coherence.loops.margins.peaks_response import response
from coherence.loops.networks.network import Network, loop
from tests.draws import few

if TYPE_CHECKING:
    from numpy.typing import NDArray


def never(value: NDArray[Any], reach: NDArray[Any]) -> NDArray[Any]:
    return np.zeros(np.shape(value + reach), dtype=bool)


def always(value: NDArray[Any], reach: NDArray[Any]) -> NDArray[Any]:
    return ~never(value, reach)


def searched(net: Network, part: Any, edge: float) -> Crossings:
    return crossings(response(net, outputs=["loop"], inputs=["loop"], sensitivity=True), part, edge, never)


def test_an_integrator_has_modulus_one_at_its_gain() -> None:
    unit = searched(loop([0.5], [1, 0]), UNIT, 10.0)
    assert unit.complete
    assert unit.zeros == pytest.approx([0.5], rel=1e-12)


def test_a_delayed_lag_is_real_where_its_phase_is_a_multiple_of_half_a_turn() -> None:
    """tan w = -w for exp(-j w) / (1 + j w), and at zero frequency."""
    real = searched(loop([0.5], [1, 1], 1.0), REAL, 9.0)
    assert real.zeros[0] == 0
    assert real.zeros[1:] == pytest.approx([2.02875783811043, 4.91318043943488, 7.97866571241324], rel=1e-12)


def test_where_no_frequency_reaches_the_level_there_is_no_crossing() -> None:
    assert searched(loop([0.5], [1, 1]), UNIT, 100.0).zeros == ()


def test_what_may_be_left_out_is_not_looked_at() -> None:
    of = response(loop([0.5], [1, 0]), outputs=["loop"], inputs=["loop"], sensitivity=True)
    assert crossings(of, UNIT, 10.0, always).zeros == ()


@settings(max_examples=few(30))
@given(st.floats(0.05, 5), st.floats(0.05, 2))
def test_a_delay_does_not_move_the_modulus(gain: float, lag: float) -> None:
    """|gain / (j w (1 + lag j w))| = 1: lag^2 w^4 + w^2 = gain^2."""
    square = (-1 + math.sqrt(1 + 4 * (lag * gain) ** 2)) / (2 * lag * lag)
    unit = searched(loop([gain], [lag, 1, 0], 0.3), UNIT, 20.0)
    assert unit.zeros == pytest.approx([math.sqrt(square)], rel=1e-9)
