"""Writes one run down by the telemetry contract, with the true cause of every failed try beside it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING

from coherence.base.errors import UsageError
from coherence.base.output_files import output_folder
from coherence.language.design import Design
from coherence.simulate.jobs.of_design import jobs_of
from coherence.simulate.processes import has_requests
from coherence.simulate.requests.station_times import held_times, stamps
from coherence.simulate.study.exact_runs import exactly
from coherence.simulate.study.initial_state import initial_state
from coherence.simulate.study.loops_over_requests import run_model
from coherence.simulate.study.samples import SAMPLES, RequestsUnderLoops, processes_of, with_setting
from coherence.simulate.study.setting import Setting
from coherence.simulate.telemetry import tables_csv
from coherence.simulate.telemetry.contract import LossCause, Telemetry, joined, of_instants, of_requests
from coherence.simulate.telemetry.files import write

if TYPE_CHECKING:
    from coherence.simulate.requests.engine import Array, RequestResult


def prepare(folder: Path) -> None:
    """Makes the folder of a record.  Raises UsageError where files of these names stand there that are not ours."""
    tables = ("telemetry", "signals", "causes")
    output_folder(folder, [*(f"{table}.{end}" for table in tables for end in ("csv", "parquet")), "requests.csv"])


def record(design: Design, setting: Setting, folder: Path, *, parquet: bool = False) -> tuple[Path, ...]:
    """Run the design under the first seed and write telemetry, signals and causes; the files written."""
    prepare(folder)
    try:
        telemetry, result = _observed(design, setting)
        paths = write(telemetry, folder, parquet=parquet)
        return paths if result is None else (*paths, _requests(result, folder / "requests.csv"))
    except OSError as error:
        raise UsageError(f"cannot write {folder}: {error.strerror}") from None


def telemetry(design: Design, setting: Setting) -> Telemetry:
    """Returns what the run under the first seed showed, and why."""
    return _observed(design, setting)[0]


def _observed(design: Design, setting: Setting) -> tuple[Telemetry, RequestResult | None]:
    """Returns the telemetry, and the run of requests behind it."""
    from coherence.simulate.jobs.run import simulate
    from coherence.simulate.jobs.series import of_job

    parts: list[Telemetry] = []
    result, exchanges = None, dict[str, tuple[float, ...]]()
    program = processes_of(design)
    setting = initial_state(design, program, setting).begin(setting)
    if has_requests(design):
        run = RequestsUnderLoops(design, with_setting(program, setting), setting, setting.seeds[0], trace=True)
        run.advance(setting.until)
        result, exchanges = run.run.result(), run.exchanges()
        parts.append(of_requests(result.series, causes=causes(result, setting.until / SAMPLES)))
        if run.loops is not None:
            model = run.loops.cut.model
            of_loops = of_instants(model, run.loops.until(Fraction(setting.until)))
            parts.append(_without(of_loops, {signal.name for signal in parts[0].signals}))
    jobs = [
        simulate(replace(job, exchange=exchanges.get(job.name, ())), seed=setting.seeds[0], until=setting.until)
        for job in jobs_of(design)
    ]
    parts += [of_job(job, sample_every=setting.until / SAMPLES) for job in jobs]
    if not parts:
        model = run_model(design)
        parts.append(of_instants(model, exactly(model, setting)))
    return joined(*parts), result


REQUESTS = ("arrival", "need", "end", "outcome", "attempts", "service")
HELD = "held"
LEFT, NEED = "left.", "need."


def _requests(result: RequestResult, path: Path) -> Path:
    """Returns every finished request in one row, by arrival; one without an answer has the mean need of its source.

    Where servers are not shared: the server-seconds that each held.  Where all pass the same stations one after
    another: when each left each of them, and its need there.
    """
    import math

    from coherence.simulate.requests.engine import OUTCOMES

    log, names = result.requests, [source.name for source in result.program.sources]
    needs = isolated(result)
    columns = (log.start, needs, log.end, log.outcome, log.tries, log.source)
    layers, held = stamps(result), held_times(result)
    header = [
        *REQUESTS,
        *([HELD] if held is not None else []),
        *(f"{kind}{layer.name}" for layer in layers for kind in (LEFT, NEED)),
    ]
    further = [held] if held is not None else []
    further += [column for layer in layers for column in (layer.left, needs * layer.share)]
    order = log.start.argsort(kind="stable")
    rows = (
        (start, need, end, OUTCOMES[outcome], max(int(tries), 1), names[source],
         *(None if math.isnan(one) else one for one in more))
        for start, need, end, outcome, tries, source, *more in zip(
            *(one[order].tolist() for one in (*columns, *further)), strict=True)
    )  # fmt: skip
    tables_csv.save(path, header, rows, ())
    return path


def isolated(result: RequestResult) -> Array:
    """Isolated need of each finished request (s): its own service, or the mean of its source where it was not answered.

    Where no request of a source was answered, its need is NaN.
    """
    import numpy as np

    log = result.requests
    needs = log.need.copy()
    for number in range(len(result.program.sources)):
        mine, good = log.source == number, log.completed & (log.need > 0)
        known = needs[mine & good]
        needs[mine & ~good] = known.mean() if len(known) else np.nan
    return needs


def _without(told: Telemetry, names: set[str]) -> Telemetry:
    from coherence.simulate.telemetry.contract import telemetry as made

    kept = [signal for signal in told.signals if signal.name not in names]
    return made({s: (told[s.name].times, told[s.name].values) for s in kept}, causes=told.causes, grid=told.grid)


def causes(result: RequestResult, every: float) -> Iterator[LossCause]:
    """How many tries of each route failed in each window of `every` seconds, by what and where it held them up."""
    from coherence.simulate.requests.engine import ACTIONS, OUTCOMES, PLACES

    trace = result.trace
    if trace is None:
        return
    failed = trace.action == ACTIONS.index("try_failed")
    windows = (trace.time[failed] // every).astype(int)
    rows = Counter(
        zip(*(column.tolist() for column in (windows, trace.which[failed], trace.cause[failed], trace.where[failed])),
            strict=True)
    )  # fmt: skip
    for (window, route, cause, where), count in sorted(rows.items()):
        name = result.program.routes[route].name
        why = f"{OUTCOMES[cause]} in {PLACES[where]}" if where >= 0 else OUTCOMES[cause]
        yield LossCause((window + 1) * every, f"{name}.failed_tries", why, float(count), "req")
