"""Takes the samples of a study: runs of requests under their loops, of jobs, or of loops alone."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import lru_cache, partial
from typing import TYPE_CHECKING

import numpy as np

from coherence.base.errors import UsageError, did_you_mean
from coherence.base.reads import recorded
from coherence.language.design import Design
from coherence.model.elaborate import elaborate
from coherence.model.gangs import exchanging, gangs
from coherence.simulate.jobs.of_design import jobs_of
from coherence.simulate.processes import FIRST_BURST, Processes, has_requests, processes, requested
from coherence.simulate.processes.exchanges import exchanged, with_step_times
from coherence.simulate.processes.sources import poisson
from coherence.simulate.requests.program import Arrivals, Outage, Program
from coherence.simulate.serving.of_design import Engine, engines_of
from coherence.simulate.study.answers_in_time import ArrivalLooks, answer_promise
from coherence.simulate.study.course import (
    RunCourse,
    course_of_instants,
    course_of_job,
    course_of_requests,
    course_of_server,
)
from coherence.simulate.study.drawn_noise import drawn_noise
from coherence.simulate.study.exact_runs import answered, bounded, known_as_open, loops_study
from coherence.simulate.study.initial_state import InitialState, initial_state
from coherence.simulate.study.latencies import Array, Latencies, LatencyRecorder, arrived, served_times
from coherence.simulate.study.loops_over_requests import Coupled, ends_over_requests, run_model, without_clock
from coherence.simulate.study.precision import steady_outcome
from coherence.simulate.study.promises import PromiseWatch, judged
from coherence.simulate.study.readings import OF_WHOM, of_engine, of_job, of_loops, of_requests
from coherence.simulate.study.repeated_runs import Study
from coherence.simulate.study.run_record import RunRecord
from coherence.simulate.study.seed_results import ALONE, Labour, SeedResult, seed_results
from coherence.simulate.study.setting import Setting
from coherence.simulate.study.start_up import loads_of, moves
from coherence.simulate.study.tier_power import of_tiers, tier_powers

if TYPE_CHECKING:
    from coherence.simulate.requests.engine import RequestResult

SAMPLES = 600  # rows of a run's time series
WINDOWS = 120  # of latencies; each has the same number of samples
FOLLOWED = 5  # % of a run for which those that have arrived are followed to their ends
PARTS = 100  # of a run, between two drawings of the progress bar
Progress = Callable[[float], None]


def study(design: Design, setting: Setting, progress: Progress | None = None, labour: Labour = ALONE) -> Study:
    """Runs the design under every seed, and judges its promises.  Raises InputError and UsageError."""
    watch = PromiseWatch(design, setting.until, setting.warmup)
    own = _study(design, setting, watch, progress, labour)
    readings = {reading.key: reading for reading in own.readings}
    return replace(own, promises=judged(design, watch, readings))


def _study(
    design: Design, setting: Setting, watch: PromiseWatch, progress: Progress | None, labour: Labour
) -> Study:  # fmt: skip
    """Runs the design under every seed.  Raises InputError and UsageError with what is missing."""
    requests, engines = has_requests(design), engines_of(design, first_burst=FIRST_BURST)
    program = processes_of(design)
    _known(design, setting, program.program, engines)
    alone = not requests and not engines and not jobs_of(design)
    given = tuple(setting.values)
    begins = initial_state(design, program, setting) if requests or alone else InitialState({})
    setting = begins.begin(setting)
    if alone:
        own = loops_study(run_model(design), setting, watch, given)
        return replace(own, assumptions=(*own.assumptions, *begins.notes))
    program = with_setting(program, setting)
    sources = (source for engine in engines for source, _ in engine.sources)
    scheduled = bool(engines and (setting.pauses or setting.trace)) or any(map(moves, sources))
    ends = ends_over_requests(design, program, setting.values, watch, given) if requests else ()
    watch.has_ends = bool(ends)
    runner = partial(_runs, design, program, watch, progress, labour)
    outcome = steady_outcome(program.program, setting, runner, scheduled=scheduled)
    drawn: list[str] = []
    tier_powers(design, program.program, drawn)
    exchanges = (exchange for gang in gangs(design) for exchange in gang.exchanges)
    drawn += [f"{exchange.name} passes no link: {exchange.needs}" for exchange in exchanges if exchange.needs]
    notes = [
        *program.assumptions,
        *drawn,
        *begins.notes,
        *ends,
        *([OF_WHOM] if program.program.sources else []),
        *(note for engine in engines for note in engine.notes),
        *(drawn_noise(run_model(design), 0, setting.values).notes() if design.boundaries else ()),
    ]
    return Study(
        outcome.setting, tuple(record.sample for record in outcome.records),
        tuple(dict.fromkeys(_replayed(notes, setting, engines))), outcome.notes, stopped=outcome.stopped,
        pooled=outcome.pooled, limit=next((r.stopped for r in outcome.records if r.stopped), ""),
        records=outcome.records,
    )  # fmt: skip


def _runs(
    design: Design, program: Processes, watch: PromiseWatch, progress: Progress | None, labour: Labour,
    setting: Setting,
) -> Iterator[RunRecord]:  # fmt: skip
    """Yields what each run shows, in the order of the seeds."""
    watch.restart(setting.until)
    bar = _RunBar(progress, len(setting.seeds))
    job = SeedJob((design, program), watch.warmup, bar)
    if labour.workers.elsewhere:
        job = SeedJob(tuple(labour.sources.items()), watch.warmup, environment=design.environment)
    for result in seed_results(job, setting, labour, bar.end):
        watch.join(result.notes)
        yield result.record


class _RunBar:
    """Tells the progress of several runs."""

    def __init__(self, progress: Progress | None, runs: int) -> None:
        self.progress, self.runs, self.ended = progress, runs, 0

    def __call__(self, share: float) -> None:
        if self.progress:
            self.progress((self.ended + share) / self.runs)

    def end(self) -> None:
        """Counts a run."""
        self.ended += 1
        self(0.0)


@dataclass(frozen=True)
class SeedJob:
    """Makes the run of one seed.  `of`: the design and its program, or in another process the texts of the design."""

    of: tuple[Design, Processes] | tuple[tuple[str, str], ...]
    warmup: float  # of what is seen of promises
    progress: Progress | None = None
    environment: str = ""  # in which the design is read from its texts

    def __call__(self, setting: Setting) -> SeedResult:
        """Returns what the run shows."""
        with recorded() as reads:
            if isinstance(self.of[0], Design):
                design, program = self.of
            else:
                design = _read(self.of, self.environment)
                program = with_setting(processes_of(design), setting)
            watch = PromiseWatch(design, setting.until, self.warmup)
            record = RunRecord({})
            for share, part in _parts(design, program, setting, setting.seeds[0], watch):
                record = record.joined(part)
                if self.progress:
                    self.progress(share)
        return SeedResult(record, watch.notes, tuple(sorted(reads.all())))


@lru_cache(maxsize=4)
def _read(sources: tuple[tuple[str, str], ...], environment: str) -> Design:
    """Returns the design of texts; a process that makes many runs reads it once."""
    from coherence.importers import design_from_texts

    return design_from_texts(dict(sources), environment)


def processes_of(design: Design) -> Processes:
    """Returns the program of a design; an empty one where it has no requests."""
    return processes(design) if has_requests(design) else Processes(Program((), (), ()))


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
    known_as_open(model, setting.values)
    stated = set(requested(design))
    for path in setting.values:
        taken = path in model.constants and path.partition(".")[0] in stated
        if taken or (not design.loops and (stated or jobs_of(design) or engines_of(design, first_burst=FIRST_BURST))):
            raise UsageError(f"{path} of requests and jobs is what the design states: change it there")


def _parts(
    design: Design, program: Processes, setting: Setting, seed: int, watch: PromiseWatch
) -> Iterator[tuple[float, RunRecord]]:
    """One run: (share done, what it has shown)."""
    from coherence.simulate.jobs.run import simulate
    from coherence.simulate.jobs.series import of_job as of_job_series
    from coherence.simulate.serving.chain import serve_engines

    exchanges: dict[str, tuple[float, ...]] = {}
    if program.program.sources:
        requests = RequestsUnderLoops(design, program, setting, seed, watch=watch)
        yield from _requests(requests)
        exchanges = requests.exchanges()
    engines = engines_of(design, first_burst=FIRST_BURST)
    for engine, served in serve_engines(
        engines, seed=seed, until=setting.until, traces=setting.trace, pauses=setting.pauses,
        followed=setting.until * FOLLOWED / 100,
    ):  # fmt: skip
        blocks = engine.server.blocks * engine.server.copies
        course = course_of_server(engine.name, served, setting.until) if setting.draws else RunCourse()
        times = served_times(engine.name, served, _edges(setting))
        sample = dict(of_engine(engine.name, served, times, blocks, setting))
        yield 1.0, RunRecord(sample, served=times, course=course)
    for job in jobs_of(design):
        run = simulate(replace(job, exchange=exchanges.get(job.name, ())), seed=seed, until=setting.until)
        shown = of_job_series(run, sample_every=setting.until / SAMPLES) if setting.draws else None
        yield 1.0, RunRecord(dict(of_job(run)), course=course_of_job(shown) if shown else RunCourse())


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

        program = with_step_times(design, requests.program, seed=seed, until=setting.until)
        requests = replace(requests, program=program)
        self.made, self.setting, self.design = requests, setting, design
        self.powers = tier_powers(design, program, [])
        self.gangs, self.traces = {gang.steps: gang.name for gang in exchanging(design)}, trace
        every, limits = setting.until / SAMPLES, Limits(live=setting.live, events=setting.events)
        answers = [own for promise in design.promises.values() if (own := answer_promise(design, promise)) is not None]
        self.looks = ArrivalLooks(answers, setting.until, watch.warmup) if watch is not None else ArrivalLooks()
        keeps = bool(self.gangs) or (watch is not None and bool(answers))
        self.recorder = LatencyRecorder(len(requests.program.sources), _edges(setting), keeps=keeps)
        self.run = RequestRun(
            requests.program, seed=seed, sample_every=every, trace=trace, limits=limits,
            sink=None if trace else self.recorder,
        )  # fmt: skip
        self.before: dict[str, float] = {}
        self.warming: list[Mapping[str, Array]] = []
        if design.loops:
            bounded(run_model(design), setting)
        with answered(self.design):
            coupled = bool(design.loops) or (watch is not None and bool(watch.conditions()))
            if watch is not None and not coupled:
                watch.start(seed)
            self.loops = Coupled(design, requests, self.run, setting.values, watch) if coupled else None
        self.watch = watch

    def advance(self, until: float) -> None:
        """Go on to a time (s).  Raises InputError for what loops need, StoppedRunError for more than a run may use."""
        with answered(self.design):
            self.looks.advance(self.loops or self.run, self.run, until)
        if self.run.stopped:
            raise StoppedRunError(self.run.stopped)

    def begin_measuring(self) -> None:
        """Forgets what was counted until now; a picture shows it."""
        if self.setting.draws:
            self.warming.append(self.run.result().series)
        self.run.begin_measuring()
        self.before = self.run.observe()

    def record(self) -> RunRecord:
        """Returns what it has shown; requests that had arrived are followed to their ends for a while."""
        result, program = self.run.result(), self.made.program
        self.recorder.flush()
        if self.watch is not None:
            self.watch.see_requests(program, replace(result, requests=self.recorder.requests()), self.looks)
            if self.loops is not None:
                self.loops.end(Fraction(result.end))
            self.watch.end()
        loads, setting = loads_of(result), replace(self.setting, until=result.end)
        loops = dict(of_loops(self.loops.cut.model, self.loops.instants, setting)) if self.loops else {}
        course, latencies = self._course(result), self._latencies(result)
        sample = dict(of_requests(program, result, latencies, setting)) | loops
        sample |= dict(of_tiers(self.powers, program, result, setting))
        return RunRecord(sample, latencies, loads, course=course, stopped=result.stopped)

    def exchanges(self) -> dict[str, tuple[float, ...]]:
        """Returns how long what each gang exchanges over links took, step by step (s)."""
        if not self.gangs:
            return {}
        self.run.hand_over()
        log, lasted = self.run.result().requests if self.traces else self.recorder.requests(), {}
        for number, source in enumerate(self.made.program.sources):
            if source.name in self.gangs:
                mine = log.source == number
                lasted[self.gangs[source.name]] = exchanged(self.made.program, number, log.latency[mine])
        return lasted

    def _course(self, result: RequestResult) -> RunCourse:
        """Returns how the run went until now, from its start."""
        if not self.setting.draws:
            return RunCourse()
        course = course_of_requests(self.made.program, [*self.warming, result.series], result.end)
        if self.loops is None:
            return course
        return course.joined(course_of_instants(without_clock(self.loops.cut.model), self.loops.instants, result.end))

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
