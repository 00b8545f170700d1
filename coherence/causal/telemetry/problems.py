"""Collects problems of telemetry files with file, line, value and remedy: all of a file at once, up to a number."""

from __future__ import annotations

from coherence.base.errors import InputError, Problem
from coherence.base.places import Place
from coherence.base.units import shorten

MOST = 20


def problem(file: object, line: int, message: str, remedy: str = "") -> Problem:
    """A problem on one line."""
    return Problem(Place(str(file), int(line), 1, int(line), 1), message, remedy)


def refuse(file: object, line: int, message: str, remedy: str = "") -> InputError:
    """The error of one problem."""
    return InputError([problem(file, line, message, remedy)])


def quoted(cell: object) -> str:
    """A cell as it is shown: on one line, cut where it is long."""
    return f"'{shorten('' if cell is None else str(cell))}'"


def several(count: int, one: str, more: str = "") -> str:
    """`1 time`, `3 times`."""
    return f"{count:,} {one if count == 1 else more or one + 's'}"
