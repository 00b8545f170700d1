"""Floors that a construction beats: each lists the assumption that the construction breaks, or has another value."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction
from typing import Any

import pytest

from coherence.base.errors import UsageError
from coherence.language.reading import read_text
from coherence.minimums.assumptions import assumption
from coherence.minimums.design_floors import design_floors
from coherence.minimums.floors import at
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
        ("commit_messages", "late_messages"),  # a vote by silence: 3 messages of 3 participants, one of which may stop
        ("early_stopping_rounds", "decided_stops"),  # one round without a stop, for who goes on sending
        ("linearizable_read", "several_users"),  # one reader that holds the register reads at once
        ("linearizable_write", "several_users"),
        ("data_rate", "uniform_samples"),  # one bit as the state leaves its interval, silence until then
        ("eviction_ratio", "no_forecast"),  # a cache that knows what comes
        ("barrier_lognormal", "lognormal"),  # two values of the same spread
        ("batch_forming_delay", "patient"),  # who began gives up where the next one comes late
        ("age_least", "one_at_a_time"),  # several servers
        ("age_of_information", "one_at_a_time"),
        ("sojourn_quantile", "one_at_a_time"),
        ("bode_continuous", "linear_law"),  # a reset, or gains that change with time
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


LOOP = """coherence: 1
components: {{pool: {{usage: 1}}}}
loops:
  slow:
    target: {{signal: pool.usage, setpoint: 50 %, sensor: [{sensor}]}}
    timescale: {{period: {period} s, phase: {phase} s}}
    actuation: {{signal: pool.replicas, bounds: [1, 12]}}
"""


@pytest.mark.parametrize("sensor", [(30,), (12,), (12, 5), (7, 21, 3)])
@pytest.mark.parametrize("period", [30, 9])
@pytest.mark.parametrize("phase", [0, 1, 11])
def test_ages_of_a_loop_whose_phase_is_stated_are_those_of_its_run(
    sensor: tuple[int, ...], period: int, phase: int
) -> None:
    chain = ", ".join(f"{'relist' if k else 'scrape'} {size} s" for k, size in enumerate(sensor))
    design = read_text(LOOP.format(sensor=chain, period=period, phase=phase))
    ages = _run(sensor, period, phase)
    bounds = {name: entry(name).bound for name in ("reading_age_mean", "reading_age_longest")}
    floors = {one.bound.name: one.floor for one in design_floors(design, bounds.values())}
    mean, longest = floors["reading_age_mean"], floors["reading_age_longest"]
    assert mean is not None
    assert longest is not None
    assert mean.low == mean.high == Fraction(sum(ages), len(ages)) + Fraction(1, 2)
    assert longest.low == longest.high == max(ages) + 1


def _run(sensor: tuple[int, ...], period: int, phase: int) -> list[int]:
    """The age of what the loop acts on at every second of a cycle; each part copies what the one before it shows."""
    cycle = math.lcm(period, *sensor)
    shown, acted, ages = [0] * len(sensor), 0, []
    for now in range(3 * cycle):
        for k, size in enumerate(sensor):
            if now % size == 0:
                shown[k] = now if k == 0 else shown[k - 1]
        if now % period == phase % period:
            acted = shown[-1]
        if now >= 2 * cycle:
            ages.append(now - acted)
    return ages


def test_a_float_stands_for_its_shortest_decimal() -> None:
    tenths: dict[str, Any] = {"sizes": (0.1, 0.2), "capacity": 0.3}
    for name in ("bins_needed", "bins_by_volume"):
        assert at(entry(name).bound, tenths) == 1


def test_numbers_beyond_floating_point_are_refused() -> None:
    with pytest.raises(UsageError, match="beyond"):
        at(entry("all_reduce_end_point").bound, {"n": 10**400, "size": 1, "bandwidth": 1})
    with pytest.raises(UsageError, match="no finite value"):
        at(entry("compute_time").bound, {"operations": 10**300, "units": 1, "peak": Fraction(1, 10**300)})
