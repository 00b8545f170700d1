"""Selects the signals of a record that an estimate can use; the others are named, with the reason."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from coherence.causal.data.extents import Extents, extents_of
from coherence.causal.data.series import Excluded, Floats, Series

LARGEST = 1e140  # of a value: sums of its squares are numbers
SMALLEST = 1e-140  # of the distance between values that differ, for the same reason
FEWEST_VALUES = 0.5  # share of the times at which a signal must have a value


def usable(series: Series, whole: Extents | None = None) -> tuple[Series, tuple[Excluded, ...]]:
    """Leave out, by name, what no estimate can use: signals with few values, and signals that never change.

    `whole`: the extents of the record, where the series is only its beginning.
    """
    extents = (whole.of(series.names) if whole is not None else extents_of([series])) or extents_of([series])
    assert extents is not None
    values: Floats = np.where(np.isfinite(series.values), series.values, np.nan)
    out: list[Excluded] = []
    columns: list[int] = []
    for number, name in enumerate(series.names):
        count, low, high = int(extents.counts[number]), extents.low[number], extents.high[number]
        if count < FEWEST_VALUES * extents.rows or not count:
            out.append(Excluded(name, f"it has a value at {count} of {extents.rows} times", "choose a longer --step"))
        elif max(abs(low), abs(high)) > LARGEST:
            out.append(Excluded(name, f"its values go up to {max(abs(low), abs(high)):.3g}: no square of them is a "
                                "number", "give it in a larger unit"))  # fmt: skip
        elif 0 < high - low < SMALLEST:
            out.append(Excluded(name, f"its values are at most {high - low:.3g} apart: no square of that is a number",
                                "give it in a smaller unit"))  # fmt: skip
        elif low == high:
            out.append(Excluded(name, f"it is {low:.6g} all the time", "a cause that never changes cannot be seen"))
        else:
            columns.append(number)
    names = tuple(series.names[number] for number in columns)
    return Series(names, values[:, columns], series.step, series.start, series.units, (*series.excluded, *out)), tuple(
        out
    )


def without_squares(*records: Series) -> dict[str, str]:
    """Returns the signals with values in any of the records whose squares are no numbers, and what these are."""
    every = [extents_of([series]) for series in records]
    ranges = [row for one in every if one is not None for row in zip(one.names, one.low, one.high, strict=True)]
    large = {name: f"has values beyond {LARGEST:g}" for name, low, high in ranges
             if low <= high and max(-low, high) > LARGEST}  # fmt: skip
    small = {name: f"has values less than {SMALLEST:g} apart" for name, low, high in ranges
             if 0 < high - low < SMALLEST}  # fmt: skip
    return {name: f"{why}, whose squares are no numbers" for name, why in (small | large).items()}


def unchanging(series: Series, whole: Extents | None = None) -> tuple[str, ...]:
    """The signals with one value all the time, at most of the times; `whole` as in `usable`."""
    extents = whole or extents_of([series])
    assert extents is not None
    enough = max(FEWEST_VALUES * extents.rows, 1)
    still = (extents.counts >= enough) & (extents.low == extents.high)
    return tuple(name for name, rests in zip(extents.names, still.tolist(), strict=True) if rests)


def without_copies(series: Series, needed_names: Iterable[str]) -> Series:
    """The series without signals that equal an earlier one at every time, unless they are to be kept."""
    needed, seen, names = set(needed_names), set(), set()
    for name in sorted(series.names, key=lambda name: name not in needed):
        key = np.ascontiguousarray(series[name]).tobytes()
        if name in needed or key not in seen:
            names.add(name)
        seen.add(key)
    return series.of(name for name in series.names if name in names)
