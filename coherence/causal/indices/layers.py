"""kappa, layer scores: of the requests that could still be in time, the share that could after each layer.

## Definition
E_l: after layer l the request could still meet its deadline, elapsed time + isolated need of the layers left <= D, and
it could after every layer before; what was answered in time was never lost, though a later layer was faster than its
isolated need.  `kappa_l = P(E_l | E_{l-1})`; E_0: the isolated need itself fits.  The last event
is the answer in time.  The product of all scores is the share in time, exactly, and each miss has one layer.
## Words
dispatch 0.71: of requests that could still be in time when they came to dispatch, 29 % no longer could after it.
## Unit and range
1; [0, 1] for each layer.  1: the layer loses none.
## Invariances
Unit of time; unit of load; number of requests.
## Nulls
Layers that take exactly their isolated needs score 1 each.
## Falsifier
A product that is not the share in time, as fractions of counts.
## Source
Survival chain (product of conditional probabilities); definitions 2.3.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from coherence.causal.data.index_inputs import IndexInputs, latency_requests, missing_inputs
from coherence.causal.data.request_log import Bools, Ints, RequestLog
from coherence.causal.indices import Index, IndexPart, IndexRefusal, MeasuredIndex
from coherence.causal.twins.jackknife import batch_numbers, clipped_estimate, jackknife_estimate, ratio

INDEX = Index(
    name="kappa",
    words="of the requests that could still be in time, the share that could after each layer",
    unit="1",
    range="[0, 1] for each layer; the product is the share in time",
    invariances="unit of time, unit of load",
    source="chain of conditional probabilities; definitions 2.3",
)
NEED = "the need itself"


@dataclass(frozen=True)
class LayerChain:
    """Layers, how many requests could still be in time before the first and after each, and which layer lost each.

    `lost[i]` is the number of the layer that lost request i; -1 where it was in time.
    """

    names: tuple[str, ...]
    counts: tuple[int, ...]
    lost: Ints

    @property
    def scores(self) -> tuple[Fraction, ...]:
        """kappa of each layer; 1 for a layer that none reached."""
        pairs = zip(self.counts, self.counts[1:], strict=False)
        return tuple(Fraction(after, before) if before else Fraction(1) for before, after in pairs)

    @property
    def product(self) -> Fraction:
        """The share in time."""
        return Fraction(self.counts[-1], self.counts[0])


def chain(log: RequestLog) -> LayerChain:
    """Which layer lost which request.  Without layers the whole path is one layer."""
    alive = survivors(log)
    names = (NEED, *(layer.name for layer in log.layers or ()))
    names = names if log.layers else (NEED, "the path")
    counts = (len(log), *(int(one.sum()) for one in alive))
    lost = np.full(len(log), -1, np.int64)
    before = np.ones(len(log), bool)
    for number, after in enumerate(alive):
        lost[before & ~after] = number
        before = after
    return LayerChain(names, counts, lost)


def survivors(log: RequestLog) -> tuple[Bools, ...]:
    """E_0 and E_l of each layer, nested; the last is the answer in time."""
    well = log.in_time
    alive = (log.need <= log.deadline) | well
    alive_after = [alive]
    left = log.need.copy()
    for layer in log.layers[:-1]:
        left = left - layer.need
        with np.errstate(invalid="ignore"):
            alive = alive & ((layer.left - log.arrival) + left <= log.deadline) | well
        alive_after.append(alive)
    return (*alive_after, well)


def measure(facts: IndexInputs) -> MeasuredIndex | IndexRefusal:
    """The share in time, with the score of each layer as its parts."""
    lacks = missing_inputs(facts, columns=("deadline", "outcome"))
    if facts.log is not None and len(facts.log.classes) > 1 and facts.latency_class not in facts.log.classes:
        lacks = (*lacks, f"which of the classes {', '.join(facts.log.classes)} is the latency class")
    if lacks:
        return IndexRefusal(INDEX, "a layer loses a request when its deadline cannot be met any more", lacks)
    log = latency_requests(facts)
    batch, alive = batch_numbers(log, facts.batches), survivors(log)
    passed = chain(log)
    before = [np.ones(len(log)), *(one.astype(np.float64) for one in alive)]
    parts = []
    for name, old, new, count in zip(passed.names, before, before[1:], passed.counts, strict=False):
        shares = ratio(new, old, batch) if count else np.ones(1)
        parts.append(
            IndexPart(
                f"kappa of {name}",
                clipped_estimate(jackknife_estimate(np.where(np.isnan(shares), 1.0, shares), level=facts.level), 0, 1),
            )
        )
    whole = clipped_estimate(jackknife_estimate(ratio(before[-1], before[0], batch), level=facts.level), 0, 1)
    notes = () if log.layers else ("no layer has stamps: columns left.<layer> would tell which one loses requests",)
    return MeasuredIndex(INDEX, whole, render_value(passed), parts=tuple(parts), notes=notes)


def render_value(passed: LayerChain) -> str:
    """The share in time, and which layer loses most."""
    missed = passed.lost[passed.lost >= 0]
    text = f"{float(passed.product):.1%} were in time"
    if not len(missed):
        return text
    worst = int(np.argmax(np.bincount(missed)))
    return f"{text}; {passed.names[worst]} lost {int((missed == worst).sum()) / len(missed):.0%} of the others"
