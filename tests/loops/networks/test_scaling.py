"""Units of states keep eigenvalues to the last digit, and are one where floats could not hold the scaled entries."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from coherence.loops.networks.scaling import in_units, state_units

ENTRY = st.one_of(
    st.just(0.0), st.floats(-1e6, 1e6), st.sampled_from([5e-324, 1e-300, -1e-160, 2e-143, 1e-40, 1e120, 1e160, 1e308])
)


def test_entries_far_apart_are_scaled() -> None:
    assert (np.diag(in_units(np.diag([1.0, 2.0]), state_units(np.array([[1.0, 2e-143], [1.0, 2.0]])))) == [1, 2]).all()


def test_rows_and_columns_become_of_like_size() -> None:
    matrix = np.array([[1.0, 2.0**40], [2.0**-40, 0.5]])
    assert (in_units(matrix, state_units(matrix)) == [[1, 1], [1, 0.5]]).all()


@given(st.lists(ENTRY, min_size=9, max_size=9))
def test_scaling_is_undone_without_rounding(entries: list[float]) -> None:
    matrix = np.array(entries).reshape(3, 3)
    units = state_units(matrix)
    scaled = in_units(matrix, units)
    assert (in_units(scaled, 1 / units) == matrix).all()


@pytest.mark.parametrize("entry", [float("inf"), float("nan")])
def test_what_is_not_finite_stays_as_it_is(entry: float) -> None:
    assert (state_units(np.array([[1.0, entry], [1e6, 0.5]])) == 1).all()
