"""Computes means and variations of service times, of laws that are cut at a longest time too."""

from __future__ import annotations

import itertools
import math
from dataclasses import replace

from coherence.simulate.requests.program import Service


def mean_of(service: Service) -> float:
    """Returns the mean of the times that a service draws, in seconds."""
    if service.values:
        return sum(min(value, service.most) for value in service.values) / len(service.values)
    if service.mean == 0 or not math.isfinite(service.most):
        return service.mean
    return service.mean * _cut(service, service.most / service.mean)


def variation_of(service: Service) -> float:
    """Returns the squared coefficient of variation of the times that a service draws."""
    mean = mean_of(service)
    if not mean:
        return 0.0
    if service.values:
        square = sum(min(value, service.most) ** 2 for value in service.values) / len(service.values)
    else:
        square = service.mean**2 * _square(service, service.most / service.mean)
    return max(0.0, square / mean**2 - 1)


def scaled(service: Service, factor: float) -> Service:
    """Returns the service whose every time is so many times as long."""
    return replace(
        service, mean=service.mean * factor, most=service.most * factor,
        values=tuple(value * factor for value in service.values),
        quantiles=tuple((share, time * factor) for share, time in service.quantiles),
    )  # fmt: skip


def _cut(service: Service, most: float) -> float:
    """Returns E[min(X, most)] of a law of mean 1."""
    family, cv = service.family, service.cv
    if family == "quantiles":
        scaled = tuple((share, time / service.mean) for share, time in service.quantiles)
        return mean_of_quantiles(cut_quantiles(scaled, most))
    if family == "exponential":
        return -math.expm1(-most)
    if family == "constant" or cv == 0:
        return min(1.0, most)
    if family == "uniform":
        width = math.sqrt(12) * cv
        return mean_of_quantiles(cut_quantiles(((0.0, 1 - width / 2), (1.0, 1 + width / 2)), most))
    return _by_tails(family, cv, most)


def _by_tails(family: str, cv: float, most: float) -> float:
    """Returns E[min(X, m)] = E[X; X <= m] + m P(X > m), by the distribution functions of the law."""
    from scipy.special import gammainc, ndtr

    if family == "gamma":  # SOURCE: x f(x; k) = f(x; k + 1) for mean 1
        shape = 1 / cv**2
        return float(gammainc(shape + 1, most * shape) + most * (1 - gammainc(shape, most * shape)))
    if family == "lognormal":
        sigma = math.sqrt(math.log1p(cv**2))
        depth = (math.log(most) + sigma**2 / 2) / sigma if most > 0 else -math.inf
        return float(ndtr(depth - sigma) + most * ndtr(-depth))
    first = (1 + math.sqrt((cv**2 - 1) / (cv**2 + 1))) / 2
    return sum(-math.expm1(-2 * share * most) / 2 for share in (first, 1 - first))


def _square(service: Service, most: float) -> float:
    """Returns E[min(X, most)^2] of a law of mean 1."""
    family, cv = service.family, service.cv
    if family == "quantiles":
        scaled = tuple((share, time / service.mean) for share, time in service.quantiles)
        return square_of_quantiles(cut_quantiles(scaled, most))
    if family == "exponential":
        return _square_of_exponential(1.0, most)
    if family == "constant" or cv == 0:
        return min(1.0, most) ** 2
    if family == "uniform":
        width = math.sqrt(12) * cv
        return square_of_quantiles(cut_quantiles(((0.0, 1 - width / 2), (1.0, 1 + width / 2)), most))
    return 1 + cv**2 if most == math.inf else _square_by_tails(family, cv, most)


def _square_by_tails(family: str, cv: float, most: float) -> float:
    """Returns E[min(X, m)^2] = E[X^2; X <= m] + m^2 P(X > m), by the distribution functions of the law."""
    from scipy.special import gammainc, ndtr

    if family == "gamma":  # SOURCE: x^2 f(x; k) = (1 + 1/k) f(x; k + 2) for mean 1
        shape = 1 / cv**2
        below = (1 + cv**2) * gammainc(shape + 2, most * shape)
        return float(below + most**2 * (1 - gammainc(shape, most * shape)))
    if family == "lognormal":
        sigma = math.sqrt(math.log1p(cv**2))
        depth = (math.log(most) + sigma**2 / 2) / sigma if most > 0 else -math.inf
        return float((1 + cv**2) * ndtr(depth - 2 * sigma) + most**2 * ndtr(-depth))
    first = (1 + math.sqrt((cv**2 - 1) / (cv**2 + 1))) / 2
    return sum(share * _square_of_exponential(1 / (2 * share), most) for share in (first, 1 - first))


def _square_of_exponential(mean: float, most: float) -> float:
    if most == math.inf:
        return 2 * mean**2
    return 2 * mean**2 * (-math.expm1(-most / mean) - most / mean * math.exp(-most / mean))


def cut_quantiles(quantiles: tuple[tuple[float, float], ...], most: float) -> tuple[tuple[float, float], ...]:
    """Returns the quantiles of min(X, most), with a corner where they reach it."""
    points: list[tuple[float, float]] = []
    for share, time in quantiles:
        if points and points[-1][1] < most < time:
            before, low = points[-1]
            points.append((before + (share - before) * (most - low) / (time - low), most))
        points.append((share, min(time, most)))
    return tuple(points)


def mean_of_quantiles(quantiles: tuple[tuple[float, float], ...]) -> float:
    """Returns the mean of times that lie straight between their quantiles."""
    pairs = itertools.pairwise(quantiles)
    return sum((after - before) * (low + high) / 2 for (before, low), (after, high) in pairs)


def square_of_quantiles(quantiles: tuple[tuple[float, float], ...]) -> float:
    """Returns the mean square of times that lie straight between their quantiles."""
    pairs = itertools.pairwise(quantiles)
    return sum((after - before) * (low**2 + low * high + high**2) / 3 for (before, low), (after, high) in pairs)
