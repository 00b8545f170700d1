"""Puts what gangs of jobs exchange over links among the requests that use the same links.

A gang is a source whose next request comes when the last has ended: its ranks compute until the slowest is at the
barrier, and then all transfers of a step go over their links at once, beside those of requests.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

from coherence.language.design import Design
from coherence.model.gangs import JobGang, exchanging
from coherence.simulate.jobs.job import JobProgram
from coherence.simulate.jobs.of_design import jobs_of
from coherence.simulate.requests.program import Arrivals, Program, Route, Service, Source, Station

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy as np
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

AT_ONCE = 1_000_000  # transfers
MOST_STEPS = 1_000_000  # of one run, before they come again


def with_exchanges(program: Program, stops: Mapping[str, tuple[Station, ...]], own: Sequence[JobGang]) -> Program:
    """Returns the program with a source for each gang; `stops`: what each of its transfers passes."""
    nothing = Service(0.0, "constant", 0.0)
    for gang in own:
        moves = [one.name for one in gang.exchanges if one.name in stops]
        program = replace(
            program,
            sources=(
                *program.sources,
                Source(gang.steps, Arrivals("trace", times=(0.0,)), ((barrier_of(gang),), tuple(moves)), again=True),
            ),
            stations=(
                *program.stations, Station(barrier_of(gang), 1, nothing),
                *(Station(name, AT_ONCE, nothing, plan=tuple((f"{stop.name} way",) for stop in stops[name]))
                  for name in moves),
            ),
            routes=(*program.routes, Route(barrier_of(gang), barrier_of(gang)), *(Route(n, n) for n in moves)),
        )  # fmt: skip
    return program


def barrier_of(gang: JobGang) -> str:
    """Returns the name of the station at which the ranks of a gang compute."""
    return f"{gang.name} barrier"


def notes_of(gang: JobGang) -> Iterator[str]:
    """Yields what a run takes for granted of a gang whose transfers go over links."""
    others = ", ".join(member.name for member in gang.members[1:])
    yield f"{gang.name} stands for the gang of {gang.name} and {others}: their ranks meet at one barrier"
    yield f"all that {gang.name} exchanges goes over its links at once, when the last rank is at the barrier"
    keys = {*gang.members[0].constants, *(gang.members[0].takes or {})}
    if keys & {"mtbf", "checkpoint", "pause_every"}:
        yield f"what {gang.name} exchanges is on its links as if it had no failures and saves; its account has them"


def with_step_times(design: Design, program: Program, *, seed: int, until: float) -> Program:
    """Returns the program with the times of the steps that a seed draws, for each gang that uses links."""
    own = {barrier_of(gang): gang.name for gang in exchanging(design)}
    if not own:
        return program
    jobs = {job.name: job for job in jobs_of(design)}
    times = {name: Service(0.0, "constant", 0.0, values=_steps(jobs[of], seed, until)) for name, of in own.items()}
    stations = tuple(replace(s, service=times[s.name]) if s.name in times else s for s in program.stations)
    return replace(program, stations=stations)


def _steps(job: JobProgram, seed: int, until: float) -> tuple[float, ...]:
    """Returns how long each step takes without what goes over links (s), enough for a run."""
    from coherence.simulate.jobs.steps import Stream
    from coherence.simulate.jobs.ticks import SECOND

    stream, times, total = Stream(job, seed), list[float](), 0.0
    while total < until and len(times) < MOST_STEPS:
        own = (stream.block().length / SECOND).tolist()
        times += own
        total += sum(own)
    return tuple(times)


def exchanged(program: Program, source: int, lasted: Floats) -> tuple[float, ...]:
    """Returns how long what went over links took after each step (s), of steps of a gang in their order."""
    import numpy as np

    name = program.sources[source].plan[0][0]
    steps = np.asarray(next(station.service.values for station in program.stations if station.name == name))
    own = steps[np.arange(len(lasted)) % len(steps)] if len(steps) else np.zeros(0)
    return tuple(np.maximum(lasted - own, 0.0).tolist())
