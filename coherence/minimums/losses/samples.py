"""Computes a one-sided confidence range of a measured mean from samples in the order of time.

Consecutive readings are alike, so the samples are cut into BATCHES equal stretches whose means are nearly independent;
each end of the range holds with 95 %, by Student's law with BATCHES - 1 degrees of freedom.
SOURCE: A. M. Law, "Simulation modeling and analysis", 5th ed., 9.5.3 (batch means).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction

from coherence.base.errors import UsageError

BATCHES, LEAST = 12, 24
CONFIDENCE = 0.95  # of each end alone


def mean_range(samples: Sequence[Fraction | float]) -> tuple[float, float]:
    """Returns (low, high) of the mean; each alone holds with 95 %.  Raises UsageError for too few samples."""
    if len(samples) < LEAST:
        raise UsageError(f"{len(samples)} samples are too few for a range of their mean: at least {LEAST} are needed")
    size = len(samples) // BATCHES
    values = [float(sample) for sample in samples[len(samples) - size * BATCHES :]]
    means = [math.fsum(values[k * size : (k + 1) * size]) / size for k in range(BATCHES)]
    middle = math.fsum(means) / BATCHES
    spread = math.sqrt(math.fsum((one - middle) ** 2 for one in means) / (BATCHES - 1) / BATCHES)
    from scipy.stats import t

    half = float(t.ppf(CONFIDENCE, BATCHES - 1)) * spread
    return middle - half, middle + half
