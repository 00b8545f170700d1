"""Converts agent loops into sources whose requests take turns of a model and a tool."""

from __future__ import annotations

from dataclasses import dataclass, replace

from coherence.base.errors import InputError, Problem
from coherence.language.design import Design
from coherence.language.schema_kinds import Quantity
from coherence.simulate.jobs.keys import Keys
from coherence.simulate.requests.program import Route, Service, Source, Station

UNLIMITED = 1 << 16  # servers of a station that the design does not bound


@dataclass(frozen=True)
class Agent:
    """A source, the stations and the routes of its model and its tool; `notes` say what is not exact."""

    source: Source
    stations: tuple[Station, Station]
    routes: tuple[Route, Route]
    notes: tuple[str, ...] = ()


def agent_source(design: Design, name: str, *, first_burst: float = 60.0) -> Agent:
    """Returns the agent `name` (part agent_loop); the source has the name of the workload that calls it.

    A run of t turns is model, tool, ..., model: t + 1 model calls and t tool calls.  A single number of turns is
    written out and exact.  A range is a uniform number of turns, and then each of the t + 1 passes has a model and a
    tool; the tool's time is shortened so that a run's mean time and the mean load of both stations stay right.
    Bursts begin at `first_burst` seconds; keys `model_servers` and `tool_servers` bound the stations.
    Raises InputError with everything that is missing, LookupError where the design has no such agent.
    """
    problems: list[Problem] = []
    component = design.components.get(name)
    if component is None or component.part is None or component.part.text != "agent_loop":
        known = ", ".join(c.name for c in design.components.values() if c.part and c.part.text == "agent_loop")
        raise LookupError(f"{name} is not an agent of the design; its agents: {known or 'none'}")
    keys = Keys(component, problems)
    model, tool = keys.duration("model_time"), keys.duration("tool_time")
    (source, notes), turns = _source(design, keys, first_burst), _turns(keys)
    servers = (keys.count("model_servers") or UNLIMITED, keys.count("tool_servers") or UNLIMITED)
    keys.need(model, "the time of a model call", "write `model_time: 2 s`")
    keys.need(tool, "the time of a tool call", "write `tool_time: 1 s`")
    if problems or model is None or tool is None or source is None:
        raise InputError(problems)
    return _agent(name, replace(source, turns=turns), notes, (model, tool), servers)


def _agent(
    name: str, source: Source, notes: tuple[str, ...], times: tuple[float, float], servers: tuple[int, int]
) -> Agent:
    models, tools = f"{name}.model", f"{name}.tool"
    routes = (Route(f"{name} -> {models}", models), Route(f"{name} -> {tools}", tools))
    to_model, to_tools = ((route.name,) for route in routes)
    (low, high), tool = source.turns, times[1]
    if low == high:
        source = replace(source, plan=(to_model, to_tools) * low + (to_model,), turns=(1, 1))
    else:
        source = replace(source, plan=(to_model, to_tools), turns=(low + 1, high + 1))
        tool *= (low + high) / (low + high + 2)
        notes += (f"a run of {name} makes one tool call too many, all a little shorter: mean time and load are right",)
    stations = (
        Station(models, servers[0], Service(times[0], "constant", 0.0)),
        Station(tools, servers[1], Service(tool, "constant", 0.0)),
    )
    return Agent(source, stations, routes, notes)


def _turns(keys: Keys) -> tuple[int, int]:
    turns = keys.component.constants.get("turns")
    if not isinstance(turns, Quantity) or turns.low.denominator != 1 or turns.high.denominator != 1:
        keys.needs("whole numbers of turns", "write `turns: 3 .. 20`")
        return 0, 0
    return int(turns.low), int(turns.high)


def _source(design: Design, keys: Keys, first_burst: float) -> tuple[Source | None, tuple[str, ...]]:
    """Returns the workload that calls the agent, as a source without a plan yet, and what was assumed about it."""
    from coherence.simulate.processes.flow import RequestFlow
    from coherence.simulate.processes.sources import sources_of

    callers = [str(c.caller) for c in design.calls if str(c.callee) == keys.name and str(c.caller) in design.workload]
    if len(callers) != 1:
        how = "no workload calls it" if not callers else f"{' and '.join(callers)} call it"
        keys.needs(f"one workload that starts it ({how})", f"write `calls: [{{from: runs, to: {keys.name}}}]`")
        return None, ()
    workload = design.workload[callers[0]]
    if workload.rate is None:
        keys.needs(f"the rate of {workload.name}", "write `rate: 2 req/s`", workload.place)
        return None, ()
    notes: list[str] = []
    flow = RequestFlow({workload.name: ()}, {}, {}, {}, ())
    return sources_of(design, flow, notes, keys.problems, first_burst=first_burst)[0], tuple(notes)
