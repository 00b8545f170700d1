"""Where a value stands: file, line and column of its first and last character (counted from 1)."""

from __future__ import annotations

from coherence.base.values import ordered_value, replace


@ordered_value
class Place:
    """A span of one file.  `end_column` is exclusive; `label` says what the reader should see there."""

    file: str
    line: int
    column: int
    end_line: int
    end_column: int
    label: str = ""

    def __init__(self, file: str, line: int, column: int, end_line: int, end_column: int, label: str = "") -> None:
        # the one value that is made a thousand times in a reading
        own = self.__dict__
        own["file"], own["line"], own["column"] = file, line, column
        own["end_line"], own["end_column"], own["label"] = end_line, end_column, label

    def __str__(self) -> str:
        return f"{self.file}:{self.line}:{self.column}"

    def labelled(self, label: str) -> Place:
        """The same span with another label."""
        return replace(self, label=label)


NOWHERE = Place("<built-in>", 1, 1, 1, 1)
