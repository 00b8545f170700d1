"""One run written down: the telemetry contract, with the true cause of every failed try beside it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from coherence.design import Design
from coherence.elaborate import elaborate
from coherence.errors import UsageError
from coherence.simulate.jobs.of_design import jobs_of
from coherence.simulate.processes import has_requests, processes
from coherence.simulate.samples import SAMPLES, Requests, exactly, with_setting
from coherence.simulate.study import Setting
from coherence.simulate.telemetry import Cause, Telemetry, joined, of_instants, of_requests
from coherence.simulate.telemetry_files import write

if TYPE_CHECKING:
    from coherence.simulate.requests import Result


def record(design: Design, setting: Setting, folder: Path, *, parquet: bool = False) -> tuple[Path, ...]:
    """Run the design under the first seed and write telemetry, signals and causes; the files written."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        return write(telemetry(design, setting), folder, parquet=parquet)
    except OSError as error:
        raise UsageError(f"cannot write {folder}: {error.strerror}") from None


def telemetry(design: Design, setting: Setting) -> Telemetry:
    """What the run under the first seed showed, and why."""
    from coherence.simulate.jobs.run import simulate
    from coherence.simulate.jobs.series import of_job

    parts = []
    if has_requests(design):
        run = Requests(design, with_setting(processes(design), setting), setting, setting.seeds[0], trace=True)
        run.advance(setting.until)
        result = run.run.result()
        parts.append(of_requests(result.series, causes=causes(result, setting.until / SAMPLES)))
        if run.loops is not None:
            model = run.loops.cut.model
            told = of_instants(model, run.loops.instants)
            parts.append(_without(told, {signal.name for signal in parts[0].signals}))
    jobs = [simulate(job, seed=setting.seeds[0], until=setting.until) for job in jobs_of(design)]
    parts += [of_job(job, sample_every=setting.until / SAMPLES) for job in jobs]
    if not parts:
        model = elaborate(design)
        parts.append(of_instants(model, exactly(model, setting)))
    return joined(*parts)


def _without(told: Telemetry, names: set[str]) -> Telemetry:
    from coherence.simulate.telemetry import telemetry as made

    kept = [signal for signal in told.signals if signal.name not in names]
    return made({s: (told[s.name].times, told[s.name].values) for s in kept}, causes=told.causes, grid=told.grid)


def causes(result: Result, every: float) -> Iterator[Cause]:
    """How many tries of each route failed in each window of `every` seconds, by what and where it held them up."""
    from coherence.simulate.requests import ACTIONS, OUTCOMES, PLACES

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
        yield Cause((window + 1) * every, f"{name}.failed_tries", why, float(count), "req")
