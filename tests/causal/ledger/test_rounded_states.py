"""States written with few decimals add up; whole numbers, and sums that are further off, stay as they are."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from coherence.causal.ledger.rounded_states import evened, rounding


@pytest.mark.parametrize(
    ("values", "off"),
    [
        ([5.009, 4.907, 2.0], 0.0005),
        ([5.5, 4.0], 0.05),
        ([3.0, 4.0, 0.0], 0.0),
        ([1 / 3, 2 / 3], 0.0),
        ([0.0], 0.0),
    ],
)
def test_the_rounding_of_a_column_is_half_its_last_decimal(values: list[float], off: float) -> None:
    assert rounding(np.array(values)) == pytest.approx(off)


def test_a_sum_within_the_rounding_is_evened_out_and_another_one_stays() -> None:
    states = np.array([[5.009, 2.126, 2.866], [5.0, 2.0, 3.0], [5.0, 2.5, 3.0], [5.0, 2.0, 2.0]])
    even, number = evened(states, 10.0, 0.0015)
    assert number == 1
    assert even.sum(axis=1) == pytest.approx([10.0, 10.0, 10.5, 9.0], abs=1e-12)
    assert even[1:] == pytest.approx(states[1:], abs=0)


@given(st.lists(st.floats(0.01, 5), min_size=2, max_size=6), st.integers(1, 5))
def test_what_is_rounded_adds_up_again(parts: list[float], decimals: int) -> None:
    exact = np.array(parts) / sum(parts) * 10
    written = np.round(exact, decimals)[None, :]
    off = len(parts) * 0.5 * 10.0**-decimals
    even, _ = evened(written, 10.0, off)
    assert even.sum() == pytest.approx(10.0, abs=1e-8)
    assert even == pytest.approx(written, abs=2 * off + 1e-9)
