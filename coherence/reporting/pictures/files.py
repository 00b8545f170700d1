"""Writes a figure to a file: SVG always, PNG where matplotlib is installed."""

from __future__ import annotations

from pathlib import Path

from coherence.base.errors import UsageError
from coherence.base.output_files import write_output
from coherence.reporting.pictures.png import png
from coherence.reporting.pictures.svg import Figure, svg

MARK = b"drawn by coherence"


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
    is_png = file.lower().endswith(".png")
    write_output(file, png(figure) if is_png else svg(figure).encode(), mark=MARK)


def _matplotlib() -> None:
    import importlib.util

    if importlib.util.find_spec("matplotlib") is None:
        raise UsageError("a PNG needs matplotlib (pip install matplotlib); FILE.svg needs nothing")
