"""The runs behind a study: requests with their loops, loops alone, or jobs; whichever the design has."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from fractions import Fraction

from coherence.design import Design
from coherence.elaborate import elaborate
from coherence.errors import InputError, Problem, UsageError, did_you_mean
from coherence.expressions.evaluate import NotExactError
from coherence.model import Model
from coherence.places import Place
from coherence.simulate.coupled import Coupled
from coherence.simulate.exact import Choices, MissingValueError, execute
from coherence.simulate.orbits import long_run
from coherence.simulate.processes import Processes, has_requests, processes
from coherence.simulate.program import Arrivals, Outage, Program
from coherence.simulate.readings import Sample, of_loops, of_requests, of_signals
from coherence.simulate.study import Setting, Study
from coherence.units import seconds

SAMPLES = 600  # rows of a run's time series
Progress = Callable[[float], None]


def study(design: Design, setting: Setting, progress: Progress | None = None) -> Study:
    """Run the design under every seed.  Raises InputError and UsageError with what is missing."""
    if has_requests(design):
        made = _set_up(processes(design), setting)
        runs = _requests(design, made, setting, progress or _unseen)
        return Study(setting, tuple(runs), made.assumptions)
    model = elaborate(design)
    if model.loops or model.states:
        return _loops(model, setting)
    raise InputError([_nothing(design)])


def _unseen(share: float) -> None:
    """Nobody watches."""


def _nothing(design: Design) -> Problem:
    return Problem(
        Place(design.file, 1, 1, 1, 1),
        "nothing here runs: no requests, no loop, no plant and no job",
        "add a workload with a rate and a call from it, or a loop with its signal",
    )


def _set_up(made: Processes, setting: Setting) -> Processes:
    """The program with the given arrivals and outages."""
    program = made.program
    stations, sources = [s.name for s in program.stations], [s.name for s in program.sources]
    for name, known in [*((p[0], stations) for p in setting.pauses), *((t, sources) for t in setting.trace)]:
        if name not in known:
            raise UsageError(f"requests do not come from or to '{name}': {did_you_mean(name, known)}")
    replayed = tuple(
        replace(s, arrivals=Arrivals("trace", times=setting.trace[s.name])) if s.name in setting.trace else s
        for s in program.sources
    )
    outages = tuple(Outage(*pause) for pause in setting.pauses)
    return replace(made, program=Program(replayed, program.stations, program.routes, (*program.outages, *outages)))


def _requests(design: Design, made: Processes, setting: Setting, progress: Progress) -> Iterator[Sample]:
    from coherence.simulate.requests import Run

    for count, seed in enumerate(setting.seeds):
        run = Run(made.program, seed=seed, sample_every=setting.until / SAMPLES)
        coupled = Coupled(design, made, run, setting.values) if design.loops else None
        for step in range(1, 101):
            until = setting.until * step / 100
            (coupled.advance if coupled else run.advance)(until)
            progress((count + step / 100) / len(setting.seeds))
        sample = dict(of_requests(made.program, run.result(), setting))
        yield sample | dict(of_loops(coupled.cut.model, coupled.instants, setting)) if coupled else sample


def _loops(model: Model, setting: Setting) -> Study:
    """Loops alone know no chance: one run, exactly."""
    try:
        instants = execute(model, Choices(setting.values), until=Fraction(setting.until))
    except MissingValueError as error:
        remedy = f"state it in the design, or give it here: --set {error.path}=..."
        raise InputError([Problem(Place(model.design.file, 1, 1, 1, 1), f"needs {error}", remedy)]) from None
    except NotExactError as error:
        raise InputError([Problem(Place(model.design.file, 1, 1, 1, 1), str(error), "state a smaller model")]) from None
    sample = dict(of_signals(model, instants, setting)) | dict(of_loops(model, instants, setting))
    return Study(replace(setting, seeds=()), (sample,), model.abstractions, _for_ever(model, setting))


def _for_ever(model: Model, setting: Setting) -> tuple[str, ...]:
    """What becomes of the run in the long run, where that can be shown."""
    orbit = long_run(model, Choices(setting.values)).orbit
    if orbit is None:
        return ("whether it settles or repeats was not found out",)
    if orbit.still:
        return (f"settled for ever from {seconds(orbit.start)} on",)
    how = "exactly" if orbit.exact else f"closing in by {float(orbit.contraction):.2g} a lap"
    return (f"repeats every {seconds(orbit.period)} for ever, from {seconds(orbit.start)} on, {how}",)
