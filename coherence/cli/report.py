"""Report what all engines say of a design, as one HTML page for people"""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import click

from coherence.base.errors import UsageError
from coherence.base.watchdog import STOPPED_CODE, interruptible
from coherence.cli._given import refuse_given
from coherence.cli._seconds import time_limit_option


@click.command("report")
@click.argument("path", type=click.Path())
@click.option("--output", "-o", metavar="FILE", default="report.html", show_default=True, help="The page to write.")
@click.option("--telemetry", multiple=True, metavar="FILE", help="Lay the design beside its telemetry (repeatable).")
@click.option("--requests", metavar="CSV", help="A log of requests, for the indices CI, DI, WPI.")
@click.option("--ledger", metavar="CSV", help="A log of what each device did, for the ledger of losses.")
@click.option("--step", type=click.FloatRange(min=0, min_open=True), metavar="SECONDS", help="Of the telemetry.")
@click.option("--before", metavar="DESIGN", type=click.Path(), help="Compare with this earlier design.")
@click.option("--since", metavar="COMMIT", help="Compare with what stood at PATH at this commit.")
@click.option("--before-telemetry", multiple=True, metavar="FILE", help="Of the earlier design (repeatable).")
@click.option("--before-requests", metavar="CSV", help="A log of requests of the earlier design.")
@click.option("--anonymise", is_flag=True, help="Names, lines of the input and hashes are replaced or left out.")
@click.option("--no-cache", is_flag=True, help="Ask every question again, and keep nothing.")
@time_limit_option(1.0, 60.0, "Of the processor, for each engine; what is not reached is undecided.")
def command(  # noqa: PLR0913  (one parameter per option)
    *, path: str, output: str, telemetry: tuple[str, ...], requests: str | None, ledger: str | None,
    step: float | None, before: str | None, since: str | None, before_telemetry: tuple[str, ...],
    before_requests: str | None, anonymise: bool, no_cache: bool, time_limit: float,
) -> int:  # fmt: skip
    """Write a page about the design at PATH: verdict, inventory, risk surface, findings, margins, floors, plan.

    The page is one file that needs no network and no script, and prints.  Exit 0 when it is written, whatever it says.
    """
    from coherence.assessment.page import MARK, page
    from coherence.assessment.parts.answers import TelemetryFiles, assess
    from coherence.base.output_files import write_output
    from coherence.cli._progress import Progress

    if Path(output).suffix.lower() not in (".html", ".htm"):
        raise UsageError(f"-o {output}: a report is a page, end it in .html")
    if not telemetry:
        refuse_given(("requests", "ledger", "step"), "they go with telemetry: say --telemetry FILE")
    measured = TelemetryFiles(telemetry, requests, ledger, step) if telemetry else None
    options: dict[str, Any] = {"telemetry": measured, "before": before, "since": since or "", "anonymous": anonymise}
    if before and since:
        raise UsageError("--before and --since both name the earlier design: leave one out")
    options["telemetry_before"] = _before(before or since, before_telemetry, before_requests, step)
    with Progress("assessing") as bar, interruptible(bar) as run:
        answers = assess(
            path, seconds=time_limit, today=time.strftime("%Y-%m-%d"), answering=_cached(no_cache), **options
        )
    write_output(output, page(answers).encode(), mark=MARK)
    click.echo(output)
    return STOPPED_CODE if run.stopped else 0


def _before(before: str | None, series: tuple[str, ...], requests: str | None, step: float | None) -> Any:
    """Returns the telemetry of the earlier design; None where none is given.  Raises UsageError."""
    from coherence.assessment.parts.answers import TelemetryFiles

    if before is None:
        words = "they are of the earlier design: say --before DESIGN, or --since COMMIT"
        refuse_given(("before_telemetry", "before_requests"), words)
    if not series:
        refuse_given(("before_requests",), "it goes with telemetry: say --before-telemetry FILE")
        return None
    return TelemetryFiles(series, requests, None, step)


def _cached(no_cache: bool) -> Any:
    if no_cache:
        return None
    from coherence.checking.cache import Cache, folder

    return Cache(folder()).answers
