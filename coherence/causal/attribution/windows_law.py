"""Tells what two windows say of the law behind them: the same split with the chance of the means in its intervals.

The intervals of `compare` are of these windows: the means are what they were, and the coefficients are uncertain.
Whether something changed beyond noise is a question about means as well.  Every replicate then leaves a stretch out of
both, and stretches outlast the memory of what is compared; where fewer than five do, nothing is told of the law.
"""

from __future__ import annotations

import math

import numpy as np

from coherence.causal.attribution.changes import correlation_time, memory
from coherence.causal.data.series import Series
from coherence.causal.fitting.fit import Fitted, from_grams
from coherence.causal.fitting.gram import Grams

OUTLASTS = 3.0  # times the memory of the series that a stretch must last
FEWEST = 5  # stretches


def lengthened(fitted: Fitted, series: Series, loss: str) -> Fitted | None:
    """The fit with batches that outlast the memory of the loss and of what acts on it; None where too few are left."""
    behind = {loss, *fitted.graph.ancestors(loss)}
    present = [series[name][np.isfinite(series[name])] for name in series.names if name in behind]
    moving = [values for values in present if len(values) and np.ptp(values) > 0]
    slowest = max((max(memory(values), correlation_time(values)) for values in moving), default=1.0)
    batches = len(fitted.grams.batches)
    together = max(math.ceil(OUTLASTS * slowest * batches / max(float(fitted.grams.rows.sum()), 1.0)), 1)
    if batches // together < FEWEST:
        return None
    return fitted if together == 1 else from_grams(_merged(fitted.grams, together), fitted.plan)


def _merged(products: Grams, together: int) -> Grams:
    """The sums of products of so many batches at a time; the last one takes what is left over."""
    starts = np.arange(0, len(products.batches) - together + 1, together)
    sums, rows = (np.add.reduceat(part, starts, axis=0) for part in (products.batches, products.rows))
    return Grams(products.columns, products.offset, products.scale, sums, rows, products.lost)
