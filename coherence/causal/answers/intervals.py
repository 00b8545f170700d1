"""Computes intervals of estimates from dependent data: the jackknife over contiguous batches.

A batch is long against the memory of the series, so batches are nearly independent where samples are not.  The
naive block bootstrap undercovers where bursts outlast its blocks; delete-one-batch with Student's t does not.
SOURCE: Quenouille 1949, Tukey 1958; definitions.md 2.6 (measured coverage).
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

Floats: TypeAlias = npt.NDArray[np.float64]
LEVEL = 0.95


@dataclass(frozen=True)
class Estimate:
    """A number with its standard error and interval, in the unit of the quantity."""

    value: float
    low: float
    high: float
    error: float
    level: float = LEVEL

    def __contains__(self, number: float) -> bool:
        return self.low <= number <= self.high


def jackknife(whole: Floats, without: Floats, *, level: float = LEVEL) -> tuple[Floats, Floats, Floats]:
    """(low, high, standard error) of estimates: `whole` (shape S) of all batches, `without` (B, *S) each lacking one.

    error^2 = (B - 1) / B * sum_b (without_b - mean)^2; the interval is whole -+ t(B - 1) * error.
    Fewer than two batches give infinite intervals: nothing is known about the spread.
    """
    batches = len(without)
    if batches < 2:
        infinite = np.full(np.shape(whole), np.inf)
        return -infinite, infinite, infinite
    from scipy.special import stdtrit

    with np.errstate(invalid="ignore"):  # of numbers that are none there is no error
        error = np.sqrt((batches - 1) / batches * ((without - without.mean(axis=0)) ** 2).sum(axis=0))
    reach = float(stdtrit(batches - 1, (1 + level) / 2)) * error
    return whole - reach, whole + reach, error


def estimate(whole: float, without: Floats, *, level: float = LEVEL) -> Estimate:
    """One number with its interval; `without` has one value for each batch left out."""
    low, high, error = jackknife(np.asarray(whole), without, level=level)
    return Estimate(float(whole), float(low), float(high), float(error), level)


def batches(length: int, count: int) -> tuple[slice, ...]:
    """`count` contiguous stretches of nearly equal length; fewer where there are fewer samples."""
    edges = np.linspace(0, length, min(count, max(length, 1)) + 1).astype(int)
    return tuple(slice(int(low), int(high)) for low, high in pairwise(edges))
