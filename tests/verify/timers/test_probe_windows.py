"""Compares the windows of the timer questions with an executed ticker (probe_ticker.py)."""

from __future__ import annotations

from fractions import Fraction
from itertools import islice

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from coherence.verify.timers.firing import earliest_kill, latest_kill
from tests.draws import few
from tests.verify.timers.probe_ticker import fires, probes

S = Fraction
spans = st.fractions(S(1, 10), 20, max_denominator=10)


def test_a_liveness_probe_by_hand() -> None:
    assert list(islice(probes(S(120), S(10), S(1)), 3)) == [(S(120), S(121)), (S(130), S(131)), (S(140), S(141))]
    assert fires(S(120), S(10), 3, S(1)) == 141


def test_probes_that_wait_longer_than_a_period_follow_each_other() -> None:
    assert list(islice(probes(S(0), S(10), S(15)), 3)) == [(S(0), S(15)), (S(15), S(30)), (S(30), S(45))]


@pytest.mark.slow
@given(first=spans, every=spans, misses=st.integers(1, 6), waits=spans, late=st.fractions(0, 1, max_denominator=50))
@settings(max_examples=few(100), deadline=None)
def test_every_executed_ticker_fires_inside_the_window(
    first: Fraction, every: Fraction, misses: int, waits: Fraction, late: Fraction
) -> None:
    begun = first + late * every * S(99, 100)  # the first probe comes in [first, first + every)
    quick, slow = fires(begun, every, misses, S(0)), fires(begun, every, misses, waits)
    assert (
        earliest_kill(first, every, misses)
        <= quick
        <= slow
        <= latest_kill(first, every, misses, waits, max(every, waits))
    )


@given(first=spans, every=spans, misses=st.integers(1, 6))
@settings(max_examples=50, deadline=None)
def test_the_earliest_is_reached(first: Fraction, every: Fraction, misses: int) -> None:
    assert fires(first, every, misses, S(0)) == earliest_kill(first, every, misses)
