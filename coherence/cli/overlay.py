"""Write an overlay: what manifests do not say and findings ask for, from a Prometheus where one is named"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import click

from coherence.base.errors import UsageError, did_you_mean
from coherence.base.watchdog import STOPPED_CODE, interruptible
from coherence.cli._given import refuse_given
from coherence.cli._http_config import http_config_option
from coherence.cli._progress import Progress
from coherence.cli._seconds import seconds_of, time_limit_option

if TYPE_CHECKING:
    from fractions import Fraction

    from coherence.causal.telemetry.prometheus import ReadLimits
    from coherence.checking.fact_queries import AskedFact, FactTarget, OpenQuestion
    from coherence.checking.measured.measuring import Answered, Settings

LONGEST = 400 * 86_400
LAST = 253_402_300_800  # the year 10,000, s since 1970
OF_A_SERVER = ("http_config", "window", "end", "share", "time_limit")


@click.command("overlay")
@click.argument("paths", nargs=-1, required=True, type=click.Path())
@click.option("--from-prometheus", "url", metavar="URL", help="Ask this server; without it nothing is asked.")
@http_config_option
@click.option("--window", default="1 d", show_default=True, metavar="TIME", help="How far back is looked.")
@click.option("--to", "end", type=float, metavar="SECONDS", help="Where the window ends, since 1970 (default: now).")
@click.option(
    "--share", default="100 %", show_default=True, help="How much of the samples a range holds, as `99 %`."
)  # fmt: skip
@click.option(
    "--query", "own", multiple=True, metavar="FACT=PROMQL",
    help="Ask this for a fact, by its name (repeatable): each series is a sample in seconds, or its buckets (`le`).",
)  # fmt: skip
@click.option("--output", "-o", metavar="FILE", help="Write it into this file, which is not read before.")
@time_limit_option(1, 120.0, "Of the wall, for all answers of the server.")
def command(  # noqa: PLR0913  (one parameter per option)
    *, paths: Sequence[str], url: str | None, http_config: str | None, window: str, end: float | None, share: str,
    own: Sequence[str], output: str | None, time_limit: float,
) -> int:  # fmt: skip
    """Write what the manifests at PATHS do not say and findings ask for, as an overlay to stand beside them.

    With --from-prometheus the values are measured, each with its query, window and number of samples; without it,
    each fact is listed with the queries that would tell it.
    """
    from coherence.causal.telemetry.http_config import http_login
    from coherence.checking.measured.measuring import Settings, queries_of
    from coherence.checking.measured.overlay_text import overlay_text

    if url is None:
        refuse_given(OF_A_SERVER, "nothing is measured without --from-prometheus URL")
    if end is not None and not 0 <= end < LAST:
        raise UsageError(f"--to {end:g} is no time: give seconds since 1970, before the year 10,000")
    seconds = _window(window)
    queries = dict(_own(text) for text in own)
    settings = Settings(
        time.time() if end is None else end, _share(share), queries, _limits(time_limit), http_login(http_config)
    )
    with Progress("reading") as bar, interruptible(bar) as run:
        facts, others = _lacking(paths, seconds, output)
        _refuse_unknown(queries, facts)
        answers, source = _answers(url, facts, settings, seconds)
    if run.stopped:
        return STOPPED_CODE
    tries = {fact: queries_of(fact, target, settings) for fact, target in facts.items()}
    _write(overlay_text(answers, others, source=source, share=settings.share, queries=tries), output)
    filled = sum(it.measured is not None and not it.measured.others for it in answers)
    where = f" {output} holds it" if output else ""
    click.echo(f"{filled} of {len(answers)} facts that findings ask for are stated.{where}", err=True)
    return 0


def _lacking(
    paths: Sequence[str], window: int, output: str | None
) -> tuple[Mapping[AskedFact, FactTarget], Sequence[OpenQuestion]]:
    """Returns the facts that the design of the manifests lacks, with the objects that they are about, and what is open
    without one.
    """
    from coherence import importers
    from coherence.checking.design_check import Options, analysis
    from coherence.checking.fact_queries import FactTarget
    from coherence.checking.measured.facts import lacking
    from coherence.checking.workspace import open_workspace

    workspace = open_workspace(paths, together=True, without_file=output or "")
    entries = [entry for entry in workspace.entries if entry.design.imported]
    if not entries:
        raise UsageError("there are no manifests: an overlay completes them, and a design states its values itself")
    (entry,) = entries
    options = Options(verify_repairs=False)
    findings = analysis(entry.design, entry.sources, entry.rebuild, options=options).answers.findings
    things = importers.things_from_sources(entry.sources, without=frozenset(workspace.refused))
    targets, lacks = {}, lacking(entry.design, findings)
    for fact in lacks.facts:
        thing = things.get(fact.thing)
        raw, kind, namespace = (thing.raw, thing.kind, thing.namespace) if thing is not None else (fact.thing, "", "")
        targets[fact] = FactTarget(raw, kind, namespace, window)
    return targets, lacks.others


def _answers(
    url: str | None, facts: Mapping[AskedFact, FactTarget], settings: Settings, window: int
) -> tuple[tuple[Answered, ...], str]:
    """Returns what is known of each fact, and who was asked."""
    from coherence.base.number_text import render_seconds
    from coherence.causal.telemetry.bounded_http import http_address
    from coherence.checking.measured.measuring import measured_facts, unasked

    if url is None:
        return tuple(unasked(facts)), "Nothing was measured: --from-prometheus URL asks a server"
    answers = measured_facts(url, facts, settings)
    server = http_address(url, of="a Prometheus", example="http://localhost:9090").url
    moment = time.strftime("%Y-%m-%d %H:%M:%S UTC", time.gmtime(settings.end))
    return answers, f"Measured by {server} in the {render_seconds(window)} up to {moment}."


def _window(text: str) -> int:
    seconds = seconds_of(text, "--window")
    if not 60 <= seconds <= LONGEST:
        raise UsageError(f"--window {text!r} must lie between 1 min and 400 d")
    return round(seconds)


def _share(text: str) -> Fraction:
    from coherence.base import units

    try:
        number, dimension = units.quantity(text)
    except (ValueError, units.UnitError):
        number, dimension = None, None
    if number is None or dimension != units.ONE or not 0 < number <= 1:
        raise UsageError(f"--share {text!r} is no share; write for example '99 %'")
    return number


def _limits(seconds: float) -> ReadLimits:
    from dataclasses import replace

    from coherence.checking.measured.measuring import LIMITS

    return replace(LIMITS, seconds=seconds)


def _own(text: str) -> tuple[str, str]:
    name, found, query = text.partition("=")
    if not found or not name.strip() or not query.strip():
        raise UsageError(f"--query {text!r} is no FACT=PROMQL, such as components.web.takes.load='max(start_seconds)'")
    return name.strip(), query.strip()


def _refuse_unknown(queries: Mapping[str, str], facts: Mapping[AskedFact, FactTarget]) -> None:
    known = [fact.name for fact in facts]
    for name in queries:
        if name not in known:
            raise UsageError(f"--query: nothing asks for '{name}': {did_you_mean(name, known)}")


def _write(text: str, output: str | None) -> None:
    from coherence.base.output_files import write_output
    from coherence.checking.measured.overlay_text import MARK

    if output is None:
        click.echo(text, nl=False)
    else:
        write_output(output, text.encode(), mark=MARK.encode())
