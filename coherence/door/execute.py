"""Executes the loops of a design exactly, from Python."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar, overload

from coherence.base.errors import UsageError, did_you_mean
from coherence.base.number_text import render_seconds
from coherence.door.execute_points import PointRunsResult, executed_at_points
from coherence.door.quantities import Amount, exact_values, seconds
from coherence.door.result import VerbResult, drawn, frame, head
from coherence.door.sources import Source, name_of, read
from coherence.model.model import Model
from coherence.simulate.execute.instants import Choices, Instant

if TYPE_CHECKING:
    from pandas import DataFrame

    from coherence.simulate.execute.orbits import Orbit


@dataclass(frozen=True, repr=False)
class RunResult(VerbResult):
    """One exact run: `instants` hold exact numbers, `to_frame()` floats, a row for each instant and a column for each
    signal that has a number (index: seconds since the beginning).
    """

    instants: tuple[Instant, ...] = field(compare=False)
    model: Model = field(compare=False)
    choices: Choices = field(compare=False)
    name: str = field(compare=False)
    writes: ClassVar[tuple[str, ...]] = ("time_s", "loop", "signal", "before", "after", "rule")

    @property
    def actions(self) -> DataFrame:
        """Returns what loops wrote: a row for each write (time_s, loop, signal, before, after, rule)."""
        rows = ({"time_s": row["time_s"], **action} for row in self.data["instants"] for action in row["actions"])
        return frame(rows, self.writes)

    @cached_property
    def orbit(self) -> Orbit | None:
        """Returns the periodic orbit that the run closes in on (`period` in s), None where none is found."""
        from coherence.simulate.execute.orbits import long_run

        return long_run(self.model, self.choices).orbit

    def to_frame(self) -> DataFrame:
        """Returns the run as a table: index time_s (s), one column a signal, values in SI units."""
        import pandas as pd

        rows = self.data["instants"]
        index = pd.Index([row["time_s"] for row in rows], name="time_s")
        return pd.DataFrame([row["after"] for row in rows], index=index)

    def plot(self, ax: Any = None, *, signal: str | None = None) -> Any:
        """Draws signals that are written (or one by its path) over time, as steps; returns the axes of matplotlib."""
        from coherence.reporting.pictures.figure import Line, Panel

        rows = self.data["instants"]
        written = dict.fromkeys(action["signal"] for row in rows for action in row["actions"])
        chosen = [signal] if signal is not None else list(written) or list(self._signals())
        unknown = [path for path in chosen if path not in self._signals()]
        if unknown:
            raise UsageError(f"this run has no signal '{unknown[0]}': {did_you_mean(unknown[0], self._signals())}")
        lines = tuple(Line(path, tuple((r["time_s"], r["after"][path]) for r in rows if path in r["after"]), steps=True)
                      for path in chosen)  # fmt: skip
        return drawn(Panel(f"Run of {self.name}", "time, s", "", lines), ax)

    def _signals(self) -> list[str]:
        return list(dict.fromkeys(path for row in self.data["instants"] for path in row["after"]))

    def _lines(self) -> Sequence[str]:
        writes = [action for row in self.data["instants"] for action in row["actions"]]
        end = self.data["instants"][-1]["time_s"] if self.data["instants"] else 0
        loops = dict.fromkeys(action["loop"] for action in writes)
        return (
            f"RunResult: {len(self.instants)} instants to {render_seconds(end)}",
            f"  {len(writes)} writes by {', '.join(loops) or 'no loop'}",
            f"  {len(self._signals())} signals; .to_frame(), .actions, .orbit",
        )


@overload
def execute(
    design: Source, *, until: Amount, values: Mapping[str, Amount] | None = None, order: Sequence[str] = ()
) -> RunResult: ...
@overload
def execute(
    design: Source,
    *,
    until: Amount,
    values: Mapping[str, Amount] | None = None,
    order: Sequence[str] = (),
    points: Mapping[str, Sequence[Amount]],
) -> PointRunsResult: ...
def execute(
    design: Source,
    *,
    until: Amount,
    values: Mapping[str, Amount] | None = None,
    order: Sequence[str] = (),
    points: Mapping[str, Sequence[Amount]] | None = None,
) -> RunResult | PointRunsResult:
    """Returns the exact run of a design's loops and states, from their stated start; or its runs at many points.

    until: seconds, or a text such as "10 min".
    values: what the design leaves open, by path ("web.rate"): SI numbers, or texts with units.
    order: loops in the order in which they decide at one time (default: by rank, then as declared).
    points: a list of values by path, equally many of each; all points run at once, in floats, and those in which
        rounding might decide a branch again exactly.
    Raises InputError where a value is missing, and UsageError for a path or a loop that there is not.
    """
    from coherence.model.elaborate import elaborate
    from coherence.simulate.execute.exact import execute as executed
    from coherence.simulate.study.exact_runs import answered, known_as_open

    model = elaborate(read(design))
    stated = exact_values(values or {})
    strange = [loop for loop in order if loop not in {each.name for each in model.loops}]
    if strange:
        raise UsageError(f"there is no loop '{strange[0]}': {did_you_mean(strange[0], [x.name for x in model.loops])}")
    known_as_open(model, map(model.resolve, (*stated, *(points or ()))))
    choices = Choices({model.resolve(path): number for path, number in stated.items()}, order=tuple(order))
    end = Fraction(seconds(until, "until"))
    with answered(model.design):
        if points is not None:
            return executed_at_points(model, choices, points, end, name_of(design))
        instants = tuple(executed(model, choices, until=end, whole=True))
    return RunResult({**head("execute"), "instants": [_row(each) for each in instants]}, instants, model, choices,
                     name_of(design))  # fmt: skip


def _row(instant: Instant) -> dict[str, Any]:
    return {
        "time_s": float(instant.time),
        "after": dict(_numbers(instant.after)),
        "actions": [
            {"loop": a.loop, "signal": a.signal, "before": _number(a.before), "after": _number(a.after), "rule": a.rule}
            for a in instant.actions
        ],
    }


def _numbers(values: Mapping[str, Any]) -> Iterator[tuple[str, float]]:
    for path, number in values.items():
        plain = _number(number)
        if plain is not None:
            yield path, plain


def _number(number: Any) -> float | None:
    """Returns a number of the executor as a float; None of what is none."""
    from coherence.simulate.execute.affine import plain

    try:
        return float(plain(number))
    except (TypeError, ValueError, ArithmeticError):
        return None
