"""Runs loops alone, once and exactly: they know no chance."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from fractions import Fraction

from coherence.base.errors import InputError, Problem, UsageError, did_you_mean
from coherence.base.number_text import render_seconds
from coherence.base.places import Place
from coherence.language.design import Design
from coherence.language.expressions import names
from coherence.language.expressions.evaluate import NotExactError
from coherence.language.implied import computed_from
from coherence.language.names import component_formulas, formulas, members, resolve
from coherence.language.words import MEASURED
from coherence.model.elaborate import elaborate
from coherence.model.model import Model
from coherence.simulate.execute.bursts import BurstError, bursts
from coherence.simulate.execute.exact import Choices, Instant, MissingValueError, execute
from coherence.simulate.execute.open_ranges import lower_ends
from coherence.simulate.execute.orbits import LongRun, Orbit, long_run
from coherence.simulate.execute.slices import sliced
from coherence.simulate.study.course import RunCourse, course_of_instants
from coherence.simulate.study.drawn_noise import DrawnNoise, drawn_noise
from coherence.simulate.study.promises import PromiseWatch
from coherence.simulate.study.readings import of_loops, of_signals
from coherence.simulate.study.repeated_runs import Study
from coherence.simulate.study.run_record import RunRecord
from coherence.simulate.study.setting import Setting

INSTANTS = 200_000  # of one exact run


def _shown(model: Model, promised: Iterable[str] = ()) -> Model:
    """Returns the model with what the figures of a run depend on: loops, states and commands, not every output."""
    needed = [*(loop.name for loop in model.loops), *model.states, *model.commands, *promised]
    return replace(sliced(model, needed), promises=model.promises)


def loops_study(whole: Model, setting: Setting, watch: PromiseWatch, given: Iterable[str] = ()) -> Study:
    """Loops alone know no chance: one run, exactly.  `given`: what the user has set.  Raises UsageError, InputError."""
    model = _shown(watch.begin(whole, setting.values, None), watch.targets())
    if not model.loops and not model.states:
        raise _nothing(model)
    read_by_run(model, given)
    noise = _noise(model, setting)
    ends = lower_ends(model, {*setting.values, *noise.values()})
    watch.has_ends = bool(ends)
    instants = exactly(model, setting, watch)
    watch.end()
    sample = dict(of_signals(model, instants, setting)) | dict(of_loops(model, instants, setting))
    notes, watch.repeats = tuple(noise.notes()), None
    if not notes:
        notes, watch.repeats = _for_ever(model, setting)
    course = course_of_instants(model, instants, setting.until) if setting.draws else RunCourse()
    records = (RunRecord(sample, course=course),)
    return Study(replace(setting, seeds=()), (sample,), (*model.abstractions, *ends), notes, records=records)


def exactly(model: Model, setting: Setting, watch: PromiseWatch | None = None) -> list[Instant]:
    """Returns the one exact run of a model without chance, which a watch sees.  Raises InputError."""
    until = Fraction(setting.until)
    bounded(model, setting)
    with answered(model.design):
        noise = _noise(model, setting).schedule(model, until)
        choices = Choices(setting.values, schedule=(*bursts(model, until, values=setting.values), *noise))
        return execute(model, choices, until=until, observer=watch, whole=True)


def _noise(model: Model, setting: Setting) -> DrawnNoise:
    return drawn_noise(model, next(iter(setting.seeds), 1), setting.values)


def bounded(model: Model, setting: Setting) -> None:
    """Raises UsageError for a time in which loops and steps have more instants than a run keeps."""
    periods = [*(loop.period for loop in model.loops), *(s.step for s in model.states.values() if s.step)]
    count = sum(Fraction(setting.until) / period for period in periods)
    if count > INSTANTS:
        raise UsageError(
            f"loops and steps have {float(count):.3g} instants in this time, and a run keeps {INSTANTS:,}: "
            "choose a shorter --for"
        )


def known_as_open(model: Model, paths: Iterable[str]) -> None:
    """Raises UsageError for a path that is no state, command, constant or input of a model."""
    free = {*model.states, *model.commands, *model.constants, *model.inputs}
    for path in paths:
        if path not in free:
            raise UsageError(f"nothing that is open is called '{path}': {did_you_mean(path, free)}")
        number = computed_from(model.design, path)
        if number is not None:
            where = f"line {number.place.line}" if number.place.line else "the design"
            raise UsageError(
                f"'{number.text}' ({where}) became a number of {path} as it was read: change {path} in the design"
            )


def read_by_run(model: Model, paths: Iterable[str]) -> None:
    """Raises UsageError for a path of which nothing depends in the model that is run."""
    for path in paths:
        if path not in {*model.states, *model.commands, *model.constants, *model.inputs}:
            raise UsageError(
                f"no loop, state or promise that is run reads {path}, so that a value given here would change nothing: "
                "state it in the design"
            )


@contextmanager
def answered(design: Design) -> Iterator[None]:
    """Yields what a run of a design needs, or cannot carry, as an InputError."""
    here = Place(design.file, 1, 1, 1, 1)
    try:
        yield
    except MissingValueError as error:
        place = next(_readers(design, error.path), here)
        remedy = f"state it in the design, or give it here: --set {error.path}=...{_known_of(design, error.path)}"
        raise InputError([Problem(place, f"needs {error}", remedy)]) from None
    except BurstError as error:
        raise InputError([Problem(here, str(error), "change the burst, or choose a shorter --for")]) from None
    except NotExactError as error:
        remedy = error.remedy or "state it in numbers that + - * /, min, max and if reach"
        raise InputError([Problem(here, str(error), remedy)]) from None


def _readers(design: Design, path: str) -> Iterator[Place]:
    """Yields the places of the expressions that read a path."""
    inside = (formula for component in design.components.values() for formula in component_formulas(component))
    for formula in (*formulas(design), *inside):
        if any(resolve(name, design) == path for name in names(formula.tree)):
            yield formula.place


def _known_of(design: Design, path: str) -> str:
    """Returns what a component has, or runs measure of it, beside the path that it lacks, as an end of a sentence."""
    component = design.components.get(path.partition(".")[0])
    if component is None:
        return ""
    model, own = elaborate(design), f"{component.name}."
    computed = (path.removeprefix(own) for path in (*model.states, *model.outputs) if path.startswith(own))
    known = sorted({*members(component, design), *computed})
    beside = f"; {component.name} has {', '.join(known)}" if known else ""
    if not any(str(call.callee) == component.name for call in design.calls):
        return beside
    return f"{beside}; of what is called a run measures {', '.join(MEASURED)}"


def _for_ever(model: Model, setting: Setting) -> tuple[tuple[str, ...], tuple[Fraction, Fraction] | None]:
    """Returns what becomes of the run in the long run, where that can be shown; from when on, and how often (0: still).

    Without the times where the run has bursts, or only closes in.  The run keeps what varies at one value, as a run of
    the design may, so what it breaks for ever is broken; other runs may go on otherwise.
    """
    try:
        run = long_run(model, Choices(setting.values))
    except NotExactError:
        run = None
    orbit = run.orbit if run is not None else None
    bursts_out = any(w.burst is not None for w in model.design.workload.values())
    bare = "without its bursts: " if bursts_out else ""
    varies = ", ".join(path for path, c in model.constants.items() if c.varies and path not in setting.values)
    bare, ever = (f"{bare}while {varies} does not change: ", "") if varies else (bare, " for ever")
    if run is None or orbit is None:
        return ("whether it settles or repeats was not found out",), None
    timed = orbit.exact and not bursts_out
    if orbit.still:
        rests = (orbit.start, Fraction(0)) if timed else None
        since = _rests_from(run, orbit)
        settles = f"settled{ever}" if since <= setting.until else f"after this run settles{ever}"
        return (f"{bare}{settles} from {render_seconds(since)} on",), rests
    how = "exactly" if orbit.exact else f"closing in by {float(orbit.contraction):.2g} a lap"
    repeats = (orbit.start, orbit.period) if timed else None
    later = "after this run " if orbit.start > setting.until else ""
    words = f"{bare}{later}repeats every {render_seconds(orbit.period)}{ever}, from {render_seconds(orbit.start)} on"
    return (f"{words}, {how}",), repeats


def _rests_from(run: LongRun, orbit: Orbit) -> Fraction:
    """Returns when a run that has settled changed for the last time (s)."""
    rest, since = orbit.lap[0].after, orbit.start
    for instant in reversed(run.instants if orbit.exact else ()):
        if instant.after != rest:
            return since
        since = instant.time
        if instant.sampled != rest:
            return since
    return Fraction(0) if orbit.exact else since


class NothingRunsError(InputError):
    """Says that a design has nothing that a run of requests, jobs at a barrier or loops could show."""


def _nothing(model: Model) -> NothingRunsError:
    return NothingRunsError([
        Problem(
            Place(model.design.file, 1, 1, 1, 1),
            "nothing here runs: no requests, no loop, no plant and no job",
            "add a workload with a rate and a call from it, or a loop with its signal",
        )
    ])  # fmt: skip
