"""Exact cycles of sampled laws."""

from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bench.references.integer_maps import (
    ReplicaLaw,
    quantised_integrator,
    recurrence,
    replica_cycle,
    replica_cycles,
    sigma_delta,
)
from bench.references.recurrences import delayed_integrator, polynomial_verdict


@settings(max_examples=60, deadline=None)
@given(st.integers(-40, 40), st.integers(1, 40), st.sampled_from(["round", "ceil", "floor"]))
def test_dithering_has_the_denominator_as_period_and_the_load_as_mean(p: int, q: int, rounding: str) -> None:
    load = Fraction(p, q)
    cycle = sigma_delta(load, rounding=rounding)
    assert (cycle.period, cycle.mean) == (load.denominator, load)


def test_unrounded_replicas_with_one_period_of_delay_repeat_every_six() -> None:
    law = ReplicaLaw(Fraction(10), Fraction(1), 1, tolerance=Fraction(0), whole=False)
    cycle = replica_cycle(law, (12, 10))
    assert cycle is not None
    assert (cycle.period, cycle.transient) == (6, 0)
    assert polynomial_verdict(delayed_integrator(1, 1)).modulus == 1


def test_two_periods_of_delay_swing_every_eight() -> None:
    law = ReplicaLaw(Fraction(100), Fraction(1, 2), 2, high=1000)
    cycles = replica_cycles(law)
    assert {cycle.period for cycle, _ in cycles} == {1, 8}
    assert polynomial_verdict(delayed_integrator(1, 2)).period == pytest.approx(8.9267832, rel=1e-7)


def test_holding_decreases_brings_replicas_to_rest() -> None:
    law = ReplicaLaw(Fraction(100), Fraction(1, 2), 2, high=1000, hold_down=3)
    cycle = replica_cycle(law, (150, 150, 150))
    assert cycle is not None
    assert cycle.period == 1


@settings(max_examples=60, deadline=None)
@given(st.integers(1, 300), st.integers(0, 5), st.lists(st.integers(1, 400), min_size=6, max_size=6))
def test_a_reported_lap_is_a_lap(load: int, delay: int, history: list[int]) -> None:
    law = ReplicaLaw(Fraction(load), Fraction(1, 2), delay, high=500)
    cycle = replica_cycle(law, history)
    assert cycle is not None  # finitely many states
    values = cycle.values * 3
    for k in range(delay, len(values) - 1):
        past = tuple(values[k - d] for d in range(delay + 1)) if k >= delay else ()
        assert law.step(past)[0] == values[k + 1]


def test_quantised_integrator_rests_or_swings() -> None:
    rest = quantised_integrator(Fraction(1, 4), 1, (Fraction(3), Fraction(3)))
    swing = quantised_integrator(Fraction(9, 10), 3, (Fraction(3),) * 4, rounding="ceil", load=Fraction(1, 3))
    assert rest is not None
    assert rest.period == 1
    assert swing is None or swing.period > 1


def test_no_recurrence_is_told() -> None:
    assert recurrence(lambda k: k + 1, 0, most=50) is None
