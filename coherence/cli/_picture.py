"""Chooses what `analyze --picture` draws: its options."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import click

from coherence.base.errors import UsageError, did_you_mean
from coherence.cli._given import refuse_given

KINDS = ("run", "sensitivity", "bode", "nyquist", "step", "roots", "locus", "map", "cycle")
OPTIONS = (
    click.option("--picture", metavar="FILE", help="Draw runs, responses, roots and maps: FILE.svg, or FILE.png."),
    click.option("--draw", metavar="A,B", help=f"Which panels of the picture: {', '.join(KINDS)} (default: all)."),
    click.option("--decay", type=click.FloatRange(min=0, min_open=True), help="Draw roots to this decay, 1/s."),
)
NAMES = ("draw", "decay")


@dataclass(frozen=True)
class Picture:
    """The file to draw to, the kinds of panels, and the decay (1/s) to which roots are drawn (None: chosen)."""

    file: str
    kinds: tuple[str, ...] = KINDS
    decay: float | None = None


def picture_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Adds the options of a picture."""
    for option in reversed(OPTIONS):
        command = option(command)
    return command


def picture_of(given: dict[str, Any]) -> Picture | None:
    """Takes the options of a picture out of those given; None where no picture is wanted.  Raises UsageError."""
    from coherence.reporting.pictures import files

    file, drawn, decay = given.pop("picture"), given.pop("draw"), given.pop("decay")
    if file is None:
        refuse_given(NAMES, "name a file to draw to with --picture FILE")
        return None
    files.check_kind(file)
    kinds = tuple(name.strip() for name in (drawn or "").split(",") if name.strip())
    for kind in kinds:
        if kind not in KINDS:
            raise UsageError(f"--draw {kind}: {did_you_mean(kind, KINDS)}")
    return Picture(file, kinds or KINDS, decay)
