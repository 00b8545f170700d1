"""Analyzes series of telemetry for `analyze --series`: its options and answers, beside a design or alone."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from coherence.base.errors import UsageError

if TYPE_CHECKING:
    from coherence.loops.analysis.design_analysis import GroupAnalysis

OPTIONS = (
    click.option("--series", metavar="FILE.csv", help="What telemetry tells: means, periods, delays, with intervals."),
    click.option("--transient", is_flag=True, help="The series follow a step or a failure."),
    click.option("--response", metavar="A:B", multiple=True, help="Gain, delay and lag from one series to another."),
)
NAMES = ("transient", "response")


def series_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Adds the options that are asked of series."""
    for option in reversed(OPTIONS):
        command = option(command)
    return command


def analyze_series(
    file: str, design: str | None, time_limit: float, *, transient: bool, responses: tuple[str, ...]
) -> tuple[str, dict[str, Any]]:
    """Returns text and JSON.  Raises UsageError, InputError."""
    from coherence.loops.identification import telemetry_series as telling

    series = telling.read_series(Path(file))
    answers = [telling.column_answer(series, name, transient=transient) for name in series.columns]
    lines = [f"{file}: a sample every {series.interval:g} s", ""]
    lines += [line for answer in answers for line in telling.render_column(answer)]
    pairs = []
    for source, target in map(_ends, responses):
        answer = telling.pair_response(series, source, target)
        lines += telling.render_response(source, target, answer)
        pairs.append(telling.response_json(source, target, answer))
    periods = _periods(design, time_limit) if design else {}
    hidden = telling.hidden_from(series, periods, answers)
    lines += [f"{name}: the design has a period of {period:.4g} s" for name, period in periods.items()] + hidden
    document = {
        "path": file, "interval_seconds": series.interval, "columns": [telling.column_json(a) for a in answers],
        "responses": pairs, "design_periods_seconds": periods, "hidden": hidden,
    }  # fmt: skip
    return "".join(f"{line}\n" for line in lines), document


def _ends(response: str) -> tuple[str, str]:
    source, colon, target = response.partition(":")
    if not colon:
        raise UsageError(f"--response {response}: write A:B, two columns")
    return source, target


def _periods(path: str, time_limit: float) -> dict[str, float]:
    """Returns the period (s) of every group of loops of a design that swings, by exact execution or by its roots."""
    from coherence.cli._designs import one_entry
    from coherence.findings.question_input import Subject
    from coherence.loops.analysis.design_analysis import analysed

    entry = one_entry(path)
    model = Subject(entry.design, entry.sources, time_limit).model
    groups = analysed(model, time_limit=time_limit).groups
    periods = {" and ".join(group.group.names[:3]): _period(group) for group in groups}
    return {name: period for name, period in periods.items() if period}


def _period(group: GroupAnalysis) -> float | None:
    run = group.answer.run
    if group.verdict == "oscillates" and run is not None and run.orbit is not None:
        return float(run.orbit.period)
    return next((roots.period for point in group.points for _, roots in point.branches if roots.period), None)
