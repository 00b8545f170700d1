"""Latencies in windows and bins: nothing is lost, counts add, and a quantile is off by a bin at most."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from coherence.simulate.study.latencies import GAMMA, Latencies, LatencyRecorder
from coherence.simulate.study.readings import quantile_of

EDGES = np.array([0.0, 10.0, 20.0, 30.0])
TIMES = st.lists(st.floats(1e-6, 1e6), min_size=1, max_size=60)


def filled(latencies: list[float]) -> Latencies:
    start = np.linspace(0.0, 30.0, len(latencies))
    counted = Latencies(EDGES)
    counted.add(start, start + np.array(latencies), np.ones(len(latencies), dtype=bool))
    counted.arrived = counted.counts.sum(axis=1)
    return counted


def test_requests_are_counted_in_the_window_in_which_they_arrive() -> None:
    counted = Latencies(EDGES)
    start = np.array([0.0, 10.0, 10.5, 29.0, 31.0])
    counted.add(start, start + 2.0, np.array([True, True, False, True, True]))
    assert counted.counts.sum(axis=1).tolist() == [2, 0, 1]  # who arrives at an end belongs to the window before it
    assert counted.failed.tolist() == [0, 1, 0]
    assert counted.sums.tolist() == [4.0, 0.0, 2.0]
    assert counted.ended == 4


def test_a_constant_latency_is_told_exactly() -> None:
    assert quantile_of(filled([0.125] * 7), 99) == 0.125


def test_what_takes_no_time_takes_no_time() -> None:
    """Its bin ends at 0 s, and the next one above: an interval was told as 0 s to 1e-06 ms."""
    counted = filled([0.0, 0.0, 0.0, 1e-6])
    assert counted.uppers[0] == 0
    assert (np.diff(counted.uppers) > 0).all()
    assert quantile_of(counted, 50) == 0


@given(TIMES, st.sampled_from([50, 95, 99]))
def test_a_quantile_is_off_by_a_bin_at_most(latencies: list[float], percent: int) -> None:
    exact = sorted(latencies)[-(-percent * len(latencies) // 100) - 1]
    told = quantile_of(filled(latencies), percent)
    assert told is not None
    assert exact / GAMMA / GAMMA <= told <= exact * GAMMA * GAMMA  # latencies are differences of times


@given(TIMES, TIMES)
def test_counts_do_not_depend_on_the_order_in_which_requests_come(first: list[float], second: list[float]) -> None:
    one, other = Latencies(EDGES), Latencies(EDGES)
    for counted, parts in ((one, (first, second)), (other, (second, first))):
        for part in parts:
            counted.add(np.full(len(part), 5.0), 5.0 + np.array(part), np.ones(len(part), dtype=bool))
    assert one.first == other.first
    assert one.counts.tolist() == other.counts.tolist()


def test_a_recorder_counts_each_source_by_itself() -> None:
    recorder = LatencyRecorder(2, EDGES)
    source, start, outcome = np.array([0, 1, 1]), np.array([1.0, 2.0, 3.0]), np.array([0, 0, 1])
    recorder((source, start, start + 1, outcome, outcome, start))
    recorder.flush()
    assert [one.counts.sum() for one in recorder.latencies] == [1, 1]
    assert [one.failed.sum() for one in recorder.latencies] == [0, 1]
