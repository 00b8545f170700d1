"""Writes a figure to a file: SVG always, PNG where matplotlib is installed."""

from __future__ import annotations

from pathlib import Path

from coherence.base.errors import UsageError
from coherence.reporting.pictures.png import write_png
from coherence.reporting.pictures.svg import Figure, svg


def check_kind(file: str) -> None:
    """Raises UsageError where this kind of file cannot be written here."""
    kind = Path(file).suffix.lower()
    if kind not in (".svg", ".png"):
        raise UsageError(f"--picture {file}: end it in .svg or .png")
    if kind == ".png":
        _matplotlib()


def write(figure: Figure, file: str) -> None:
    """Writes the figure in the format that the suffix names.  Raises UsageError."""
    check_kind(file)
    try:
        if file.lower().endswith(".png"):
            write_png(figure, file)
        else:
            Path(file).write_text(svg(figure), encoding="utf-8")
    except OSError as error:
        raise UsageError(f"cannot write {file}: {error.strerror}") from None


def _matplotlib() -> None:
    import importlib.util

    if importlib.util.find_spec("matplotlib") is None:
        raise UsageError("a PNG needs matplotlib (pip install matplotlib); FILE.svg needs nothing")
