"""Analyze the loops: operating points, margins, period, and which loops to blame"""

from __future__ import annotations

import json
from dataclasses import asdict, replace
from typing import TYPE_CHECKING, Any

import click

from coherence.base.errors import UsageError
from coherence.base.watchdog import GRACE, STOPPED, STOPPED_CODE, TimeOverError, at_most, current_run, run_limit
from coherence.cli._cross_check import CrossChecks, cross_checked
from coherence.cli._designs import one_entry
from coherence.cli._given import refuse_given
from coherence.cli._network import NAMES, analyze_network, network_options, questions_of
from coherence.cli._picture import Picture, picture_of, picture_options
from coherence.cli._seconds import time_limit_option
from coherence.cli._series import NAMES as OF_SERIES
from coherence.cli._series import analyze_series, series_options
from coherence.cli._unread import OPEN, strict_code, strict_option

if TYPE_CHECKING:
    from coherence.base.reads import ValueReads
    from coherence.checking.workspace import Entry
    from coherence.cli._progress import Progress
    from coherence.findings.question_input import Subject
    from coherence.language.design import Design
    from coherence.loops.analysis.design_analysis import DesignAnalysis
    from coherence.loops.analysis.retry_products import Amplified
    from coherence.loops.analysis.retuning import Retuning
    from coherence.loops.designs.disagreements import Disagreement
    from coherence.loops.designs.predicted_cycles import CycleReading

GROUPS, LEFT_FOR_CYCLES = 0.6, 0.2  # of the time limit: of the groups where others are retuned, and of limit cycles
LOADS, CYCLES = 0.2, 0.7  # of it for operating points of retries, and of what is left for the limit cycles themselves


@click.command("analyze")
@click.argument("path", type=click.Path(), required=False)
@click.option("--network", metavar="FILE", help="Analyze blocks and couplings stated in YAML instead of a design.")
@network_options
@series_options
@picture_options
@click.option("--retune/--no-retune", default=True, show_default=True, help="Search for settings that are safe.")
@time_limit_option(0.5, 30.0, "Of the whole analysis; what is not reached is undecided.")
@click.option("--cross-check", is_flag=True, help="Lay verdicts beside python-control's; exit 1 where they differ.")
@strict_option(OPEN)
@click.option("--output", "-o", type=click.Choice(["text", "json"]), default="text", show_default=True)
def command(  # noqa: PLR0913  (one parameter per option)
    *, path: str | None, network: str | None, series: str | None, transient: bool, response: tuple[str, ...],
    retune: bool, time_limit: float, strict: bool, output: str, cross_check: bool, **asked_of_network: Any,
) -> int:  # fmt: skip
    """Analyze the loops of the design at PATH.

    For each group of loops in feedback: what exact execution says, and beside it the linear verdict at every
    operating point, inside and outside of tolerances, with margins, period and the smallest set of loops to blame.
    Exit 1: a network is unstable, or answers about a design contradict each other.
    """
    if series is not None and network is None:
        refuse_given((*NAMES, "picture", "retune", "cross_check", "strict"), "series of telemetry are only read")
        text, document = analyze_series(series, path, time_limit, transient=transient, responses=response)
        click.echo(_dumped(document) if output == "json" else text, nl=False)
        return 0
    refuse_given((*OF_SERIES, "series"), "it is asked of telemetry (--series FILE), beside a design or alone")
    if (path is None) == (network is None):
        raise UsageError("name a design, a network of blocks with --network FILE, or telemetry with --series FILE")
    picture = picture_of(asked_of_network)
    if network is not None:
        refuse_given(("retune",), "a network of blocks has no settings to search")
        questions = questions_of(asked_of_network)
        text, document, code = analyze_network(
            network, questions, picture, time_limit, strict=strict, cross_check=cross_check
        )
        click.echo(_dumped(document) if output == "json" else text, nl=False)
        return code
    refuse_given(NAMES, "it is asked of a network of blocks (--network FILE)")
    assert path is not None
    return _design(path, picture, output, time_limit, retune=retune, strict=strict, cross_check=cross_check)


def _design(
    path: str, picture: Picture | None, output: str, time_limit: float, *, retune: bool, strict: bool, cross_check: bool
) -> int:
    """Prints the analysis of a design; returns the exit code: 1 where its answers contradict each other."""
    from coherence.base.reads import answered, recorded
    from coherence.cli import _operating_points
    from coherence.cli._progress import Progress
    from coherence.cli._unread import unread, unread_json, unread_text
    from coherence.findings.question_input import Subject
    from coherence.loops.analysis import cycle_comparison, render_json, render_text
    from coherence.loops.analysis.second_opinions import render_disagreements
    from coherence.loops.pictures.analysis_figure import of_design, system_name
    from coherence.reporting.pictures import files

    entry = one_entry(path)
    subject = Subject(entry.design, entry.sources, time_limit)
    with recorded() as reads, Progress("analyzing") as bar, run_limit(time_limit):
        loads = answered(lambda: _operating_points.loads(replace(subject, time_limit=time_limit * LOADS)))
        analysis, calls, tunings = _analysed(entry, subject, bar, retune=retune)
        bar(1.0, "limit cycles")
        analysis, cycles, differing = _refereed(subject, analysis)
    lines, analysis = unread("analyze", entry.design, reads), _with_parts(analysis, entry.design, reads)
    second = cross_checked(analysis, path, subject.model, time_limit) if cross_check else CrossChecks()
    if picture is not None:
        named, kinds = system_name(path), picture.kinds
        files.write(of_design(named, analysis, subject.model, cycles, seconds=time_limit, kinds=kinds), picture.file)
    if output == "json":
        document = render_json.as_json(path, analysis, calls, tunings)
        more = {"operating_points_of_retries": _operating_points.as_json(loads), "not_read": unread_json(lines)}
        click.echo(_dumped({**document, **_second_json(cycles, differing, second), **more}), nl=False)
    else:
        click.echo(render_disagreements(differing) + render_text.text(path, analysis, calls, tunings), nl=False)
        for line in (*cycle_comparison.text(analysis, cycles), *_operating_points.text(loads), *unread_text(lines)):
            click.echo(line)
        click.echo(second.render(), nl=False)
    left_open = any(group.verdict == "undecided" for group in analysis.groups)
    if analysis.stopped:
        return STOPPED_CODE
    return strict_code(int(bool(differing) or second.differ), lines, strict=strict, left_open=left_open)


def _second_json(
    cycles: tuple[CycleReading, ...], differing: tuple[Disagreement, ...], second: CrossChecks
) -> dict[str, Any]:
    """Returns the predicted limit cycles, the answers that contradict each other, and second opinions."""
    readings = {"limit_cycles": [asdict(cycle) for cycle in cycles]}
    return {**readings, "disagreements": [asdict(each) for each in differing], **second.to_dict()}


def _with_parts(analysis: DesignAnalysis, design: Design, reads: ValueReads) -> DesignAnalysis:
    """Returns the analysis with what the parts leave out that it read."""
    from coherence.cli._unread import left_out
    from coherence.language.omissions import merged

    return replace(analysis, assumptions=merged(analysis.assumptions, left_out(design, reads)))


def _stopped(analysis: DesignAnalysis, unasked: str) -> DesignAnalysis:
    """Returns the analysis with what Ctrl-C kept from being asked."""
    assumptions = (*analysis.assumptions, f"{unasked} not asked: {STOPPED}")
    return replace(analysis, stopped=True, assumptions=assumptions)


def _refereed(
    subject: Subject, analysis: DesignAnalysis
) -> tuple[DesignAnalysis, tuple[CycleReading, ...], tuple[Disagreement, ...]]:
    """Returns the analysis with the predicted limit cycles, and which answers contradict each other."""
    from coherence.loops.analysis.second_opinions import disagreements
    from coherence.loops.designs.feedback_groups import Deadline
    from coherence.loops.designs.predicted_cycles import predicted_within

    run = current_run()
    cycles: tuple[CycleReading, ...] = ()
    differing: tuple[Disagreement, ...] = ()
    try:
        cycles = () if analysis.stopped else predicted_within(subject.model, run.left * CYCLES)
        with at_most(run.left + GRACE):
            differing = () if analysis.stopped else disagreements(analysis, cycles, Deadline(run.left))
    except TimeOverError:
        late = "answers were not laid beside each other: the time limit was reached"
        analysis = replace(analysis, assumptions=(*analysis.assumptions, late))
    except KeyboardInterrupt:
        cycles, differing, analysis = (), (), replace(analysis, stopped=True)
    known = _stopped(analysis, "limit cycles were") if analysis.stopped else analysis
    return known, cycles, differing


def _analysed(
    entry: Entry, subject: Subject, bar: Progress, *, retune: bool
) -> tuple[DesignAnalysis, tuple[Amplified, ...], list[tuple[Retuning, ...]]]:
    from coherence.base.reads import answered
    from coherence.loops.analysis.design_analysis import analysed
    from coherence.loops.analysis.retry_products import MOST_PATHS, amplified
    from coherence.loops.analysis.retuning import retuned
    from coherence.loops.designs.feedback_groups import Deadline

    most = GROUPS if retune else 1 - LEFT_FOR_CYCLES
    seconds = current_run().left
    whole = Deadline(seconds * (1 - LEFT_FOR_CYCLES))
    analysis = analysed(subject.model, time_limit=seconds * most, bar=lambda share, name: bar(share * GROUPS, name))
    tunings: list[tuple[Retuning, ...]] = []
    try:
        for index, group in enumerate(analysis.groups if retune and not analysis.stopped else ()):
            bar(GROUPS + (1 - GROUPS) * index / len(analysis.groups), "retuning")
            own = whole.share(1 / (len(analysis.groups) - index))
            with at_most(max(own.left, 0) + GRACE):
                tunings.append(retuned(group, subject, entry.rebuild, own))
    except TimeOverError:
        cut = "other settings were sought for a part of the groups only: the time limit was reached"
        analysis = replace(analysis, assumptions=(*analysis.assumptions, cut))
    except KeyboardInterrupt:
        analysis = _stopped(analysis, "other settings were")
    tunings += [()] * (len(analysis.groups) - len(tunings))
    calls = answered(lambda: amplified(entry.design))
    if not calls.complete:
        cut = f"of the paths of calls the first {MOST_PATHS:,} are multiplied; others may send more"
        analysis = replace(analysis, assumptions=(*analysis.assumptions, cut))
    return analysis, calls.paths, tunings


def _dumped(document: dict[str, Any]) -> str:
    from coherence.base.version import VERSION

    head = {"format_version": 1, "tool": "coherence analyze", "version": VERSION}
    return json.dumps({**head, **document}, indent=2, allow_nan=False) + "\n"
