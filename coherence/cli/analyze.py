"""Analyze the loops: operating points, margins, period, and which loops to blame"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import click

from coherence.base.errors import UsageError
from coherence.base.watchdog import STOPPED_CODE
from coherence.cli._designs import one_entry, system_of
from coherence.cli._given import refuse_given
from coherence.cli._network import NAMES, analyze_network, network_options, questions_of
from coherence.cli._output import Output, output_option, put_out
from coherence.cli._picture import Picture, picture_of, picture_options
from coherence.cli._seconds import time_limit_option
from coherence.cli._series import NAMES as OF_SERIES
from coherence.cli._series import analyze_series, series_options
from coherence.cli._unread import OPEN, strict_code, strict_option
from coherence.door.second_opinions import CrossChecks, cross_checked

if TYPE_CHECKING:
    from coherence.door.analyze import AnalysisResult


@click.command("analyze")
@click.argument("path", type=click.Path(), required=False)
@click.option("--network", metavar="FILE", help="Analyze blocks and couplings stated in YAML instead of a design.")
@network_options
@series_options
@picture_options
@click.option("--retune/--no-retune", default=True, show_default=True, help="Search for settings that are safe.")
@time_limit_option(0.5, 30.0, "Of the processor, for the whole analysis; what is not reached is undecided.")
@click.option("--cross-check", is_flag=True, help="Lay verdicts beside python-control's; exit 1 where they differ.")
@strict_option(OPEN)
@output_option("text", "json")
def command(  # noqa: PLR0913  (one parameter per option)
    *, path: str | None, network: str | None, series: str | None, transient: bool, response: tuple[str, ...],
    retune: bool, time_limit: float, strict: bool, output: Sequence[Output], cross_check: bool, **asked_of_network: Any,
) -> int:  # fmt: skip
    """Analyze the loops of the design at PATH.

    For each group of loops in feedback: what exact execution says, and beside it the linear verdict at every
    operating point, inside and outside of tolerances, with margins, period and the smallest set of loops to blame.
    Exit 1: a network is unstable, or answers about a design contradict each other.  A design that never settles is
    described with exit 0: what fails on it is `coherence check` (COH301).
    """
    if series is not None and network is None:
        refuse_given((*NAMES, "picture", "retune", "cross_check", "strict"), "series of telemetry are only read")
        text, document = analyze_series(series, path, time_limit, transient=transient, responses=response)
        put_out(output, lambda form: _dumped(document) if form == "json" else text)
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
        put_out(output, lambda form: _dumped(document) if form == "json" else text)
        return code
    refuse_given(NAMES, "it is asked of a network of blocks (--network FILE)")
    assert path is not None
    return _design(path, picture, output, time_limit, retune=retune, strict=strict, cross_check=cross_check)


def _design(
    path: str, picture: Picture | None, output: Sequence[Output], time_limit: float, *, retune: bool, strict: bool,
    cross_check: bool,
) -> int:  # fmt: skip
    """Prints the analysis of a design; returns the exit code: 1 where its answers contradict each other."""
    from coherence.base.watchdog import interruptible
    from coherence.cli._progress import Progress
    from coherence.door.analyze import of_entry
    from coherence.loops.analysis.design_analysis import DesignAnalysis
    from coherence.loops.pictures.analysis_figure import of_design
    from coherence.reporting.pictures import files

    entry = one_entry(path)
    with Progress("analyzing") as bar, interruptible(bar) as run:
        result = of_entry(entry, path, time_limit, retune=retune)
    analysis, beside = result.analysis, result.beside
    assert isinstance(analysis, DesignAnalysis) and beside is not None and result.model is not None  # noqa: PT018
    second = cross_checked(analysis, path, result.model, time_limit) if cross_check else CrossChecks()
    if picture is not None:
        drawn = of_design(
            system_of(path, entry), analysis, result.model, beside.cycles,
            seconds=time_limit, decay=picture.decay, kinds=picture.kinds,
        )  # fmt: skip
        files.write(drawn, picture.file)
    document = {**result.to_dict(), **second.to_dict()}
    put_out(output, lambda form: _dumped(document) if form == "json" else _text(path, result, second))
    left_open = any(group.verdict == "undecided" for group in analysis.groups)
    if analysis.stopped or run.stopped:
        return STOPPED_CODE
    failed = int(bool(beside.differing) or second.differ)
    return strict_code(failed, beside.unread, strict=strict, left_open=left_open)


def _text(path: str, result: AnalysisResult, second: CrossChecks) -> str:
    """Returns contradictions first, then groups, limit cycles, operating points of retries, what is not read."""
    from coherence.cli._unread import unread_text
    from coherence.door import operating_points
    from coherence.loops.analysis import cycle_comparison, render_text
    from coherence.loops.analysis.design_analysis import DesignAnalysis
    from coherence.loops.analysis.second_opinions import render_disagreements

    analysis, beside = result.analysis, result.beside
    assert isinstance(analysis, DesignAnalysis) and beside is not None  # noqa: PT018
    lines = (
        *cycle_comparison.text(analysis, beside.cycles), *operating_points.text(beside.loads),
        *unread_text(beside.unread),
    )  # fmt: skip
    groups = render_text.text(path, analysis, beside.calls, list(beside.tunings))
    return render_disagreements(beside.differing) + groups + "".join(f"{line}\n" for line in lines) + second.render()


def _dumped(document: dict[str, Any]) -> str:
    from coherence.door.result import head

    return json.dumps({**head("analyze"), **document}, indent=2, allow_nan=False) + "\n"
