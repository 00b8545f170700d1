"""WPI, wave propagation index: how much of a burst's delay at one service is suffered by the others.

## Definition
x_i = delay less the delay of the same request at the coordinated twin (gamma = 1).  A response is the mean x of
requests from the start of a burst to the end of its drain, less the service's own mean x outside of all bursts.
`WPI = max(0, remote response) / (max(0, local response) + 0.1 mean need)`, remote: other services not in a burst of
their own.  Told only where the lower end of DI exceeds 0.1; else there is no wave, for pooling shares fate and that is
not a fault.
## Words
0.9: requests at other services wait 0.9 times as much longer as those at the service whose burst it is.
## Unit and range
1; [0, inf).  0 is contained, about 1 is shared fate, above 1 the far end suffers more than the source.
## Invariances
Unit of time; number of services (means of requests).
## Nulls
Services on disjoint resources give 0; a system equal to its twin has no wave.
## Falsifier
Disjoint resources whose interval lies above 0 more often than its level says.
## Limits
Where one batch carries most of the local response only a bound is told.  Bursts must be independent: common ones are
counted as propagation.
## Source
String stability and bullwhip ratio; definitions 2.4.
"""

from __future__ import annotations

import math

import numpy as np

from coherence.causal.answers.intervals import Estimate
from coherence.causal.data.index_inputs import ArrivalBurst, IndexInputs, latency_requests, missing_inputs
from coherence.causal.data.request_log import Bools, Ints, RequestLog
from coherence.causal.data.series import Floats
from coherence.causal.indices import Index, IndexPart, IndexRefusal, MeasuredIndex, delay
from coherence.causal.twins.bursts import bursts, inside, windows
from coherence.causal.twins.coordinated_twin import twin
from coherence.causal.twins.jackknife import batch_numbers, clipped_estimate, jackknife_estimate, ratio

INDEX = Index(
    name="WPI",
    words="how much of a burst's delay at one service is suffered by the others",
    unit="1",
    range="[0, inf); 0 is contained, 1 is shared fate",
    invariances="unit of time, number of services",
    source="string stability; definitions 2.4",
)
GATE = 0.1
STABLE = 0.5  # where leaving out one batch takes more than half of the denominator, a ratio has no interval
FLOOR = 0.1  # of a mean need, added to the local response


def measure(facts: IndexInputs) -> MeasuredIndex | IndexRefusal:
    """The wave propagation index of the latency class; 0 and "no wave" where delays are those of the twin."""
    lacks = missing_inputs(facts, twin=True, columns=("service",))
    if lacks:
        return IndexRefusal(INDEX, "waves go between services, beyond what the twin explains", lacks)
    log = latency_requests(facts)
    if len(np.unique(log.service)) < 2:
        return IndexRefusal(INDEX, "a wave needs two services", ("requests of a second service",))
    seen = bursts(facts, log)
    gate = delay.slowdown(facts, log, batch_numbers(log, facts.batches), None)
    if not gate.low > GATE:
        return no_wave(facts.level, gate)
    if not seen:
        return IndexRefusal(INDEX, "no service has a burst of first attempts", ("a window that holds bursts",))
    return _responses(facts, log, seen)


def no_wave(level: float, gate: Estimate) -> MeasuredIndex:
    """What is told where delays hardly exceed those of the twin."""
    why = f"the delay index is not surely above {GATE} (lower end {gate.low:.3g})"
    return MeasuredIndex(INDEX, Estimate(0.0, 0.0, 0.0, 0.0, level), "no wave", notes=(why,))


def _responses(facts: IndexInputs, log: RequestLog, seen: tuple[ArrivalBurst, ...]) -> MeasuredIndex | IndexRefusal:
    """Sums of every batch, and the index of all and without each."""
    assert facts.servers is not None
    batch = batch_numbers(log, facts.batches)
    excess = log.delay - twin(log, facts.servers).delays(1.0)
    spans = windows(seen, facts.drain)
    own = np.array([log.services.index(one.service) if one.service in log.services else -1 for one in seen])
    if (own < 0).any():
        names = ", ".join(sorted({one.service for one in seen if one.service not in log.services}))
        return IndexRefusal(INDEX, f"bursts of services that the log does not have: {names}", ("their requests",))
    within = _within(log, spans, own)
    quiet: Bools = np.asarray(~within.any(axis=1), np.bool_)
    present = np.unique(log.service).tolist()
    without = [log.services[number] for number in present if not quiet[log.service == number].any()]
    if without:
        return IndexRefusal(INDEX, f"no quiet time of {', '.join(without)}", ("a window longer than its bursts",))
    felt = _felt(log, spans, own, within, excess, quiet, batch)
    remote, local = felt
    if np.isnan(remote[0]):
        return IndexRefusal(INDEX, "no other service is quiet during any burst", ("bursts that do not coincide",))
    floor = FLOOR * float(log.need.mean())
    parts = tuple(
        IndexPart(name, jackknife_estimate(one, level=facts.level), "s")
        for name, one in zip(("remote response", "local response"), felt, strict=True)
    )
    notes = (f"{len(seen)} bursts",)
    below = np.maximum(local, 0.0) + floor
    if below[1:].size and below[1:].min() < STABLE * below[0]:
        estimate, bound = bounded(parts[0].estimate, parts[1].estimate, floor)
        return MeasuredIndex(INDEX, estimate, said_of_bound(estimate.value, bound), bound, parts, notes)
    raw = remote / below
    estimate = clipped_estimate(jackknife_estimate(raw, level=facts.level), 0.0)
    return MeasuredIndex(INDEX, estimate, render_value(estimate.value), parts=parts, notes=notes)


def bounded(remote: Estimate, local: Estimate, floor: float) -> tuple[Estimate, str]:
    """What is sure where bursts hardly delay their own service: a ratio to what may be nothing has no interval."""
    if remote.low > 0:
        least = remote.low / (max(local.high, 0.0) + floor)
        return Estimate(least, least, math.inf, math.inf, remote.level), ">="
    most = max(remote.high, 0.0) / floor
    return Estimate(most, 0.0, most, math.inf, remote.level), "<="


def _within(log: RequestLog, spans: Floats, own: Ints) -> np.ndarray[tuple[int, int], np.dtype[np.bool_]]:
    """[i, j]: whether request i came in the window of a burst of service j."""
    within = np.zeros((len(log), len(log.services)), bool)
    for span, service in zip(spans, own.tolist(), strict=True):
        within[:, service] |= inside(log.arrival, span)
    return within


def _felt(
    log: RequestLog, spans: Floats, own: Ints, within: np.ndarray[tuple[int, int], np.dtype[np.bool_]],
    excess: Floats, quiet: Bools, batch: Ints,
) -> tuple[Floats, Floats]:  # fmt: skip
    """(remote, local) mean responses, whole and without each batch.

    Each is the mean over its requests of x less the quiet mean of their services: sums by batch and service suffice.
    """
    busy = within[np.arange(len(log)), log.service]
    local, remote = np.zeros(len(log)), np.zeros(len(log))
    for span, service in zip(spans, own.tolist(), strict=True):
        now = inside(log.arrival, span)
        local[now & (log.service == service)] = 1.0
        remote[now & (log.service != service) & ~busy] = 1.0
    level = np.array([ratio(excess * (mine := quiet & (log.service == one)), mine * 1.0, batch)
                      for one in range(len(log.services))])  # fmt: skip
    level = np.where(np.isnan(level), np.nan_to_num(level[:, :1]), level)  # absent services have no weight
    return _response(remote, excess, level, log.service, batch), _response(local, excess, level, log.service, batch)


def _response(weight: Floats, excess: Floats, level: Floats, service: Ints, batch: Ints) -> Floats:
    """sum w (x - level of its service) / sum w, whole and without each batch, each with its own quiet levels."""
    count = int(batch.max()) + 1
    mass = np.array([np.bincount(batch, weight * (service == one), count) for one in range(len(level))])
    weights = np.concatenate([mass.sum(axis=1, keepdims=True), mass.sum(axis=1, keepdims=True) - mass], axis=1)
    with np.errstate(invalid="ignore", divide="ignore"):
        calm = (weights * level).sum(axis=0) / weights.sum(axis=0)
        excesses: Floats = ratio(weight * excess, weight, batch) - calm
    return np.where(np.isnan(excesses), excesses[0], excesses)


def said_of_bound(value: float, bound: str) -> str:
    """The bound in words."""
    if bound == ">=":
        return f"bursts may not delay their own service, and others wait at least {value:.2g} times as much longer"
    return "bursts are not seen to delay their own service, nor surely any other"


def render_value(value: float) -> str:
    """The value in words."""
    if value == 0:
        return "bursts are contained: other services do not wait longer"
    return f"other services wait {value:.2g} times as much longer as the service whose burst it is"
