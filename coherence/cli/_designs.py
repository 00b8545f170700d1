"""Reads the one design that a command is about."""

from __future__ import annotations

from typing import TYPE_CHECKING

from coherence.base.errors import UsageError

if TYPE_CHECKING:
    from coherence.checking.workspace import Entry


def one_entry(path: str) -> Entry:
    """Returns the entry of the one design at a path.  Raises UsageError where there are several."""
    from coherence.checking.workspace import open_workspace

    entries = open_workspace([path]).entries
    if len(entries) != 1:
        raise UsageError(f"{path} holds {len(entries)} designs: name one file")
    return entries[0]
