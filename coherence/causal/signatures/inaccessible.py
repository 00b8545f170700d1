"""Tests for interconnect-induced inaccessibility of capacity: throughput depends on where the same devices stand.

At a plain bottleneck, such as one link that all share, throughput does not grow with devices either; but it is the same
for every placement.  One-way analysis of variance over placements.  SOURCE: R. A. Fisher 1925.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from coherence.base.errors import UsageError
from coherence.causal.answers.intervals import Floats
from coherence.causal.signatures.signature import Signature

NULL = "one bottleneck that all placements share: throughput does not depend on the placement"


def inaccessible(runs: Sequence[Floats]) -> Signature:
    """Returns how much the mean placement lacks of the best one; `runs`: throughputs of each placement.

    Raises UsageError for fewer than two placements, or one without a second run.
    """
    from scipy.special import fdtrc

    if len(runs) < 2 or min(len(own) for own in runs) < 2:
        raise UsageError("placements are compared by two or more of them, with two or more runs each")
    means = np.array([own.mean() for own in runs])
    counts = np.array([len(own) for own in runs])
    between = float((counts * (means - np.concatenate(list(runs)).mean()) ** 2).sum())
    within = float(sum(((own - own.mean()) ** 2).sum() for own in runs))
    free = len(runs) - 1, int(counts.sum()) - len(runs)
    ratio = (between / free[0]) / (within / free[1]) if within else np.inf if between else 0.0
    p = float(fdtrc(*free, ratio)) if np.isfinite(ratio) else 0.0
    lacks = float(1 - means.mean() / means.max())
    parts = {"F": float(ratio), "best": float(means.max()), "worst": float(means.min())}
    return Signature("inaccessible capacity", NULL, p, lacks, "1", "of the best placement", parts)
