"""Repairs: proposed by a question as edits of the text, kept only if the edited design is re-checked."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from fractions import Fraction

from coherence import units
from coherence.finding import Edit, Repair
from coherence.places import Place
from coherence.shape import Quantity
from coherence.subject import Subject
from coherence.units import ONE, SECOND, Dimension


def change(subject: Subject, quantity: Quantity, value: Fraction) -> Edit | None:
    """Write another value where the quantity stands, in the spelling that stands there."""
    return rewrite(subject, quantity.place, value, quantity.dimension)


def rewrite(subject: Subject, place: Place, value: Fraction, dimension: Dimension) -> Edit | None:
    """Write `value` (SI) at a place; None where the place is not one line of a known source."""
    old = text_at(subject.sources, place)
    if old is None:
        return None
    return Edit(place, old, render_like(old, value, dimension))


def insert(subject: Subject, after: Place, key: str, value: str) -> Edit | None:
    """Add `key: value` behind the value at `after`: in its flow mapping, or on a line of its own."""
    old = text_at(subject.sources, after)
    if old is None:
        return None
    line = subject.sources[after.file].split("\n")[after.line - 1]
    spelled = f"{subject.design.spelling.get(key, key)}: {value}"
    block = re.match(r"(\s*)(- )?[\w.]+:\s*$", line[: after.column - 1])
    end = Place(after.file, after.line, after.end_column, after.line, after.end_column)
    if block and "{" not in line[: after.column - 1]:
        indent = block[1] + ("  " if block[2] else "")
        return Edit(end, "", f"\n{indent}{spelled}")
    return Edit(end, "", f", {spelled}")


def duration_text(subject: Subject, value: Fraction) -> str:
    """A duration in the spelling of the design's source (`2s` in manifests, `2 s` in designs)."""
    return _go(value) if subject.design.spelling else units.seconds(value)


def proposal(*edits: Edit | None) -> Repair | None:
    """A repair that waits for its re-check; None where an edit is not possible."""
    kept = tuple(edit for edit in edits if edit is not None)
    return Repair(kept, "") if kept and len(kept) == len(edits) else None


def text_at(sources: Mapping[str, str], place: Place) -> str | None:
    """The text of a place that lies on one line of a known file."""
    text = sources.get(place.file)
    if text is None or place.line != place.end_line:
        return None
    lines = text.split("\n")
    return lines[place.line - 1][place.column - 1 : place.end_column - 1] if place.line <= len(lines) else None


def render_like(old: str, value: Fraction, dimension: Dimension) -> str:
    """The value written as the old text is: same unit where it stays readable, Go duration, bare number, quotes."""
    quote = old[0] if old[:1] in ("'", '"') else ""
    inner = old.strip("'\"")
    match = re.fullmatch(rf"[-+]?{units.NUMBER}(\s*)({units.UNIT})?", inner)
    if not match:
        new = _go(value) if re.fullmatch(r"(\d+(\.\d+)?(ms|s|m|h))+", inner) else units.show(value, dimension)
    elif dimension == SECOND and not match[2]:
        new = units.decimal(value)
    elif dimension == SECOND and not match[1]:
        new = _go(value)
    elif match[2] and (value / units.unit(match[2])[0] * 1000).denominator == 1:
        new = units.decimal(value / units.unit(match[2])[0]) + match[1] + match[2]
    else:
        new = units.show(value, dimension) if dimension != ONE else units.decimal(value)
    return f"{quote}{new}{quote}"


def _go(value: Fraction) -> str:
    if value >= 1 and value.denominator == 1:
        return f"{value}s"
    return f"{units.decimal(value * 1000)}ms" if value < 10 else f"{units.decimal(value)}s"


def apply(edits: Iterable[Edit], sources: Mapping[str, str]) -> dict[str, str] | None:
    """The sources after the edits; None where an edit does not find its old text."""
    changed = dict(sources)
    for edit in sorted(edits, key=lambda e: e.place, reverse=True):
        if text_at(changed, edit.place) != edit.old:
            return None
        lines = changed[edit.place.file].split("\n")
        line = lines[edit.place.line - 1]
        lines[edit.place.line - 1] = line[: edit.place.column - 1] + edit.new + line[edit.place.end_column - 1 :]
        changed[edit.place.file] = "\n".join(lines)
    return changed


def downward_round(value: Fraction) -> Fraction:
    """The value rounded down to two significant digits: a number that a person would write."""
    return _rounded(value, up=False)


def upward_round(value: Fraction) -> Fraction:
    """The value rounded up to two significant digits."""
    return _rounded(value, up=True)


def _rounded(value: Fraction, *, up: bool) -> Fraction:
    if value <= 0:
        return Fraction(0)
    scale = Fraction(1)
    while value / scale >= 100:
        scale *= 10
    while value / scale < 10:
        scale /= 10
    whole = -(-value // scale) if up else value // scale
    return whole * scale
