"""Bursts of first attempts are found where arrivals come faster, stated ones are believed, windows are exact."""

from __future__ import annotations

import numpy as np
import pytest

from coherence.causal.data.index_inputs import ArrivalBurst, IndexInputs
from coherence.causal.twins.bursts import bursts, detected_bursts, inside, windows
from tests.causal.indices.systems import pool


def test_bursts_of_the_last_tenth_of_every_hundred_seconds_are_found() -> None:
    log = pool(0.5, bursts=True, until=400.0, times=6.0)
    for service in log.services:
        found = list(detected_bursts(log, service))
        assert [burst.service for burst in found] == [service] * 4
        assert [burst.start for burst in found] == pytest.approx([90, 190, 290, 390], abs=1.5)
        assert [burst.end for burst in found] == pytest.approx([100, 200, 300, 400], abs=1.5)


@pytest.mark.parametrize("seed", range(3))
def test_steady_arrivals_have_no_burst(seed: int) -> None:
    log = pool(0.5, until=400.0, seed=seed)
    assert bursts(IndexInputs(log), log) == ()


def test_few_arrivals_have_no_burst() -> None:
    log = pool(0.5, until=400.0)
    few = log.where(np.arange(len(log)) < 40)
    assert bursts(IndexInputs(few), few) == ()


def test_stated_bursts_are_believed() -> None:
    log = pool(0.5, bursts=True, until=200.0)
    stated = (ArrivalBurst("a", 3.0, 4.0),)
    assert bursts(IndexInputs(log, bursts=stated), log) == stated
    assert bursts(IndexInputs(log, bursts=()), log) == ()


def test_a_window_holds_the_burst_and_the_time_in_which_it_is_felt() -> None:
    stated = (ArrivalBurst("a", 10.0, 14.0), ArrivalBurst("b", 20.0, 21.0))
    assert windows(stated, None).tolist() == [[10.0, 18.0], [20.0, 22.0]]
    assert windows(stated, 7.0).tolist() == [[10.0, 21.0], [20.0, 28.0]]
    assert windows((), 7.0).shape == (0, 2)


def test_a_window_is_half_open() -> None:
    assert inside(np.array([0.9, 1.0, 1.9, 2.0]), np.array([1.0, 2.0])).tolist() == [False, True, True, False]
