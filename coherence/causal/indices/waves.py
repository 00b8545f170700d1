"""WPI, wave propagation index: how much of a burst's delay at one service is suffered by the others.

## Definition
x_i = delay less the delay of the same request at the coordinated twin (gamma = 1).  A response is the mean x of
requests from the start of a burst to the end of its drain, less the service's own mean x outside of all bursts.
`WPI = max(0, remote response) / (max(0, local response) + 0.1 mean need)`, remote: other services not in a burst of
their own.  Told only where the lower end of DI exceeds 0.1; else there is no wave, for pooling shares fate and that is
not a fault.  Where the design says who calls whom, the same index of the services at each number of calls from the
burst, and what is felt there over what is felt one step nearer: below 1 the wave fades, above 1 it grows.
## Words
0.9: requests at other services wait 0.9 times as much longer as those at the service whose burst it is.
## Unit and range
1; [0, inf).  0 is contained, about 1 is shared fate, above 1 the far end suffers more than the source.
## Invariances
Unit of time; number of services (means of requests).
## Nulls
Services on disjoint resources give 0; a system equal to its twin has no wave.
## Falsifier
Disjoint resources whose interval lies above 0 more often than its level says; a chain whose steps multiply by g where
an interval of g misses it more often.
## Limits
The interval is the range of the index where both responses may be.  Where bursts may not delay their own service it is
a bound, and refused where that is above 1.  Where rare long waits carry the mean (a burst that comes before the last
has drained) a window that holds few of them looks the calmest: of services that wait for those that they call, 94 % of
intervals over 25 bursts held the truth one call away, and 83 % two calls away; below 60 bursts that is said.  Bursts
must be independent: common ones are counted as propagation, but for those of services that others call in their
bursts.
## Source
String stability and bullwhip ratio; definitions 2.4.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from coherence.causal.answers.intervals import Estimate
from coherence.causal.data.index_inputs import ArrivalBurst, IndexInputs, latency_requests, missing_inputs
from coherence.causal.data.request_log import Bools, Ints, RequestLog
from coherence.causal.data.series import Floats
from coherence.causal.indices import Index, IndexPart, IndexRefusal, MeasuredIndex, delay
from coherence.causal.twins.bursts import bursts, inside, windows, without_those_of_callers
from coherence.causal.twins.coordinated_twin import twin
from coherence.causal.twins.hops import UNCONNECTED, hops
from coherence.causal.twins.jackknife import batch_numbers, jackknife_estimate, quotient_estimate, ratio

INDEX = Index(
    name="WPI",
    words="how much of a burst's delay at one service is suffered by the others",
    unit="1",
    range="[0, inf); 0 is contained, 1 is shared fate",
    invariances="unit of time, number of services",
    source="string stability; definitions 2.4",
)
GATE = 0.1
SHARED = 1.0  # shared fate: a bound above it tells nothing
MOST_LONGER = 100.0  # windows that are advised
ENOUGH = 60  # bursts: of fewer it is said that rare ones may be missing
FLOOR = 0.1  # of a mean need, added to the local response


def measure(facts: IndexInputs) -> MeasuredIndex | IndexRefusal:
    """The wave propagation index of the latency class; 0 and "no wave" where delays are those of the twin."""
    lacks = missing_inputs(facts, twin=True, columns=("service",))
    if lacks:
        return IndexRefusal(INDEX, "waves go between services, beyond what the twin explains", lacks)
    log = latency_requests(facts)
    if len(np.unique(log.service)) < 2:
        return IndexRefusal(INDEX, "a wave needs two services", ("requests of a second service",))
    seen = bursts_of(facts, log)
    gate = delay.slowdown(facts, log, batch_numbers(log, facts.batches), None)
    if not gate.low > GATE:
        return no_wave(facts.level, gate)
    if not seen:
        return IndexRefusal(INDEX, "no service has a burst of first attempts", ("a window that holds bursts",))
    return of_bursts(facts, log, seen)


def bursts_of(facts: IndexInputs, log: RequestLog) -> tuple[ArrivalBurst, ...]:
    """The bursts that are stated, or those seen that are no part of a caller's."""
    seen = bursts(facts, log)
    return seen if facts.bursts is not None else without_those_of_callers(seen, log.services, facts.calls, facts.drain)


def no_wave(level: float, gate: Estimate) -> MeasuredIndex:
    """What is told where delays hardly exceed those of the twin."""
    why = f"the delay index is not surely above {GATE} (lower end {gate.low:.3g})"
    return MeasuredIndex(INDEX, Estimate(0.0, 0.0, 0.0, 0.0, level), "no wave", notes=(why,))


def of_bursts(facts: IndexInputs, log: RequestLog, seen: tuple[ArrivalBurst, ...]) -> MeasuredIndex | IndexRefusal:
    """The index of all other services, and of those at each number of calls from the burst."""
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
    own_requests, others = _weights(log, spans, own, within, hops(log.services, facts.calls))
    level = np.array([ratio(excess * (mine := quiet & (log.service == one)), mine * 1.0, batch)
                      for one in range(len(log.services))])  # fmt: skip
    level = np.where(np.isnan(level), np.nan_to_num(level[:, :1]), level)  # absent services have no weight
    local, remote, *each = (
        _response(weight, excess, level, log.service, batch)
        for weight in (own_requests, np.sum(list(others.values()), axis=0), *others.values())
    )
    if np.isnan(remote[0]):
        return IndexRefusal(INDEX, "no other service is quiet during any burst", ("bursts that do not coincide",))
    holding = len(np.unique(batch[own_requests > 0]))
    responses = Responses(local, remote, dict(zip(others, each, strict=True)), holding, FLOOR * float(log.need.mean()))
    return _index_of(responses, facts.level, len(seen))


@dataclass(frozen=True)
class Responses:
    """Mean responses in s, of all batches and without each: of the bursts' own service, of all others, by calls away.

    `batches` that hold requests of a burst; `floor`: what is added to the local response (s).
    """

    local: Floats
    remote: Floats
    away: Mapping[int, Floats]
    batches: int
    floor: float

    def index(self, response: Floats, level: float) -> Estimate:
        """A response over that of the bursts' own service."""
        return quotient_estimate(response, self.local, plus=self.floor, batches=self.batches, level=level)

    def growth(self, level: float) -> dict[tuple[int, int], Estimate]:
        """(calls away, calls away of the next further one) -> response of the second over that of the first."""
        return {
            (near, far): quotient_estimate(
                self.away[far], self.away[near], plus=0.0, batches=self.batches, level=level
            )
            for near, far in pairwise(step for step in self.away if step != UNCONNECTED)
        }  # fmt: skip


def _index_of(felt: Responses, level: float, count: int) -> MeasuredIndex | IndexRefusal:
    """The index with its parts, or why these bursts do not tell it."""
    remote, local = (jackknife_estimate(one, level=level) for one in (felt.remote, felt.local))
    parts = [IndexPart("remote response", remote, "s"), IndexPart("local response", local, "s")]
    growth = felt.growth(level)
    if len(felt.away) > 1:
        parts += [IndexPart(place_of(step), felt.index(response, level)) for step, response in felt.away.items()]
        parts += [
            IndexPart(f"{place_of(far)} over {place_of(near)}", one)
            for (near, far), one in growth.items() if math.isfinite(one.high)
        ]  # fmt: skip
    rare = (f"fewer than {ENOUGH}: where rare long waits carry the mean, the interval may be too short",)
    whole, notes = felt.index(felt.remote, level), (f"{count} bursts", *(rare if count < ENOUGH else ()))
    if local.low > 0:
        return MeasuredIndex(INDEX, whole, render_value(whole.value) + _along(growth), parts=tuple(parts), notes=notes)
    if whole.low > 0:
        least = Estimate(whole.low, whole.low, math.inf, math.inf, level)
        return MeasuredIndex(INDEX, least, said_of_bound(least.value, ">="), ">=", tuple(parts), notes)
    if whole.high <= SHARED:
        most = Estimate(whole.high, 0.0, whole.high, math.inf, level)
        return MeasuredIndex(INDEX, most, said_of_bound(most.value, "<="), "<=", tuple(parts), notes)
    return _untold(remote, local, count)


def _untold(remote: Estimate, local: Estimate, count: int) -> IndexRefusal:
    """Nothing is sure of either response: a number would be anything from 0 to far above 1."""
    both = (f"{name} {one.value:.3g} s ({one.low:.3g} to {one.high:.3g})"
            for name, one in (("their own service", local), ("others", remote)))  # fmt: skip
    longer = math.inf if local.value <= 0 else ((local.value - local.low) / local.value) ** 2
    more = f"a window about {math.ceil(longer)} times as long" if longer < MOST_LONGER else "bursts that are felt"
    return IndexRefusal(INDEX, f"{count} bursts do not tell it: they delay {' and '.join(both)}", (more,))


def place_of(step: int) -> str:
    """The name of the index of the services so many calls away."""
    if step == UNCONNECTED:
        return "WPI where no call leads"
    return f"WPI {step} call{'s' if step > 1 else ''} away"


def _along(growth: Mapping[tuple[int, int], Estimate]) -> str:
    """How a wave changes from call to call, where that is sure."""
    grows = [f"{after} calls away than at {step}" for (step, after), one in growth.items() if one.low > 1]
    if grows:
        return f"; it is stronger {' and '.join(grows)}: the wave grows on its way"
    if growth and all(one.high < 1 for one in growth.values()):
        return "; it fades with each call"
    return ""


def _within(log: RequestLog, spans: Floats, own: Ints) -> np.ndarray[tuple[int, int], np.dtype[np.bool_]]:
    """[i, j]: whether request i came in the window of a burst of service j."""
    within = np.zeros((len(log), len(log.services)), bool)
    for span, service in zip(spans, own.tolist(), strict=True):
        within[:, service] |= inside(log.arrival, span)
    return within


def _weights(
    log: RequestLog, spans: Floats, own: Ints, within: np.ndarray[tuple[int, int], np.dtype[np.bool_]], steps: Ints
) -> tuple[Floats, dict[int, Floats]]:
    """1 for each request of a burst's own service; calls away (UNCONNECTED last) -> 1 for each of the others there.

    One that is in the time of several bursts counts at the nearest.
    """
    busy = within[np.arange(len(log)), log.service]
    local = np.zeros(len(log))
    nearest = np.full(len(log), math.inf)  # inf: in the time of no burst
    beyond = float(len(log.services))  # more than any number of calls
    for span, service in zip(spans, own.tolist(), strict=True):
        now = inside(log.arrival, span)
        local[now & (log.service == service)] = 1.0
        away = np.where(steps[service] > 0, steps[service], beyond)[log.service]
        others = now & (log.service != service) & ~busy
        nearest = np.where(others, np.minimum(nearest, away), nearest)
    places = np.unique(nearest[np.isfinite(nearest)]).tolist() or [beyond]
    return local, {
        UNCONNECTED if place == beyond else int(place): np.where(nearest == place, 1.0, 0.0) for place in places
    }


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
