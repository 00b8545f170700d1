"""Draws a bound over ranges of its inputs: its value by each of them, and how far the others move it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from fractions import Fraction
from typing import Any

from coherence.base.errors import CoherenceError, UsageError
from coherence.base.units import unit
from coherence.minimums.bound import Bound, Symbol
from coherence.minimums.floors import Span, over
from coherence.reporting.pictures.figure import CurveBand, Figure, Line, Panel

POINTS, MOST = 48, 4


def bound_figure(bound: Bound, spans: Mapping[str, Span]) -> Figure:
    """Returns a panel for each input that is a range.  Raises UsageError where none is."""
    own = {name: span for name, span in spans.items() if name in bound.names}
    ranged = [bound.symbol(name) for name, span in own.items() if _is_range(span)]
    panels = [panel for symbol in ranged[:MOST] if (panel := _panel(bound, own, symbol)) is not None]
    if not panels:
        raise UsageError("--picture draws a bound over a range: give an input as A..B")
    notes = [f"{bound.kind}; shaded: all values of the other inputs"] if len(ranged) > 1 else [str(bound.kind)]
    notes += [f"of {len(ranged)} ranges the first {MOST} are drawn"] if len(ranged) > MOST else []
    return Figure(f"{bound.name}: {bound.quantity}", tuple(panels), 2, tuple(notes))


def bound_panel(bound: Bound, spans: Mapping[str, Span], number: int) -> Panel:
    """Returns the panel of one range, counted from 0.  Raises UsageError where there is none."""
    panels = bound_figure(bound, spans).panels
    if not 0 <= number < len(panels):
        raise UsageError(f"there is no panel {number}: {len(panels)} inputs are ranges, counted from 0")
    return panels[number]


def curves(bound: Bound, spans: Mapping[str, Span]) -> Iterator[tuple[str, list[tuple[float, float, float]]]]:
    """Yields each input that is a range, with (input, least, most) of the bound along it, in SI units."""
    for name, span in spans.items():
        if name in bound.names and _is_range(span):
            symbol = bound.symbol(name)
            size, of_bound = _size(symbol.unit), _size(bound.unit)
            points = _points(bound, spans, symbol)
            yield name, [(x * size, low * of_bound, high * of_bound) for x, low, high in points]


def _is_range(span: Any) -> bool:
    """Decides whether a number may take several values; a list of values or a fabric is no range."""
    return isinstance(span[0], int | float | Fraction) and bool(span[0] != span[1])


def _panel(bound: Bound, spans: Mapping[str, Span], symbol: Symbol) -> Panel | None:
    points = tuple(_points(bound, spans, symbol))
    if len(points) < 2:
        return None
    lines = [Line("least", tuple((x, low) for x, low, _ in points), 0)]
    if any(high > low for _, low, high in points):
        lines.append(Line("most", tuple((x, high) for x, _, high in points), 1))
    quantity = f"{bound.quantity}, {bound.unit}" if bound.unit != "1" else bound.quantity
    return Panel(
        bound.formula if 0 < len(bound.formula) < 44 else f"by {symbol.name}", _title(symbol), quantity, tuple(lines),
        bands=(CurveBand(points),), large=len(spans) == 1,
    )  # fmt: skip


def _title(symbol: Symbol) -> str:
    words = symbol.means if len(symbol.means) < 40 else symbol.name
    return f"{words}, {symbol.unit}" if symbol.unit != "1" else words


def _points(bound: Bound, spans: Mapping[str, Span], symbol: Symbol) -> Iterator[tuple[float, float, float]]:
    """Yields (input, least, most) of the bound where it has a value, in the units of the symbol and of the bound."""
    low, high = (Fraction(end) for end in spans[symbol.name])
    size, of_bound = _size(symbol.unit), _size(bound.unit)
    steps = [low + (high - low) * k / POINTS for k in range(POINTS + 1)]
    if symbol.whole:
        steps = list(dict.fromkeys(Fraction(round(step)) for step in steps))
    for step in steps:
        try:
            floor = over(bound, {**spans, symbol.name: (step, step)})
        except (CoherenceError, ArithmeticError):
            continue
        yield float(step / size), float(floor.low) / of_bound, float(floor.high) / of_bound


def _size(name: str) -> float | Fraction:
    return unit(name)[0] if name not in ("1", "") else Fraction(1)
