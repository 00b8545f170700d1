"""Converts time to whole nanoseconds, so that accounts sum exactly, and draws laws in them."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from coherence.simulate.jobs.job import Law

Ticks: TypeAlias = npt.NDArray[np.int64]

SECOND = 10**9
NEVER = 2**62  # 146 years; later than the end of any run


def ticks(seconds: float) -> int:
    """Returns the nearest whole nanosecond; NEVER for what is later than it."""
    return NEVER if seconds >= NEVER / SECOND else round(Fraction(seconds) * SECOND)


def seconds(count: int) -> Fraction:
    """Nanoseconds as exact seconds."""
    return Fraction(count, SECOND)


def generator(seed: int, purpose: str) -> np.random.Generator:
    """A stream of its own for each purpose, so that one choice more of one kind leaves the others as they were."""
    return np.random.Generator(np.random.PCG64(np.random.SeedSequence([seed, *purpose.encode()])))


def draw(law: Law, rng: np.random.Generator, shape: tuple[int, ...]) -> Ticks:
    """Nanoseconds drawn from the law."""
    if law.family == "constant":
        return np.full(shape, ticks(law.mean), np.int64)
    return in_ticks(_floats(law, rng, shape))


def draw_one(law: Law, rng: np.random.Generator) -> int:
    """One duration."""
    return int(draw(law, rng, (1,))[0])


def in_ticks(values: npt.NDArray[np.float64]) -> Ticks:
    """Nearest nanoseconds, from 0 to NEVER."""
    return np.rint(np.clip(values * SECOND, 0, NEVER)).astype(np.int64)


def _floats(law: Law, rng: np.random.Generator, shape: tuple[int, ...]) -> npt.NDArray[np.float64]:
    mean, cv = law.mean, law.cv
    if law.family == "uniform":
        return rng.uniform(law.low, law.high, shape)
    if law.family == "exponential":
        return rng.exponential(mean, shape)
    if cv == 0 or mean == 0:
        return np.full(shape, mean)
    if law.family == "normal":
        return rng.normal(mean, cv * mean, shape)
    if law.family == "gamma":
        return rng.gamma(cv**-2, mean * cv**2, shape)
    spread = math.log1p(cv**2)
    return rng.lognormal(math.log(mean) - spread / 2, math.sqrt(spread), shape)


def total(values: Ticks) -> int:
    """Returns the exact sum of non-negative numbers, also where it leaves 64 bits."""
    high, low = values >> 32, values & 0xFFFFFFFF
    return (int(high.sum()) << 32) + int(low.sum())


def totals(groups: npt.NDArray[np.intp], values: Ticks, count: int) -> list[int]:
    """Returns the exact sum of non-negative numbers in each group 0 .. count - 1."""
    high, low = np.zeros(count, np.int64), np.zeros(count, np.int64)
    np.add.at(high, groups, values >> 32)
    np.add.at(low, groups, values & 0xFFFFFFFF)
    return [(int(h) << 32) + int(r) for h, r in zip(high, low, strict=True)]
