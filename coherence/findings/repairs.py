"""Makes edits of the text that questions propose as repairs, and applies them."""

from __future__ import annotations

import itertools
import math
import re
from collections.abc import Collection, Iterable, Mapping
from fractions import Fraction
from functools import lru_cache
from typing import TYPE_CHECKING, cast

from coherence.base import units
from coherence.base.number_text import render_decimal, render_quantity, render_seconds
from coherence.base.places import Place
from coherence.base.units import ONE, SECOND, Dimension
from coherence.findings.finding import Edit, Repair
from coherence.findings.question_input import Subject
from coherence.language.schema_kinds import Quantity

if TYPE_CHECKING:
    from coherence.language.shared_rates import ScaledRate

_BREAK = re.compile("\r\n?|\n")  # as coherence.language.document counts lines
_WRITTEN = re.compile(r"""(["']?)[-+]?[0-9][0-9A-Za-z.%+ ]*\1""")  # a number as manifests write it
_SUFFIXED = re.compile(r"""(["']?)[-+]?[0-9.]+[A-Za-z]+\1""")  # `500m`, `1Gi`: the suffix is no unit of the language
_DURATION = re.compile(r"""(["']?)(?:[0-9]+(?:\.[0-9]*)?(?:ns|us|µs|ms|[smhdw])\s*)+\1""")  # of several parts
_GO_UNITS = ("ms", "s", "m", "h")


def change(subject: Subject, quantity: Quantity, value: Fraction) -> Edit | None:
    """Returns the edit that writes another value (SI) where the quantity stands, in the spelling used there.

    A manifest may count otherwise than the language: Istio's `attempts` are the tries without the first.
    """
    old = text_at(subject.sources, quantity.place)
    if type(quantity) is not Quantity:  # a share of what is stated
        share = getattr(quantity, "share", None)
        if not share:
            return None
        quantity, value = cast("ScaledRate", quantity).stated, value / share
    if old is None:
        return None
    if not subject.design.imported:
        return Edit(quantity.place, old, render_like(old, value, quantity.dimension))
    new = respelled(old, quantity.low, value, quantity.dimension) if quantity.exact else None
    return None if new is None else Edit(quantity.place, old, new)


def rewrite(subject: Subject, place: Place, value: Fraction, dimension: Dimension) -> Edit | None:
    """Returns the edit that writes `value` (SI) at a place; None where it is not one line of a known source.

    In a manifest the place must be that of one number, and what it means is asked of the design.
    """
    old = text_at(subject.sources, place)
    if old is None:
        return None
    if not subject.design.imported:
        return Edit(place, old, render_like(old, value, dimension))
    stated = next((t for call in subject.design.calls for t in call.tries if t.place == place), None)
    if isinstance(stated, Quantity):
        return change(subject, stated, value)
    if dimension == SECOND and old.strip("'\"").isdecimal():
        new = respelled(old, Fraction(old.strip("'\"")), value, SECOND)
        return None if new is None else Edit(place, old, new)
    if not _WRITTEN.fullmatch(old) or (dimension != SECOND and _SUFFIXED.fullmatch(old)):
        return None
    return Edit(place, old, render_like(old, value, dimension))


def insert(subject: Subject, after: Place, key: str, value: str) -> Edit | None:
    """Returns the edit that adds `key: value` behind the value at `after`, in its flow mapping or on its own line.

    None in a manifest for a key that its kind does not have.
    """
    old, known = text_at(subject.sources, after), subject.design.spelling
    if old is None or (subject.design.imported and key not in known):
        return None
    line = lines_of(subject.sources[after.file])[after.line - 1]
    spelled = f"{known.get(key, key)}: {value}"
    block = re.match(r"(\s*)(- )?[\w.]+:\s*$", line[: after.column - 1])
    if block and "{" not in line[: after.column - 1]:
        indent = block[1] + ("  " if block[2] else "")
        return Edit(_empty(after, len(line) + 1), "", f"\n{indent}{spelled}")  # below its comment
    return Edit(_empty(after, after.end_column), "", f", {spelled}")


def insert_first(subject: Subject, entry: Place, key: str, value: str) -> Edit | None:
    """Returns the edit that adds `key: value` as the first of an entry, whose name stands at a place."""
    name, known = text_at(subject.sources, entry), subject.design.spelling
    if name is None or (subject.design.imported and key not in known):
        return None
    lines = lines_of(subject.sources[entry.file])
    behind, spelled = lines[entry.line - 1][entry.end_column - 1 :], f"{known.get(key, key)}: {value}"
    flow, block = re.match(r"\s*:\s*\{", behind), re.fullmatch(r"\s*:\s*(#.*)?", behind)
    if flow:
        return Edit(_empty(entry, entry.end_column + flow.end()), "", f"{spelled}, ")
    below = re.match(r"(\s+)[\w.]+:", lines[entry.line]) if block and entry.line < len(lines) else None
    return Edit(_empty(entry, len(lines[entry.line - 1]) + 1), "", f"\n{below[1]}{spelled}") if below else None


def insert_before(subject: Subject, entry: Place, name: str, value: str) -> Edit | None:
    """Returns the edit that adds another entry before one whose name stands at a place; None in a manifest."""
    if text_at(subject.sources, entry) is None or subject.design.imported:
        return None
    before = lines_of(subject.sources[entry.file])[entry.line - 1][: entry.column - 1]
    behind = f"\n{before}" if before.isspace() else ", "
    return Edit(_empty(entry, entry.column), "", f"{name}: {value}{behind}")


def without(subject: Subject, entry: Place) -> Edit | None:
    """Returns the edit that takes an entry away whose name stands at a place; None where it is not one line by itself.

    None in a manifest, where the object may be more than the design says of it.
    """
    if text_at(subject.sources, entry) is None or subject.design.imported:
        return None
    line = lines_of(subject.sources[entry.file])[entry.line - 1]
    before, own = line[: entry.column - 1], line[entry.column - 1 :]
    if before.strip() or not re.fullmatch(r"[\w.]+:\s*\{.*\}\s*(#.*)?", own):
        return None
    return Edit(Place(entry.file, entry.line, entry.column, entry.line, len(line) + 1), own, "")


def _empty(place: Place, column: int) -> Place:
    return Place(place.file, place.line, column, place.line, column)


def duration_text(subject: Subject, value: Fraction) -> str:
    """Returns a duration (in s) in the spelling of the design's source (`2s` in manifests, `2 s` in designs)."""
    return _go(value) if subject.design.imported else render_seconds(value)


def proposal(*edits: Edit | None) -> Repair | None:
    """Returns a repair that waits for its re-check; None where an edit is not possible."""
    possible = tuple(edit for edit in edits if edit is not None)
    return Repair(possible, "") if possible and len(possible) == len(edits) else None


def text_at(sources: Mapping[str, str], place: Place) -> str | None:
    """Returns the text of a place; None where it does not lie on one line of a known file."""
    text = sources.get(place.file)
    if text is None or place.line != place.end_line:
        return None
    lines = lines_of(text)
    return lines[place.line - 1][place.column - 1 : place.end_column - 1] if place.line <= len(lines) else None


@lru_cache(maxsize=64)
def lines_of(text: str) -> tuple[str, ...]:
    """Returns the lines of a source without their ends, counted as YAML counts them."""
    return tuple(text.replace("\r\n", "\n").replace("\r", "\n").split("\n"))


def render_like(old: str, value: Fraction, dimension: Dimension) -> str:
    """Returns the value written as the old text is: its unit where that is readable, Go duration, quotes."""
    quote = old[0] if old[:1] in ("'", '"') else ""
    inner = old.strip("'\"")
    match = re.fullmatch(rf"[-+]?{units.NUMBER}(\s*)({units.UNIT})?", inner)
    if not match:
        new = _go(value) if re.fullmatch(r"(\d+(\.\d+)?(ms|s|m|h))+", inner) else render_quantity(value, dimension)
    elif dimension == SECOND and not match[2]:
        new = render_decimal(value)
    elif dimension == SECOND and not match[1]:
        new = _go(value)
    elif match[2] and (number := _in_unit(inner, match[2], value)) is not None:
        new = render_decimal(number) + match[1] + match[2]
    else:
        new = render_quantity(value, dimension) if dimension != ONE else render_decimal(value)
    return f"{quote}{new}{quote}"


def _in_unit(old: str, unit: str, value: Fraction) -> Fraction | None:
    """Returns the number before the unit: exact, or in two digits and further away from the old one.

    None where the unit is too large for the value, or far too small.
    """
    size = units.unit(unit)[0]
    number, before = value / size, Fraction(old.removesuffix(unit).strip())
    if (number * 1000).denominator == 1:
        return number
    if not 2 <= number < 1000 or before == 0:
        return None
    return _rounded(number, up=number > before)


def _go(value: Fraction) -> str:
    if value >= 1 and value.denominator == 1:
        return f"{value}s"
    return f"{render_decimal(value * 1000)}ms" if value < 10 else f"{render_decimal(value)}s"


def respelled(old: str, now: Fraction, value: Fraction, dimension: Dimension) -> str | None:
    """Returns what a manifest must say for `value`, where its text `old` means `now`; None if no rule is seen.

    Seconds, per cent and thousandths are a factor; a whole number that means one more counts what comes after
    the first.  Whole numbers stay whole, rounded away from `now`.
    """
    match = re.fullmatch(r"""(["']?)([0-9]+(?:\.[0-9]+)?)([A-Za-z]*|%)\1""", old)
    if match is None:
        several = _DURATION.fullmatch(old) if dimension == SECOND else None
        return f"{several[1]}{_go(value)}{several[1]}" if several else None  # what else it is, such as a schedule
    quote, digits, suffix = match[1], Fraction(match[2]), match[3]
    if suffix in _GO_UNITS and dimension == SECOND:
        return f"{quote}{_go(value)}{quote}"
    number: Fraction | None
    if digits.denominator == 1 and not suffix and dimension == ONE and now == digits + 1:
        number = value - 1
    elif digits == 0 or now == 0:
        number = value if digits == now and not suffix else None
    else:
        number = value * digits / now
    if number is None or number < 0:
        return None
    if "." not in match[2]:
        number = Fraction(math.ceil(number) if value > now else math.floor(number))
    return f"{quote}{render_decimal(number)}{suffix}{quote}"


def apply(edits: Collection[Edit], sources: Mapping[str, str]) -> dict[str, str] | None:
    """Returns the sources after the edits; None where an edit does not find its old text, or two overlap."""
    return applied(edits, sources) if fit(edits, sources) else None


def fit(edits: Iterable[Edit], sources: Mapping[str, str]) -> bool:
    """Returns whether each edit finds its old text, and no two overlap."""
    ordered = sorted(edits, key=lambda e: e.place)
    apart = all(
        before.place.file != after.place.file or _end(before.place) <= (after.place.line, after.place.column)
        for before, after in itertools.pairwise(ordered)
    )
    return apart and all(text_at(sources, edit.place) == edit.old for edit in ordered)


def applied(edits: Iterable[Edit], sources: Mapping[str, str]) -> dict[str, str]:
    """Returns the sources after edits that fit."""
    changed = dict(sources)
    for edit in sorted(edits, key=lambda e: e.place, reverse=True):
        text = changed[edit.place.file]
        start, new = _offset(text, edit.place), edit.new.replace("\n", _end_of_line(text))
        changed[edit.place.file] = text[:start] + new + text[start + len(edit.old) :]
    return changed


def _end(place: Place) -> tuple[int, int]:
    return place.end_line, place.end_column


def _offset(text: str, place: Place) -> int:
    """Returns the number of characters before a place in its text."""
    return _starts(text)[: place.line][-1] + place.column - 1


@lru_cache(maxsize=4)
def _starts(text: str) -> tuple[int, ...]:
    """Returns the number of characters before each line of a text."""
    return (0, *(match.end() for match in _BREAK.finditer(text)))


def _end_of_line(text: str) -> str:
    """Returns the characters that end the lines of the text."""
    match = _BREAK.search(text)
    return match[0] if match else "\n"


def downward_round(value: Fraction) -> Fraction:
    """Returns the value rounded down to two significant digits."""
    return _rounded(value, up=False)


def upward_round(value: Fraction) -> Fraction:
    """Returns the value rounded up to two significant digits."""
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
