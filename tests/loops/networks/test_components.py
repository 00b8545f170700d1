"""Rows of a network and their bounds: against the polynomials as stated, in any unit of time."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from coherence.loops.networks.components import Characteristic, root_doubt
from coherence.loops.networks.network import Block, Coupling, network

S = 1j * np.array([0.0, 0.3, 1.0, 7.0])


def of(numerator: list[float], denominator: list[float], delay: float = 0.0) -> Characteristic:
    """A loop of one block through a gain of -1."""
    return Characteristic(
        network([Block("a", tuple(numerator), tuple(denominator), delay)], [Coupling("a", "a", -1.0)])
    )


def in_time(polynomial: list[float], unit: float) -> list[float]:
    """p(s / unit): the same polynomial where time is counted in another unit."""
    return [c / unit ** (len(polynomial) - 1 - k) for k, c in enumerate(polynomial)]


@pytest.mark.parametrize("unit", [1e-6, 1e-3, 1e3, 1e6])
@pytest.mark.parametrize(
    ("numerator", "denominator"),
    [
        ([1.0], [1.0, 3.0, 3.0, 1.0]),
        ([2.0, 6.1, 4.2], [1.0, 3.0, 3.0, 1.5, 0.2]),
        ([0.7, 2.0, 2.2, 0.9], [1.0, 2.5, 2.0, 1.0, 0.3, 0.01]),
    ],
)
def test_the_doubt_of_rounded_roots_is_the_same_in_every_unit_of_time(
    numerator: list[float], denominator: list[float], unit: float
) -> None:
    plain = of(numerator, denominator)._doubts(S, 0.0)
    scaled = of(in_time(numerator, unit), in_time(denominator, unit))._doubts(S * unit, 0.0)
    for one, other in zip(plain, scaled, strict=True):
        assert (one > 0).any() or len(numerator) < 3
        assert (other <= 30 * one).all()  # it is rounding itself that is bounded: of the same size, not the same
        assert (one <= 30 * other).all()


COEFFICIENTS = st.lists(st.floats(0.1, 10), min_size=3, max_size=6)


@settings(max_examples=40, deadline=None)
@given(COEFFICIENTS, COEFFICIENTS)
def test_products_of_computed_roots_are_the_polynomials_within_their_doubt(
    numerator: list[float], denominator: list[float]
) -> None:
    numerator = numerator[: len(denominator)]
    rows = of(numerator, denominator)
    d, g = rows.entries(0.0, S)
    doubt_d, doubt_g = rows._doubts(S, 0.0)
    a = rows.shifts(0.0)[0]
    scale = np.prod(S[:, None] + a, axis=1)
    exact_d = np.polyval(denominator, S) / denominator[0] / scale
    exact_g = np.polyval(numerator, S) / denominator[0] / scale
    slack = 1e-13 * (np.abs(exact_d) + np.abs(exact_g) + 1)
    assert (np.abs(d[:, 0] - exact_d) <= doubt_d[:, 0] + slack).all()
    assert (np.abs(g[:, 0] - exact_g) <= doubt_g[:, 0] + slack).all()


def test_one_root_has_no_doubt_and_several_have_their_unit_first() -> None:
    assert len(root_doubt([2.0, 6.0], np.array([-3.0 + 0j]))) == 0
    unit, *errors = root_doubt([1.0, 5.0, 6.0], np.array([-2.0 + 0j, -3.0 + 0j]))
    assert unit == 3
    assert len(errors) == 3
    assert max(errors) < 1e-14
    off = root_doubt([1.0, 5.0, 6.0], np.array([-2.0 + 0j, -3.001 + 0j]))
    assert off[2] == pytest.approx(0.001 / 3.001, rel=1e-2)  # s^2 + 5.001 s + 6.002: in units of the largest root
    assert off[3] == pytest.approx(0.002 / 3.001**2, rel=1e-2)


def test_a_delay_turns_the_row_and_moves_no_root() -> None:
    plain, late = of([1.0], [1.0, 2.0, 2.0]), of([1.0], [1.0, 2.0, 2.0], 0.5)
    (d, g), (e, h) = plain.entries(0.0, S), late.entries(0.0, S)
    np.testing.assert_allclose(np.abs(h / g), 1, rtol=1e-12)
    ratio = (h / g)[:, 0] / (e / d)[:, 0]
    np.testing.assert_allclose(ratio, np.exp(-0.5 * S), rtol=1e-9)
