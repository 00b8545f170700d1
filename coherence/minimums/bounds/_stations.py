"""Applies queueing bounds to requests of a workload at the component that they call."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction

from coherence.language.design import Design
from coherence.language.schema_kinds import Quantity
from coherence.minimums.bound import Application, Checked
from coherence.minimums.bounds._one_queue import OF_THE_LAW, beside_its_load, beside_one_queue
from coherence.minimums.bounds._retrying import tries_of
from coherence.minimums.facts import Gathered, ServingStage, stages
from coherence.minimums.functions import erlang_c


def gathered(stage: ServingStage) -> Gathered:
    """Rate, mean service time and servers of a stage, or what to write for them."""
    callee = stage.component.name if stage.component is not None else stage.name
    application = Gathered(stage.name)
    application.quantity("rate", stage.workload.rate, f"rate of {stage.workload.name}")
    application.quantity("mean", stage.service, f"service of {stage.workload.name}")
    return application.quantity("servers", stage.servers, f"copies of {callee}")


def exponential(design: Design) -> Iterator[Application]:
    """Stages that say that their service times have the spread of exponential ones, under Poisson arrivals."""
    for stage in stages(design):
        if stage.cv is not None and stage.cv.exact and stage.cv.low == 1 and poisson(stage):
            application = gathered(stage)
            if leaves(stage):
                application.needs(
                    "patient", f"the wait of tries that are not given up at {stage.name}: it cancels late tries"
                )
            yield _asking(application, "one_queue", "the wait", beside_one_queue(design, stage)).application()


def one_server(design: Design) -> Iterator[Application]:
    """Yields stages of one member under Poisson arrivals whose services state a spread of their own, of any law."""
    for stage in filter(poisson, stages(design)):
        servers, cv = stage.servers, stage.cv
        if servers is None or not servers.low == servers.high == 1 or cv is None or cv.low == cv.high == 1:
            continue  # exponential ones: erlang_wait
        application = gathered(stage).quantity("cv", cv, "")
        del application.spans["servers"]
        _busy(application, "load")
        if leaves(stage):
            application.needs("load", f"the wait of tries that are not given up at {stage.name}: it cancels late tries")
        laws = {f"services are {law}" for law in OF_THE_LAW}
        beside = (words for words in beside_one_queue(design, stage) if words not in laws)
        yield _asking(application, "load", "the wait", beside).application()


def limited(design: Design) -> Iterator[Application]:
    """Yields stages whose callers stop waiting after a time, once and without a copy, while the work is still done.

    A request that waits longer than that is answered too late, whatever its service takes.
    """
    for stage in filter(_waits_in_turn, stages(design)):
        limit = _limit(stage)
        if limit is None:
            continue
        application = gathered(stage).quantity("wait", limit, "")
        application.thing = f"{stage.name} beyond {limit.text}"
        _busy(application, "offered")
        yield _asking(application, "one_queue", "the wait", beside_one_queue(design, stage)).application()


def _busy(application: Gathered, symbol: str) -> None:
    """Puts the mean number of busy servers in the place of the rate, or what it lacks."""
    rate, mean = application.spans.pop("rate", None), application.spans.get("mean")
    lacks = application.missing.pop("rate", None) or application.missing.get("mean")
    if rate is not None and mean is not None:
        application.span(symbol, rate[0] * mean[0], rate[1] * mean[1])
    elif lacks is not None:
        application.needs(symbol, lacks)


def _waits_in_turn(stage: ServingStage) -> bool:
    """Returns whether its requests wait first come first served, each once, for exponential services."""
    call = stage.call
    spread = stage.cv is not None and stage.cv.exact and stage.cv.low == 1 and poisson(stage)
    tries = tries_of(call) if call is not None and call.hedge_after is None else None
    once = call is not None and tries is not None and tries[1] == 1 and call.abandons
    return spread and once


def _limit(stage: ServingStage) -> Quantity | None:
    """Returns the time after which an answer counts no more; None: none is stated, or it is of something else."""
    call = stage.call
    if call is None or str(call.timeout_kind or "total") not in ("total", "first byte"):
        return None
    limits = [limit for limit in (call.per_try, call.deadline) if isinstance(limit, Quantity)]
    return min(limits, key=lambda limit: limit.low, default=None)


def offered(design: Design) -> Iterator[Application]:
    """Yields every stage under Poisson arrivals: its rate and mean service time alone."""
    for stage in filter(poisson, stages(design)):
        application = gathered(stage)
        application.spans.pop("servers", None)
        application.missing.pop("servers", None)
        if leaves(stage):
            application.needs("patient", f"the work that is done at {stage.name}: it cancels late tries")
        yield _asking(application, "load", "the load", beside_its_load(design, stage)).application()


def _asking(application: Gathered, symbol: str, what: str, beside: Iterator[str]) -> Gathered:
    """Asks for a measured number where the design states something that the formula leaves out."""
    left_out = [] if application.missing else list(dict.fromkeys(beside))
    return application.needs(symbol, f"{what}, measured: {', '.join(left_out)}") if left_out else application


def leaves(stage: ServingStage) -> bool:
    """Returns whether tries that take too long leave the queue."""
    call = stage.call
    limited = call is not None and any(isinstance(limit, Quantity) for limit in (call.per_try, call.deadline))
    return limited and call is not None and call.cancels


def poisson(stage: ServingStage) -> bool:
    """Returns whether the design leaves or states Poisson arrivals."""
    arrivals = stage.workload.arrivals
    if arrivals is None or str(arrivals) == "poisson":
        return True
    cv = getattr(arrivals, "cv", None)
    return cv is not None and not getattr(arrivals, "switches", ()) and bool(cv.low == cv.high == 1)


def balance() -> Checked:
    """Checks Erlang's share that waits against the balance equations in exact fractions."""
    points = [(c, Fraction(c * k, 10)) for c in (1, 2, 5, 10, 30) for k in (1, 5, 9)]
    worst = max(abs(float(waits(c, a)[1]) / erlang_c(c, a) - 1) for c, a in points)
    return Checked(worst < 1e-12, f"the balance equations in exact fractions agree within {worst:.1e}")


def waits(servers: int, offered_load: Fraction) -> tuple[Fraction, Fraction]:
    """(share blocked without a queue, share that waits), from the balance equations of the states, exactly."""
    states = [Fraction(1)]
    for busy in range(1, servers + 1):
        states.append(states[-1] * offered_load / busy)
    blocked = states[-1] / sum(states)
    rho = offered_load / servers
    if rho >= 1:
        return blocked, Fraction(1)
    queued = states[-1] / (1 - rho)  # all states with everybody busy: a geometric series
    return blocked, queued / (sum(states[:-1]) + queued)
