"""Fits data larger than memory: one pass over chunks that follow each other in time."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from itertools import chain

import numpy as np

from coherence.base.errors import UsageError
from coherence.causal.data.series import Series
from coherence.causal.fitting.clocks import clocks_of, clocks_over
from coherence.causal.fitting.equations import Equation
from coherence.causal.fitting.fit import Fitted, from_grams
from coherence.causal.fitting.gram import following, streamed
from coherence.causal.fitting.graph import CausalGraph
from coherence.causal.fitting.planning import believable, planned

HEAD = 20_000  # rows in which delays and seasons are looked for, however the stream is cut


def fit_chunks(
    chunks: Iterable[Series], graph: CausalGraph, equations: Iterable[Equation] = (), *, rows: int | None = None
) -> Fitted:
    """As `fit`, in constant memory.  Delays and seasons are those of the head; `rows` of the whole tell its clocks."""
    every = iter(chunks)
    head = _head(every)
    read = head.between(-np.inf, head.times[HEAD]) if len(head) > HEAD else head
    clocks = clocks_over(head.start, max(rows or 0, len(head)), head.step)
    plan = planned(read, graph, equations, clocks=replace(clocks, seasons=clocks_of(read).seasons))
    sums = streamed(map(plan.clocks.added, chain([head], every)), plan.columns)
    return from_grams(sums, believable(plan, [sums], once=True))


def _head(chunks: Iterator[Series]) -> Series:
    """Returns the chunks up to the one that completes the head, as one."""
    head = next(chunks, None)
    if head is None:
        raise UsageError("the telemetry has no rows: give a file with at least one")
    while len(head) < HEAD and (chunk := next(chunks, None)) is not None:
        head = following(head, chunk)
    return head
