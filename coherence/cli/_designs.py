"""Reads the one design that a command is about."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from coherence.checking.workspace import Entry


def one_entry(path: str) -> Entry:
    """Returns the entry of the one design at a path.  Raises UsageError where there are several."""
    from coherence.checking.workspace import open_workspace

    return open_workspace([path]).one_entry(path)


def system_of(path: str, entry: Entry) -> str:
    """Returns the name of the system of a design: as it is stated, else that of its file or folder."""
    from coherence.loops.pictures.analysis_figure import system_name

    return entry.design.system.text if entry.design.system else system_name(path)
