"""Fits data larger than memory: a pass over chunks that follow each other in time, and two more for their days."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from itertools import chain

import numpy as np

from coherence.base.errors import UsageError
from coherence.causal.data.series import Series
from coherence.causal.fitting.clocks import clocks_of, clocks_over
from coherence.causal.fitting.days import day_shapes
from coherence.causal.fitting.equations import Equation
from coherence.causal.fitting.fit import Fitted, from_grams
from coherence.causal.fitting.gram import following, streamed
from coherence.causal.fitting.graph import CausalGraph
from coherence.causal.fitting.planning import believable, planned, without_timed

HEAD = 20_000  # rows in which delays and seasons are looked for, however the stream is cut


def fit_chunks(
    chunks: Iterable[Series] | Callable[[], Iterable[Series]], graph: CausalGraph, equations: Iterable[Equation] = (),
    *, rows: int | None = None,
) -> Fitted:  # fmt: skip
    """As `fit`, in constant memory.  Delays and seasons are those of the head; `rows` of the whole tell its clocks.

    `chunks`: the stretches, or a function that reads them anew.  Raises UsageError where the record has days, for which
    it is read three times, and can be read once.
    """
    read = chunks if callable(chunks) else lambda: chunks
    every = iter(read())
    head = _head(every)
    first = head.between(-np.inf, head.times[HEAD]) if len(head) > HEAD else head
    clocks = clocks_over(head.start, max(rows or 0, len(head)), head.step)
    clocks = replace(clocks, seasons=clocks_of(first).seasons)
    if clocks.recurs:
        if not callable(chunks) and iter(chunks) is chunks:
            raise UsageError(
                "a record of two days and more is read three times, for its days: give a list of chunks, or a function "
                "that reads them"
            )
        clocks = replace(clocks, rows=max(rows or 0, len(head)), taken=day_shapes(read).of_shown())
    plan = planned(first, graph, equations, clocks=clocks)
    if clocks.taken is not None:
        alone = set(clocks.taken.follow)
        of_time = {column for column in plan.columns if column[0] in alone}
        plan = plan.having(without_timed(equation, of_time) for equation in plan.equations.values())
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
