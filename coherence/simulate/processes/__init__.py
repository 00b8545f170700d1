"""Design -> request-level program: which sources, stations and routes its workloads, components and calls make.

A workload that calls something, or whose rate a queue's `arrivals` name, is a source; what is called
is a station; calls are routes, used in the order of their declaration.  What the design does not say
is a problem that names the key; what it leaves open and a run must choose is listed as an assumption.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from coherence.base.errors import InputError, Problem
from coherence.base.places import Place
from coherence.language.call_cases import weight_path
from coherence.language.design import Design
from coherence.model.gangs import exchanging
from coherence.simulate.processes.agents import with_agents
from coherence.simulate.processes.flow import RequestFlow, flow_of, without
from coherence.simulate.processes.gates import gates_of
from coherence.simulate.processes.links import with_links
from coherence.simulate.processes.routes import routes_of
from coherence.simulate.processes.sources import FIRST_BURST, sources_of
from coherence.simulate.processes.stations import stations_of
from coherence.simulate.requests.program import Program


@dataclass(frozen=True)
class Processes:
    """A program, what was assumed to make it, and `scaled`: station -> the signal that says how many serve.

    `weighted`: the callers of which loops write weights -> the signals of all of their weights, in the order of cases.
    """

    program: Program
    assumptions: tuple[str, ...] = ()
    scaled: Mapping[str, str] = field(default_factory=dict)
    weighted: Mapping[str, tuple[str, ...]] = field(default_factory=dict)


def processes(design: Design, *, first_burst: float = FIRST_BURST) -> Processes:
    """Returns the request-level program of a design; bursts begin at `first_burst` seconds.

    Raises InputError with everything that is missing.
    """
    try:
        return _processes(design, first_burst)
    except ArithmeticError:
        message, remedy = "a number is too large or too small for a run", "keep numbers between 1e-150 and 1e150"
        raise InputError([Problem(Place(design.file, 1, 1, 1, 1), message, remedy)]) from None


def _processes(design: Design, first_burst: float) -> Processes:
    notes: list[str] = []
    problems: list[Problem] = []
    flow = _flow(design)
    if not flow.plans and not exchanging(design):
        raise InputError([_nothing(design)])
    routes = routes_of(design, flow, notes, problems)
    stations, scaled = stations_of(design, flow, notes, problems)
    sources = sources_of(design, flow, notes, problems, first_burst=first_burst)
    if problems:
        raise InputError(problems)
    program = Program(sources, stations, routes, gates=gates_of(design, flow, notes))
    program = with_agents(design, with_links(design, flow, program, notes), notes, first_burst=first_burst)
    return Processes(program, tuple(dict.fromkeys(notes)), scaled, dict(_weighted(design, flow)))


def _weighted(design: Design, flow: RequestFlow) -> Iterator[tuple[str, tuple[str, ...]]]:
    """Yields the callers of which loops write weights, with the signals of their weights."""
    written = {loop.written for loop in design.loops.values()}
    for caller, cases in flow.cases.items():
        paths = tuple(weight_path(caller, share.case) for share in cases)
        if not written.isdisjoint(paths):
            yield caller, paths


def has_requests(design: Design) -> bool:
    """Returns whether any workload reaches a component, or jobs exchange something over links."""
    return bool(_flow(design).plans or exchanging(design))


def requested(design: Design) -> tuple[str, ...]:
    """Returns the workloads whose requests are run, and what they reach."""
    flow = _flow(design)
    return (*flow.plans, *flow.stations)


def _flow(design: Design) -> RequestFlow:
    """Returns the flow of single requests; what calls an inference server is run token by token (serving.of_design)."""
    engines = [c.name for c in design.components.values() if c.part is not None and c.part.text == "inference_server"]
    return without(flow_of(design), engines)


def _nothing(design: Design) -> Problem:
    place = next((w.place for w in design.workload.values()), Place(design.file, 1, 1, 1, 1))
    return Problem(
        place,
        "no workload reaches a component, so there are no requests to simulate",
        "add `calls: [{from: <workload>, to: <component>}]`, the two named apart, "
        "or name `<workload>.attempts` in the arrivals of a queue",
    )


__all__ = ["FIRST_BURST", "Flow", "Processes", "has_requests", "processes", "requested"]
