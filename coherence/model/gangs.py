"""Finds the jobs whose ranks meet at a barrier, and the gangs of several: jobs that call each other.

A call between two jobs says that their ranks meet at one barrier, and what goes over the links between them after each
step.  The first of a gang in the order of the design stands for all.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from fractions import Fraction

from coherence.base.graphs import reached
from coherence.base.queries import cached
from coherence.language.design import Component, Design
from coherence.model.routes import Transfer, transfers


@dataclass(frozen=True)
class JobGang:
    """Jobs whose ranks meet at one barrier; a job that calls no other is alone in its gang."""

    members: tuple[Component, ...]
    exchanges: tuple[Transfer, ...] = ()  # what goes over links after each step

    @property
    def name(self) -> str:
        """Returns the name of the job that stands for all."""
        return self.members[0].name

    @property
    def steps(self) -> str:
        """Returns the name under which a run counts the steps that go over links."""
        return f"{self.name} steps"

    @property
    def least_step(self) -> Fraction:
        """Returns how long a step takes at least before its exchange (s), where that is stated."""
        stated = [span.low for job in self.members if (span := (job.takes or {}).get("step")) is not None]
        return max(stated, default=Fraction(0))


def is_job(component: Component) -> bool:
    """Returns whether a component is a job whose ranks meet at a barrier."""
    part = component.part.text if component.part is not None else ""
    return part == "barrier" or (component.copies is not None and "step" in (component.takes or {}))


@cached
def gangs(design: Design) -> tuple[JobGang, ...]:
    """Returns the jobs of a design, those that call each other as one, in its order."""
    jobs = {component.name: component for component in design.components.values() if is_job(component)}
    beside: dict[str, list[str]] = {name: [] for name in jobs}
    for call in design.calls:
        ends = [end.text for end in (call.caller, call.callee) if end is not None and end.text in jobs]
        if len(ends) == 2 and ends[0] != ends[1]:
            beside[ends[0]].append(ends[1])
            beside[ends[1]].append(ends[0])
    together: list[JobGang] = []
    for name in jobs:
        if not any(name in (job.name for job in gang.members) for gang in together):
            names = reached([name], lambda job: beside[job])
            own = tuple(one for one in transfers(design) if {one.caller, one.callee} <= names)
            together.append(JobGang(tuple(job for other, job in jobs.items() if other in names), own))
    return tuple(together)


def gang_of(design: Design, job: str) -> JobGang | None:
    """Returns the gang of several jobs that a job is of; None where it is alone, or no job."""
    own = (gang for gang in gangs(design) if len(gang.members) > 1)
    return next((gang for gang in own if any(job == member.name for member in gang.members)), None)


def exchanging(design: Design) -> tuple[JobGang, ...]:
    """Returns the gangs of which something goes over links after each step."""
    return tuple(gang for gang in gangs(design) if any(one.hops for one in gang.exchanges))


def are_one_gang(design: Design, things: Collection[str]) -> bool:
    """Decides whether all things are jobs of one gang: calls among them are what each step exchanges, no requests."""
    return any(set(things) <= {job.name for job in gang.members} for gang in gangs(design) if len(gang.members) > 1)
