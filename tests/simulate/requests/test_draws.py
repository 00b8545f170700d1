"""Streams by name, and service times with the mean and the spread that they are to have."""

from __future__ import annotations

import numpy as np
import pytest

from coherence.simulate.requests.draws import stream, uniform, unit, unit_service
from coherence.simulate.requests.program import Service


def test_a_name_and_a_seed_have_one_stream_and_others_have_others() -> None:
    first = stream(1, "arrivals of a").random(4)
    assert np.array_equal(first, uniform(1, "arrivals of a")(4))
    assert not np.isin(first, stream(2, "arrivals of a").random(4)).any()
    assert not np.isin(first, stream(1, "arrivals of b").random(4)).any()


@pytest.mark.parametrize(
    ("family", "cv"),
    [("exponential", 1.0), ("gamma", 0.5), ("lognormal", 0.7), ("uniform", 0.4), ("hyperexponential", 2.0)],
)
def test_every_family_has_mean_one_and_its_coefficient_of_variation(family: str, cv: float) -> None:
    draws = unit(stream(7, family), family, cv)(400_000)
    assert draws.mean() == pytest.approx(1, abs=0.02)
    assert draws.std() == pytest.approx(cv, rel=0.02)
    assert draws.min() >= 0


def test_replayed_values_come_in_order_and_start_again() -> None:
    draw = unit_service(1, "s", Service(2.0, values=(1.0, 2.0, 4.0)))
    assert [*draw(2), *draw(4)] == [1, 2, 4, 1, 2, 4]


@pytest.mark.parametrize(
    "service", [Service(2.0, "constant", 1.0), Service(0.0, "gamma", 1.0), Service(2.0, "gamma", 0)]
)
def test_a_service_without_spread_is_its_mean(service: Service) -> None:
    assert unit_service(1, "s", service)(3).tolist() == [1, 1, 1]
