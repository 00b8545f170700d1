"""Tells the indices of coordination: each a number with its interval and its meaning, or what to measure for it."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any

from coherence.causal.answers.answer import Section
from coherence.causal.answers.intervals import Estimate
from coherence.causal.answers.one_screen import first_lines
from coherence.causal.indices import IndexPart, IndexRefusal, MeasuredIndex, index_entries, measured_indices
from coherence.causal.session.context import Context
from coherence.causal.session.figures import AmountBar, bars
from coherence.causal.session.request_inputs import HIGH, LOW
from coherence.reporting.pictures.figure import Panel

ORDER = 80
TITLE = "Indices of coordination"
DRAWN = ("CI", "DI", "WPI", "HCL")
FEW = 100  # requests
WIDEST = 10.0  # an interval wider than this would hide the others


def answer(context: Context) -> Section | None:
    """CI, DI, WPI, HCL, CC and the score of each layer; nothing without a log of requests or a band of a loop."""
    given = context.request_inputs
    if given is None:
        return None
    if given.facts.log is None and not given.facts.tubes:
        return Section(TITLE, tuple(f"refused: {note}" for note in given.notes), {"refused": list(given.notes)})
    indices = [
        measured_indices(given.facts, [name])[0]
        for name in index_entries()
        if given.facts.log is not None or name == "CC"
    ]
    loops = (
        ()
        if given.facts.tubes or given.facts.log is None
        else tuple(dict.fromkeys(loop.signal for loop in context.model.loops))
    )
    count = len(given.facts.log) if given.facts.log is not None else FEW
    few = (f"only {count} requests: too few to rely on, whatever an interval says",) if count < FEW else ()
    left = given.facts.log.excluded if given.facts.log is not None else ()
    odd = tuple(f"left out: {one.what}: {one.why}; {one.remedy}" for one in left)
    parts = (*given.notes, *odd, *few, *render_indices(indices), *(_band(name) for name in loops[:1]))
    data = {
        "indices": [index_to_dict(one) for one in indices], "notes": list(given.notes), "servers": given.facts.servers,
        "left_out": [{"what": one.what, "why": one.why, "remedy": one.remedy} for one in left],
        "requests": count if given.facts.log is not None else 0,
    }  # fmt: skip
    brief = (*first_lines((*given.notes, *odd)), *few, *render_indices(indices, parts=False))
    return Section(TITLE, parts, data, panels=_panels(indices), brief=brief)


def _band(name: str) -> str:
    return f"the band of {name} is read from the signals {name}{LOW} and {name}{HIGH}"


def _panels(indices: list[MeasuredIndex | IndexRefusal]) -> tuple[Panel, ...]:
    """Those whose intervals fit beside each other."""
    known = [
        AmountBar(one.index.name, one.estimate) for one in indices if isinstance(one, MeasuredIndex) and not one.bound
    ]
    drawn = [bar for bar in known if bar.name in DRAWN and bar.amount.high - bar.amount.low <= WIDEST]
    return (bars("Indices with their intervals", "", drawn),) if drawn else ()


def render_indices(indices: Iterable[MeasuredIndex | IndexRefusal], *, parts: bool = True) -> list[str]:
    """One block for each index: name, value, interval, what it says; its parts and notes, or what to measure."""
    rows: list[tuple[str, str, str]] = []
    for index in indices:
        if isinstance(index, IndexRefusal):
            rows.append((index.index.name, "not known", index.why))
            rows += [("", "", f"measure {what}") for what in index.measure]
            continue
        rows.append((index.index.name, render_estimate(index.estimate, index.bound), index.says))
        rows += [(f"  {part.name}", _part(part), "") for part in index.parts if parts]
        rows += [("", "", note) for note in index.notes]
    wide = [max((len(row[column]) for row in rows), default=0) for column in (0, 1)]
    return [f"{name:<{wide[0]}}  {number:<{wide[1]}}  {text}".rstrip() for name, number, text in rows]


def render_estimate(estimate: Estimate, bound: str = "") -> str:
    """`0.43 [0.37, 0.46]`, `>= 0.95`."""
    if bound:
        return f"{bound} {estimate.value:.3g}"
    if estimate.low == estimate.high or (estimate.low == -math.inf and estimate.high == math.inf):
        return f"{_three_digits(estimate.value)}"
    return f"{_three_digits(estimate.value)} [{_three_digits(estimate.low)}, {_three_digits(estimate.high)}]"


def _part(part: IndexPart) -> str:
    return render_estimate(part.estimate) + ("" if part.unit == "1" else f" {part.unit}")


def _three_digits(number: float) -> str:
    return f"{number:.3g}" if abs(number) >= 5e-4 else "0"


def index_to_dict(index: MeasuredIndex | IndexRefusal) -> dict[str, Any]:
    """JSON-able; an infinite end of an interval is null."""
    head: dict[str, Any] = {"name": index.index.name, "words": index.index.words, "unit": index.index.unit}
    if isinstance(index, IndexRefusal):
        return {**head, "known": False, "why": index.why, "measure": list(index.measure)}
    return {
        **head,
        "known": True,
        "bound": index.bound or "=",
        **_estimate(index.estimate),
        "says": index.says,
        "parts": [{"name": part.name, "unit": part.unit, **_estimate(part.estimate)} for part in index.parts],
        "notes": list(index.notes),
    }


def _estimate(found: Estimate) -> dict[str, float | None]:
    numbers = {"value": found.value, "low": found.low, "high": found.high, "error": found.error}
    return {**{name: n if math.isfinite(n) else None for name, n in numbers.items()}, "level": found.level}
