"""Bounds what no retuning can reach, from Python: one bound at inputs, or the floors of a design."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar

from coherence.base.errors import InternalError, UsageError
from coherence.door.quantities import Amount
from coherence.door.result import VerbResult, drawn, frame, head, listed
from coherence.door.sources import Source, name_of, workspace_of
from coherence.findings.finding import NotRead
from coherence.language.document import decode
from coherence.language.reading import read_bytes
from coherence.minimums.design_floors import DesignFloor
from coherence.minimums.floors import Floor, Span
from coherence.minimums.ladder import Rung
from coherence.minimums.losses.measured import FloorMeasurement
from coherence.minimums.registry import RegisteredBound, entry
from coherence.minimums.sensitivity import Sensitivity, Worth

if TYPE_CHECKING:
    from pandas import DataFrame

    from coherence.minimums.bound import Checked, Symbol

LARGEST = 10**150  # of an input: its powers stay within floating point
ROUNDING = 1e-6  # of floating point in a witness that is solved
WITNESS_SECONDS = 5.0  # that a witness may run for one bound at given inputs
WITNESS_COUNT = 100_000  # of participants, messages or other counts, up to which a witness is executed
Given = Amount | tuple[Amount, Amount] | Sequence[Any]


@dataclass(frozen=True)
class BoundAnswers:
    """A bound at inputs, what it depends on, what each assumption buys, and what the executed witness takes."""

    floor: Floor
    steep: Sequence[Sensitivity]
    rungs: Sequence[Rung]
    worth: Sequence[Worth]
    attained: Fraction | float | None
    why: str


@dataclass(frozen=True, repr=False)
class BoundResult(VerbResult):
    """One lower bound; with inputs also its `value` (SI) there, or `low` and `high` over ranges.

    `to_frame()` has a row for each symbol, or with inputs for each assumption that the bound stands on.
    """

    registered: RegisteredBound = field(compare=False)
    answers: BoundAnswers | None = field(compare=False, default=None)
    columns: ClassVar[tuple[str, ...]] = ("symbol", "unit", "means", "way")
    rungs: ClassVar[tuple[str, ...]] = ("without", "bound", "low", "high", "needs")

    @property
    def formula(self) -> Any:
        """Returns the formula as a sympy expression over positive symbols.  Raises UsageError where there is none."""
        from coherence.minimums.formulas import symbolic_form

        if not self.registered.bound.formula:
            raise UsageError(f"{self.registered.bound.name} is computed by a program, and has no closed formula")
        return symbolic_form(self.registered.bound.formula, self.symbols)

    @property
    def symbols(self) -> dict[str, Any]:
        """Returns the symbols of the formula (sympy), by name; all stand for positive numbers in SI units."""
        from coherence.minimums.formulas import sympy

        names = sympy("symbols of a bound")
        return {symbol.name: names.Symbol(symbol.name, positive=True) for symbol in self.registered.bound.symbols}

    @property
    def assumptions(self) -> tuple[str, ...]:
        """Returns the names of what the bound assumes."""
        return self.registered.bound.assumptions

    @property
    def source(self) -> str:
        """Returns where the bound comes from."""
        return self.registered.bound.source

    @property
    def bibtex(self) -> str:
        """Returns an entry for a bibliography: what the bound says, and its whole source."""
        from coherence.minimums.report import bibtex

        return bibtex(self.registered)

    def _repr_latex_(self) -> str:
        """Returns the formula for a notebook, or what a program computes."""
        from coherence.minimums.report import formula_latex

        return formula_latex(self.registered.bound)

    @property
    def unit(self) -> str:
        """Returns the unit of the value."""
        return self.registered.bound.unit

    @property
    def value(self) -> float:
        """Returns the least value of the bound over the inputs.  Raises UsageError where no inputs are given."""
        return float(self._answers().floor.low)

    @property
    def low(self) -> float:
        """Returns the value that holds for every input in the ranges."""
        return float(self._answers().floor.low)

    @property
    def high(self) -> float:
        """Returns the largest value of the bound over the ranges."""
        return float(self._answers().floor.high)

    @property
    def attained(self) -> float | None:
        """Returns what an executed schedule takes at these inputs; None where none is executed."""
        attained = self._answers().attained
        return None if attained is None else float(attained)

    def prove(self) -> tuple[Checked, ...]:
        """Runs every proof of the bound again, and returns what each says (`holds`, `words`)."""
        return tuple(proof.run() for proof in self.registered.bound.proofs)

    def over(self, **inputs: Given) -> BoundResult:
        """Returns the bound at other inputs; a pair is a range."""
        return bound(self.registered.bound.name, **inputs)

    def to_frame(self) -> DataFrame:
        """Returns the symbols, or with inputs what each assumption buys."""
        return frame(self._rows(), self.columns if self.answers is None else self.rungs)

    def plot(self, ax: Any = None, *, panel: int = 0) -> Any:
        """Draws the bound over its panel-th range on axes of matplotlib, and returns them.  Raises UsageError."""
        from coherence.minimums.bound_figure import bound_panel

        return drawn(bound_panel(self.registered.bound, self._answers().floor.inputs, panel), ax)

    def _answers(self) -> BoundAnswers:
        if self.answers is None:
            names = ", ".join(self.registered.bound.names)
            raise UsageError(f"{self.registered.bound.name} has a value at inputs: give {names}")
        return self.answers

    def _rows(self) -> Iterator[Mapping[str, Any]]:
        if self.answers is None:
            yield from ({**row, "symbol": row["name"]} for row in self.data["symbols"])
            return
        for row in self.data["value"]["without"]:
            value = row["value"] or {}
            yield {"without": row["assumption"], "needs": ", ".join(row["needs"]), **value}

    def _lines(self) -> Sequence[str]:
        own = self.registered.bound
        at = "no inputs" if self.answers is None else f"{self.low:.6g} .. {self.high:.6g} {own.unit}"
        return (
            f"BoundResult {own.name}: {at}",
            f"  {own.quantity} [{own.unit}] = {own.formula or 'computed'}",
            f"  assumes {listed(own.assumptions, 'nothing')}; proofs: {listed([p.how for p in own.proofs], 'cited')}",
        )


@dataclass(frozen=True)
class FloorsOfDesign:
    """The floors of one design, measurements split by them, and what they do not depend on."""

    path: str
    floors: tuple[DesignFloor, ...]
    split: tuple[FloorMeasurement, ...]
    assumed: tuple[str, ...]
    unread: tuple[NotRead, ...]


@dataclass(frozen=True, repr=False)
class FloorsResult(VerbResult):
    """The floors of a design: `to_frame()` has a row for each (thing, bound, low, high, unit, loss, missing)."""

    designs: tuple[FloorsOfDesign, ...] = field(compare=False)
    columns: ClassVar[tuple[str, ...]] = ("thing", "bound", "kind", "low", "high", "unit", "loss", "missing")

    def _rows(self) -> Iterator[Mapping[str, Any]]:
        for design in self.data["designs"]:
            yield from ({**row, "missing": ""} for row in design["floors"])
            yield from ({**row, "missing": row["why"]} for row in design["without_a_number"])

    def _lines(self) -> Sequence[str]:
        rows, paths = list(self._rows()), [design.path for design in self.designs]
        missing = [f"{row['bound']} of {row['thing']}" for row in rows if row["missing"]]
        return (
            f"FloorsResult of {listed(paths, 'nothing')}: {len(rows) - len(missing)} floors",
            f"  without a number: {listed(missing, 'none')}",
            f"  {sum(len(design.unread) for design in self.designs)} values that no bound depends on",
        )


def bound(target: str, /, **inputs: Given) -> BoundResult:
    """Returns a lower bound, at inputs where they are given.

    target: the name of a bound (`bounds()` lists them).  inputs: a value for each symbol: SI numbers or texts with
    units, a pair (from, to) for a range.  Raises UsageError.
    """
    return (
        bound_at(target, [f"{name}={_written(value)}" for name, value in inputs.items()]) if inputs else page_of(target)
    )


def floors(design: Source, *, measured: Mapping[str, Amount] | None = None) -> FloorsResult:
    """Returns the floors of a design: what no retuning of it can reach.

    measured: measurements by "THING.BOUND", each split into floor, scheme and rest.  Raises InputError and UsageError.
    """
    return floors_of(design, [f"{name}={value}" for name, value in (measured or {}).items()])


def bounds() -> tuple[str, ...]:
    """Returns the names of all bounds."""
    from coherence.minimums.registry import entries

    return tuple(entries())


def _written(value: Given) -> str:
    if isinstance(value, tuple) and len(value) == 2:
        return f"{value[0]} .. {value[1]}"
    if isinstance(value, list):
        return ";".join(_written(each) if isinstance(each, list) else str(each) for each in value)
    return str(value)


def page_of(name: str) -> BoundResult:
    """Returns a bound without inputs.  Raises UsageError."""
    from coherence.minimums import report

    registered = entry(name)
    return BoundResult({**head("bound"), **report.bound_json(registered)}, registered)


def bound_at(name: str, inputs: Sequence[str]) -> BoundResult:
    """Returns a bound at inputs SYMBOL=VALUE.  Raises UsageError."""
    from coherence.minimums import report
    from coherence.minimums.floors import over
    from coherence.minimums.ladder import ladder
    from coherence.minimums.sensitivity import sensitivities, slopes_at, value_of_floor

    registered = entry(name)
    own, spans = registered.bound, read_inputs(registered, inputs)
    floor = over(own, {k: v for k, v in spans.items() if k in own.names})
    steep, rungs, worth = sensitivities(own, slopes_at(floor)), ladder(own, spans), value_of_floor(floor)
    attained, why = _attained(floor)
    value = {
        **report.value_json(floor, steep, rungs, worth),
        "attained": None if attained is None else float(attained),
    }
    data = {**head("bound"), **report.bound_json(registered), "value": value}
    return BoundResult(data, registered, BoundAnswers(floor, steep, rungs, worth, attained, why))


def floors_of(source: Source, measured: Sequence[str]) -> FloorsResult:
    """Returns the floors of every design of a source.  Raises InputError and UsageError."""
    from coherence.base.reads import recorded
    from coherence.door.unread import left_out, unread, unread_json
    from coherence.minimums import report
    from coherence.minimums.design_floors import design_floors
    from coherence.minimums.loop_floors import loop_floors
    from coherence.minimums.losses import report_measured
    from coherence.minimums.losses.measured import measurements
    from coherence.model.elaborate import model_of

    rows: list[dict[str, Any]] = []
    designs: list[FloorsOfDesign] = []
    for each in workspace_of(source).entries:
        with recorded() as reads:
            own = (*design_floors(each.design), *loop_floors(model_of(each.design)))
            split = tuple(measurements(measured, each.design, own, read_span))
        path = " in ".join(filter(None, (each.design.file or name_of(source), each.design.environment)))
        lines = unread("bound", each.design, reads)
        assumed = left_out(each.design, reads)
        shares = {"measured": [report_measured.measured_json(part) for part in split]} if split else {}
        rest = {"assumptions": list(assumed), "not_read": unread_json(lines)}
        rows.append({**report.design_json(path, own), **shares, **rest})
        designs.append(FloorsOfDesign(path, own, split, assumed, lines))
    return FloorsResult({**head("bound"), "designs": rows}, tuple(designs))


def _attained(floor: Floor) -> tuple[Fraction | float | None, str]:
    """Returns what the witness takes at the inputs, where these are single values; else why there is no number."""
    from coherence.base.watchdog import TimeOverError, at_most

    witness = floor.bound.witness
    if witness is None or not floor.point:
        return None, "" if witness is None else "run at single values only"
    size = max((_size(floor.bound.symbol(name), low) for name, (low, _) in floor.inputs.items()), default=0)
    if size > WITNESS_COUNT:
        return None, f"not run at these inputs: it would have {size:.3g} parts, and is run up to {WITNESS_COUNT:,}"
    try:
        with at_most(WITNESS_SECONDS):
            attained = witness.attained({name: low for name, (low, _) in floor.inputs.items()})
    except TimeOverError:
        return None, f"not over within {WITNESS_SECONDS:g} s at these inputs"
    except (UsageError, ArithmeticError, AssertionError, ValueError) as error:
        return None, f"not run at these inputs: {error}"
    if floor.bound.stands and attained < floor.low * (1 - ROUNDING):
        raise InternalError(
            f"the witness of {floor.bound.name} takes {float(attained):g}, less than {float(floor.low):g}"
        )
    return attained, ""


def _size(symbol: Symbol, given: Any) -> int:
    """Returns how many parts an input stands for: its number where it counts, the length of a list, else none."""
    if isinstance(given, tuple):
        return len(given)
    return int(given) if symbol.whole else 0


def read_inputs(registered: RegisteredBound, inputs: Sequence[str]) -> dict[str, Span]:
    """Returns the spans of SYMBOL=VALUE with a unit, or of a range `A .. B`.  Raises UsageError.

    Symbols of the bounds that remain without an assumption are read too: the ladder needs them.
    """
    from coherence.base.errors import did_you_mean
    from coherence.minimums.registry import entry

    weaker = {s.name: s for name in registered.bound.without.values() for s in entry(name).bound.symbols}
    symbols = {**weaker, **{symbol.name: symbol for symbol in registered.bound.symbols}}

    spans: dict[str, Any] = {}
    for text in inputs:
        name, equals, written = text.partition("=")
        if not equals:
            raise UsageError(f"'{text}' is no input; write for example {registered.bound.names[0]}=8")
        if name not in symbols:
            raise UsageError(
                f"{registered.bound.name} has no symbol '{name}': {did_you_mean(name, registered.bound.names)}"
            )
        if name in spans:
            raise UsageError(f"{name} is given twice")
        spans[name] = read_span(symbols[name], written)
    return spans


def read_span(symbol: Symbol, written: str) -> Any:
    """Returns the range of a symbol: of a value with a unit, of `A .. B`, or (of a list) the same tuple twice."""
    from coherence.minimums.bound import Trend

    if symbol.way is Trend.LIST:
        return ((symbol.reads or partial(_listed, symbol))(written),) * 2
    low, _, high = written.partition("..")
    return _read(symbol, low), _read(symbol, high or low)


def _listed(symbol: Symbol, text: str) -> tuple[Any, ...]:
    """Returns values separated by commas; a pair is written 0>1, rows of a table are separated by semicolons.

    Nothing: none.  `@FILE`: the lines of a file are the rows.
    """
    if text.startswith("@"):
        lines = decode(read_bytes(text[1:], text[1:]), text[1:]).splitlines()
        return tuple(_listed(symbol, line) for line in lines if line.strip())
    if ";" in text:
        return tuple(_listed(symbol, row) for row in text.split(";") if row.strip())
    parts = [part for part in text.split(",") if part.strip()]
    return tuple(
        tuple(_read(symbol, end) for end in part.split(">")) if ">" in part else _read(symbol, part) for part in parts
    )


def _read(symbol: Symbol, text: str) -> Fraction:
    from coherence.base import units

    angular = "rad" in dict(symbol.dimension.powers)
    per_second = angular and text.rstrip().endswith("/s") and "rad" not in text
    try:
        part = units.fraction(text)
        literal = text.replace("/s", "rad/s") if per_second else text.strip()
        number, dimension = units.quantity(literal) if part is None else (part, units.ONE)
    except units.UnitError as error:
        raise UsageError(f"{symbol.name} = '{units.shorten(text)}': {error}; {error.remedy}") from None
    if abs(number) > LARGEST:
        raise UsageError(f"{symbol.name} = '{units.shorten(text)}' is too large: at most 1e150 in SI units")
    if number and not dimension.fits(symbol.dimension):
        remedy = f"write it with a unit, for example {symbol.name}='1 {symbol.unit}'"
        raise UsageError(f"{symbol.name} is {dimension}, {symbol.unit} expected: {symbol.means}; {remedy}")
    if number and angular is not ("rad" in dict(dimension.powers)) and dimension.powers:
        raise UsageError(f"{symbol.name} = '{units.shorten(text)}': 1 Hz is 6.28319 rad/s; write it in {symbol.unit}")
    return Fraction(number)
