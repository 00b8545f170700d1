"""Renders bounds as text, JSON and LaTeX."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Sequence
from fractions import Fraction
from typing import Any

from coherence.base.number_text import render_bound
from coherence.minimums.assumptions import assumption
from coherence.minimums.bound import Bound, ProofGrade, Symbol
from coherence.minimums.design_floors import DesignFloor
from coherence.minimums.floors import Floor, over
from coherence.minimums.formulas import latex
from coherence.minimums.ladder import Rung
from coherence.minimums.registry import RegisteredBound
from coherence.minimums.sensitivity import Sensitivity, Worth

LOSSES = {
    "A": "type A, synchronisation", "B": "type B, memory and control", "C": "type C, orchestration",
    "R": "recovery", "D": "retrieval", "network": "network", "virtualization": "virtualization",
    "migration": "migration", "economics": "economics", "none": "other",
}  # fmt: skip


def range_of(floor: Floor) -> str:
    """Returns `50 ms` or `40 ms .. 60 ms`: the left end holds whatever the inputs are."""
    low, high = render_bound(floor.low, floor.bound.unit), render_bound(floor.high, floor.bound.unit)
    return low if low == high else f"{low} .. {high}"


def evidence(bound: Bound) -> str:
    """Returns how the bound is known."""
    grades = {grade: [p.says for p in bound.proofs if p.grade is grade] for grade in ProofGrade}
    proved = [f"proved by machine {grade}: {', '.join(says)}" for grade, says in grades.items() if says]
    whole = any(proof.grade is ProofGrade.UNIVERSAL for proof in bound.proofs)
    rest = () if whole else (f"cited: {bound.source}",)
    seen = (f"run: {bound.witness.says}",) if bound.witness is not None else ()
    return "; ".join((*proved, *rest, *seen))


def table(entries: Sequence[RegisteredBound]) -> Iterator[str]:
    """Yields the registry, a group at a time."""
    width = max((len(entry.bound.name) for entry in entries), default=0)
    for group in dict.fromkeys(entry.bound.group for entry in sorted(entries, key=lambda e: e.bound.group)):
        yield f"{group}:"
        for entry in entries:
            bound = entry.bound
            if bound.group == group:
                first = entry.page.split("\n", 1)[0].split(": ", 1)[-1].rstrip(".")
                yield f"  {bound.name:<{width}}  {bound.kind:<10}  {first}"
    kinds = [entry.bound for entry in entries]
    universal = sum(any(proof.grade is ProofGrade.UNIVERSAL for proof in b.proofs) for b in kinds)
    proved, attained = sum(b.proved for b in kinds), sum(b.witness is not None for b in kinds)
    yield (
        f"{len(kinds)} bounds, {proved} with a proof by machine ({universal} for all inputs), "
        f"{attained} with a witness that is executed"
    )


def design_text(path: str, floors: Sequence[DesignFloor]) -> Iterator[str]:
    """Yields the floors of one design by loss type, then what is missing."""
    known = [floor for floor in floors if floor.floor is not None]
    yield f"{path}: {len(known)} floors, {len(floors) - len(known)} without a number"
    for loss in dict.fromkeys(floor.bound.loss for floor in floors):
        rows = [one for one in known if one.bound.loss == loss]
        if rows:
            yield f"\n{LOSSES.get(loss, loss)}:"
            yield from _rows(rows)
    missing = [floor for floor in floors if floor.floor is None]
    if missing:
        yield "\nWithout a number:"
        yield from (f"  {one.bound.name} of {one.application.thing}: {one.why}" for one in missing)
    used = dict.fromkeys(name for one in known for name in one.assumptions)
    if used:
        yield "\nAssumed:"
        yield from (f"  {name}: {assumption(name).says}" for name in used)


def _rows(rows: Sequence[DesignFloor]) -> Iterator[str]:
    cells = []
    for floored in rows:
        assert floored.floor is not None
        cells.append(
            (
                floored.application.thing,
                floored.bound.quantity,
                range_of(floored.floor),
                str(floored.bound.kind),
                floored.bound.name,
            )
        )
    widths = [max(len(row[k]) for row in cells) for k in range(5)]
    for floored, row in zip(rows, cells, strict=True):
        yield "  " + "  ".join(f"{cell:<{w}}" for cell, w in zip(row, widths, strict=True)).rstrip()
        yield from (
            f"      {place.file}:{place.line}:{place.column}  {place.label}" for place in floored.application.places
        )


def page(entry: RegisteredBound) -> Iterator[str]:
    """Yields all that is known of one bound without inputs."""
    bound = entry.bound
    yield entry.page
    yield f"\n{bound.quantity} [{bound.unit}], {bound.kind}, {evidence(bound)}"
    if bound.formula:
        yield f"  {bound.formula}"
    if bound.valid:
        yield f"  where {bound.valid}"
    if not bound.symbols:
        yield f"  = {range_of(over(bound, {}))}"
    width = max((len(s.name) for s in bound.symbols), default=0)
    yield from (f"  {s.name:<{width}}  {s.means} [{s.unit}], the bound {_moves(s.way)}" for s in bound.symbols)
    yield from (f"  assumes {name}: {assumption(name).says}" for name in bound.assumptions)
    if bound.unread:
        yield f"  not read from designs: {bound.unread}"


def _moves(way: str) -> str:
    told = {"rises": "rises with it", "falls": "falls with it", "list": "takes several, as A,B,C or 0>1,1>2"}
    return told.get(way, "is not monotone in it")


def value_text(floor: Floor, steep: Sequence[Sensitivity], rungs: Sequence[Rung]) -> Iterator[str]:
    """Yields the bound at inputs: its value, what it depends on most, and what each assumption buys."""
    yield f"{floor.bound.quantity}: {range_of(floor)}"
    yield f"  {floor.bound.kind}, of {floor.bound.quantifier}; {evidence(floor.bound)}"
    for steepest in steep:
        how = "" if steepest.exact else " (by differences)"
        yield f"  1 % more {steepest.symbol} changes it by {steepest.elasticity + 0.0:+.3g} %{how}"
    for rung in rungs:
        if rung.floor is None:
            yield f"  without {rung.assumption}: needs {', '.join(rung.missing)}"
        else:
            yield f"  without {rung.assumption} ({rung.says}): {range_of(rung.floor)}, {rung.floor.bound.name}"


def witness_text(floor: Floor, attained: Fraction | float | None, why: str) -> Iterator[str]:
    """Yields what the executed witness takes, and its gap to the bound."""
    witness = floor.bound.witness
    if witness is not None and attained is not None:
        gap = f", {float(attained) / float(floor.low):.6g} times the bound" if floor.low else ""
        yield f"  witness, executed: {witness.says}: {render_bound(attained, floor.bound.unit)}{gap}"
    elif witness is not None:
        yield f"  witness: {witness.says}: {why}"


def worth_text(worth: Sequence[Worth], unit: str) -> Iterator[str]:
    """Yields the inputs that are ranges, the one most worth measuring first."""
    for entry in worth:
        yield (
            f"measuring {entry.symbol} narrows it from {render_bound(entry.width, unit)} to at most "
            f"{render_bound(entry.left, unit)}"
        )


def value_json(
    floor: Floor, steep: Sequence[Sensitivity], rungs: Sequence[Rung], worth: Sequence[Worth]
) -> dict[str, Any]:
    """Returns the bound at inputs for programs."""
    return {
        **floor_json(floor),
        "elasticities": [{"symbol": s.symbol, "elasticity": s.elasticity, "exact": s.exact} for s in steep],
        "without": [
            {
                "assumption": rung.assumption,
                "needs": list(rung.missing),
                "value": floor_json(rung.floor) if rung.floor is not None else None,
            }
            for rung in rungs
        ],
        "value_of_telemetry": [worth_json(one) for one in worth],
    }


def worth_json(one: Worth) -> dict[str, Any]:
    """Returns what measuring one input is worth."""
    return {"input": one.symbol, "width": float(one.width), "left": float(one.left)}


def bound_json(entry: RegisteredBound) -> dict[str, Any]:
    """Returns one bound for programs."""
    bound = entry.bound
    return {
        "name": bound.name, "group": bound.group, "loss": bound.loss, "quantity": bound.quantity, "unit": bound.unit,
        "kind": str(bound.kind), "formula": bound.formula, "valid": bound.valid, "source": bound.source,
        "assumptions": list(bound.assumptions), "proofs": [proof.how for proof in bound.proofs],
        "grades": [str(proof.grade) for proof in bound.proofs], "quantifier": str(bound.quantifier),
        "witness": bound.witness.says if bound.witness else None, "telemetry": list(bound.telemetry),
        "symbols": [
            {"name": s.name, "unit": s.unit, "means": s.means, "way": str(s.way), "whole": s.whole}
            for s in bound.symbols
        ],
    }  # fmt: skip


def floor_json(floor: Floor) -> dict[str, Any]:
    """Returns a value with its range."""
    return {
        "bound": floor.bound.name, "unit": floor.bound.unit, "kind": str(floor.bound.kind),
        "low": _json_number(floor.low), "high": _json_number(floor.high),
        "inputs": {name: _ends(span) for name, span in floor.inputs.items()},
    }  # fmt: skip


def _json_number(number: Fraction | float) -> float | str:
    """Returns a number for JSON, in which infinity is written as a word."""
    return float(number) if math.isfinite(number) else str(float(number))


def _ends(span: Sequence[Any]) -> list[Any]:
    return [float(x) if isinstance(x, int | float | Fraction) else str(x) for x in span]


def design_json(path: str, floors: Sequence[DesignFloor]) -> dict[str, Any]:
    """Returns the floors of one design for programs."""
    return {
        "path": path,
        "floors": [_floor_row(floor, floor.floor) for floor in floors if floor.floor is not None],
        "without_a_number": [
            {"bound": floor.bound.name, "thing": floor.application.thing, "why": floor.why}
            for floor in floors
            if floor.floor is None
        ],
    }


def _floor_row(owner: DesignFloor, floor: Floor) -> dict[str, Any]:
    places = owner.application.places
    return {
        **floor_json(floor),
        "thing": owner.application.thing,
        "loss": owner.bound.loss,
        "assumptions": list(owner.assumptions),
        "places": [{"file": p.file, "line": p.line, "column": p.column, "label": p.label} for p in places],
    }


def design_latex(floors: Sequence[DesignFloor]) -> Iterator[str]:
    """Yields the floors as a LaTeX table (booktabs)."""
    yield r"\begin{tabular}{llll}"
    yield r"\toprule"
    yield r"thing & quantity & floor & formula \\"
    yield r"\midrule"
    for floored in floors:
        if floored.floor is not None:
            cells = (floored.application.thing, floored.bound.quantity, range_of(floored.floor))
            yield " & ".join((*map(escaped, cells), formula_latex(floored.bound))) + r" \\"
    yield r"\bottomrule"
    yield r"\end{tabular}"


def page_latex(entry: RegisteredBound) -> Iterator[str]:
    """Yields one bound as a LaTeX equation with its symbols."""
    bound = entry.bound
    yield r"\begin{equation}"
    yield "  " + formula_latex(bound).strip("$")
    yield r"\end{equation}"
    for symbol in bound.symbols:
        yield rf"${sign_of(symbol)}$: {escaped(symbol.means)} [{escaped(symbol.unit)}]\\"


def bibtex(entry: RegisteredBound) -> str:
    """Returns an entry for a bibliography, with the source of the page in full."""
    source = " ".join(entry.page.partition("## Source\n")[2].split()) or entry.bound.source
    years = re.findall(r"\b(?:19|20)\d\d\b", source)
    lines = [f"  title = {{{escaped(entry.bound.quantity)}}}", f"  howpublished = {{{escaped(source)}}}"]
    lines += [f"  year = {{{years[0]}}}"] if years else []
    return f"@misc{{{entry.bound.name},\n" + ",\n".join(lines) + "\n}\n"


def formula_latex(bound: Bound) -> str:
    """Returns the formula between dollar signs, or what a program computes."""
    signs = {symbol.name: sign_of(symbol) for symbol in bound.symbols}
    return f"${latex(bound.formula, signs) if bound.formula else bound.display}$"


def sign_of(symbol: Symbol) -> str:
    """Returns what stands for a symbol in LaTeX."""
    return symbol.sign or (symbol.name if len(symbol.name) == 1 else rf"\mathrm{{{escaped(symbol.name)}}}")


def escaped(text: str) -> str:
    """Returns text without a meaning for LaTeX."""
    table = {"\\": r"\textbackslash{}", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}"}
    return "".join(table.get(c, rf"\{c}" if c in "&%$#_{}" else c) for c in text)
