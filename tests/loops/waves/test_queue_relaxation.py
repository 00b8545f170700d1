"""Relaxation of queues: exact gap, fluid pole, and a run of the queue itself."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.linalg import expm

from bench.references.queue_relaxation import autocorrelation, fluid_pole, gap, numeric_gap, relaxation
from coherence.base.errors import UsageError
from tests.paths import DATA, read_yaml

CASES = DATA / "loops-numeric.yaml"


def test_gap_and_pole_in_closed_form() -> None:
    queue = relaxation(0.8, 1.0)
    assert queue.gap == pytest.approx((1 - math.sqrt(0.8)) ** 2)
    assert queue.fluid == pytest.approx(-0.04)
    assert queue.ratio == pytest.approx(3.589, abs=1e-3)
    assert queue.time_constant == pytest.approx(89.72, abs=0.01)


@settings(max_examples=50, deadline=None)
@given(st.floats(0.02, 0.98), st.floats(0.01, 100))
def test_the_fluid_is_between_once_and_four_times_too_fast(load: float, service: float) -> None:
    found = relaxation(load * service, service)
    assert 1 < found.ratio < 4
    assert found.ratio == pytest.approx((1 + math.sqrt(load)) ** 2, rel=1e-9)
    assert fluid_pole(load * service, service) == pytest.approx(found.fluid, rel=1e-6)


@pytest.mark.parametrize("load", [0.3, 0.8, 0.95])
def test_the_generator_has_the_closed_gap(load: float) -> None:
    assert numeric_gap(load, 1.0) == pytest.approx(relaxation(load, 1.0).gap, rel=3e-3)


def test_many_servers_at_low_load_relax_with_one_service() -> None:
    """Far from saturation a customer leaves on its own: the gap is mu."""
    assert gap(1.0, 1.0, servers=20) == pytest.approx(1.0, rel=1e-6)
    assert gap(1.6, 1.0, servers=2) == pytest.approx(2 * (1 - math.sqrt(0.8)) ** 2, rel=1e-4)


def test_the_autocorrelation_is_that_of_the_generator_and_decays_at_the_gap() -> None:
    states, lam = 60, 0.5
    generator = np.diag(np.full(states - 1, lam), 1) + np.diag(np.ones(states - 1), -1)
    generator -= np.diag(generator.sum(axis=1))
    weights = lam ** np.arange(states)
    weights /= weights.sum()
    lengths = np.arange(states) - weights @ np.arange(states)
    expected = [weights * lengths @ expm(generator * t) @ lengths / (weights @ lengths**2) for t in (0.0, 1.0, 7.0)]
    assert autocorrelation(lam, 1.0, np.array([0.0, 1.0, 7.0]), states=states) == pytest.approx(expected, rel=1e-9)
    late = autocorrelation(0.8, 1.0, np.array([600.0, 700.0]))
    assert math.log(late[0] / late[1]) / 100 == pytest.approx(relaxation(0.8, 1.0).gap, rel=0.25)


def test_a_run_of_the_queue_forgets_more_slowly_than_the_fluid_says() -> None:
    rng = np.random.default_rng(3)
    lam, lag, count = 0.8, 40, 400_000  # uniformised: one event per 1 / (lam + mu) on average
    ups = rng.random(count) < lam / (1 + lam)
    level, levels = 4, np.empty(count)
    for i, up in enumerate(ups):
        level = level + 1 if up else max(level - 1, 0)
        levels[i] = level
    step = round(lag * (1 + lam))
    x = levels - levels.mean()
    seen = float(x[:-step] @ x[step:] / (x @ x) * count / (count - step))
    exact = float(autocorrelation(lam, 1.0, np.array([float(lag)]))[0])
    assert seen == pytest.approx(exact, abs=0.08)
    assert exact > 1.5 * math.exp(-0.04 * lag)


def test_overload_has_no_rest_point() -> None:
    for call in (relaxation, fluid_pole, gap):
        with pytest.raises(UsageError, match="no rest point"):
            call(1.2, 1.0)
    with pytest.raises(UsageError, match="must be > 0"):
        relaxation(0.0, 1.0)


def _cases() -> list[Any]:
    return [case for case in read_yaml(CASES)["cases"] if case["kind"] == "queue"]


@pytest.mark.parametrize("case", _cases(), ids=lambda case: case["id"])
def test_known_answers(case: dict[str, Any]) -> None:
    found = relaxation(case["model"]["lam"], case["model"]["mu"])
    values = {"exact_gap": found.gap, "fluid_pole": found.fluid}
    for name, expected in case["expected"].items():
        assert values[name] == pytest.approx(expected["value"], rel=expected["rtol"])
