"""Renders readings as a table: a block for each thing, a line for each quantity with its interval."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from coherence.base.number_text import render_measured
from coherence.simulate.study.readings import QUANTILES, SUCCEED

if TYPE_CHECKING:
    from coherence.simulate.study.repeated_runs import StudyReading

OF_CHANGES = "a change is the mean over the runs, seed by seed; percentiles beside it are of all runs together"


def readings_table(columns: Sequence[Sequence[StudyReading]], changed: Sequence[StudyReading] = ()) -> list[str]:
    """Returns the lines of a table; a third column shows the change, starred where its interval is without zero."""
    cells = [{reading.key: render_reading(reading) for reading in column} for column in columns]
    if changed:
        cells.append({reading.key: render_reading(reading, sign=True) + _mark(reading) for reading in changed})
    readings = (reading for column in columns for reading in column)
    shown = dict.fromkeys(r.key for r in readings if r.value or r.low or r.high or _tells_by_zero(r))
    things = list(dict.fromkeys(of for of, *_ in shown))
    keys = sorted(shown, key=lambda key: things.index(key[0]))  # what one design alone has stands with its thing
    width = max((len(what) for _, what, _ in keys), default=0)
    wide = [max((len(text) for text in column.values()), default=0) for column in cells]
    lines, last = [], None
    for of, what, unit in keys:
        if of != last:
            lines += ["", of] if last is not None else [of]
            last = of
        row = [column.get((of, what, unit), "-").ljust(w) for column, w in zip(cells, wide, strict=True)]
        lines.append(f"  {what:<{width}}  {'  '.join(row)}".rstrip())
    starred = ["* the interval of the change leaves out zero"] if any(map(_mark, changed)) else []
    return [*lines, "", *starred, OF_CHANGES] if changed else lines


def _tells_by_zero(reading: StudyReading) -> bool:
    """Decides whether zero is news: of most quantities it says that nothing of their kind happened."""
    waits = reading.unit == "s" and any(f"P{percent}" in reading.what for percent in QUANTILES)
    return waits or reading.what.startswith(SUCCEED)


def _mark(reading: StudyReading) -> str:
    apart = reading.low is not None and reading.high is not None and reading.low * reading.high > 0
    return " *" if apart else ""


def render_reading(reading: StudyReading, *, sign: bool = False) -> str:
    """Returns value and interval as text: `212 ms [208 ms, 216 ms]`, and of runs `2 of 4: 50 % [6.76 %, 93.2 %]`."""
    value = _number(reading.value, reading.unit, sign=sign)
    if reading.more_than:
        return f"more than {value}"
    if reading.too_short:
        return f"{value} (too short to tell: {reading.too_short})"
    if reading.low is None or reading.high is None:
        return value
    text = f"{value} [{_number(reading.low, reading.unit)}, {_number(reading.high, reading.unit)}]"
    if reading.out_of is None:
        return text
    return f"{round(reading.value / 100 * reading.out_of)} of {reading.out_of}: {text}"


def _number(value: float, unit: str, *, sign: bool = False) -> str:
    text = render_measured(value, unit)
    return f"+{text}" if sign and value > 0 else text
