"""Computes one lap of a group with every loop cut open: exact matrices at a point, closed again at will.

The lap that is differentiated is the lap that is executed.  A decision changes what is there by law - before; a
loop is opened there, so that with the state x (everything that is remembered, the past included)

    x[k+1] = A x + B v,   law - before = C x + D v        (D: of earlier decisions only)

and closed again by v = gain * (law - before); gain 1 is the design.  `before` is what the law carries on of its own
command (all of it for a law that changes it, nothing for one that sets it), so that the gain is that of the way from
the command through the plant and the readings back to the law: what a control engineer scales.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from coherence.loops.designs.kinks import stopped
from coherence.loops.designs.signal_gradients import Gradients
from coherence.model.model import Model, SampledLoop
from coherence.simulate.execute.affine import Affine, lift, plain, variable
from coherence.simulate.execute.exact import Choices, Execution
from coherence.simulate.execute.orbits import hyperperiod

MOST_VARIABLES = 160
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

    `exact`: no number was rounded.  `helpers`: names of x that are no signal of the model.
    """

    length: Fraction  # s
    end: Table
    cuts: tuple[Cut, ...]
    exact: bool = True
    helpers: frozenset[str] = frozenset()

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(self.end)


class _Opened(Execution):
    """A run whose loops only hold their command while memory fills, and are then cut."""

    def __init__(self, model: Model, choices: Choices) -> None:
        super().__init__(model, choices)
        self.cuts: list[tuple[str, Fraction, Affine, Affine, Affine]] | None = None
        gradients = Gradients(model, choices.values)
        self.carried = {loop.name: gradients.own_command(loop) for loop in model.loops if loop.signal}

    def _write(self, loop: SampledLoop, value: Any, rule: str, seen: dict[str, Any]) -> list[Any]:
        held = self.commanded[loop.signal]
        if self.cuts is None:
            return super()._write(loop, held, rule, seen)
        own, landed = self.carried[loop.name], lift(self.values[loop.signal])
        before = (landed if loop.counts_landed else lift(held)) * own.counted + landed * own.named
        name = f"input {len(self.cuts)}"
        self.cuts.append((loop.name, self.time, lift(value), before, lift(held)))
        return super()._write(loop, variable(name, plain(value)), rule, seen)

    def renumber(self) -> None:
        """Orders the landings on their way by when they land: each has its own name, the same in every lap."""
        self.pending = sorted(self.pending, key=lambda p: p[0])


def executed_lap(model: Model, point: Mapping[str, Fraction], check: Callable[[], object] = bool) -> Lap:
    """Returns the lap of a smooth model (see `linear.skeleton`) in which nothing flows, at a constant point.

    `check` may raise to end it.  Raises LapError.
    """
    run, lap = _Opened(model, Choices(dict(point))), hyperperiod(model)
    landing = max((int(loop.lands / lap) + 1 for loop in model.loops), default=0)
    laps = 1 + int((run.horizon or Fraction(0)) / lap) + landing
    _advance(run, lap * (laps + 1), check, inclusive=False)
    names: list[str] = []
    still = stopped(model, dict(point))

    def mark(name: str, number: Any) -> Any:
        if name.rsplit(" ", 1)[-1] in still:
            return number
        names.append(name)
        return variable(name, plain(number))

    run.renumber()
    run.map_numbers(mark)
    if len(names) > 40 * MOST_VARIABLES:
        raise LapError(f"a lap remembers {len(names)} numbers")
    run.cuts = []
    _advance(run, run.time + lap, check, inclusive=True)
    if run.warped:
        raise LapError("the time of an event moves with the start")
    run.renumber()
    end: Table = {}

    def read(name: str, number: Any) -> Any:
        end[name] = dict(lift(number).gradient)
        return number

    run.map_numbers(read)
    table = {name: end[name] for name in names if name in end}
    cuts = tuple(Cut(n, t, dict(w.gradient), dict(b.gradient), dict(h.gradient)) for n, t, w, b, h in run.cuts)
    return Lap(lap, table, cuts)


def _advance(run: Execution, until: Fraction, check: Callable[[], object], *, inclusive: bool) -> None:
    while (run.next_time() <= until) if inclusive else (run.next_time() < until):
        check()
        run.advance()


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
    exact: bool = True


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
        lap.exact,
    )


def _end_that_matters(
    lap: Lap, inputs: Table, paths: Collection[str] | None, laws: list[Row], columns: list[str]
) -> Table:
    """Returns the variables at the end of the lap that the laws depend on.  Raises LapError for too many."""
    end = {name: by_state(row, inputs) for name, row in lap.end.items()}
    if paths is not None:
        end = {name: row for name, row in end.items() if name in lap.helpers or name.rsplit(" ", 1)[-1] in paths}
    end = _pruned(end, laws, columns)
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


def _pruned(end: Table, laws: list[Row], columns: Collection[str]) -> Table:
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
