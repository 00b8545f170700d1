"""CI, coherence index: the fraction of its capacity that a coordinated system would have needed for the same service.

## Definition
`CI = 1 / gamma` where the coordinated twin with needs `gamma * s_i` finishes the measured share of the offered work
within its deadlines.  Where several gamma do, the one nearest to 1 is told, and the interval holds them all.
## Words
0.6: six tenths of the capacity, coordinated, would have served the same work in time.
## Unit and range
1; (0, inf).  1 is perfect, above 1 beats first come first served (as by dropping what is late), never clipped.
## Invariances
Unit of time; unit of load.
## Nulls
A system equal to its twin gives 1.  A proportional overhead e gives 1/(1 + e) wherever deadlines bind.
## Falsifier
A system equal to its twin whose interval leaves out 1.
## Limits
Where everything is in time, deadlines do not bind: only "CI >= x" is known, and x is told.
## Source
Effective capacity as goodput of a coordinated benchmark; definitions 2.3.
"""

from __future__ import annotations

import math

import numpy as np

from coherence.causal.answers.intervals import Estimate, jackknife
from coherence.causal.data.index_inputs import IndexInputs, latency_requests, missing_inputs
from coherence.causal.data.request_log import Ints, RequestLog
from coherence.causal.data.series import Floats
from coherence.causal.indices import Index, IndexPart, IndexRefusal, MeasuredIndex
from coherence.causal.twins.coordinated_twin import Twin, twin
from coherence.causal.twins.inversion import FASTEST, SLOWEST, smallest_at_most
from coherence.causal.twins.jackknife import batch_numbers, jackknife_estimate, last_slowdowns, ratio

INDEX = Index(
    name="CI",
    words="the fraction of its capacity that a coordinated system would have needed for the same service in time",
    unit="1",
    range="(0, inf); 1 is perfect",
    invariances="unit of time, unit of load",
    source="equivalent slowdown of a Kiefer-Wolfowitz queue; definitions 2.3",
)


def measure(facts: IndexInputs) -> MeasuredIndex | IndexRefusal:
    """The coherence index of the latency class; a bound where deadlines do not bind."""
    lacks = missing_inputs(facts, twin=True, columns=("deadline", "outcome"))
    if lacks:
        return IndexRefusal(INDEX, "the share of work in time and its twin need what is not there", lacks)
    assert facts.servers is not None
    log = latency_requests(facts)
    batch, machine = batch_numbers(log, facts.batches), twin(latency_requests(facts), facts.servers)
    shares = in_time(log, batch)
    last = last_slowdowns(machine, batch, shares)
    first = smallest_at_most(lambda gamma: float(_share(machine, gamma, batch)[0]), float(shares[0]), near=1.0)
    estimate, bound = _estimate_of(first, last, facts.level)
    return MeasuredIndex(
        INDEX,
        estimate,
        render_value(estimate.value, bound),
        bound,
        (IndexPart("in time", jackknife_estimate(shares, level=facts.level)),),
    )


def in_time(log: RequestLog, batch: Ints) -> Floats:
    """Share of the offered work that was answered in time, whole and without each batch."""
    return ratio(log.need * log.in_time, log.need, batch)


def _share(machine: Twin, gamma: float, batch: Ints) -> Floats:
    return ratio(machine.needs * machine.in_time(gamma), machine.needs, batch)


def _estimate_of(first: float, last: Floats, level: float) -> tuple[Estimate, str]:
    """The index from its slowest and fastest twins: the value nearest to 1, and the interval around all of them."""
    logs = np.log(np.clip(last, FASTEST, SLOWEST))
    low, high, error = (float(one) for one in jackknife(logs[0], logs[1:], level=level))
    slow, reach = float(last[0]), (high - low) / 2
    lowest = math.exp(-min(high, 700)) if slow < math.inf else 0.0
    if first == 0.0:
        return Estimate(1 / slow, lowest, math.inf, error / slow, level), ">="
    highest = math.exp(min(reach, 700)) / first
    if slow == math.inf:
        return Estimate(1 / first, 0.0, highest, math.inf, level), "<="
    fast, slow = min(first, slow), max(first, slow)
    value = 1 / min(max(1.0, fast), slow)
    return Estimate(value, lowest, highest, value * error, level), ""


def render_value(value: float, bound: str) -> str:
    """The value in words."""
    if bound == ">=":
        return f"all was in time: it is only known that a coordinated system needs at least {value:.1%} of the capacity"
    if bound == "<=":
        return "nothing was in time: how little would have sufficed is not known"
    if value > 1:
        return f"as much in time as on {value:.3g} times the capacity served first come first served"
    return f"a coordinated system would have served as much in time with {value:.1%} of the capacity"
