"""Converts workloads into sources: rates, bursts and plans."""

from __future__ import annotations

import math

from coherence.base.errors import Problem
from coherence.language.design import Design
from coherence.language.schema_kinds import Word
from coherence.language.workloads import Randomness, Switch, Workload
from coherence.simulate.processes.flow import RequestFlow
from coherence.simulate.processes.numbers import lower
from coherence.simulate.requests.program import Arrivals, RateBurst, Source

FIRST_BURST = 60.0  # s: a run shows the quiet state first


def sources_of(
    design: Design, flow: RequestFlow, notes: list[str], problems: list[Problem], *, first_burst: float
) -> tuple[Source, ...]:
    """One source for each workload with a plan; Poisson, where the design says nothing else."""
    problems += (_of_both(design.workload[name]) for name in flow.plans if name in design.components)
    sources = [_source(design.workload[name], flow, notes, problems, first_burst) for name in flow.plans]
    return tuple(sources)


def _of_both(workload: Workload) -> Problem:
    """Returns that requests which come to the component of their workload's name are not run."""
    name = workload.name
    message = f"{name} is a workload and a component: its requests are not run through the members of {name}"
    remedy = f"give the workload a name of its own, and write its call: `calls: [{{from: users, to: {name}}}]`"
    return Problem(workload.place, message, remedy)


def _source(workload: Workload, flow: RequestFlow, notes: list[str], problems: list[Problem], first: float) -> Source:
    priority = int(lower(workload.priority, f"priority of {workload.name}", notes)) if workload.priority else 0
    patience = lower(workload.deadline, f"deadline of {workload.name}", notes) if workload.deadline else math.inf
    return Source(
        workload.name, arrivals_of_workload(workload, notes, problems, first), flow.plans[workload.name],
        priority=priority, deadline=patience, cases=flow.cases.get(workload.name, ()),
    )  # fmt: skip


def arrivals_of_workload(workload: Workload, notes: list[str], problems: list[Problem], first: float) -> Arrivals:
    """Returns how requests come; where their rate switches, `rate` says nothing, and is named as not read."""
    stated = workload.arrivals
    if isinstance(stated, Randomness) and stated.switches:
        return Arrivals("mmpp", states=tuple(_state(switch, workload, notes) for switch in stated.switches))
    assert workload.rate is not None
    rate = lower(workload.rate, f"{workload.name}.rate", notes)
    if rate <= 0:
        problems.append(Problem(workload.rate.place, f"{workload.name} has no arrivals", "state a rate above 0 req/s"))
    bursts = _bursts(workload, notes, first)
    if isinstance(stated, Randomness) and stated.cv is not None:
        cv = lower(stated.cv, f"arrivals.cv of {workload.name}", notes)
        return Arrivals("gamma" if cv else "regular", rate, cv, bursts)
    if isinstance(stated, Word):
        return Arrivals(stated.text, rate, bursts=bursts)
    notes.append(poisson(workload.name))
    return Arrivals(rate=rate, bursts=bursts)


def poisson(name: str) -> str:
    """Returns the assumption about arrivals of a workload that says nothing of them."""
    return f"requests of {name} arrive one by one at random (Poisson)"


def _state(switch: Switch, workload: Workload, notes: list[str]) -> tuple[float, float]:
    assert switch.rate is not None
    assert switch.lasts is not None
    what = f"arrivals.switches of {workload.name}"
    return lower(switch.rate, what, notes), lower(switch.lasts, what, notes)


def _bursts(workload: Workload, notes: list[str], first: float) -> tuple[RateBurst, ...]:
    burst = workload.burst
    if burst is None or burst.rate is None or burst.lasts is None:
        return ()
    every = lower(burst.every, f"burst.every of {workload.name}", notes) if burst.every else 0.0
    high = lower(burst.rate, f"burst.rate of {workload.name}", notes)
    lasts = lower(burst.lasts, f"burst.lasts of {workload.name}", notes)
    notes.append(f"the first burst of {workload.name} begins at {first:g} s")
    return (RateBurst(high, first, lasts, every),)
