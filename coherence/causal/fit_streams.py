"""The same fit from data larger than memory: one pass over chunks that follow each other in time."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from itertools import chain

from coherence.causal.equations import Equation, delays_of
from coherence.causal.fit import Fitted, columns_of, from_grams
from coherence.causal.gram import streamed
from coherence.causal.graph import Graph
from coherence.causal.identification import identify
from coherence.causal.memory import remembering
from coherence.causal.series import Series
from coherence.errors import UsageError


def fit_chunks(
    chunks: Iterable[Series],
    graph: Graph,
    equations: Iterable[Equation] = (),
    *,
    told: Callable[[int], object] | None = None,
) -> Fitted:
    """As `fit`, in constant memory.  Delays are chosen from the first chunk; `told` hears the rows read so far."""
    every = iter(chunks)
    first = next(every, None)
    if first is None:
        raise UsageError("the telemetry has no rows: give a file with at least one")
    seen = graph.bypassing(first.names)
    delays = delays_of(first, seen)
    plan = remembering(seen, identify(seen, first.names, delays, first.step), first.names)
    plan |= {one.effect: one for one in equations}
    columns = columns_of(first.names, plan.values())
    found = streamed(_counted(chain([first], every), told), columns)
    return from_grams(found, seen, plan, first.step, first.names, delays)


def _counted(chunks: Iterable[Series], told: Callable[[int], object] | None) -> Iterator[Series]:
    rows = 0
    for chunk in chunks:
        yield chunk
        rows += len(chunk)
        if told is not None:
            told(rows)
