"""Counts of the map without delay, whose float roots are enclosed by discs or counted in fractions."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from coherence.loops.networks.stability_map import UNKNOWN, stability_map
from tests.draws import few

REAL = st.sampled_from([-2.0, -1.0, -1.0, -0.5, -0.01, 0.01, 0.5])


@settings(max_examples=few(150), deadline=None)
@given(st.lists(REAL, min_size=1, max_size=6), st.lists(st.tuples(REAL, st.floats(0.1, 3)), max_size=2))
def test_counts_without_delay_are_those_of_the_roots_that_were_chosen(
    real: list[float], pairs: list[tuple[float, float]]
) -> None:
    roots = [*map(complex, real), *(complex(a, b * sign) for a, b in pairs for sign in (1, -1))]
    count = stability_map([0.0], np.poly(roots).real.tolist(), [1.0], [0.0]).unstable[0, 0]
    assert count in (sum(root.real > 0 for root in roots), UNKNOWN)


@pytest.mark.parametrize(("at", "count"), [(-0.02, 0), (0.02, 10)])
def test_ten_equal_roots_are_counted_though_no_disc_parts_them_from_the_axis(at: float, count: int) -> None:
    polynomial = np.poly([at] * 10).tolist()
    assert stability_map([0.0], polynomial, [1.0], [0.0]).unstable[0, 0] == count
