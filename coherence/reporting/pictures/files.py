"""Writes a figure to a file: SVG always, PNG where matplotlib is installed."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import is_dataclass, replace
from pathlib import Path
from typing import Any

from coherence.base.errors import UsageError
from coherence.base.output_files import write_output
from coherence.base.outside_text import visible
from coherence.reporting.pictures.drawing import Drawing
from coherence.reporting.pictures.figure import Figure
from coherence.reporting.pictures.png import png
from coherence.reporting.pictures.svg import svg

MARK = b"drawn by coherence"


def check_kind(file: str) -> None:
    """Raises UsageError where this kind of file cannot be written here."""
    kind = Path(file).suffix.lower()
    if kind not in (".svg", ".png"):
        raise UsageError(f"--picture {file}: end it in .svg or .png")
    if kind == ".png":
        need_matplotlib()


def write(figure: Figure, file: str) -> None:
    """Writes the figure in the format that the suffix names.  Raises UsageError."""
    check_kind(file)
    is_png, safe = file.lower().endswith(".png"), with_texts(figure)
    write_output(file, png(safe) if is_png else svg(safe).encode(), mark=MARK)


def check_drawing(file: str) -> None:
    """Raises UsageError where a free drawing cannot be written: only SVG has its marks."""
    if Path(file).suffix.lower() != ".svg":
        raise UsageError(f"--picture {file}: this picture is an SVG, end it in .svg")


def write_drawing(drawing: Drawing, file: str) -> None:
    """Writes a free drawing as SVG.  Raises UsageError."""
    check_drawing(file)
    write_output(file, drawing.standalone().encode(), mark=MARK)


def with_texts(part: Any, shown: Callable[[str], str] = visible) -> Any:
    """Returns a figure, or a part of one, with every text as `shown` shows it: no credentials, no controls."""
    if isinstance(part, str):
        return shown(part)
    if isinstance(part, tuple):
        return tuple(with_texts(item, shown) for item in part)
    if not is_dataclass(part) or isinstance(part, type):
        return part
    return replace(part, **{key: with_texts(value, shown) for key, value in vars(part).items()})


def need_matplotlib() -> None:
    """Raises UsageError where matplotlib is not installed."""
    import importlib.util

    if importlib.util.find_spec("matplotlib") is None:
        raise UsageError("a PNG, and axes, need matplotlib (pip install matplotlib); FILE.svg needs nothing")
