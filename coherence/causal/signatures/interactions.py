"""Tests whether two changes together do more than the sum of what each does: superadditivity, with its interval.

Runs come in fours: without a change, with one, with the other, with both, best on the same chances.  The contrast
both - one - other + none is what they do together beyond their sum; where effects add it is 0 on average, however
large each is.
One-sided t-test over independent fours.  SOURCE: R. A. Fisher, The Design of Experiments (1935), chapter 6.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from coherence.base.errors import UsageError
from coherence.causal.signatures.signature import LEVEL, Signature, above

NULL = "effects that add: both changes together do what each does by itself, one after the other"


@dataclass(frozen=True)
class FourRuns:
    """A loss in four runs: without the two changes, with each of them alone, with both."""

    none: float
    first: float
    second: float
    both: float

    @property
    def contrast(self) -> float:
        """Returns what both do beyond the sum."""
        return self.both - self.first - self.second + self.none

    @property
    def added(self) -> float:
        """Returns the sum of what each does alone."""
        return self.first + self.second - 2 * self.none


def interaction(runs: Sequence[FourRuns]) -> Signature:
    """Returns how much both do beyond the sum, as a part of that sum, with a 99 % interval of the contrast.

    Raises UsageError for fewer than two fours, or where the two changes do nothing at all.
    """
    from scipy.special import stdtrit

    if len(runs) < 2:
        raise UsageError("interactions are tested over two or more runs of each kind")
    contrasts, added = np.array([run.contrast for run in runs]), float(np.mean([run.added for run in runs]))
    if added == 0:
        raise UsageError("neither change does anything: there is nothing to be more than its sum")
    error = float(contrasts.std(ddof=1)) / len(runs) ** 0.5
    middle, reach = float(contrasts.mean()), float(stdtrit(len(runs) - 1, 1 - LEVEL / 2)) * error
    parts = {"contrast": middle, "low": middle - reach, "high": middle + reach, "added": added}
    return Signature("interaction", NULL, above(contrasts), middle / added, "1", "of the sum of both alone", parts)
