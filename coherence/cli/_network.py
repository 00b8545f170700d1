"""Analyzes a network of blocks for `analyze --network`: its options, its answers, its exit code."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from coherence.base.errors import UsageError
from coherence.base.watchdog import WHOLE, TimeOverError, run_limit
from coherence.cli._unread import strict_code
from coherence.door.second_opinions import CrossChecks, cross_checked

if TYPE_CHECKING:
    from coherence.cli._picture import Picture
    from coherence.loops.analysis.network_analysis import NetworkAnalysis
    from coherence.loops.analysis.network_answers import Answer, NetworkQuestion
    from coherence.loops.designs.feedback_groups import Deadline
    from coherence.loops.multirate.sampled_system import Multirate
    from coherence.loops.networks.network import Network

VERDICT = 0.8  # of the time limit: what verdict and margins may take where more is asked
WHAT = click.Choice(["gain", "delay"])
OPTIONS = (
    click.option("--critical", type=WHAT, multiple=True, help="Factor or extra delay at which the verdict changes."),
    click.option("--windows", type=WHAT, multiple=True, help="Where a network is stable, of one block."),
    click.option("--peak", metavar="FROM:TO", multiple=True, help="Largest amplification in a network; `all:all`."),
    click.option("--along", metavar="A,B,C", multiple=True, help="Whether a disturbance at A grows on the way to C."),
    click.option("--interaction", is_flag=True, help="Relative gains, Niederlinski's index, disk of all loops."),
    click.option("--map", "mapped", is_flag=True, help="Windows of delay of one block, gain by gain."),
    click.option("--of", "blocks", metavar="A,B", help="The blocks of a network that these are about."),
    click.option("--up-to", type=click.FloatRange(min=0, min_open=True), help="Highest factor, or delay in seconds."),
)
NAMES = ("critical", "windows", "peak", "along", "interaction", "mapped", "blocks", "up_to")


def network_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Adds the options that are asked of a network."""
    for option in reversed(OPTIONS):
        command = option(command)
    return command


def questions_of(given: dict[str, Any]) -> list[NetworkQuestion]:
    """Returns the questions of the options.  Raises UsageError for options that ask nothing."""
    from coherence.loops.analysis.network_answers import NetworkQuestion

    blocks = _names(given["blocks"])
    kinds = [f"critical {what}" for what in given["critical"]] + [f"{what} windows" for what in given["windows"]]
    kinds += ["interaction"] * given["interaction"] + ["map"] * given["mapped"]
    questions = [NetworkQuestion(kind, blocks, given["up_to"]) for kind in kinds]
    if (blocks or given["up_to"] is not None) and not questions:
        raise UsageError("--of and --up-to belong to --critical, --windows, --interaction or --map: name one of them")
    paths = [NetworkQuestion("along", _names(path)) for path in given["along"]]
    return [*questions, *map(_peak, given["peak"]), *paths]


def _names(listed: str | None) -> tuple[str, ...]:
    return tuple(name.strip() for name in (listed or "").split(",") if name.strip())


def _peak(ends: str) -> NetworkQuestion:
    from coherence.loops.analysis.network_answers import NetworkQuestion

    source, colon, target = ends.partition(":")
    if not colon:
        raise UsageError(f"--peak {ends}: write FROM:TO, two blocks or `all`")
    named = [None if end == "all" else end for end in (source, target)]
    return NetworkQuestion("peak", source=named[0], target=named[1])


def analyze_network(
    file: str, questions: list[NetworkQuestion], picture: Picture | None, time_limit: float, *, strict: bool,
    cross_check: bool = False,
) -> tuple[str, dict[str, Any], int]:  # fmt: skip
    """Returns text, JSON and exit code: 1 where it is unstable or opinions differ, 4 where --strict and one is open."""
    from coherence.loops.analysis import render_network, render_network_questions
    from coherence.loops.analysis.network_reading import read_network
    from coherence.loops.designs.feedback_groups import Deadline

    with run_limit(WHOLE * time_limit):
        network, until = read_network(Path(file)), Deadline(time_limit)
        judged = _judged(network, until.share(VERDICT if questions else 1), time_limit)
        answers = _answers(network, questions, until)
    second = cross_checked(judged, file, None, time_limit) if cross_check else CrossChecks()
    if picture is not None:
        _draw(judged, file, picture, time_limit)
    text = render_network.text(file, judged) + render_network_questions.text(answers) + second.render()
    more = {"answers": render_network_questions.as_json(answers), **second.to_dict()}
    document = {**render_network.as_json(file, judged), **more}
    left_open = judged.verdict == "undecided" or any(answer.open for answer in answers)
    bad = judged.verdict == "unstable" or second.differ
    return text, document, strict_code(int(bad), (), strict=strict, left_open=left_open)


def _draw(judged: NetworkAnalysis, file: str, picture: Picture, time_limit: float) -> None:
    from coherence.loops.pictures.analysis_figure import of_network, system_name
    from coherence.reporting.pictures import files

    figure = of_network(system_name(file), judged, seconds=time_limit, decay=picture.decay, kinds=picture.kinds)
    files.write(figure, picture.file)


def _judged(network: Network | Multirate, until: Deadline, time_limit: float) -> NetworkAnalysis:
    """Returns the verdict of a network, with margins or blame as far as the time allows."""
    from coherence.loops.analysis.network_analysis import analysed, judged, undecided

    reason = f"the time limit of {time_limit:g} s was reached"
    analysis = undecided(network, reason)
    try:
        with until.ending():
            analysis = judged(network)
            analysis = analysed(network, analysis)
    except TimeOverError:
        analysis = replace(analysis, notes=(*analysis.notes, reason))
    return analysis


def _answers(network: Network | Multirate, questions: list[NetworkQuestion], until: Deadline) -> list[Answer]:
    """Returns the answers, each within its share of what is left of the time."""
    from coherence.loops.analysis.network_answers import unanswered
    from coherence.loops.analysis.network_questions import answered

    answers: list[Answer] = []
    for index, question in enumerate(questions):
        try:
            with until.share(1 / (len(questions) - index)).ending():
                answers.append(answered(network, question))
        except TimeOverError:
            answers.append(unanswered(question.kind, question.blocks, "the time limit was reached"))
    return answers
