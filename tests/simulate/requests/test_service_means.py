"""Means and variations of service times, beside integrals of the distributions of scipy."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from scipy import stats
from scipy.integrate import quad

from coherence.simulate.requests.program import Service
from coherence.simulate.requests.service_means import mean_of, variation_of

MEAN = 0.04


def survival(service: Service) -> list[tuple[float, Any]]:
    """Returns the law of scipy as a mixture: weight and frozen distribution."""
    mean, cv = service.mean, service.cv
    if service.family == "exponential":
        return [(1.0, stats.expon(scale=mean))]
    if service.family == "gamma":
        return [(1.0, stats.gamma(1 / cv**2, scale=mean * cv**2))]
    if service.family == "lognormal":
        sigma = math.sqrt(math.log1p(cv**2))
        return [(1.0, stats.lognorm(sigma, scale=mean * math.exp(-(sigma**2) / 2)))]
    if service.family == "uniform":
        half = mean * math.sqrt(3) * cv
        return [(1.0, stats.uniform(mean - half, 2 * half))]
    first = (1 + math.sqrt((cv**2 - 1) / (cv**2 + 1))) / 2  # balanced means
    return [(share, stats.expon(scale=mean / (2 * share))) for share in (first, 1 - first)]


@pytest.mark.parametrize("most", [0.01, 0.05, 0.2, math.inf])
@pytest.mark.parametrize(
    ("family", "cv"),
    [("exponential", 1.0), ("gamma", 0.5), ("gamma", 2.0), ("lognormal", 1.5), ("uniform", 0.4),
     ("hyperexponential", 2.5)],
)  # fmt: skip
def test_a_law_that_is_cut_has_the_moments_of_its_integral(family: str, cv: float, most: float) -> None:
    service = Service(MEAN, family, cv, most=most)
    parts, end = survival(service), min(most, 200 * MEAN * max(1.0, cv) ** 2)
    grid = np.geomspace(1e-6, end, 30)
    moments = [
        sum(
            quad(lambda t, n=n: n * t ** (n - 1) * sum(w * law.sf(t) for w, law in parts), low, high)[0]
            for low, high in zip([0.0, *grid[:-1]], grid, strict=True)
        )
        for n in (1, 2)
    ]
    assert mean_of(service) == pytest.approx(moments[0], rel=1e-5)
    assert variation_of(service) == pytest.approx(moments[1] / moments[0] ** 2 - 1, rel=1e-3, abs=1e-6)


def test_measured_quantiles_replayed_values_and_constants() -> None:
    wide = Service(2.0, "quantiles", quantiles=((0.0, 1.0), (0.5, 2.0), (1.0, 3.0)))
    assert variation_of(wide) == pytest.approx((1 / 3) / 4)  # uniform from 1 to 3
    assert variation_of(Service(2.0, "quantiles", quantiles=wide.quantiles, most=1.0)) == pytest.approx(0.0, abs=1e-12)
    assert variation_of(Service(0.0, values=(1.0, 3.0))) == pytest.approx(0.25)
    assert variation_of(Service(0.0, values=(1.0, 3.0), most=1.0)) == 0.0
    assert variation_of(Service(0.1, "constant")) == 0.0
    assert variation_of(Service(0.0)) == 0.0
