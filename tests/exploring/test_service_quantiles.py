"""Evenly spaced times of a service have the mean and variation of its law, and its quantiles."""

from __future__ import annotations

import math

import numpy as np
import pytest

from coherence.exploring.service_quantiles import service_times
from coherence.simulate.requests.program import Service
from coherence.simulate.requests.service_means import mean_of, variation_of

LAWS = (
    Service(2.0),
    Service(2.0, "constant", 0.0),
    Service(0.5, "gamma", 0.4),
    Service(0.5, "lognormal", 0.8),
    Service(0.5, "uniform", 0.3),
    Service(3.0, "hyperexponential", 2.0),
    Service(3.0, "exponential", most=4.0),
    Service(1.5, "quantiles", 0.6, quantiles=((0.0, 0.0), (0.5, 1.0), (1.0, 4.0))),
    Service(0.0, values=(1.0, 1.0, 2.0, 4.0)),
)


@pytest.mark.parametrize("service", LAWS, ids=lambda service: str(service.family))
def test_mean_and_variation_are_those_of_the_law(service: Service) -> None:
    times = service_times(service, 100_000)
    assert np.all(np.diff(times) >= 0)
    if not service.values:  # a few values in turn are taken as straight between them
        assert times.mean() == pytest.approx(mean_of(service), rel=2e-3)
        assert times.var() / times.mean() ** 2 == pytest.approx(variation_of(service), rel=2e-2, abs=1e-9)


def test_quantiles_of_an_exponential_are_its_logarithms() -> None:
    assert service_times(Service(2.0), 2).tolist() == pytest.approx([-2 * math.log(0.75), -2 * math.log(0.25)])


def test_a_mixture_has_the_tail_of_its_slow_part() -> None:
    first = (1 + math.sqrt(3 / 5)) / 2
    time = service_times(Service(1.0, "hyperexponential", 2.0), 1000)[-1]
    tail = sum(share * math.exp(-2 * share * time) for share in (first, 1 - first))
    assert tail == pytest.approx(0.0005, rel=1e-3)
