"""Tells every declared influence with its fitted strength, its delay, and whether the data show it."""

from __future__ import annotations

from collections.abc import Iterator
from math import isfinite
from typing import Any

from coherence.base.number_text import render_number
from coherence.causal.answers.answer import Section, TextTable, estimate_to_dict, render_interval
from coherence.causal.answers.intervals import Estimate
from coherence.causal.answers.one_screen import alike, first_lines, first_rows, listed_names
from coherence.causal.fitting.fit import FALSE_DISCOVERIES, Fitted, FittedNode
from coherence.causal.fitting.gram import Column
from coherence.causal.session.constant_terms import constant_terms, hidden_between
from coherence.causal.session.context import Context
from coherence.causal.session.influence_picture import graph
from coherence.causal.telemetry.header import signal_and_labels

ORDER = 20
HEADER = ("cause", "effect", "delay", "strength", "95 % interval", "seen", "told by")


def answer(context: Context) -> Section | None:
    """The fitted graph."""
    fitted = context.fitted
    if not fitted.nodes:
        return Section("Influences", (_nothing(context),))
    seen = context.seen
    rows = [_row(fitted, node, column, seen) for node in fitted.nodes.values() for column in node.equation.columns]
    fixed = constant_terms(context.model, fitted.signals)
    target = context.loss.name if context.loss is not None else None
    strengths = TextTable(HEADER, tuple(rows), 2)
    return Section("Influences", (*_facts(fitted), strengths, _rate(context), *_refusals(fitted), *_constant(fixed)), {
        "influences": [_data(fitted, n, c, seen) for n in fitted.nodes.values() for c in n.equation.columns],
        "rows": int(fitted.grams.rows.sum()), "rows_lost": fitted.grams.lost, "batches": fitted.batches,
        "seen_at": {"familywise": context.settings.familywise} if context.settings.familywise is not None
        else {"false_discovery_rate": FALSE_DISCOVERIES},
        "taken_as_constant": {term: list(effects) for term, effects in fixed.items()},
    }, panels=(graph(fitted, target, seen, context.whole.units),),
        brief=(*_brief(context, fitted, seen), *_alike_refusals(fitted), *_constant(fixed)))  # fmt: skip


def _brief(context: Context, fitted: Fitted, seen: dict[tuple[str, str], bool]) -> Iterator[str | TextTable]:
    """How many influences are identified and seen; without a loss, those that stand out most from their error."""
    every = [(node, column) for node in fitted.nodes.values() for column in node.equation.columns]
    identified = [(node, column) for node, column in every if node.identifies(column)]
    shown = sum(bool(seen.get((column[0], node.effect))) for node, column in identified)
    rows = int(fitted.grams.rows.sum())
    counts = f"{len(identified)} of {len(every)} told, {shown} seen ({_short_rate(context)})"
    yield f"{counts}; {rows} rows of {render_number(fitted.step)} s"
    if context.loss is None:
        ordered = sorted(identified, key=lambda pair: -_clearness(_estimate(*pair)))
        yield from first_rows(TextTable(HEADER, tuple(_row(fitted, *pair, seen) for pair in ordered), 2))


def _clearness(strength: Estimate) -> float:
    """Returns how many errors a strength is from zero."""
    return abs(strength.value) / strength.error if strength.error > 0 else 0.0


def _alike_refusals(fitted: Fitted) -> Iterator[str]:
    """Refusals, once for each reason, and groups of which only the sum is told."""
    refused = [node for node in fitted.nodes.values() if node.equation.refused]
    yield from first_lines(alike(
        (node.effect, f"not told, for {node.equation.refused}; measure {' or '.join(node.equation.measure)}")
        for node in refused
    ))  # fmt: skip
    groups = [(node.effect, group) for node in fitted.nodes.values() for group in node.groups]
    yield from first_lines(
        f"{effect}: {listed_names([name for name, _ in group])} move together; only their sum is told"
        for effect, group in groups
    )


def _nothing(context: Context) -> str:
    wanted = set(context.wanted)
    out = sorted({one.what for one in context.usable[0].excluded} & wanted)
    present = {signal_and_labels(name)[0] for name in context.whole.names}.union(context.whole.names)
    missing = sorted(wanted - {*present, *out})
    lacking = [("signals of the design without a column", missing), ("left out", out)]
    return "; ".join((
        "no influence has both its ends in the telemetry",
        *(f"{title}: {', '.join(names)}" for title, names in lacking if names),
    ))  # fmt: skip


def _facts(fitted: Fitted) -> Iterator[str]:
    rows, lost = int(fitted.grams.rows.sum()), fitted.grams.lost
    told = f"; {lost} left out because a value was missing" if lost else ""
    yield f"fitted on {rows} rows of {render_number(fitted.step)} s in {fitted.batches} batches{told}"


def _rate(context: Context) -> str:
    """At which rate of errors an influence counts as seen."""
    level = context.settings.familywise
    if level is None:
        return f"seen: at a false-discovery rate of {FALSE_DISCOVERIES:.0%}; for any false one at all, --familywise 1%"
    return f"seen: with a chance of {100 * level:g} % that any of them has no effect (Holm, over all)"


def _short_rate(context: Context) -> str:
    level = context.settings.familywise
    return f"false discoveries {FALSE_DISCOVERIES:.0%}" if level is None else f"familywise {100 * level:g} %"


def _estimate(node: FittedNode, column: Column) -> Estimate:
    at = node.equation.columns.index(column)
    low, high, error = float(node.low[at]), float(node.high[at]), float(node.error[at])
    return Estimate(float(node.coefficients[0, at]), low, high, error)


def _row(fitted: Fitted, node: FittedNode, column: Column, seen: dict[tuple[str, str], bool]) -> tuple[str, ...]:
    cause, lag = column
    delay = f"{render_number(lag * fitted.step)} s" if lag else "0 s"
    if column in node.equation.lost:
        return cause, node.effect, delay, "not told", "", "", "nothing"
    if not node.identifies(column):
        return cause, node.effect, delay, "not told", "", "", "their sum alone"
    strength = _estimate(node, column)
    method = "known" if node.equation.exact else node.equation.method
    shown = "yes" if seen.get((cause, node.effect)) else "no"
    return cause, node.effect, delay, render_number(strength.value), render_interval(strength), shown, method


def _constant(fixed: dict[str, tuple[str, ...]]) -> Iterator[str]:
    for term, effects in fixed.items():
        yield f"{term} in {', '.join(effects)}: taken as a constant, for no column has it"
    for name, effects in hidden_between(fixed).items():
        yield (
            f"  if {name} moves, it hides between {' and '.join(effects)}, and what is told of them is wrong: "
            f"measure it, or declare it `varies: ...`"
        )


def _refusals(fitted: Fitted) -> Iterator[str]:
    for node in fitted.nodes.values():
        if node.equation.refused:
            yield f"{node.effect}: not told, for {node.equation.refused}"
            yield f"  to tell it, measure {' or '.join(node.equation.measure)}"
        for group in node.groups:
            names = ", ".join(dict.fromkeys(name for name, _ in group))
            yield f"{node.effect}: {names} move together; only their sum is told"


def _data(fitted: Fitted, node: FittedNode, column: Column, seen: dict[tuple[str, str], bool]) -> dict[str, Any]:
    cause, lag = column
    estimated = node.identifies(column)
    return {
        "cause": cause, "effect": node.effect, "delay_s": lag * fitted.step, "told": estimated,
        "strength": estimate_to_dict(_estimate(node, column)) if estimated else None,
        "seen": bool(seen.get((cause, node.effect))),
        "method": "exact" if node.equation.exact else node.equation.method, "refused": node.equation.refused,
        "measure": list(node.equation.measure), "condition": node.condition if isfinite(node.condition) else None,
    }  # fmt: skip
