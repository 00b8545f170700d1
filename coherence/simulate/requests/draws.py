"""Draws random numbers by name: each thing that draws has a stream of its own, from the seed and its name.

Two designs that share a source therefore see the same arrivals (common random numbers), whatever
else differs.  The event loop takes numbers from blocks and never holds a generator.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Callable
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from coherence.simulate.requests.program import Service

Floats = NDArray[np.float64]
Sampler = Callable[[int], Floats]
BLOCK = 4096  # draws of one stream that stand ready


def stream(seed: int, name: str) -> np.random.Generator:
    """Returns the generator of one name: PCG64 seeded by SeedSequence(seed, spawn_key = 128 bits of SHA-256(name))."""
    words = np.frombuffer(hashlib.sha256(name.encode()).digest()[:16], dtype="<u4")
    return np.random.Generator(np.random.PCG64(np.random.SeedSequence(seed, spawn_key=tuple(int(w) for w in words))))


def uniform(seed: int, name: str) -> Sampler:
    """Uniform in [0, 1)."""
    return stream(seed, name).random


def unit_service(seed: int, name: str, service: Service) -> Sampler:
    """Demands in units of the mean; replayed `values` are in seconds, and start again after the last."""
    if service.values:
        return _replayed(np.minimum(np.asarray(service.values, dtype=np.float64), service.most))
    if math.isfinite(service.most) and service.mean > 0:
        whole, most = unit_service(seed, name, replace(service, most=math.inf)), service.most / service.mean
        return lambda count: np.minimum(whole(count), most)
    if service.family == "quantiles":
        return _between(stream(seed, name), service)
    if service.family == "constant" or service.mean == 0 or service.cv == 0:
        return np.ones
    return unit(stream(seed, name), service.family, service.cv)


def unit(random: np.random.Generator, family: str, cv: float) -> Sampler:
    """Positive numbers of mean 1 and coefficient of variation `cv` (exponential: 1, whatever `cv`)."""
    if family == "exponential":
        return random.standard_exponential
    if family == "gamma":
        shape = 1 / cv**2
        return lambda count: random.standard_gamma(shape, count) / shape
    if family == "lognormal":
        variance = math.log1p(cv**2)
        return lambda count: np.exp(random.normal(-variance / 2, math.sqrt(variance), count))
    if family == "uniform":  # of a width that gives cv; up to 1 / sqrt(3), where it begins at zero
        width = math.sqrt(12) * cv
        return lambda count: 1 + width * (random.random(count) - 0.5)
    return _hyperexponential(random, cv)


def _hyperexponential(random: np.random.Generator, cv: float) -> Sampler:
    """Two phases with balanced means: p = (1 + sqrt((c - 1) / (c + 1))) / 2, rates 2p and 2(1 - p), c = cv squared.

    SOURCE: Whitt, The Queueing Network Analyzer (1983), section 3.1.
    """
    p = (1 + math.sqrt((cv**2 - 1) / (cv**2 + 1))) / 2

    def draw(count: int) -> Floats:
        first = random.random(count) < p
        return random.standard_exponential(count) / np.where(first, 2 * p, 2 * (1 - p))

    return draw


def _between(random: np.random.Generator, service: Service) -> Sampler:
    """Times of which so many are no longer than each quantile, straight between them, in units of the mean."""
    shares, times = (np.array(column) for column in zip(*service.quantiles, strict=True))
    return lambda count: np.interp(random.random(count), shares, times) / service.mean


def _replayed(values: Floats) -> Sampler:
    position = 0

    def draw(count: int) -> Floats:
        nonlocal position
        taken = values[(position + np.arange(count)) % len(values)]
        position = (position + count) % len(values)
        return taken

    return draw
