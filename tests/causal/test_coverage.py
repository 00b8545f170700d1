"""Intervals of declared influences hold as often as they say, on slow signals too, and see what is there."""

from __future__ import annotations

import pytest

from bench._causal_coverage import KINDS, cell

SEEDS, MOST = 60, 9  # more than 9 of 60 miss once in 500 cells at 95 %


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
def test_intervals_hold_and_see_what_is_there(kind: str) -> None:
    null, real = cell(kind, 600, 0.0, SEEDS), cell(kind, 600, 2.0, SEEDS)
    assert null.told >= SEEDS * 0.95
    assert real.told >= SEEDS * 0.95
    assert max(null.missed, real.missed) <= MOST
    assert real.excluding >= 0.95 * real.told
