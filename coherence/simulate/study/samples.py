"""Takes the samples of a study: runs of requests under their loops, of jobs, or of loops alone."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from fractions import Fraction
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from coherence.base.errors import InputError, Problem, UsageError, did_you_mean
from coherence.base.number_text import render_seconds
from coherence.base.places import Place
from coherence.language.design import Design
from coherence.language.expressions.evaluate import NotExactError
from coherence.model.elaborate import elaborate
from coherence.model.model import Model
from coherence.simulate.execute.bursts import BurstError, bursts
from coherence.simulate.execute.exact import Choices, Instant, MissingValueError, execute
from coherence.simulate.execute.orbits import long_run
from coherence.simulate.execute.slices import sliced
from coherence.simulate.jobs.of_design import jobs_of
from coherence.simulate.processes import FIRST_BURST, Processes, has_requests, processes, requested
from coherence.simulate.processes.sources import poisson
from coherence.simulate.requests.program import Arrivals, Outage, Program
from coherence.simulate.serving.of_design import Engine, engines_of
from coherence.simulate.study.answers_in_time import answer_promise
from coherence.simulate.study.latencies import Array, Latencies, LatencyRecorder, arrived
from coherence.simulate.study.loops_over_requests import Coupled, run_model
from coherence.simulate.study.precision import steady_outcome
from coherence.simulate.study.promises import PromiseWatch, judged
from coherence.simulate.study.readings import OF_WHOM, of_engine, of_job, of_loops, of_requests, of_signals
from coherence.simulate.study.repeated_runs import Study
from coherence.simulate.study.run_record import RunRecord
from coherence.simulate.study.setting import Setting
from coherence.simulate.study.start_up import loads_of

if TYPE_CHECKING:
    from coherence.simulate.requests.engine import RequestResult

SAMPLES = 600  # rows of a run's time series
WINDOWS = 120  # of latencies; each has the same number of samples
EVENTS = 100_000_000  # of one run: what takes longer, or leaves more to be kept, is said to be too much
INSTANTS = 200_000  # of one exact run
FOLLOWED = 5  # % of a run for which those that have arrived are followed to their ends
PARTS = 100  # of a run, between two drawings of the progress bar
Progress = Callable[[float], None]


def study(design: Design, setting: Setting, progress: Progress | None = None) -> Study:
    """Runs the design under every seed, and judges its promises.  Raises InputError and UsageError."""
    watch = PromiseWatch(design, setting.until, setting.warmup)
    own = _study(design, setting, watch, progress)
    readings = {reading.key: reading for reading in own.readings}
    return replace(own, promises=judged(design, watch, readings))


def _study(design: Design, setting: Setting, watch: PromiseWatch, progress: Progress | None) -> Study:
    """Runs the design under every seed.  Raises InputError and UsageError with what is missing."""
    requests, engines = has_requests(design), engines_of(design, first_burst=FIRST_BURST)
    program = processes(design) if requests else Processes(Program((), (), ()))
    _known(design, setting, program.program, engines)
    if not requests and not engines and not jobs_of(design):
        return _loops(run_model(design), setting, watch)
    program = with_setting(program, setting)
    outcome = steady_outcome(program.program, setting, partial(_runs, design, program, watch, progress))
    notes = [
        *program.assumptions,
        *([OF_WHOM] if program.program.sources else []),
        *(note for engine in engines for note in engine.notes),
    ]
    return Study(
        outcome.setting, tuple(record.sample for record in outcome.records),
        tuple(dict.fromkeys(_replayed(notes, setting, engines))), outcome.notes, stopped=outcome.stopped,
        pooled=outcome.pooled, limit=next((r.stopped for r in outcome.records if r.stopped), ""),
    )  # fmt: skip


def _runs(
    design: Design, program: Processes, watch: PromiseWatch, progress: Progress | None, setting: Setting
) -> Iterator[RunRecord]:  # fmt: skip
    """Yields what each run shows, one after the other."""
    watch.restart(setting.until)
    for count, seed in enumerate(setting.seeds):
        record = RunRecord({})
        for share, part in _parts(design, program, setting, seed, watch):
            record = replace(
                part, sample={**record.sample, **part.sample}, latencies={**record.latencies, **part.latencies},
                loads={**record.loads, **part.loads}, stopped=record.stopped or part.stopped,
            )  # fmt: skip
            if progress:
                progress((count + share) / len(setting.seeds))
        yield record


def _replayed(notes: Sequence[str], setting: Setting, engines: Sequence[Engine]) -> Iterator[str]:
    """Yields the notes, with those about chance that traces replace said anew."""
    served = {workload.name for engine in engines for _, workload in engine.sources}
    by_chance = {poisson(name): name for name in setting.trace}
    yield from (note for note in notes if note not in by_chance)
    for name, trace in setting.trace.items():
        tokens = ("those of the file" if trace.prompt else "drawn by chance") if name in served else ""
        yield f"requests of {name} arrive as in the file" + (f"; their tokens are {tokens}" if tokens else "")
        if trace.left_out:
            yield f"{trace.left_out} requests of {name} in the file have no answer and are left out"


def _known(design: Design, setting: Setting, program: Program, engines: Sequence[Engine]) -> None:
    """Raises UsageError for what stands in the setting and no run would read."""
    served = {workload.name: engine.name for engine in engines for _, workload in engine.sources}
    stations = [*(s.name for s in program.stations), *(engine.name for engine in engines)]
    sources = [*(s.name for s in program.sources), *served]
    for name in (pause[0] for pause in setting.pauses):
        _among(name, stations, "go to")
    for name in setting.trace:
        _among(name, sources, "come from")
    if setting.values:
        _open(design, setting)


def _among(name: str, known: Sequence[str], how: str) -> None:
    if name not in known:
        raise UsageError(f"no requests {how} '{name}': {did_you_mean(name, known) or 'the design has none that do'}")


def _open(design: Design, setting: Setting) -> None:
    model = elaborate(design)
    free = {*model.states, *model.commands, *model.constants, *model.inputs}
    stated = set(requested(design))
    for path in setting.values:
        if path not in free:
            raise UsageError(f"nothing that is open is called '{path}': {did_you_mean(path, free)}")
        taken = path in model.constants and path.partition(".")[0] in stated
        if taken or (stated and not design.loops):
            raise UsageError(f"{path} of requests is what the design states: change it there")


def _parts(
    design: Design, program: Processes, setting: Setting, seed: int, watch: PromiseWatch
) -> Iterator[tuple[float, RunRecord]]:
    """One run: (share done, what it has shown)."""
    from coherence.simulate.jobs.run import simulate
    from coherence.simulate.serving.chain import serve_engines

    if program.program.sources:
        yield from _requests(RequestsUnderLoops(design, program, setting, seed, watch=watch))
    engines = engines_of(design, first_burst=FIRST_BURST)
    for engine, served in serve_engines(
        engines, seed=seed, until=setting.until, traces=setting.trace, pauses=setting.pauses
    ):
        blocks = engine.server.blocks * engine.server.copies
        yield 1.0, RunRecord(dict(of_engine(engine.name, served, blocks, setting)))
    for job in jobs_of(design):
        yield 1.0, RunRecord(dict(of_job(simulate(job, seed=seed, until=setting.until))))


def _requests(run: RequestsUnderLoops) -> Iterator[tuple[float, RunRecord]]:
    """Runs requests to their end, or to where they need more than a run may use."""
    setting = run.setting
    try:
        if setting.warmup:
            run.advance(setting.warmup)
            run.begin_measuring()
        for step in range(1, PARTS + 1):
            run.advance(max(setting.warmup, setting.until * step / PARTS))
            yield step / PARTS, RunRecord({})
    except StoppedRunError:
        if not run.has_ends():
            raise
    yield 1.0, run.record()


class RequestsUnderLoops:
    """A run of a design's requests, under its loops if it has any."""

    def __init__(
        self, design: Design, requests: Processes, setting: Setting, seed: int, *, trace: bool = False,
        watch: PromiseWatch | None = None,
    ) -> None:  # fmt: skip
        from coherence.simulate.requests.engine import Limits, RequestRun

        self.made, self.setting, self.file = requests, setting, design.file
        every, limits = setting.until / SAMPLES, Limits(live=setting.live, events=EVENTS)
        answers = (answer_promise(design, promise) for promise in design.promises.values())
        keeps = watch is not None and any(answer is not None for answer in answers)
        self.recorder = LatencyRecorder(len(requests.program.sources), _edges(setting), keeps=keeps)
        self.run = RequestRun(
            requests.program, seed=seed, sample_every=every, trace=trace, limits=limits,
            sink=None if trace else self.recorder,
        )  # fmt: skip
        self.before: dict[str, float] = {}
        if design.loops:
            _bounded(run_model(design), setting)
        with _answered(self.file):
            coupled = bool(design.loops) or (watch is not None and bool(watch.conditions()))
            if watch is not None and not coupled:
                watch.start(seed)
            self.loops = Coupled(design, requests, self.run, setting.values, watch) if coupled else None
        self.watch = watch

    def advance(self, until: float) -> None:
        """Go on to a time (s).  Raises InputError for what loops need, StoppedRunError for more than a run may use."""
        with _answered(self.file):
            (self.loops or self.run).advance(until)
        if self.run.stopped:
            raise StoppedRunError(self.run.stopped)

    def begin_measuring(self) -> None:
        """Forgets what was counted until now."""
        self.run.begin_measuring()
        self.before = self.run.observe()

    def record(self) -> RunRecord:
        """Returns what it has shown; requests that had arrived are followed to their ends for a while."""
        result, program = self.run.result(), self.made.program
        self.recorder.flush()
        if self.watch is not None:
            self.watch.see_requests(program, replace(result, requests=self.recorder.requests()))
            self.watch.end()
        loads, setting = loads_of(result), replace(self.setting, until=result.end)
        loops = dict(of_loops(self.loops.cut.model, self.loops.instants, setting)) if self.loops else {}
        latencies = self._latencies(result)
        return RunRecord(
            dict(of_requests(program, result, latencies, setting)) | loops, latencies, loads, result.stopped
        )

    def _latencies(self, result: RequestResult) -> dict[str, Latencies]:
        for source, latencies in zip(self.made.program.sources, self.recorder.latencies, strict=True):
            before = int(self.before.get(f"{source.name}.arrivals", 0))
            latencies.arrived = arrived(result, source.name, latencies.edges, before)
            latencies.edges = np.minimum(latencies.edges, result.end)
        measured = [latencies.copy() for latencies in self.recorder.latencies]
        names = [source.name for source in self.made.program.sources]
        return dict(zip(names, self.recorder.latencies if self._all_end(result.end) else measured, strict=True))

    def _all_end(self, end: float) -> bool:
        """Follows the requests that have arrived; whether all of them end within FOLLOWED."""
        for step in range(1, FOLLOWED + 1):
            if self._has_ended():
                return True
            if self.run.stopped:
                return False
            (self.loops or self.run).advance(end + self.setting.until * step / 100)
            self.run.hand_over()
            self.recorder.flush()
        return self._has_ended()

    def has_ends(self) -> bool:
        """Returns whether a request has ended since the warm-up."""
        self.run.hand_over()
        self.recorder.flush()
        return any(latencies.ended for latencies in self.recorder.latencies)

    def _has_ended(self) -> bool:
        return all(latencies.ended == latencies.arrived.sum() for latencies in self.recorder.latencies)


def _edges(setting: Setting) -> Array:
    """Returns the ends of the windows of latencies (s): some samples of a run, after its warm-up."""
    samples = np.arange(SAMPLES // WINDOWS, SAMPLES, SAMPLES // WINDOWS) * (setting.until / SAMPLES)
    return np.concatenate(([setting.warmup], samples[samples > setting.warmup * (1 + 1e-9)], [setting.until]))


class StoppedRunError(UsageError):
    """Says that a run would have needed more than it may use."""


def with_setting(requests: Processes, setting: Setting) -> Processes:
    """The program with the arrivals and outages of the setting."""
    program = requests.program
    replayed = tuple(
        replace(s, arrivals=Arrivals("trace", times=setting.trace[s.name].times)) if s.name in setting.trace else s
        for s in program.sources
    )
    stations = {station.name for station in program.stations}
    outages = tuple(Outage(*pause) for pause in setting.pauses if pause[0] in stations)
    return replace(requests, program=replace(program, sources=replayed, outages=(*program.outages, *outages)))


def _shown(model: Model, promised: Iterable[str] = ()) -> Model:
    """Returns the model with what the figures of a run depend on: loops, states and commands, not every output."""
    needed = [*(loop.name for loop in model.loops), *model.states, *model.commands, *promised]
    return replace(sliced(model, needed), promises=model.promises)


def _loops(whole: Model, setting: Setting, watch: PromiseWatch) -> Study:
    """Loops alone know no chance: one run, exactly."""
    model = _shown(watch.begin(whole, setting.values, None), watch.targets())
    if not model.loops and not model.states:
        raise _nothing(model)
    instants = exactly(model, setting, watch)
    watch.end()
    sample = dict(of_signals(model, instants, setting)) | dict(of_loops(model, instants, setting))
    notes, watch.repeats = _for_ever(model, setting)
    return Study(replace(setting, seeds=()), (sample,), model.abstractions, notes)


def exactly(model: Model, setting: Setting, watch: PromiseWatch | None = None) -> list[Instant]:
    """Returns the one exact run of a model without chance, which a watch sees.  Raises InputError."""
    until = Fraction(setting.until)
    _bounded(model, setting)
    with _answered(model.design.file):
        choices = Choices(setting.values, schedule=bursts(model, until, values=setting.values))
        return execute(model, choices, until=until, see=watch.see if watch is not None else None)


def _bounded(model: Model, setting: Setting) -> None:
    """Raises UsageError for a time in which loops and steps have more instants than a run keeps."""
    periods = [*(loop.period for loop in model.loops), *(s.step for s in model.states.values() if s.step)]
    count = sum(Fraction(setting.until) / period for period in periods)
    if count > INSTANTS:
        raise UsageError(
            f"loops and steps have {float(count):.3g} instants in this time, and a run keeps {INSTANTS:,}: "
            "choose a shorter --for"
        )


@contextmanager
def _answered(file: str) -> Iterator[None]:
    """Yields what a run needs, or cannot carry, as an InputError."""
    here = Place(file, 1, 1, 1, 1)
    try:
        yield
    except MissingValueError as error:
        remedy = f"state it in the design, or give it here: --set {error.path}=..."
        raise InputError([Problem(here, f"needs {error}", remedy)]) from None
    except (NotExactError, BurstError) as error:
        raise InputError([Problem(here, str(error), "state a smaller model")]) from None


def _for_ever(model: Model, setting: Setting) -> tuple[tuple[str, ...], tuple[Fraction, Fraction] | None]:
    """Returns what becomes of the run in the long run, where that can be shown; from when on, and how often (0: still).

    Without the times where the run has bursts, or only closes in.
    """
    try:
        orbit = long_run(model, Choices(setting.values)).orbit
    except NotExactError:
        orbit = None
    bare = "without its bursts: " if any(w.burst is not None for w in model.design.workload.values()) else ""
    if orbit is None:
        return ("whether it settles or repeats was not found out",), None
    if orbit.still:
        rests = (orbit.start, Fraction(0)) if orbit.exact and not bare else None
        return (f"{bare}settled for ever from {render_seconds(orbit.start)} on",), rests
    how = "exactly" if orbit.exact else f"closing in by {float(orbit.contraction):.2g} a lap"
    repeats = (orbit.start, orbit.period) if orbit.exact and not bare else None
    words = f"{bare}repeats every {render_seconds(orbit.period)} for ever, from {render_seconds(orbit.start)} on, {how}"
    return (words,), repeats


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
