"""Expands calls to agents in a program into the turns of their model and their tool."""

from __future__ import annotations

from coherence.language.design import Component, Design
from coherence.simulate.requests.program import Program


def is_agent(component: Component) -> bool:
    """Does it use the part agent_loop?"""
    return component.part is not None and component.part.text == "agent_loop"


def with_agents(design: Design, program: Program, notes: list[str], *, first_burst: float) -> Program:
    """Returns the program with every agent that a workload calls in place of the call."""
    from coherence.simulate.processes.job_agents import agent_source

    for name in [c.name for c in design.components.values() if is_agent(c)]:
        calls = [route for route in program.routes if route.station == name]
        if not calls:
            continue
        agent = agent_source(design, name, first_burst=first_burst)
        notes += agent.notes
        if any(
            route.tries > 1 or route.opening or min(route.per_try, route.deadline) < float("inf") for route in calls
        ):
            notes.append(f"tries and limits of calls to {name} are not run: each run of it goes to its end")
        program = Program(
            (*(s for s in program.sources if s.name != agent.source.name), agent.source),
            (*(s for s in program.stations if s.name != name), *agent.stations),
            (*(r for r in program.routes if r.station != name), *agent.routes),
            program.outages,
            program.gates,
        )
    return program
