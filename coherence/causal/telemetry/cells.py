"""Parses cells of text to floats: empty is missing, `nan` and `inf` are values, anything else is refused by line.

A column that holds no number at all is text and is left out by name; a word among numbers is a problem.
"""

from __future__ import annotations

from array import array
from collections.abc import Sequence

import numpy as np

from coherence.base.errors import Problem
from coherence.causal.data.series import Floats
from coherence.causal.telemetry.problems import problem, quoted

ABSENT = frozenset({"", "null", "NULL", "None", "none", "NA", "N/A", "n/a", "<NA>"})
TRUTH = {"true": 1.0, "True": 1.0, "TRUE": 1.0, "false": 0.0, "False": 0.0, "FALSE": 0.0}


class Cells:
    """One column as it is read, batch by batch; `rows` are the positions of `values` where some are missing."""

    __slots__ = ("absent", "name", "number", "parts", "present", "truths", "word", "words")

    def __init__(self, name: str) -> None:
        self.name = name
        self.parts: list[Floats] = []
        self.present: list[np.ndarray | None] = []  # None: all of the batch
        self.number = False  # has it held a number?
        self.word: tuple[int, str] | None = None  # line and text of the first cell that is none
        self.words, self.absent, self.truths = 0, 0, 0

    def add(self, cells: Sequence[str], lines: Sequence[int]) -> None:
        """The next batch."""
        try:
            self.parts.append(np.fromiter(map(float, cells), np.float64, len(cells)))
            self.present.append(None)
            self.number = self.number or len(cells) > 0
        except ValueError:
            self._slowly(cells, lines)

    def _slowly(self, cells: Sequence[str], lines: Sequence[int]) -> None:
        values, present = array("d"), np.zeros(len(cells), np.bool_)
        for index, raw in enumerate(cells):
            cell = raw.strip()
            if cell in ABSENT:
                self.absent += 1
                continue
            try:
                level = float(cell)
            except ValueError:
                if cell not in TRUTH:
                    self.word, self.words = self.word or (lines[index], raw), self.words + 1
                    continue
                level, self.truths = TRUTH[cell], self.truths + 1
            values.append(level)
            present[index] = True
        self.number = self.number or len(values) > 0
        self.parts.append(np.asarray(values, np.float64))
        self.present.append(present)

    def problem(self, file: object) -> Problem | None:
        """What is wrong with a column that holds both numbers and words."""
        if self.word is None or not self.number:
            return None
        line, text = self.word
        more = f" (and {self.words - 1:,} more)" if self.words > 1 else ""
        message = f"{quoted(text)} in the column {quoted(self.name)} is not a number{more}"
        return problem(file, line, message, "write a number with a decimal point, nan, inf, -inf, or nothing")

    @property
    def text(self) -> bool:
        """Holds words and no number."""
        return self.word is not None and not self.number

    def samples(self) -> tuple[Floats, np.ndarray | None]:
        """Values, and which rows have one (None: all)."""
        values = np.concatenate(self.parts) if self.parts else np.zeros(0)
        if all(part is None for part in self.present):
            return values, None
        pairs = zip(self.parts, self.present, strict=True)
        return values, np.concatenate([np.ones(len(p), np.bool_) if at is None else at for p, at in pairs])
