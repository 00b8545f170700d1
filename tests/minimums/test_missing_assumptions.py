"""Floors that a construction beats: each lists the assumption that the construction breaks, or has another value."""

from __future__ import annotations

import itertools
from fractions import Fraction

import pytest

from coherence.minimums.assumptions import assumption
from coherence.minimums.registry import entry


@pytest.mark.parametrize(
    ("bound", "breaks"),
    [
        ("all_reduce_end_point", "one_attachment"),  # boxes of 8 with a link of their own beside the network port
        ("all_gather", "one_attachment"),
        ("all_to_all", "one_attachment"),
        ("reduce_scatter", "one_attachment"),
        ("all_reduce_latency", "end_point_reduction"),  # a switch that adds: two messages
        ("transfer_time_fabric", "forwarded_only"),  # XOR at the middle of a butterfly
        ("checkpoint_overhead", "failures_in_restarts"),  # nothing fails while the job is down
        ("transformer_operations", "full_heads"),  # StarCoder: one head of keys and values
        ("transformer_operations", "four_wide_layers"),
        ("data_rate_continuous", "uniform_samples"),  # an event-triggered sensor: the time of a bit tells more
        ("clock_synchronisation", "unicast"),  # one broadcast with a common delay (Elson 2002)
        ("agreement_rounds", "silent_crash"),  # a fast failure detector (Aguilera, Le Lann, Toueg 2002)
        ("agreement_rounds", "lock_step"),
        ("reading_age_mean", "free_phases"),  # a loop that reads just after its sensor
        ("reading_age_longest", "free_phases"),
    ],
)
def test_what_a_construction_breaks_is_listed(bound: str, breaks: str) -> None:
    assert breaks in entry(bound).bound.assumptions
    assert assumption(breaks).refuted_by


@pytest.mark.parametrize("others", range(1, 7))
def test_a_quorum_survives_each_minority_and_no_smaller_one_does(others: int) -> None:
    trips = tuple(Fraction(number + 1) for number in range(others))
    floor = entry("quorum_latency").bound.compute
    assert floor is not None
    replicas, gone = set(range(others + 1)), others // 2  # replica 0 leads; at most (n - 1) / 2 are lost
    best = min(
        max((trips[replica - 1] for replica in chosen), default=Fraction(0))
        for size in range(others + 1)
        for chosen in itertools.combinations(range(1, others + 1), size)
        if all({0, *chosen} - set(lost) for lost in itertools.combinations(replicas, gone))
    )
    assert floor({"round_trips": trips}) == best  # type: ignore[dict-item]


def test_the_edge_of_a_sampled_gain_is_the_first_loss() -> None:
    assert entry("sampled_gain").bound.quantity == "gain below which every gain is stable"
