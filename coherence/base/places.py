"""Defines where a value stands: file, line and column of its first and last character (counted from 1)."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, order=True)
class Place:
    """A span of one file.  `end_column` is exclusive; `label` says what the reader should see there."""

    file: str
    line: int
    column: int
    end_line: int
    end_column: int
    label: str = ""

    def __hash__(self) -> int:
        return self.line << 10 ^ self.column  # sets of the places that were read are large, and made for each answer

    def __str__(self) -> str:
        return f"{self.file}:{self.line}:{self.column}"

    def labelled(self, label: str) -> Place:
        """Returns the same span with another label."""
        return Place(self.file, self.line, self.column, self.end_line, self.end_column, label)


NOWHERE = Place("<built-in>", 1, 1, 1, 1)
