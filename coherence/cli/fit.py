"""Fit a design to telemetry: what each influence does, and how much of a loss each cause made"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any

import click

from coherence.base.errors import UsageError
from coherence.base.watchdog import STOPPED_CODE
from coherence.cli._designs import one_entry, system_of
from coherence.cli._http_config import http_config_option
from coherence.cli._moments import moment
from coherence.cli._moments import window as stretch
from coherence.cli._output import Output, output_option, put_out
from coherence.cli._seconds import time_limit_option
from coherence.cli._unread import OPEN, strict_code, strict_option
from coherence.cli._workers import workers_of, workers_options

if TYPE_CHECKING:
    from coherence.causal.answers.answer import Section
    from coherence.causal.carrier.second_opinions import InfluenceOpinion
    from coherence.causal.data.series import Series
    from coherence.causal.session.context import Context, FitSettings
    from coherence.checking.workspace import Entry
    from coherence.door.fit import FitResult
    from coherence.language.design import Design
    from coherence.simulate.telemetry.contract import Telemetry


READING = ("files", "prometheus", "http_config", "start", "end", "step", "time", "time_unit", "duplicates", "offsets")


@dataclass(frozen=True)
class TelemetryInput:
    """Where telemetry comes from, and how it is to be read."""

    files: tuple[str, ...]
    prometheus: str | None
    http_config: str | None
    start: str | None
    end: str | None
    step: float | None
    time: str | None
    time_unit: str | None
    duplicates: str
    offsets: tuple[str, ...]


@dataclass(frozen=True)
class FitFiles:
    """What a fit makes beside its text: a picture, the network, the design itself, second opinions."""

    picture: str | None
    network: str | None
    write: bool
    second_opinion: bool


@click.command("fit")
@click.argument("path", type=click.Path())
@click.option(
    "--telemetry", "files", multiple=True, metavar="FILE|DIR", help="CSV, Parquet or OTLP; several are joined."
)
@click.option("--prometheus", metavar="URL", help="Ask this server the queries of the design's `telemetry:`.")
@http_config_option
@click.option("--from", "start", metavar="TIME", help="Start of the Prometheus range: seconds since 1970, ISO, now-1h.")
@click.option("--to", "end", metavar="TIME", help="Its end.")
@click.option("--step", type=float, metavar="SECONDS", help="Of the common clock (default: the usual spacing).")
@click.option("--time", metavar="COLUMN", help="The column of time, where the header does not tell.")
@click.option("--time-unit", type=click.Choice(["s", "ms", "us", "ns"]), help="Of numbers in it (default: by size).")
@click.option("--duplicates", type=click.Choice(["refuse", "last", "mean"]), default="refuse", show_default=True,
              help="Where a signal has two values at one time.")  # fmt: skip
@click.option("--offset", "offsets", multiple=True, metavar="FILE=SECONDS", help="Add this to the times of a file.")
@click.option("--stream", is_flag=True, help="Read in constant memory, for telemetry that is larger than memory.")
@click.option("--loss", metavar="EXPR", help="What is to be explained: a signal, or an expression of signals.")
@click.option("--window", metavar="A..B", help="Explain this stretch alone: seconds, or ISO times.")
@click.option("--against", metavar="A..B", help="Explain the change from this stretch to the window.")
@click.option("--reference", multiple=True, metavar="SIGNAL=VALUE", help="The level of a cause that makes no loss.")
@click.option("--off", multiple=True, metavar="LOOP", help="What would the loss be without this loop?")
@click.option("--do", "do", multiple=True, metavar="SIGNAL=VALUE", help="What would the loss be at this value?")
@click.option("--requests", metavar="CSV", help="A log of requests, for the indices CI, DI, WPI.")
@click.option("--ledger", metavar="CSV", help="A log of what each device did, for the ledger of losses.")
@click.option("--serving", "servers", multiple=True, metavar="SERVER=FOLDER",
              help="Logs of an inference server: the times of its steps.")  # fmt: skip
@click.option("--rank", metavar="SIGNAL", help="Rank the root causes of an incident at this signal.")
@click.option("--familywise", metavar="SHARE", help="Chance that any influence without an effect counts as seen, "
              "such as 1% (default: a false-discovery rate of 5 %).")  # fmt: skip
@click.option("--bootstrap", "bootstraps", type=click.IntRange(0, 100_000), default=0, metavar="N",
              help="Also a block bootstrap of N draws.")  # fmt: skip
@workers_options("the draws of a bootstrap")
@click.option("--seed", type=click.IntRange(0), default=1, show_default=True, help="Of everything that is drawn.")
@click.option("--write", is_flag=True, help="Put measured ranges of constants into the design, with their source.")
@click.option("--network", metavar="FILE.json", help="Write the fitted network as a linear-Gaussian file of pgmpy.")
@click.option("--second-opinion", is_flag=True,
              help="Lay strengths beside those of statsmodels and pgmpy; exit 1 where they differ.")  # fmt: skip
@click.option("--picture", metavar="FILE", help="Draw graph, waterfall and shares: FILE.svg, or FILE.png.")
@click.option("--full", is_flag=True, help="Print every section and finding in full; JSON always has everything.")
@time_limit_option(0.5, 600.0, "Of the wall, for all of it; what is not answered by then is named.")
@strict_option(OPEN)
@output_option("text", "json")
def command(  # noqa: PLR0913  (one parameter per option)
    *, path: str, stream: bool, window: str | None, against: str | None, reference: Sequence[str],
    do: Sequence[str], servers: Sequence[str], write: bool, network: str | None, picture: str | None,
    full: bool, second_opinion: bool, familywise: str | None, time_limit: float, strict: bool,
    output: Sequence[Output], **more: Any,
) -> int:  # fmt: skip
    """Fit the design at PATH to telemetry.

    Every influence that the design declares is fitted; a loss is split over its causes so that the shares and what
    is unexplained sum to it exactly, and what the data cannot tell is refused, with what to measure instead.
    """
    if servers:
        return _servers(path, servers, output)
    from coherence.causal.session.context import FitSettings

    reading = TelemetryInput(**{name: more.pop(name) for name in READING})
    jobs, cluster = more.pop("jobs"), more.pop("cluster")
    named: dict[str, Any] = {
        name: tuple(value) if isinstance(value, (tuple, list)) else value for name, value in more.items()
    }
    settings = FitSettings(
        familywise=_share("--familywise", familywise), window=stretch("--window", window),
        against=stretch("--against", against),
        reference=dict(_level("--reference", text) for text in reference), do=dict(_level("--do", text) for text in do),
        **named,
    )  # fmt: skip
    _refuse_ignored(reading, settings)
    settings = replace(settings, workers=workers_of(jobs, cluster))
    _check_kind(picture)
    files = FitFiles(picture, network, write=write, second_opinion=second_opinion)
    return _fit(path, reading, settings, stream=stream, files=files, full=full, time_limit=time_limit, strict=strict,
                output=output)  # fmt: skip


def _fit(  # noqa: PLR0913  (one parameter per option)
    path: str, reading: TelemetryInput, settings: FitSettings, *, stream: bool, files: FitFiles, full: bool,
    time_limit: float, strict: bool, output: Sequence[Output],
) -> int:  # fmt: skip
    """Fits a design to telemetry and prints what that answers.  Returns the exit code."""
    from coherence.base.watchdog import interruptible
    from coherence.cli._fit_text import fit_text
    from coherence.cli._progress import Progress
    from coherence.door.fit import fitted

    entry = one_entry(path)
    with Progress("fitting") as bar, interruptible(bar) as run:
        context = partial(_context, entry.design, reading, settings, stream=stream)
        result = fitted(entry, path, context, time_limit)
    _write(path, entry, reading, result, files)
    second = result.second_opinion() if files.second_opinion else ()
    put_out(output, lambda form: _json(result, second) if form == "json"
            else fit_text(entry.sources, result, full=full) + _opinions(second))  # fmt: skip
    if run.stopped:
        return STOPPED_CODE
    left_open = _left_open(result.sections)
    failed = _code(result.sections) or int(any(opinion.differs for opinion in second))
    return strict_code(failed, result.unread, strict=strict, left_open=left_open)


def _write(path: str, entry: Entry, reading: TelemetryInput, result: FitResult, files: FitFiles) -> None:
    """Writes the files that were asked for."""
    if files.picture is not None:
        _draw(system_of(path, entry), result.sections, files.picture)
    if files.network is not None:
        from coherence.base.output_files import write_output
        from coherence.causal.carrier.network_file import MARK, network_json

        write_output(files.network, network_json(result.context.fitted).encode(), mark=MARK)
    if files.write:
        from coherence.cli._calibration import write_calibrated

        write_calibrated(entry, result.context, ", ".join(reading.files) or str(reading.prometheus))


def _servers(path: str, servers: Sequence[str], output: Sequence[Output]) -> int:
    """Prints the times of steps of inference servers, fitted to what they counted."""
    from coherence.cli._given import refuse_given
    from coherence.cli._serving_fit import fitted_step_times, rendered

    names = [p.name for p in click.get_current_context().command.params if p.name not in {"path", "servers", "output"}]
    refuse_given([name for name in names if name], "--serving fits the times of steps and reads no telemetry")
    rows = fitted_step_times(path, servers)
    put_out(output, partial(rendered, rows))
    return 0


def _check_kind(picture: str | None) -> None:
    """Refuses a picture of an unknown kind before anything is computed."""
    if picture is not None:
        from coherence.reporting.pictures import files

        files.check_kind(picture)


def _refuse_ignored(reading: TelemetryInput, settings: FitSettings) -> None:
    from coherence.cli._given import refuse_given

    if reading.prometheus is None:
        remedy = "name the server with --prometheus URL; --window cuts telemetry of files"
        refuse_given(("start", "end", "http_config"), f"they are the range of a Prometheus query: {remedy}")
    else:
        refuse_given(("time", "time_unit", "duplicates"), "they say how files are read, and a Prometheus is asked")
    if not settings.bootstraps:
        refuse_given(
            ("cluster", "jobs", "into"), "they are for the draws of a bootstrap: say how many with --bootstrap N"
        )
        if settings.requests is None:
            refuse_given(("seed",), "nothing is drawn: draws are those of --bootstrap N and of --requests CSV")


def _share(option: str, text: str | None) -> float | None:
    """The number between 0 and 1 that a text such as `1%` or `0.01` is.  Raises UsageError."""
    if text is None:
        return None
    number, _, rest = text.strip().partition("%")
    try:
        share = float(number) / (100 if "%" in text else 1)
    except ValueError:
        share = 0.0
    if rest or not 0 < share < 1:
        raise UsageError(f"{option} {text!r} is no share: write for example 1% or 0.01")
    return share


def _level(option: str, text: str) -> tuple[str, float]:
    import math

    name, _, number = text.partition("=")
    try:
        level = float(number)
    except ValueError:
        level = math.nan
    if not name or not math.isfinite(level):
        raise UsageError(f"{option} {text!r}: write SIGNAL=VALUE, such as gateway.arrivals=120")
    return name.strip(), level


def _telemetry(design: Design, reading: TelemetryInput) -> Telemetry:
    from coherence.causal import telemetry
    from coherence.causal.telemetry.http_config import http_login

    if reading.prometheus is None:
        if not reading.files:
            raise UsageError("name telemetry with --telemetry FILE, or a server with --prometheus URL")
        read = telemetry.read(
            reading.files, time=reading.time, time_unit=reading.time_unit, duplicates=reading.duplicates
        )
        return telemetry.named(read, design.telemetry)
    if reading.files:
        raise UsageError("--telemetry and --prometheus exclude each other: fit one of the two")
    if reading.start is None or reading.end is None or reading.step is None:
        raise UsageError("--prometheus needs --from, --to and --step: two times, and seconds")
    start, end = moment("--from", reading.start), moment("--to", reading.end)
    queries = telemetry.queries_of(design.telemetry)
    return telemetry.queried(reading.prometheus, queries, start=start, end=end, step=reading.step,
                             login=http_login(reading.http_config))  # fmt: skip


def _context(design: Design, reading: TelemetryInput, settings: FitSettings, *, stream: bool) -> Context:
    """Returns the design with its telemetry.  Raises UsageError where the time is over before it is read."""
    from coherence.base.watchdog import TimeOverError, current_run

    run = current_run()
    run.announce(0, "reading telemetry")
    try:
        with run.ending():
            return _streamed(design, reading, settings) if stream else _whole(design, reading, settings)
    except TimeOverError:
        remedy = "allow more with --time-limit, or give less of it"
        raise UsageError(f"the telemetry is not read within the time limit: {remedy}") from None


def _whole(design: Design, reading: TelemetryInput, settings: FitSettings) -> Context:
    from coherence.causal import telemetry
    from coherence.causal.session.context import Context

    measured = _telemetry(design, reading)
    offsets = dict(_level("--offset", text) for text in reading.offsets)
    series = telemetry.aligned(measured, step=reading.step, offsets=offsets, keep=("constant", "copies"))
    context = Context(design, series, settings)
    context.telemetry_report = telemetry.report(measured, series, wanted=context.wanted)
    return context


def _streamed(design: Design, reading: TelemetryInput, settings: FitSettings) -> Context:
    from coherence.causal import telemetry
    from coherence.causal.data.extents import extents_of
    from coherence.causal.session.context import Context

    alone = reading.offsets or reading.duplicates != "refuse" or settings.window or settings.against
    if not reading.files or alone or settings.off or settings.do or settings.rank:
        raise UsageError(
            "--stream reads files named with --telemetry once and as a whole: leave out --window, --against, --off, "
            "--do, --rank, --offset and --duplicates"
        )

    def read() -> Iterator[Series]:
        return telemetry.chunks(reading.files, step=reading.step, time=reading.time, time_unit=reading.time_unit)

    extents, first = extents_of(read()), next(read(), None)  # what rests at first may move later
    if first is None:
        raise UsageError("the telemetry has no rows: give a file with at least one")
    return Context(design, first, settings, read, extents)


def _opinions(second: Sequence[InfluenceOpinion]) -> str:
    """Returns a line for each second opinion, those that differ first."""
    return "".join(f"{opinion.render()}\n" for opinion in sorted(second, key=lambda opinion: not opinion.differs))


def _json(result: FitResult, second: Sequence[InfluenceOpinion]) -> str:
    document = {**result.data, "second_opinion": [opinion.to_dict() for opinion in second]} if second else result.data
    return json.dumps(document, indent=2, ensure_ascii=False, allow_nan=False) + "\n"


def _draw(system: str, sections: Iterable[Section], file: str) -> None:
    from coherence.reporting.pictures.figure import Figure
    from coherence.reporting.pictures.files import write

    panels = tuple(panel for section in sections for panel in section.panels)
    if not panels:
        raise UsageError("--picture: there is nothing to draw; name a loss with --loss, or telemetry of a ledger")
    write(Figure(f"Telemetry of {system}", panels, 2), file)


def _left_open(sections: Iterable[Section]) -> bool:
    """Decides whether a question about the telemetry is undecided, or was not come to."""
    from coherence.findings.finding import Verdict

    return any(
        section.cut_short or any(finding.verdict is Verdict.UNDECIDED for finding in section.findings)
        for section in sections
    )


def _code(sections: Iterable[Section]) -> int:
    """Returns 1 where the telemetry contradicts the design, else 0."""
    from coherence.findings.finding import Severity

    return int(any(finding.severity is Severity.ERROR for section in sections for finding in section.findings))
