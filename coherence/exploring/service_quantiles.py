"""Computes the times that services of one law take at evenly spaced shares: a sample without chance."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from coherence.simulate.requests.program import Service

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]


def service_times(service: Service, count: int) -> Floats:
    """Returns the times (s) that shares (k + 1/2) / count of all services stay below, k = 0 .. count - 1."""
    shares = (np.arange(count) + 0.5) / count
    if service.values:
        times = np.quantile(np.asarray(service.values, dtype=np.float64), shares)
    elif service.family == "quantiles":
        below, stated = zip(*service.quantiles, strict=True)
        times = np.interp(shares, below, stated)
    else:
        times = service.mean * _unit(service, shares)
    return np.minimum(times, service.most)


def _unit(service: Service, shares: Floats) -> Floats:
    """Returns the quantiles of a law of mean 1."""
    from scipy.special import gammaincinv, ndtri

    family, cv = service.family, service.cv
    if family == "exponential":
        return -np.log1p(-shares)
    if family == "constant" or service.mean == 0 or cv == 0:
        return np.ones(len(shares))
    if family == "gamma":
        return np.asarray(gammaincinv(1 / cv**2, shares) * cv**2)
    if family == "lognormal":
        variance = math.log1p(cv**2)
        return np.asarray(np.exp(math.sqrt(variance) * ndtri(shares) - variance / 2))
    if family == "uniform":
        return 1 + math.sqrt(12) * cv * (shares - 0.5)
    return _two_exponentials(cv, shares)


def _two_exponentials(cv: float, shares: Floats) -> Floats:
    """Returns the quantiles of a mixture of two exponentials with balanced means."""
    first = (1 + math.sqrt((cv**2 - 1) / (cv**2 + 1))) / 2
    longest = -math.log(0.5 / len(shares)) / (2 * (1 - first))
    times = np.concatenate([[0.0], np.geomspace(longest * 1e-9, longest, 20_000)])
    below = 1 - sum(share * np.exp(-2 * share * times) for share in (first, 1 - first))
    return np.asarray(np.interp(shares, below, times))
