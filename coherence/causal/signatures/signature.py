"""Defines what a test for a signature answers: how likely the bottleneck alone makes it, and how large it is."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from coherence.causal.answers.intervals import Estimate

if TYPE_CHECKING:
    from coherence.causal.answers.intervals import Floats

LEVEL = 0.01  # of every test


@dataclass(frozen=True)
class Signature:
    """The answer of one test.

    `p`: the chance of data as far from the null as these where the null holds; `null`: that null in words;
    `magnitude` with its `unit` and `denominator`; `parts`: what else was computed.
    """

    mode: str
    null: str
    p: float
    magnitude: float
    unit: str
    denominator: str
    parts: dict[str, float] = field(default_factory=dict)

    @property
    def rejects(self) -> bool:
        """Whether the null is rejected."""
        return self.p <= LEVEL


def above(values: Floats, least: float = 0.0) -> float:
    """Returns p of a mean that is at most `least`, by the t-test over independent batches; 1 where all are alike."""
    from scipy.special import stdtr

    if len(values) < 2 or not np.isfinite(values).all():
        return 1.0
    error = float(values.std(ddof=1)) / len(values) ** 0.5
    gap = float(values.mean()) - least
    if error == 0:
        return 0.0 if gap > 0 else 1.0
    return float(stdtr(len(values) - 1, -gap / error))


def batch_means(times: Floats, values: Floats, edges: Floats) -> Floats:
    """Returns the mean of the values in each stretch of time between two edges; nan where there are none."""
    batch = np.searchsorted(edges, times, side="right") - 1
    inside = (batch >= 0) & (batch < len(edges) - 1)
    sums, counts = (np.bincount(batch[inside], w, len(edges) - 1) for w in (values[inside], None))
    means: Floats = np.divide(sums, counts, out=np.full(len(sums), np.nan), where=counts > 0)
    return means


def slope(values: Floats) -> Estimate:
    """Returns the change from one batch to the next, by least squares, with its 99 % interval."""
    from scipy.stats import linregress, t

    fitted = linregress(np.arange(len(values)), values)
    reach = float(t.ppf(1 - LEVEL / 2, len(values) - 2)) * float(fitted.stderr)
    middle = float(fitted.slope)
    return Estimate(middle, middle - reach, middle + reach, float(fitted.stderr), 1 - LEVEL)
