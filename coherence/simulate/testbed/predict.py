"""Predicts a reproduction: simulated request by request, and by the rule *tries x rate against capacity*.

The simulation is fed the arrival times and the service times that the load and the back end draw from the same
seed, so that it differs from the observation in what is real alone; fresh draws give the range of chance.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from coherence.simulate.metastability.fluid import Disturbance, course
from coherence.simulate.metastability.load_map import Retrying, overload
from coherence.simulate.metastability.waits import Server
from coherence.simulate.requests.program import Arrivals, Outage, Program
from coherence.simulate.testbed.backend import service_times
from coherence.simulate.testbed.load import arrival_times
from coherence.simulate.testbed.observe import COLLAPSED, RECOVERED, Measures, Request, measure
from coherence.simulate.testbed.reproduction import bursts, services, trigger
from coherence.simulate.testbed.set_up import RunTiming, SetUp

if TYPE_CHECKING:
    from coherence.simulate.requests.engine import RequestResult

SEEDS = 40  # fresh draws, for the range of chance
FRESH = 10**6  # the first of their seeds: none of a run's own
COMPLETED, REJECTED = 0, 2  # outcomes of requests in the engine's result


@dataclass(frozen=True)
class OverloadRule:
    """Arithmetic: does an overload keep itself up, and does the trigger cause one?

    `load`: tries per second when every try times out.  `delay`: of the queue at the end of the trigger, s.
    `verdict`: collapsed | recovered | "" (undecided, and `why`).  `recovery`: s from the end of the trigger until
    tries are in time again, by the fluid reading.
    """

    load: float
    capacity: float
    delay: float
    verdict: str
    recovery: float
    why: str


@dataclass(frozen=True)
class Prediction:
    """`measures`: with the very draws of the run; `others`: with fresh draws; `rule`: by arithmetic."""

    measures: Measures
    others: tuple[Measures, ...]
    rule: OverloadRule

    @property
    def near_edge(self) -> bool:
        """Do the seeds disagree on the verdict?"""
        return len({self.measures.verdict, *(one.verdict for one in self.others)}) > 1

    def span(self, window: str) -> tuple[float, float]:
        """Least and most tries per request in a window, over all seeds."""
        return _ends(one.windows[window].tries for one in (self.measures, *self.others))

    @property
    def recovery(self) -> tuple[float, float]:
        """Least and most time to recover, over all seeds."""
        return _ends(one.recovery for one in (self.measures, *self.others))


def _ends(values: Iterator[float]) -> tuple[float, float]:
    found = [number for number in values if not math.isnan(number)]
    return (min(found), max(found)) if found else (math.nan, math.nan)


def predict(setup: SetUp, timing: RunTiming, *, seeds: int = SEEDS) -> Prediction:
    """Simulate the course with its own seed and so many fresh ones, and apply the rule."""
    return Prediction(simulated(setup, timing), tuple(fresh(setup, timing, seeds)), rule(setup, timing))


def fresh(setup: SetUp, timing: RunTiming, count: int) -> Iterator[Measures]:
    """Yields the measures of simulated runs with draws that no run has."""
    yield from (simulated(setup, replace(timing, seed=FRESH + turn)) for turn in range(count))


def simulated(setup: SetUp, timing: RunTiming) -> Measures:
    """Returns the measures of one simulated run.

    Tries are those that reach the station, as the back end sees them; the last of a rejected request does not.
    """
    from coherence.simulate.requests.engine import simulate

    until = timing.lasts + setup.longest + 1.0
    result = simulate(program(setup, timing), seed=timing.seed, until=until, trace=bool(setup.hops))
    done: Any = result.requests
    tries = _last_tries(result) if setup.hops else done.tries - (done.outcome == REJECTED)
    columns = (done.start.tolist(), done.end.tolist(), tries.tolist(), (done.outcome == COMPLETED).tolist())
    return measure([Request(*row) for row in zip(*columns, strict=True)], timing, trigger(setup, timing))


def _last_tries(result: RequestResult) -> Any:
    """Returns the tries of each finished request on the last of its routes, by the trace, without those turned away."""
    import numpy as np

    from coherence.simulate.requests.engine import ACTIONS, PLACES

    trace: Any = result.trace
    last = trace.which == len(result.program.routes) - 1
    sent = last & np.isin(trace.action, [ACTIONS.index("sent"), ACTIONS.index("hedged")])
    turned = last & (trace.action == ACTIONS.index("try_failed")) & (trace.where == PLACES.index("breaker"))
    numbers = trace.request[trace.action == ACTIONS.index("ended")]  # in the order of the records
    count = int(trace.request.max(initial=0)) + 1
    tries = np.bincount(trace.request[sent], minlength=count) - np.bincount(trace.request[turned], minlength=count)
    return tries[numbers]


def program(setup: SetUp, timing: RunTiming) -> Program:
    """Returns the program of the run: the arrivals and services that the testbed's programs draw, and the pause."""
    times = tuple(arrival_times(setup.rate, bursts(setup, timing), timing.lasts, timing.seed))
    service = setup.station.service
    drawn = tuple(service_times(service.family, service.mean, service.cv, timing.seed, services(setup, timing)))
    outages = (Outage(setup.station.name, timing.before, timing.pause),) if timing.pause else ()
    return Program(
        (replace(setup.source, arrivals=Arrivals("trace", times=times)),),
        (
            *setup.program.stations[:-1],
            replace(setup.station, service=replace(service, family="values", values=drawn)),
        ),
        setup.program.routes,
        outages,
    )


def rule(setup: SetUp, timing: RunTiming) -> OverloadRule:
    """Tries x rate against capacity, and the time to drain what the trigger leaves behind (fluid)."""
    call = retrying(setup)
    load, capacity = overload(call), setup.capacity
    if setup.hops:
        why = f"it speaks of one call; {len(setup.program.routes)} try again inside each other"
        return OverloadRule(setup.most_sends * setup.rate, capacity, math.nan, "", math.nan, why)
    if setup.route.hedge_after < math.inf:
        why = "it speaks of tries that follow one another; second copies run beside the first"
        return OverloadRule(setup.most_sends * setup.rate, capacity, math.nan, "", math.nan, why)
    if setup.route.cancel:
        return OverloadRule(load, capacity, math.nan, "", math.nan, "it speaks of abandoned tries; these are cancelled")
    start, end = trigger(setup, timing)
    disturbed = course(call, Disturbance(end - start, None if timing.pause else setup.highest_rate))
    delay = disturbed.backlog / capacity
    if disturbed.collapses:
        return OverloadRule(load, capacity, delay, COLLAPSED, math.inf, "an overload keeps itself up")
    recovery = disturbed.recovery if disturbed.followed else math.nan
    if disturbed.recovery > 0.75 * (timing.lasts - end):
        why = (
            "the queue drains, but not while it is observed" if disturbed.followed else "it lasts while it is observed"
        )
        return OverloadRule(load, capacity, delay, COLLAPSED, recovery, why)
    if not disturbed.followed:
        why = f"waves of retries still come and go {disturbed.recovery:.3g} s after the trigger"
        return OverloadRule(load, capacity, delay, "", recovery, why)
    return OverloadRule(load, capacity, delay, RECOVERED, disturbed.recovery, "the queue drains")


def retrying(setup: SetUp) -> Retrying:
    """Returns the call as the load map knows it."""
    route, service = setup.route, setup.station.service
    server = Server(setup.station.servers, service.mean, route.per_try, cv=service.cv, cancel=route.cancel)
    budget = route.budget
    return Retrying(
        setup.rate,
        min(route.tries, math.ceil(route.deadline / route.per_try)) if route.deadline < math.inf else route.tries,
        server,
        share=budget.share if budget else math.inf,
        of_first=budget is not None and budget.of == "first",
        floor=budget.floor if budget else 0.0,
        most_retries=route.most_retries,
        breaker=route.breaker,
    )
