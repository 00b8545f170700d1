"""Computes one lap of a group with every loop cut open: exact matrices at a point, closed again at will.

A decision changes what is there by law - before; a loop is opened there, so that with the state x (everything that
is remembered, the past included)

    x[k+1] = A x + B v,   law - before = C x + D v        (D: of earlier decisions only)

and closed again by v = gain * (law - before); gain 1 is the design.  `before` is what the law carries on of its own
command (all of it for a law that changes it, nothing for one that sets it), so that the gain is that of the way from
the command through the plant and the readings back to the law: what a control engineer scales.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

from coherence.base.graphs import reached

MOST_VARIABLES = 160
ROUNDED = 1e-13  # doubt of numbers that were computed in floats
Row = dict[str, Fraction]
Table = dict[str, Row]


class LapError(ArithmeticError):
    """A lap without matrices: too large, or events whose time moves with the start."""


@dataclass(frozen=True)
class Cut:
    """One decision: `law` is what the loop would write, `before` what it carries on of its own command, `held` that."""

    loop: str
    time: Fraction
    law: Row
    before: Row
    held: Row


@dataclass(frozen=True)
class Lap:
    """The opened lap: rows over the names of x and of the inputs `input 0`, `input 1`, ... in the order of time.

    `doubt`: what rounding may have changed, relative to the norm of its matrix and for each variable; 0: nothing.
    `helpers`: names of x that are no signal of the model.
    """

    length: Fraction  # s
    end: Table
    cuts: tuple[Cut, ...]
    doubt: float = 0.0
    helpers: frozenset[str] = frozenset()

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(self.end)


@dataclass(frozen=True)
class Closed:
    """x[k+1] = A x + B v, law - before = C x + D v of the loops left open, pruned to what matters."""

    names: tuple[str, ...]
    a: list[list[Fraction]]
    b: list[list[Fraction]]
    c: list[list[Fraction]]
    d: list[list[Fraction]]
    decisions: tuple[tuple[str, list[Fraction]], ...]  # (loop, its closed decision as a row over names)
    opened: tuple[str, ...]  # the loop of each input
    doubt: float = 0.0


def closed(
    lap: Lap,
    paths: Collection[str] | None = None,
    *,
    gains: Mapping[str, Fraction] | None = None,
    held: Collection[str] = (),
    left_open: Collection[str] = (),
) -> Closed:
    """Closes the lap: `held` loops keep their command, `left_open` ones stay inputs.  `paths`: signals to keep."""
    inputs: Table = {}
    laws: list[Row] = []
    free: list[tuple[str, str]] = []
    decisions: list[tuple[str, Row]] = []
    for index, cut in enumerate(lap.cuts):
        name = f"input {index}"
        law, before = by_state(cut.law, inputs), by_state(cut.before, inputs)
        if cut.loop in left_open:
            inputs[name] = {**before, name: Fraction(1)}
            free.append((name, cut.loop))
            laws.append(_mix(law, before, Fraction(1), Fraction(-1)))
            continue
        if cut.loop in held:
            inputs[name] = by_state(cut.held, inputs)
        else:
            gain = (gains or {}).get(cut.loop, Fraction(1))
            inputs[name] = law if gain == 1 else _mix(law, before, gain, 1 - gain)
            decisions.append((cut.loop, inputs[name]))
    columns = [name for name, _ in free]
    end = _end_that_matters(lap, inputs, paths, laws, columns)
    names = tuple(end)
    return Closed(
        names,
        [_row(end[n], names) for n in names],
        [_row(end[n], columns) for n in names],
        [_row(law, names) for law in laws],
        [_row(law, columns) for law in laws],
        tuple((loop, _row(row, names)) for loop, row in decisions),
        tuple(loop for _, loop in free),
        lap.doubt,
    )


def by_own_command(laps: Sequence[Lap], paths: Collection[str] | None, loop: str) -> list[Lap]:
    """Returns the laps, in which a loop whose law sees nothing that it moves but its own command is that command's."""
    if any(_comes_back(closed(lap, paths, left_open=[loop])) for lap in laps):
        return list(laps)
    alone = (tuple(replace(cut, before={}) if cut.loop == loop else cut for cut in lap.cuts) for lap in laps)
    return [replace(lap, cuts=cuts) for lap, cuts in zip(laps, alone, strict=True)]


def _comes_back(cut: Closed) -> bool:
    """Decides whether what is put into an opened loop reaches its law."""
    if any(any(row) for row in cut.d):
        return True
    columns = range(len(cut.names))
    moved = reached([k for k in columns if any(cut.b[k])], lambda column: [k for k in columns if cut.a[k][column]])
    return any(row[k] for row in cut.c for k in moved)


def _end_that_matters(
    lap: Lap, inputs: Table, paths: Collection[str] | None, laws: list[Row], columns: list[str]
) -> Table:
    """Returns the variables at the end of the lap that the laws depend on.  Raises LapError for too many."""
    end = {name: by_state(row, inputs) for name, row in lap.end.items()}
    if paths is not None:
        end = {name: row for name, row in end.items() if name in lap.helpers or name.rsplit(" ", 1)[-1] in paths}
    end = pruned(end, laws, columns)
    if len(end) > MOST_VARIABLES:
        raise LapError(f"a lap has {len(end)} variables that matter, more than {MOST_VARIABLES}")
    return end


def _row(row: Row, columns: Collection[str]) -> list[Fraction]:
    return [row.get(column, Fraction(0)) for column in columns]


def by_state(row: Row, inputs: Table) -> Row:
    """Returns the row with known inputs expressed by what is remembered at the start of the lap."""
    if not any(name in inputs for name in row):
        return row
    total: Row = {}
    for name, slope in row.items():
        for inner, factor in inputs.get(name, {name: Fraction(1)}).items():
            total[inner] = total.get(inner, Fraction(0)) + slope * factor
    return {name: slope for name, slope in total.items() if slope}


def _mix(law: Row, before: Row, by_law: Fraction, by_before: Fraction) -> Row:
    total = {name: by_law * slope for name, slope in law.items()}
    for name, slope in before.items():
        total[name] = total.get(name, Fraction(0)) + by_before * slope
    return {name: slope for name, slope in total.items() if slope}


def pruned(end: Table, laws: list[Row], columns: Collection[str]) -> Table:
    """Returns the table without variables that nothing reads, and those that nothing in it (and no input) moves."""
    outside, table = set(columns), dict(end)
    while True:
        read = {name for row in (*table.values(), *laws) for name in row}
        smaller = {
            name: row for name, row in table.items() if name in read and any(n in table or n in outside for n in row)
        }
        if len(smaller) == len(table):
            return table
        table = smaller
