"""Writes an overlay: each measured value with its query, window and samples, and what was not measured, to be tried."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction

from coherence.base.number_text import render_decimal, render_seconds
from coherence.base.outside_text import visible
from coherence.checking.fact_queries import AskedFact, FactQuery, OpenQuestion
from coherence.checking.measured.measuring import Answered, Measured

MARK = "# What manifests do not say, by `coherence overlay`"
DIGITS = 4
ZERO = Fraction(0)
Lines = dict[str, "Lines | Sequence[str]"]


def overlay_text(
    answers: Sequence[Answered], others: Sequence[OpenQuestion], *, source: str, share: Fraction,
    queries: Mapping[AskedFact, Sequence[FactQuery]],
) -> str:  # fmt: skip
    """Returns the overlay as YAML.

    `others`: what is open and asks for no fact; `source`: which server, and which window; `queries`: what may be tried.
    """
    measured = [it for it in answers if it.measured is not None and not it.measured.others]
    rest = [it for it in answers if it.measured is None or it.measured.others]
    lines = [MARK, f"# {visible(source)}", "coherence: 1", "overlays: manifests", *_stated(measured, share)]
    if rest:
        lines += ["", "# Not measured.  Each of these lines decides something; write it above, with what you know:"]
        lines += [f"# the first one is written `{visible(_written(rest[0].fact))}`"]
        lines += [line for it in rest for line in _open(it, queries.get(it.fact, ()))]
    if others:
        lines += ["", "# Open too, and no one value that is measured decides it (`coherence check -v` says why):"]
        lines += [f"#   {', '.join(it.codes)}: {visible(', '.join(it.of))}" for it in others]
    return "\n".join(lines) + "\n"


def _stated(answers: Sequence[Answered], share: Fraction) -> Iterator[str]:
    """Yields the values as nested mappings, those of calls as a list."""
    tree: Lines = {}
    for it in answers:
        assert it.measured is not None
        remarks = [f"# {line}" for line in _remarks(it.fact, it.measured, share)]
        _put(tree, it.fact.path, [*remarks, f"{it.fact.path[-1]}: {value_text(it.measured, it.fact.unit)}"])
        for path, text in it.fact.also:
            _put(tree, path, [f"{path[-1]}: {text}"])
    calls = tree.pop("calls", {})
    yield from _nested(tree, 0)
    if isinstance(calls, dict) and calls:
        yield "calls:"
        for name, keys in calls.items():
            caller, _, callee = name.partition(" -> ")
            yield from (f"- from: {caller}", f"  to: {callee}")
            assert isinstance(keys, dict)
            yield from _nested(keys, 1)


def _put(tree: Lines, path: tuple[str, ...], lines: Sequence[str]) -> None:
    for key in path[:-1]:
        inner = tree.setdefault(key, {})
        assert isinstance(inner, dict)
        tree = inner
    tree[path[-1]] = lines


def _nested(tree: Lines, depth: int) -> Iterator[str]:
    indent = "  " * depth
    for key, value in tree.items():
        if isinstance(value, dict):
            yield f"{indent}{key}:"
            yield from _nested(value, depth + 1)
        else:
            yield from (f"{indent}{line}" for line in value)


def _remarks(fact: AskedFact, measured: Measured, share: Fraction) -> Iterator[str]:
    """Yields what a value stands on."""
    of = "" if share == 1 else f"; the range holds {render_decimal(share * 100)} % of them"
    yield f"{measured.samples:,} sample{'s' * (measured.samples != 1)} of {measured.query.source}{of}; {_askers(fact)}"
    if measured.query.note:
        yield measured.query.note
    yield f"query: {visible(measured.query.promql)}"


def _askers(fact: AskedFact) -> str:
    return f"asked for by {', '.join(fact.asked_by)}"


def value_text(measured: Measured, unit: str) -> str:
    """Returns a range in the language, never narrower than what was measured."""
    low, high = _outward(measured.low, up=False), _outward(measured.high, up=True)
    if unit == "copies":
        low, high = Fraction(math.floor(measured.low)), Fraction(math.ceil(measured.high))
        return str(low) if low == high else f'"varies: {low} .. {high}"'
    first, last = _number(low, unit), _number(high, unit)
    return first if first == last else f"{first} .. {last}"


def _number(value: Fraction, unit: str) -> str:
    if unit == "s":
        return render_seconds(value)
    return f"{render_decimal(value)} {unit}".strip()


def _outward(value: Fraction, *, up: bool) -> Fraction:
    """Returns the value with four digits, rounded up or down."""
    if value == ZERO:
        return value
    size = Fraction(10) ** (math.floor(math.log10(value)) + 1 - DIGITS)
    return (math.ceil(value / size) if up else math.floor(value / size)) * size


def _open(answered: Answered, queries: Sequence[FactQuery]) -> Iterator[str]:
    """Yields a fact as comments: where it stands, who asks, what was tried and what may be."""
    fact, measured = answered.fact, answered.measured
    yield "#"
    yield f"# {visible(fact.name)}: {value_hint(fact)}   ({visible(fact.words)}; {_askers(fact)})"
    yield from (f"#   with {'.'.join(path)}: {text}" for path, text in fact.also)
    if measured is not None:
        text = value_text(measured, fact.unit)
        yield (
            f"#   {measured.samples:,} of {measured.samples + measured.others:,} took {text}; the others did not end, "
            "or began again: how long they need is not known"
        )
        yield f"#   query: {visible(measured.query.promql)}"
    reasons = {query.promql: reason for query, reason in answered.tried}
    for query in queries if measured is None else ():
        why = f": {reasons[query.promql]}" if query.promql in reasons else ""
        yield f"#   {visible(query.source)}{visible(why)}: {visible(query.promql)}"
    if fact.remedy and measured is None:
        yield f"#   {'else ' if queries else ''}{visible(fact.remedy)}"


def _written(fact: AskedFact) -> str:
    """Returns a fact as it stands in an overlay, on one line."""
    first, name, *keys = fact.path
    inner = f"{': {'.join(keys)}: {value_hint(fact)}{'}' * (len(keys) - 1)}"
    if first != "calls":
        return f"{first}: {{{name}: {{{inner}}}}}"
    caller, _, callee = name.partition(" -> ")
    return f"calls: [{{from: {caller}, to: {callee}, {inner}}}]"


def value_hint(fact: AskedFact) -> str:
    """Returns what a value looks like."""
    return {"s": "LOW s .. HIGH s", "copies": "NUMBER"}.get(fact.unit, f"LOW .. HIGH {fact.unit}".strip())


__all__ = ["MARK", "overlay_text", "value_hint", "value_text"]
