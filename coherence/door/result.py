"""Defines what every verb returns: a frozen result with a data frame, a mapping, HTML, and a short text."""

from __future__ import annotations

import copy
import html
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

from coherence.base.errors import MissingExtraError, UsageError
from coherence.base.outside_text import visible

if TYPE_CHECKING:
    from pandas import DataFrame

    from coherence.reporting.pictures.figure import Panel

ROWS = 200  # of a table in HTML


@dataclass(frozen=True, repr=False)
class VerbResult:
    """An answer: equal to another one where `to_dict()` is; nothing of it can be assigned.

    `data` is what the command of the same name prints with `--output json`.
    """

    data: Mapping[str, Any]
    columns: ClassVar[tuple[str, ...]] = ()  # of the frame

    def to_dict(self) -> dict[str, Any]:
        """Returns the whole answer as plain data, as the command prints it with `--output json`."""
        return copy.deepcopy(dict(self.data))

    def to_frame(self) -> DataFrame:
        """Returns the answer as a table (pandas): a row for each part of it."""
        return frame(self._rows(), self.columns)

    def __repr__(self) -> str:
        return "\n".join(map(visible, self._lines()))

    def _repr_html_(self) -> str:
        """Returns the answer for a notebook: its three lines, and its table where pandas is installed."""
        head = "<br>".join(html.escape(visible(line)) for line in self._lines())
        try:
            table = self.to_frame().to_html(max_rows=ROWS, na_rep="")
        except MissingExtraError:
            table = ""
        return f"<p>{head}</p>{table}"

    def _rows(self) -> Iterable[Mapping[str, Any]]:
        raise NotImplementedError

    def _lines(self) -> Sequence[str]:
        raise NotImplementedError


def frame(rows: Iterable[Mapping[str, Any]], columns: Sequence[str]) -> DataFrame:
    """Returns rows as a table with these columns, in this order, also where there is no row.

    Raises MissingExtraError without pandas.
    """
    try:
        import pandas as pd
    except ImportError:
        raise MissingExtraError("a data frame", "causal") from None

    return pd.DataFrame(list(rows), columns=list(columns))


def drawn(panel: Panel, ax: Any) -> Any:
    """Draws a panel on the axes of matplotlib, or on new ones, and returns them.  Raises MissingExtraError."""
    from coherence.reporting.pictures.files import need_matplotlib

    need_matplotlib()
    from coherence.reporting.pictures.png import draw_panel

    if ax is None:
        from matplotlib import pyplot as plt

        _, ax = plt.subplots()
    draw_panel(ax, panel)
    return ax


def drawn_of(panels: Sequence[Panel], number: int, ax: Any) -> Any:
    """Draws the panel of this number, counted from 0.  Raises UsageError where there is none."""
    if not 0 <= number < len(panels):
        raise UsageError(f"there is no panel {number}: there are {len(panels)}, counted from 0")
    return drawn(panels[number], ax)


def head(tool: str, *, version: int = 1) -> dict[str, Any]:
    """Returns the first keys of a command's JSON: the version of its format, the command, the version of the tool."""
    from coherence.base.version import VERSION

    return {"format_version": version, "tool": f"coherence {tool}", "version": VERSION}


def counted(number: int, word: str) -> str:
    """Returns `1 conflict`, `2 conflicts`."""
    return f"{number} {word}{'' if number == 1 else 's'}"


def listed(words: Sequence[str], none: str) -> str:
    """Returns at most three words and how many more there are; `none` where there is none."""
    more = f" and {len(words) - 3} more" if len(words) > 3 else ""
    return ", ".join(words[:3]) + more if words else none
