"""DI, delay index: how much slower a perfectly coordinated machine would have to be for users to wait this long.

## Definition
`DI = gamma - 1` where the coordinated twin with needs `gamma * s_i` has the measured mean delay, `delay_i` = end -
first arrival - isolated need.  `DI p50` and `DI p99` ask the same of a quantile.
## Words
0.055: users wait as on a coordinated machine that is 5.5 % slower.  Above 0 is waiting that arrivals do not explain.
## Unit and range
1; (-1, inf).  0 is perfect coordination, inf is never served.
## Invariances
Unit of time; unit of load; fleet and load scaled together but for pooling; any stable load, where overhead is
proportional.
## Nulls
A proportional overhead e gives DI = e at every stable load; a system equal to its twin gives 0.
## Falsifier
A pure overhead e whose DI is not e.
## Limits
Requests given up count their time until then, and those in flight until the end of the window, so DI is a lower bound
under time-outs.  It is as good as the isolated needs.  Where bursts that rarely coincide carry the mean, an interval
would cover the long-run value far less often than 95 % (measured: 60 to 72 %): then there is none, and it is said how
long a window would give one.
## Source
Kiefer and Wolfowitz 1955 for the twin; definitions 2.2.
"""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np

from coherence.causal.answers.intervals import Estimate
from coherence.causal.data.index_inputs import IndexInputs, latency_requests, missing_inputs
from coherence.causal.data.request_log import Ints, RequestLog
from coherence.causal.data.series import Floats
from coherence.causal.indices import Index, IndexPart, IndexRefusal, MeasuredIndex
from coherence.causal.twins import coincidences
from coherence.causal.twins.coordinated_twin import twin
from coherence.causal.twins.jackknife import (
    batch_numbers,
    jackknife_estimate,
    log_jackknife_estimate,
    means,
    quantiles,
    slowdowns,
)

INDEX = Index(
    name="DI",
    words="how much slower a perfectly coordinated machine would have to be for users to wait this long",
    unit="1",
    range="(-1, inf); 0 is perfect",
    invariances="unit of time, unit of load, stable load where overhead is proportional",
    source="equivalent slowdown of a Kiefer-Wolfowitz queue; definitions 2.2",
)
QUANTILES = (0.5, 0.99)


def measure(facts: IndexInputs, *, variants: bool = True) -> MeasuredIndex | IndexRefusal:
    """The delay index of the latency class, its quantile variants and its split by stages."""
    lacks = missing_inputs(facts, twin=True)
    if lacks:
        return IndexRefusal(INDEX, "the coordinated twin needs what is not there", lacks)
    log, batch = latency_requests(facts), batch_numbers(latency_requests(facts), facts.batches)
    assert facts.servers is not None
    estimate = slowdown(facts, log, batch, None)
    parts = [IndexPart(f"DI p{100 * q:g}", slowdown(facts, log, batch, q)) for q in QUANTILES] if variants else []
    count = coincidences.coincidences(log, facts.servers, 1 + estimate.value)
    notes = noted(log)
    if count < coincidences.LEAST:
        estimate, notes = unbounded(estimate), (*notes, coincidences.no_interval_reason(count))
        parts = [IndexPart(part.name, unbounded(part.estimate)) for part in parts]
    return MeasuredIndex(
        INDEX, estimate, render_value(estimate.value), parts=(*parts, *stages(log, batch, estimate)), notes=notes
    )


def unbounded(found: Estimate) -> Estimate:
    """The value without an interval."""
    return Estimate(found.value, -math.inf, math.inf, math.inf, found.level)


def slowdown(facts: IndexInputs, log: RequestLog, batch: Ints, quantile: float | None) -> Estimate:
    """gamma - 1 for the mean of the delays or a quantile of them."""
    assert facts.servers is not None
    statistic = means(batch) if quantile is None else quantiles(batch, quantile)
    gammas = slowdowns(twin(log, facts.servers), statistic, statistic(log.delay), smooth=quantile is None)
    return log_jackknife_estimate(gammas, level=facts.level, minus=1.0)


def render_value(value: float) -> str:
    """The value in words."""
    if abs(value) < 5e-4:
        return "users wait as on a perfectly coordinated machine"
    if value > 1:
        return f"users wait as on a coordinated machine that is {1 + value:.3g} times as slow"
    return f"users wait as on a coordinated machine that is {abs(value):.1%} {'slower' if value > 0 else 'faster'}"


def noted(log: RequestLog) -> tuple[str, ...]:
    """What makes the number a lower bound."""
    gone = int((~log.completed).sum()) - log.in_flight
    return tuple(
        f"{count:,} of {len(log):,} requests {how}: the delay index is a lower bound"
        for count, how in ((gone, "gave up"), (log.in_flight, "had not ended"))
        if count
    )


def stage_delays(log: RequestLog) -> dict[str, Floats]:
    """Seconds of delay in each layer; they add up to the delay of each request.

    A request that ended within a layer spent the rest of its time there.
    """
    delays: dict[str, Floats] = {}
    before, ends = log.arrival, log.arrival + log.sojourn
    need_left = log.need.copy()
    for number, layer in enumerate(log.layers):
        last = number == len(log.layers) - 1
        stopped = np.isnan(layer.left) if not last else np.ones(len(log), bool)
        left = np.where(stopped, ends, np.minimum(layer.left, ends))
        need = np.where(stopped, need_left, layer.need)
        delays[layer.name] = left - before - need
        before, need_left = left, need_left - need
    return delays


def stages(log: RequestLog, batch: Ints, total: Estimate) -> tuple[IndexPart, ...]:
    """The index split by where delay was spent, in proportion to seconds; the parts add up to it."""
    delays = stage_delays(log)
    whole = means(batch)(log.delay)
    parts = []
    for name, seconds in delays.items():
        mean = means(batch)(seconds)
        share = float(mean[0] / whole[0]) if whole[0] else 0.0
        parts.append(IndexPart(f"DI of {name}", _times(total, share)))
        parts.append(IndexPart(f"delay in {name}", jackknife_estimate(mean, level=total.level), "s"))
    return tuple(parts)


def _times(found: Estimate, share: float) -> Estimate:
    if math.isinf(found.error):
        return unbounded(replace(found, value=found.value * share))
    low, high = sorted((found.low * share, found.high * share))
    return Estimate(found.value * share, low, high, abs(share) * found.error, found.level)
