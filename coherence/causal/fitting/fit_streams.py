"""Fits data larger than memory: one pass over chunks that follow each other in time."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import chain

from coherence.base.errors import UsageError
from coherence.causal.data.series import Series
from coherence.causal.fitting.equations import Equation
from coherence.causal.fitting.fit import Fitted, from_grams
from coherence.causal.fitting.gram import streamed
from coherence.causal.fitting.graph import CausalGraph
from coherence.causal.fitting.planning import believable, planned


def fit_chunks(chunks: Iterable[Series], graph: CausalGraph, equations: Iterable[Equation] = ()) -> Fitted:
    """As `fit`, in constant memory.  Delays are chosen from the first chunk."""
    every = iter(chunks)
    first = next(every, None)
    if first is None:
        raise UsageError("the telemetry has no rows: give a file with at least one")
    plan = planned(first, graph, equations)
    sums = streamed(map(plan.clocks.added, chain([first], every)), plan.columns)
    return from_grams(sums, believable(plan, [sums], once=True))
