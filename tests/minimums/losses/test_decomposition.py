"""Shares of a measurement add up to it; below a floor the smallest sets of assumptions that explain it are named."""

from __future__ import annotations

from fractions import Fraction

from hypothesis import given, settings
from hypothesis import strategies as st

from coherence.minimums.ladder import ladder
from coherence.minimums.losses.decomposition import decomposition, sentences
from tests.minimums.losses.test_composition import GB, exchange, known


def test_the_shares_add_up() -> None:
    found = decomposition((Fraction(10), Fraction(10)), known(4), scheme=known(6), calibrated=known(1))
    assert [(share.low, share.high) for share in found.shares] == [(4, 4), (2, 2), (1, 1), (3, 3)]
    assert sum(share.low for share in found.shares) == 10


@given(st.integers(0, 9), st.integers(0, 5), st.integers(0, 5), st.integers(0, 5), st.integers(0, 30))
@settings(max_examples=60, deadline=None)
def test_the_recoverable_interval_holds_whatever_the_inputs_are(
    floor: int, extra: int, scheme: int, calibrated: int, measured: int
) -> None:
    found = decomposition(
        (Fraction(measured), Fraction(measured + 1)),
        known(floor, floor + extra),
        scheme=known(floor + extra, floor + extra + scheme),
        calibrated=known(calibrated, calibrated + 2),
    )
    for m in (measured, measured + 1):
        for s in (floor + extra, floor + extra + scheme):
            for c in (calibrated, calibrated + 2):
                assert found.recoverable.low <= m - s - c <= found.recoverable.high


def test_in_network_reduction_refutes_an_assumption_and_is_never_clipped() -> None:
    """480 GB/s of bus bandwidth on links of 450 GB/s: 8 GB among 8 members in 29.2 ms, below the end-point floor."""
    floor = exchange((450, 450))
    seconds = Fraction(2 * 7 * 8 * GB, 8 * 480 * GB)
    found = decomposition((seconds, seconds), floor)
    assert found.recoverable.high < 0
    assert "end_point_reduction" in found.violated
    assert "in-network reduction" in " ".join(sentences(found))
    (rung,) = ladder(floor.bound, floor.inputs)
    assert rung.floor is not None
    assert rung.floor.high < seconds
