"""Run a design: requests, loops and jobs over time, each number with its interval"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING

import click

from coherence.base.errors import UsageError
from coherence.base.watchdog import STOPPED_CODE
from coherence.cli._designs import one_entry, system_of
from coherence.cli._given import refuse_given
from coherence.cli._output import Output, output_option, put_out
from coherence.cli._seconds import seconds_of
from coherence.cli._unread import strict_code, strict_option, unread_text
from coherence.cli._width import print_text
from coherence.cli._workers import workers_of, workers_options

if TYPE_CHECKING:
    from coherence.door.simulate import StudyResult
    from coherence.language.design import Design
    from coherence.simulate.serving.streamed_trace import StreamedTrace
    from coherence.simulate.serving.trace import ArrivalTrace
    from coherence.simulate.study.repeated_runs import Study, StudyReading
    from coherence.simulate.study.seed_results import Labour
    from coherence.simulate.study.setting import Setting

OF_A_RUN = (
    "against",
    "span",
    "warm_up",
    "precision",
    "runs",
    "seed",
    "values",
    "arrivals",
    "pauses",
    "live",
    "events",
    "jobs",
    "cluster",
    "into",
    "telemetry",
    "picture",
    "output",
)


@click.command("simulate")
@click.argument("path", type=click.Path())
@click.option("--against", metavar="DESIGN", help="A second design, run on the same chances and compared.")
@click.option("--for", "span", default="10 min", show_default=True, metavar="TIME", help="How long to run.")
@click.option("--warm-up", metavar="TIME", help="Leave this out of the numbers.  [default: what a test finds]")
@click.option("--precision", metavar="SHARE", help='Run until latencies are known so well, for example "5 %".')
@click.option("--runs", default=5, show_default=True, type=click.IntRange(1, 1000), help="Independent runs.")
@click.option(
    "--seed", default=1, show_default=True, type=click.IntRange(0), help="Of the first run; then one more each."
)
@click.option("--set", "values", multiple=True, metavar="PATH=VALUE", help="Fix what the design leaves open.")
@click.option("--arrivals", multiple=True, metavar="WORKLOAD=FILE", help="Replay the arrivals of a file.")
@click.option(
    "--pause", "pauses", multiple=True, metavar="THING=3s@60s", help="It stands still for so long, from then on."
)
@click.option(
    "--live",
    default=2_000_000,
    show_default=True,
    type=click.IntRange(1),
    help="Requests alive beyond which a run stops.",
)
@click.option(
    "--events",
    default=100_000_000,
    show_default=True,
    type=click.IntRange(1, 10**15),
    help="Events of a run beyond which it stops.",
)
@workers_options("every run")
@click.option("--telemetry", metavar="FOLDER", help="Write series, requests and true causes of the first run here.")
@click.option(
    "--picture", metavar="FILE", help="Draw the runs, over time and by how long answers took: FILE.svg or .png."
)
@click.option(
    "--observed", metavar="FOLDER", help="Logs of a real autoscaler or evictor: did it what the design predicts?"
)
@strict_option()
@output_option("text", "json", "junit")
def command(  # noqa: PLR0913  (one parameter per option)
    *, path: str, against: str | None, span: str, warm_up: str | None, precision: str | None, runs: int, seed: int,
    values: Sequence[str], arrivals: Sequence[str], pauses: Sequence[str], live: int, events: int,
    jobs: int | None, cluster: str | None, into: str | None, telemetry: str | None, picture: str | None,
    observed: str | None, strict: bool, output: Sequence[Output],
) -> int:  # fmt: skip
    """Run the design at PATH: percentiles, sends per call, queues and what the loops do.

    Requests arrive and are served one by one; loops read what is measured and act on it. The interval beside a number
    is that of its mean over independent runs (95 %); of latencies, that of the mean or percentile of all requests.
    Exits 1 where a run breaks a promise of the design.
    """
    if observed is not None:
        refuse_given(OF_A_RUN, "with --observed nothing is run, and logs are compared with the design")
        return _replay(path, observed, strict=strict)
    from coherence.base.watchdog import interruptible
    from coherence.cli._progress import Progress
    from coherence.cli._promises import is_broken, is_open
    from coherence.door.simulate import studied
    from coherence.simulate.study.setting import Setting

    if against is not None and precision is not None:
        raise UsageError("--precision with --against: designs are compared on the same runs; give --for and --runs")
    setting = Setting(
        *_span(span, warm_up), tuple(range(seed, seed + runs)), dict(map(_value, values)), dict(map(_trace, arrivals)),
        tuple(map(_pause, pauses)), warm_up is None, _precision(precision), live, events,
        picture is not None,
    )  # fmt: skip
    _prepare(telemetry, picture)
    names = [path, *([against] if against is not None else [])]
    labour = _labour(jobs, cluster, into, setting)
    with Progress("running") as bar, interruptible(bar):
        result = studied(names, map(one_entry, names), setting, labour)
    studies = result.studies
    if telemetry is not None and not any(study.stopped for study in studies):
        _write(one_entry(path).design, setting, telemetry)
    _draw(result.names, studies, picture)
    put_out(output, lambda form: _rendered(form, result))
    code = strict_code(int(is_broken(studies)), sum(result.unread, ()), strict=strict, left_open=is_open(studies))
    return _ended(studies, runs, code)


def _labour(jobs: int | None, cluster: str | None, into: str | None, setting: Setting) -> Labour:
    """Returns who makes the runs, and where they are kept."""
    from coherence.simulate.study.seed_results import KeptRuns, Labour

    return Labour(workers_of(jobs, cluster), KeptRuns(Path(into), setting) if into is not None else None)


def _prepare(telemetry: str | None, picture: str | None) -> None:
    """Looks whether what is to be written can be, before anything runs.  Raises UsageError."""
    from coherence.reporting.pictures import files
    from coherence.simulate.study.recording import prepare

    if picture is not None:
        files.check_kind(picture)
    if telemetry is not None:
        prepare(Path(telemetry))
    _advise()


def _draw(names: Sequence[str], studies: Sequence[Study], file: str | None) -> None:
    """Writes the picture of runs, where one is wanted.  Raises UsageError."""
    if file is None:
        return
    from coherence.loops.pictures.analysis_figure import system_name
    from coherence.reporting.pictures import files
    from coherence.simulate.pictures.run_figure import run_figure

    entries = [one_entry(name) for name in names]
    alone = len(names) == 1  # panels have the short names of two
    named = [system_of(names[0], entries[0])] if alone else [system_name(name) for name in names]
    files.write(run_figure(named, studies, [entry.design for entry in entries]), file)


def _rendered(form: str, result: StudyResult) -> str:
    if form == "junit":
        from coherence.cli._promises import promises_junit

        return promises_junit(result.names, result.studies)
    if form == "json":
        return json.dumps(result.data, indent=2) + "\n"
    return _text(result.names, result.studies, result.difference) + "".join(_unread(result))


def _unread(result: StudyResult) -> Iterator[str]:
    """Yields what was not read; what holds for one of two designs alone names it."""
    texts = [list(unread_text(lines)) for lines in result.unread]
    for line in dict.fromkeys(line for own in texts for line in own):
        those = [name for name, own in zip(result.names, texts, strict=True) if line in own]
        yield f"{line}\n" if len(those) == len(texts) else f"{line}, in {those[0]}\n"


def _ended(studies: Sequence[Study], runs: int, code: int) -> int:
    """Prints what ended runs before their time; returns the exit code."""
    limits = [study.limit for study in studies if study.limit]
    for limit in limits:
        click.echo(f"{limit}; what is shown is of the time before", err=True)
    if any(study.stopped for study in studies):
        click.echo(f"stopped after run {len(studies[-1].setting.seeds)} of {runs}: what is shown is of those", err=True)
        return STOPPED_CODE
    return 2 if limits else code


def _precision(text: str | None) -> float | None:
    """Returns a share between 0 and 1.  Raises UsageError."""
    from coherence.base import units

    if text is None:
        return None
    try:
        share, dimension = units.quantity(text)
    except (ValueError, units.UnitError):
        share, dimension = Fraction(0), units.ONE
    if dimension != units.ONE or not 0 < share < 1:
        raise UsageError(f'--precision {text!r}: write a share between 0 and 1, for example "5 %"')
    return float(share)


def _span(span: str, warm_up: str | None) -> tuple[float, float]:
    """Returns how long to run, and how much of it is left out (s).  Raises UsageError where nothing remains."""
    until, warmup = seconds_of(span, "--for"), seconds_of(warm_up, "--warm-up") if warm_up is not None else 0.0
    if not 0 <= warmup < until:
        raise UsageError(f"--warm-up {warm_up} leaves nothing of --for {span}: choose a shorter one")
    return until, warmup


def _advise() -> None:
    """Prints once, on a terminal, how to make runs fast where numba is missing."""
    import importlib.util
    import sys

    if importlib.util.find_spec("numba") is None and sys.stderr.isatty():
        click.echo("note: runs are not compiled; pip install 'coherence-engine[simulate]' makes them fast", err=True)


def _replay(path: str, folder: str, *, strict: bool) -> int:
    from coherence.base.reads import recorded
    from coherence.cli._unread import left_out_text
    from coherence.door.unread import left_out, unread

    design = one_entry(path).design
    with recorded() as reads:
        text, agrees = _laid_beside(design, Path(folder))
    lines = unread("observed", design, reads)
    print_text("\n".join((text, *left_out_text(left_out(design, reads)), *unread_text(lines))))
    return strict_code(0 if agrees else 1, lines, strict=strict)


def _laid_beside(design: Design, logs: Path) -> tuple[str, bool]:
    """Returns what logs say of the evictors of a design, or where it has none of its autoscaler, and whether it agrees.

    Raises InputError and UsageError.
    """
    from coherence.verify.jobs.eviction_case import evicting

    if evicting(design):
        from coherence.verify.jobs.running import recorded_evictions as evictions

        by_thing = evictions.recorded_evictions(design, logs)
        return "\n".join(map(evictions.rendered, by_thing)), all(thing.agrees for thing in by_thing)
    from coherence.simulate.logs import rendered, replay_logs

    replayed = replay_logs(logs, design)
    return rendered(replayed), replayed.possible


def _value(text: str) -> tuple[str, Fraction]:
    from coherence.base import units

    path, _, number = text.partition("=")
    try:
        return path.strip(), units.quantity(number.strip())[0]
    except (ValueError, units.UnitError):
        raise UsageError(f"--set {text!r}: write PATH=VALUE, for example pool.desired=8") from None


def _pause(text: str) -> tuple[str, float, float]:
    thing, _, times = text.partition("=")
    lasts, _, start = times.partition("@")
    return thing.strip(), seconds_of(start or "60 s", "--pause"), seconds_of(lasts, "--pause")


def _trace(text: str) -> tuple[str, ArrivalTrace | StreamedTrace]:
    from coherence.simulate.serving.streamed_trace import trace_of

    workload, _, file = text.partition("=")
    if not file:
        raise UsageError(f"--arrivals {text!r}: write WORKLOAD=FILE, for example clients=trace.csv")
    return workload.strip(), trace_of(file)


def _write(design: Design, setting: Setting, folder: str) -> None:
    from coherence.simulate.study.recording import record

    record(design, setting, Path(folder))


def _text(names: Sequence[str], studies: Sequence[Study], changed: Sequence[StudyReading]) -> str:
    from coherence.base.number_text import render_seconds
    from coherence.cli._promises import promise_lines
    from coherence.cli._tables import readings_table

    setting = studies[0].setting
    chance = any(study.setting.seeds for study in studies)
    runs = f"{len(setting.seeds)} runs (seeds {setting.seeds[0]} to {setting.seeds[-1]})" if chance else "one exact run"
    lines = [f"{' against '.join(names)}: {render_seconds(setting.until)}, {runs}", ""]
    lines += readings_table([study.readings for study in studies], changed)
    lines += promise_lines(names, studies)
    notes = dict.fromkeys(note for study in studies for note in study.notes)
    lines += ["", *notes] if notes else []
    assumed = dict.fromkeys(note for study in studies for note in study.assumptions)
    lines += ["", "Assumed:", *(f"  {note}" for note in assumed)] if assumed else []
    return "\n".join(lines) + "\n"
