"""Rank the services that may have caused an incident, from telemetry and a graph of calls, or name none"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from coherence.base.errors import UsageError
from coherence.base.watchdog import STOPPED_CODE
from coherence.cli._moments import window
from coherence.cli._output import Output, output_option, put_out
from coherence.cli._progress import Progress
from coherence.cli._unread import strict_code, strict_option

if TYPE_CHECKING:
    from coherence.causal.data.series import Series
    from coherence.causal.ranking.petshop import Issue, Scenario
    from coherence.causal.ranking.services import ServiceRanking

SLO = re.compile(r"\s*(\S+?)\s*(<=|<|>=|>)\s*([-+0-9.eE]+)\s*")
UNKNOWN = "not ranked: the scenario has no normal operation (noissue/metrics.csv)"
BRIDGED = 3  # samples within the objective between two stretches of one incident


@dataclass(frozen=True)
class RankedIncident:
    """One incident with its ranking; `label`: the cause that the data set names, for scoring alone."""

    name: str
    ranking: ServiceRanking
    label: str = ""


@dataclass(frozen=True)
class IncidentOptions:
    """What the command line says of an incident."""

    signal: str | None
    incident: tuple[float, float] | None
    normal: tuple[float, float] | None
    slo: str | None
    traces: tuple[str, ...]
    calls: str | None
    step: float | None


@click.command("rank")
@click.argument("paths", nargs=-1, required=True, type=click.Path())
@click.option("--signal", metavar="NAME", help="Where the incident shows, such as frontend_latency.")
@click.option("--slo", metavar="'NAME<=LEVEL'", help="The incident is the longest stretch that breaks this objective.")
@click.option("--incident", metavar="A..B", help="When it was: seconds of the telemetry, or ISO times.")
@click.option("--normal", metavar="A..B", help="Normal operation (default: all that came before).")
@click.option("--traces", multiple=True, metavar="FILE", help="OTLP traces (JSON lines) that tell who calls whom.")
@click.option("--calls", metavar="FILE", help="Who calls whom as a CSV matrix, callers in rows.")
@click.option("--step", type=float, metavar="SECONDS", help="Of the common clock (default: the usual spacing).")
@click.option("--top", type=click.IntRange(1), default=5, show_default=True, help="Services that are printed.")
@strict_option("an incident has no cause that is claimed")
@output_option("text", "json")
def command(  # noqa: PLR0913  (one parameter per option)
    *, paths: Sequence[str], signal: str | None, slo: str | None, incident: str | None, normal: str | None,
    traces: Sequence[str], calls: str | None, step: float | None, top: int, strict: bool, output: Sequence[Output],
) -> int:  # fmt: skip
    """Rank root causes in PATHS: telemetry (CSV, Parquet, OTLP), folders of PetShop, or cases of RCAEval.

    A table has one column for each service and metric (`cart_latency`, `cart.cpu`). A cause is claimed only where so
    large a sign comes by chance in at most 5 % of normal windows.
    """
    options = IncidentOptions(
        signal, window("--incident", incident), window("--normal", normal), slo, tuple(traces), calls, step
    )
    if signal and slo:
        raise UsageError("--slo names the signal too: leave out --signal")
    incidents: list[RankedIncident] = []
    stopped = False
    with Progress("reading") as bar:
        try:
            rankings = list(_rankings([Path(path) for path in paths], options))
            for number, ranked in enumerate(rankings):
                bar(number / len(rankings), "ranking")
                incidents.append(ranked())
        except KeyboardInterrupt:
            stopped = True
    put_out(output, lambda form: _json(incidents) if form == "json" else _text(incidents, top))
    if stopped:
        click.echo(f"stopped: {len(incidents)} of the incidents are ranked", err=True)
        return STOPPED_CODE
    return strict_code(0, (), strict=strict, left_open=not all(one.ranking.claims_cause for one in incidents))


def _rankings(paths: Sequence[Path], options: IncidentOptions) -> Iterator[Callable[[], RankedIncident]]:
    from coherence.causal.ranking.rcaeval import is_case

    files = [path for path in paths if not path.is_dir()]
    for folder in (path for path in paths if path.is_dir()):
        below = sorted(time_file.parent for time_file in folder.rglob("inject_time.txt"))
        if is_case(folder) or below:
            yield from (partial(_case, case, options) for case in below or [folder])
        else:
            yield from _shop(folder, options)
    if files:
        yield partial(_telemetry, files, options)


def _case(folder: Path, options: IncidentOptions) -> RankedIncident:
    from coherence.causal.ranking.rcaeval import rca_case

    case = rca_case(folder)
    return RankedIncident(case.name, _ranking(case.normal, case.incident, options.signal, options), case.label)


def _shop(folder: Path, options: IncidentOptions) -> Iterator[Callable[[], RankedIncident]]:
    """The incidents of one scenario of PetShop, or of a folder of scenarios."""
    from coherence.causal.ranking import petshop

    if options.signal or options.slo or options.incident:
        raise UsageError(f"{folder}: its incidents say where and when they were: leave out --signal, --slo, --incident")
    for scenario in [petshop.scenario(folder)] if (folder / "graph.csv").is_file() else petshop.scenarios(folder):
        yield from (partial(_issue, scenario, issue) for issue in scenario.issues)


def _issue(scenario: Scenario, issue: Issue) -> RankedIncident:
    """The ranking of one incident of a scenario."""
    from coherence.causal.ranking import petshop
    from coherence.causal.ranking.services import ServiceRanking, Suspect

    target = f"{issue.metric} of {issue.service}"
    if scenario.normal is None:
        return RankedIncident(issue.name, ServiceRanking(target, (), 1.0, 0, UNKNOWN))
    ranking = petshop.rank_issue(scenario.calls, scenario.normal, issue.metrics, issue.service, issue.metric)
    suspects = tuple(Suspect(cause.node, cause.score, cause.words) for cause in ranking.causes)
    method = f"excess split along the graph of calls, over {ranking.reference}"
    return RankedIncident(issue.name, ServiceRanking(target, suspects, ranking.p, ranking.windows, method), issue.label)


def _telemetry(files: Sequence[Path], options: IncidentOptions) -> RankedIncident:
    from coherence.causal import telemetry

    series = telemetry.aligned(telemetry.read(tuple(map(str, files))), step=options.step, keep=("constant", "copies"))
    signal, span = _broken(series, options.slo) if options.slo else (options.signal, options.incident)
    span = options.incident or span
    if span is None:
        raise UsageError("say when the incident was: --incident A..B, or --slo 'NAME<=LEVEL'")
    normal = series.between(*(options.normal or (-float("inf"), span[0])))
    name = f"{span[0]:g}..{span[1]:g} s"
    return RankedIncident(name, _ranking(normal, series.between(*span), signal, options))


def _broken(series: Series, slo: str) -> tuple[str, tuple[float, float]]:
    """The signal of an objective, and the longest stretch that breaks it."""
    import numpy as np

    stated = SLO.fullmatch(slo)
    level = _number(stated[3]) if stated is not None else math.nan
    if stated is None or not math.isfinite(level):
        raise UsageError(f"--slo {slo!r}: write NAME<=LEVEL, such as 'frontend_latency<=0.3'")
    name, sense = stated[1], stated[2]
    values = series[name]
    broken = np.flatnonzero(values > level if sense.startswith("<") else values < level)
    if not len(broken):
        raise UsageError(f"--slo {slo!r} is kept all the time: there is no incident to explain")
    stretches = np.split(broken, np.flatnonzero(np.diff(broken) > BRIDGED + 1) + 1)
    longest = max(stretches, key=len)
    return name, (float(series.times[longest[0]]), float(series.times[longest[-1]]) + series.step)


def _ranking(normal: Series, incident: Series, signal: str | None, options: IncidentOptions) -> ServiceRanking:
    """The ranking along the calls that are known, with what the traces lack among what is left out."""
    from coherence.causal.ranking.services import rank_services

    calls, lacking = _calls(options)
    ranking = rank_services(normal, incident, signal, calls)
    return replace(ranking, left_out=(*ranking.left_out, *lacking))


def _number(text: str) -> float:
    """The number that a text is; not a number where it is none."""
    try:
        return float(text)
    except ValueError:
        return math.nan


def _calls(options: IncidentOptions) -> tuple[Mapping[str, tuple[str, ...]] | None, tuple[str, ...]]:
    if options.traces and options.calls:
        raise UsageError("--traces and --calls both say who calls whom: give one of them")
    if options.traces:
        from coherence.causal.ranking.call_traces import call_graph

        graph = call_graph(map(Path, options.traces))
        lacking = f"{graph.orphans} of {graph.spans} spans: their parent is in no file, so who called is not known"
        return graph.calls, (lacking,) if graph.orphans else ()
    if options.calls:
        from coherence.causal.ranking.petshop import calls

        return calls(Path(options.calls)), ()
    return None, ()


def _place(incident: RankedIncident) -> int:
    """Where the label stands; 0 where it is not named."""
    names = [suspect.service for suspect in incident.ranking.suspects]
    return names.index(incident.label) + 1 if incident.label in names else 0


def _text(incidents: Sequence[RankedIncident], top: int) -> str:
    from coherence.base.outside_text import visible

    lines: list[str] = []
    for incident in incidents:
        ranking = incident.ranking
        lines.append(f"{incident.name}: {ranking.target} ({ranking.method})")
        chance = f"p = {ranking.p:.2g} over {ranking.windows} normal windows"
        if ranking.claims_cause:
            lines.append(f"  so large a sign comes by chance with {chance}")
            lines += [f"  {n}. {s.service}: {s.words}" for n, s in enumerate(ranking.suspects[:top], start=1)]
        elif ranking.windows:
            lines.append(f"  no cause is claimed: {chance}" if ranking.suspects else "  no cause: nothing moved")
        lines += [f"  left out: {left}" for left in ranking.left_out]
        if incident.label:
            lines.append(f"  labelled: {incident.label}, place {_place(incident) or 'none'}")
    labelled = [_place(incident) for incident in incidents if incident.label]
    if len(labelled) > 1:
        hits = ", ".join(f"top {n}: {sum(0 < at <= n for at in labelled) / len(labelled):.3f}" for n in (1, 3))
        lines.append(f"{len(labelled)} labelled incidents: {hits}")
    return "".join(f"{visible(line)}\n" for line in lines)


def _json(incidents: Sequence[RankedIncident]) -> str:
    from coherence.door.result import head

    rows: list[dict[str, Any]] = [
        {
            "incident": incident.name, "target": incident.ranking.target, "method": incident.ranking.method,
            "p": incident.ranking.p, "windows": incident.ranking.windows, "claimed": incident.ranking.claims_cause,
            "left_out": list(incident.ranking.left_out),
            "services": [{"service": s.service, "score": s.score, "why": s.words} for s in incident.ranking.suspects],
            "label": incident.label, "place": _place(incident) if incident.label else None,
        }
        for incident in incidents
    ]  # fmt: skip
    return json.dumps({**head("rank"), "incidents": rows}, indent=2, ensure_ascii=False, allow_nan=False) + "\n"
