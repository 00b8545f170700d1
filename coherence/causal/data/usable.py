"""Selects the signals of a record that an estimate can use; the others are named, with the reason."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from coherence.causal.data.series import Excluded, Floats, Series

FEWEST_VALUES = 0.5  # share of the times at which a signal must have a value


def usable(series: Series) -> tuple[Series, tuple[Excluded, ...]]:
    """Leave out, by name, what no estimate can use: signals with few values, and signals that never change."""
    values: Floats = np.where(np.isfinite(series.values), series.values, np.nan)
    out: list[Excluded] = []
    columns: list[int] = []
    for number, name in enumerate(series.names):
        there = values[~np.isnan(values[:, number]), number]
        if len(there) < FEWEST_VALUES * len(values) or not len(there):
            out.append(
                Excluded(name, f"it has a value at {len(there)} of {len(values)} times", "choose a longer --step")
            )
        elif np.ptp(there) == 0:
            out.append(
                Excluded(name, f"it is {there[0]:.6g} all the time", "a cause that never changes cannot be seen")
            )
        else:
            columns.append(number)
    names = tuple(series.names[number] for number in columns)
    return Series(names, values[:, columns], series.step, series.start, series.units, (*series.excluded, *out)), tuple(
        out
    )


def unchanging(series: Series) -> tuple[str, ...]:
    """The signals with one value all the time, at most of the times."""
    values = {name: series[name][np.isfinite(series[name])] for name in series.names}
    enough = max(FEWEST_VALUES * len(series), 1)
    return tuple(name for name, there in values.items() if len(there) >= enough and not np.ptp(there))


def without_copies(series: Series, needed_names: Iterable[str]) -> Series:
    """The series without signals that equal an earlier one at every time, unless they are to be kept."""
    needed, seen, names = set(needed_names), set(), set()
    for name in sorted(series.names, key=lambda name: name not in needed):
        key = np.ascontiguousarray(series[name]).tobytes()
        if name in needed or key not in seen:
            names.add(name)
        seen.add(key)
    return series.of(name for name in series.names if name in names)
