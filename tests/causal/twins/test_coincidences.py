"""Coincidences of bursts in a window: few where bursts are rare, endless where the delays follow those of the twin."""

from __future__ import annotations

import math

from coherence.causal.twins.coincidences import LEAST, coincidences
from tests.causal.indices.systems import pool
from tests.causal.indices.test_nulls import capped


def test_a_window_of_rare_bursts_holds_fewer_coincidences_than_an_interval_needs() -> None:
    assert coincidences(capped(every=400.0), 12, 1.2) < LEAST


def test_a_window_of_frequent_bursts_holds_enough() -> None:
    assert LEAST < coincidences(capped(every=6.0), 12, 1.2) < math.inf


def test_delays_that_follow_the_twin_rest_on_no_coincidence() -> None:
    assert coincidences(pool(0.9, until=200.0), 20, 1.0) == math.inf
