"""Writes the page and the picture of an experiment: what is known of its systems, false alarms, power, curves."""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from pathlib import Path

from coherence.base.errors import UsageError
from coherence.exploring.experiments.experiment import LEAST_SEEN, SEEDS, PowerCurve
from coherence.exploring.experiments.results import ExperimentResult
from coherence.reporting.pictures.figure import Dots, Figure, Guide, Line, Panel
from coherence.reporting.pictures.svg import svg


def write_page(result: ExperimentResult, folder: Path) -> tuple[Path, ...]:
    """Writes README.md and power.svg; returns their paths.  Raises UsageError where a file cannot be written."""
    texts = {folder / "README.md": page(result), folder / "power.svg": svg(figure(result))}
    for path, text in texts.items():
        try:
            path.write_text(text, encoding="utf-8")
        except OSError as error:
            raise UsageError(f"cannot write {path}: {error.strerror}") from None
    return tuple(texts)


def figure(result: ExperimentResult) -> Figure:
    """Returns how often the null is rejected as effects grow: a panel for each kind of size."""
    kinds = dict.fromkeys(curve.x for curve in result.experiment.curves)
    panels = (_panel(result, [curve for curve in result.experiment.curves if curve.x == x]) for x in kinds)
    return Figure(f"{result.experiment.mode}: null rejected", tuple(panels))


def _panel(result: ExperimentResult, curves: list[PowerCurve]) -> Panel:
    lines = tuple(Line(curve.name, result.points(curve), style) for style, curve in enumerate(curves))
    dots = tuple(Dots("", line.points, "os^"[style], style) for style, line in enumerate(lines))
    guides = (Guide("y", 0.01, "level 1 %"), Guide("y", LEAST_SEEN / SEEDS, "target 90 %"))
    y = f"share of {curves[0].seeds} seeds"
    return Panel("", curves[0].x, y, lines, dots, low=0.0, high=1.0, guides=guides)


def page(result: ExperimentResult) -> str:
    """Returns the text of the page."""
    experiment = result.experiment
    rows = "\n".join(
        f"| {row.name} | {row.rejected} of {SEEDS} | {row.target} | {row.magnitude:.3g} | {row.unit} |"
        for row in result.counts()
    )
    curves = "\n".join(_curve(result))
    return f"""# {experiment.mode[2:].capitalize()}
**Claim.** {experiment.claim}

**Systems.** {inspect.cleandoc(experiment.about)}

**Null.** {result.null[0].upper()}{result.null[1:]}.

| truth | null rejected | target | magnitude, mean | unit |
|---|--:|--:|--:|---|
{rows}

![how often the null is rejected](power.svg)

{curves}

    coherence reproduce --experiment {result.name} --into specs/experiments

The command runs every system again, and writes this page and its picture.
"""


def _curve(result: ExperimentResult) -> Iterator[str]:
    """Yields a line for each curve: the share of runs with a rejection at each size."""
    for curve in result.experiment.curves:
        points = ", ".join(f"{share:.3g} at {size:g}" for size, share in result.points(curve))
        yield f"- {curve.name}, {curve.x}: rejected in a share of {points} ({curve.seeds} runs each)."
