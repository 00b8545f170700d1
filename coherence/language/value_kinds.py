"""Declares the kinds of single values: words, names, quantities with units, formulas, and values of any kind."""

from __future__ import annotations

import re
from collections.abc import Mapping
from fractions import Fraction

from coherence.base import number_text, units
from coherence.base.errors import did_you_mean
from coherence.base.places import Place
from coherence.base.units import ONE, SECOND, Dimension, UnitError
from coherence.language.document import Node, Scalar, Table
from coherence.language.expressions import ExpressionError, parse
from coherence.language.expressions.tree import Arithmetic, Call, Choose, Number
from coherence.language.schema_kinds import Formula, Kind, Quantity, Reading, Word, listing, mapping, or_word, scalar


def _read_text(node: Node, reading: Reading) -> Word | None:
    leaf = scalar(node, reading, "a text")
    return Word(leaf.text, leaf.place) if leaf else None


TEXT: Kind[Word] = Kind(_read_text, {"type": "string"}, "text")


def word(*allowed: str, unsaid: Mapping[str, str] | None = None) -> Kind[Word]:
    """Returns one of the words given; `unsaid`: words that are known and refused, with what to write instead."""

    def read(node: Node, reading: Reading) -> Word | None:
        leaf = scalar(node, reading, f"one of {', '.join(allowed)}")
        if leaf and leaf.text not in allowed:
            reading.problem(
                leaf.place,
                f"'{units.shorten(leaf.text)}' is not one of {', '.join(allowed)}",
                (unsaid or {}).get(leaf.text.split(",")[0]) or did_you_mean(leaf.text, allowed),
            )
            return None
        return Word(leaf.text, leaf.place) if leaf else None

    return Kind(read, {"enum": list(allowed)}, ", ".join(f"`{text}`" for text in allowed))


def _read_name(node: Node, reading: Reading) -> Word | None:
    leaf = scalar(node, reading, "a name")
    if leaf and not re.fullmatch(r"[a-z][a-z0-9_]*(\.[a-z][a-z0-9_]*)*", leaf.text):
        reading.problem(
            leaf.place,
            f"'{units.shorten(leaf.text)}' is not a name",
            f"a time in which so many may happen is `window: {leaf.text}`"
            if _is_duration(leaf.text)
            else "names are lower-case letters, digits and _, starting with a letter",
        )
        return None
    return Word(leaf.text, leaf.place) if leaf else None


def _is_duration(text: str) -> bool:
    try:
        return units.quantity(text)[1] == units.SECOND
    except UnitError:
        return False


NAME_KIND: Kind[Word] = Kind(
    _read_name, {"type": "string", "pattern": r"^[a-z][a-z0-9_]*(\.[a-z][a-z0-9_]*)*$"}, "a name"
)


def _explained(text: str, error: UnitError) -> tuple[str, str]:
    """Returns why a text is no quantity, and what to write."""
    if written := range_written(text):
        return str(error), f"a range is written {written}"
    if written := units.respelled(text):
        return str(error), f"write {written}"
    if _is_expression(text):
        message = f"'{units.shorten(text)}' is an expression, and here stands a value or a range of values"
        return message, "write what it comes to, for example 28 s or 28 s .. 280 s"
    return str(error), error.remedy


def parse_quantity(
    leaf: Scalar, reading: Reading, dimension: Dimension | None, *, varies: bool = False
) -> Quantity | None:
    """Returns the quantity of `5 s`, `60 s .. 120 s` or `3 .. 20`; None (with a problem) for other text."""
    text = leaf.text.strip()
    if text.startswith("varies:"):
        text, varies = text[len("varies:") :].strip(), True
    ends = text.split("..") if ".." in text else [text]
    if len(ends) > 2:
        reading.problem(leaf.place, f"'{units.shorten(text)}' has more than two ends", "write `a .. b`")
        return None
    try:
        values = [units.quantity(end) for end in ends]
    except UnitError as error:
        reading.problem(leaf.place, *_explained(text, error))
        return None
    (low, first), (high, last) = values[0], values[-1]
    own = last if low == 0 and first == ONE else first
    if not first.fits(last) and low != 0:
        written = range_written(text) if first == ONE else ""
        remedy = f"write {written}" if written else "give both ends the same unit"
        reading.problem(leaf.place, f"'{text}' mixes {first} and {last}", remedy)
        return None
    if low > high:
        reading.problem(
            leaf.place,
            f"'{text}' is empty: {number_text.render_quantity(low, first)} > {number_text.render_quantity(high, last)}",
            "write the smaller end first",
        )
        return None
    if dimension is not None and not _fits(own, dimension, low, high):
        _mismatch(leaf, reading, own, dimension)
        return None
    return Quantity(low, high, own, text, leaf.place, varies)


def _is_expression(text: str) -> bool:
    """Decides whether a text computes with names or numbers."""
    try:
        return isinstance(parse(text), Arithmetic | Call | Choose)
    except ExpressionError:
        return False


_OTHER_RANGE = re.compile(
    rf"[\[(]?(?:from |between )?({units.NUMBER})\s*([^\s,]*)\s*(?:\.\.+|…|-|–|—|to |and |,(?=\s))"
    rf"\s*({units.NUMBER})\s*([^\])]*)[\])]?"
)


def range_written(text: str) -> str:
    """Returns a range of another spelling (`4-8 s`, `4 to 8 s`, `[4 s, 8 s]`) as it is written here, else ""."""
    match = _OTHER_RANGE.fullmatch(text[: units.LONGEST].strip())
    if not match:
        return ""
    low, first, high, last = match.groups()
    last = units.respelled(last) or last
    if last == "%" and not first and units.number(low) <= 1:
        return ""  # `1 - 20 %` is a share that is left
    written = [f"{low} {units.respelled(first) or first or last}".strip(), f"{high} {last}".strip()]
    try:
        ends = [units.quantity(end) for end in written]
    except UnitError:
        return ""
    return " .. ".join(written) if ends[0][1].fits(ends[1][1]) and ends[0][0] <= ends[1][0] else ""


def _fits(dimension: Dimension, wanted: Dimension, low: Fraction, high: Fraction) -> bool:
    return dimension.fits(wanted) or low == high == 0


def _mismatch(leaf: Scalar, reading: Reading, dimension: Dimension, wanted: Dimension) -> None:
    example = "500 ms" if wanted == SECOND else f"5 {wanted}"
    if wanted == ONE:
        example = "5 or 20 %"
    reading.problem(
        leaf.place,
        f"'{units.shorten(leaf.text)}' is {dimension}, {wanted if wanted != SECOND else 'a duration'} expected",
        f"write for example {example}",
    )


def quantity(
    dimension: Dimension | None = None,
    *,
    low: Fraction | int | None = None,
    high: Fraction | int | None = None,
    positive: bool = False,
    whole: bool = False,
) -> Kind[Quantity]:
    """Returns a value or range of one dimension (None: any), from `low` to `high`; also `{varies: a .. b}`."""

    def read(node: Node, reading: Reading) -> Quantity | None:
        varies = isinstance(node, Table) and list(node.entries) == ["varies"]
        inner = node.entries["varies"] if varies and isinstance(node, Table) else node
        leaf = scalar(inner, reading, "a quantity")
        value = parse_quantity(leaf, reading, dimension, varies=varies) if leaf else None
        if value and low is not None and value.low < low:
            reading.problem(value.place, f"'{value.text}' is below {low}", f"write a value of at least {low}")
            return None
        if value and high is not None and value.high > high:
            reading.problem(value.place, f"'{value.text}' is above {high}", f"write a value of at most {high}")
            return None
        if value and positive and value.low <= 0:
            reading.problem(value.place, f"'{value.text}' is not above zero", "write a value above zero")
            return None
        if value and whole and any(end.denominator != 1 for end in (value.low, value.high)):
            reading.problem(value.place, f"'{value.text}' is no whole number", "it counts: write for example 3")
            return None
        return value

    return Kind(read, {"type": ["string", "number", "object"]}, _what(dimension, low, positive=positive, whole=whole))


def _what(dimension: Dimension | None, low: Fraction | int | None, *, positive: bool, whole: bool) -> str:
    """Returns what a quantity of such a dimension is in words."""
    plain = {None: "a quantity with its unit", ONE: "a number or share", SECOND: "a duration"}
    what = "a whole number" if whole else plain.get(dimension, f"a quantity in {dimension}")
    if positive:
        return f"{what} above zero"
    return what if low is None or (low == 0 and dimension != ONE) else f"{what} of at least {low}"


ANY_QUANTITY = quantity()
AMOUNT = quantity(low=0)
_TABLE_OF_NEEDS = mapping(AMOUNT)
_NAMED_NEED = re.compile(rf"({units.NUMBER}(?:\s*\.\.\s*{units.NUMBER})?)\s+([a-z][a-z0-9_]*)")


def _read_needs(node: Node, reading: Reading) -> dict[str, Quantity] | Quantity | None:
    """Returns how much of each resource is held: a table, an amount in a unit, or of a name that is no unit's."""
    if isinstance(node, Table):
        return _TABLE_OF_NEEDS.read(node, reading)
    match = _NAMED_NEED.fullmatch(node.text.strip()) if isinstance(node, Scalar) else None
    if match is None or match[2] in units.UNITS or not isinstance(node, Scalar):
        return AMOUNT.read(node, reading)
    meant = did_you_mean(match[2], units.UNITS.keys() - {"rad"}) if match[2].isalpha() else ""  # nobody holds angles
    if meant and match[2] not in reading.resources:
        remedy = f"{meant}, or write `needs: {{{match[2]}: {match[1]}}}` where it is a resource"
        reading.problem(node.place, f"unknown unit '{match[2]}'", remedy)
        return None
    at = node.place
    end = at.column + len(match[1]) if at.line == at.end_line and not node.quoted else at.end_column
    amount = Scalar(match[1], Place(at.file, at.line, at.column, at.end_line, end))
    value = AMOUNT.read(amount, reading)
    return {match[2]: value} if value is not None else None


NEEDS: Kind[dict[str, Quantity] | Quantity] = Kind(
    _read_needs,
    {"anyOf": [dict(_TABLE_OF_NEEDS.schema), dict(AMOUNT.schema)]},
    "a quantity (`4 cpu`), or for each name one",
)


def formula_of(leaf: Scalar, reading: Reading) -> Formula | None:
    """Returns the expression in a scalar."""
    try:
        return Formula(parse(leaf.text), leaf.text, leaf.place)
    except ExpressionError as error:
        place = Formula(Number(Fraction(0)), leaf.text, leaf.place).at(error.span)
        reading.problem(place, f"{error} in '{units.shorten(leaf.text)}'", error.remedy)
        return None


def _read_formula(node: Node, reading: Reading) -> Formula | None:
    leaf = scalar(node, reading, "an expression")
    return formula_of(leaf, reading) if leaf else None


FORMULA: Kind[Formula] = Kind(_read_formula, {"type": ["string", "number"]}, "an expression")
DURATION = quantity(SECOND, low=0)
PERIOD = quantity(SECOND, positive=True)
COUNT = quantity(ONE, low=0)


def _part(leaf: Scalar) -> Quantity | None:
    """Returns the number of `1/7`; None for other text."""
    part = units.fraction(leaf.text)
    return Quantity(part, part, ONE, leaf.text.strip(), leaf.place) if part else None


def _read_devices(node: Node, reading: Reading) -> Quantity | None:
    """Returns how many devices one member holds: a whole number (or a range of them), or a share of one device."""
    share = _part(node) if isinstance(node, Scalar) else None
    value = share or COUNT.read(node, reading)
    ends = (value.low, value.high) if value is not None else ()
    whole = all(end.denominator == 1 for end in ends) and all(ends)
    if value is not None and not whole and not (value.exact and 0 < value.low < 1):
        message = f"'{value.text}' is no number of devices"
        reading.problem(value.place, message, "write whole devices, or a share of one: `1/7`")
        return None
    return value


DEVICES: Kind[Quantity] = Kind(_read_devices, {"type": ["string", "number"]}, "whole devices, or `1/7` of one")
WHOLE = quantity(ONE, low=0, whole=True)
UNLIMITED_DURATION = or_word(DURATION, "unlimited", "absent")
CARRIES = quantity(units.unit("B")[1], low=0)
VIA = listing(NAME_KIND, or_one=True)


def _read_value(node: Node, reading: Reading) -> Quantity | Formula | Word | None:
    if isinstance(node, Table):
        return ANY_QUANTITY.read(node, reading)
    leaf = scalar(node, reading, "a value")
    if leaf is None:
        return None
    if leaf.text in ("unlimited", "absent", "unset"):
        return Word(leaf.text, leaf.place)
    if ".." in leaf.text or leaf.text.startswith("varies:"):
        return parse_quantity(leaf, reading, None)
    if (part := _part(leaf)) is not None:
        return part
    try:
        value, dimension = units.quantity(leaf.text)
        return Quantity(value, value, dimension, leaf.text.strip(), leaf.place)
    except UnitError:
        if written := range_written(leaf.text):
            reading.problem(leaf.place, f"'{leaf.text.strip()}' is no range", f"a range is written {written}")
            return None
        return formula_of(leaf, reading)


VALUE: Kind[Quantity | Formula | Word] = Kind(
    _read_value, {"type": ["string", "number", "object"]}, "a quantity with its unit, or an expression"
)


def _read_members(node: Node, reading: Reading) -> Quantity | Formula | Word | None:
    """Returns how many members there are; a part of one is none, and fewer than none there never are."""
    value = VALUE.read(node, reading)
    if isinstance(value, Quantity) and (value.low < 0 or {value.low.denominator, value.high.denominator} != {1}):
        reading.problem(value.place, f"'{value.text}' is no number of members", "it counts: write for example 8")
        return None
    return value


MEMBERS: Kind[Quantity | Formula | Word] = Kind(_read_members, VALUE.schema, VALUE.holds)

ENVIRONMENTS: Kind[dict[str, str]] = Kind(
    lambda _node, _reading: None,
    {"type": "object", "additionalProperties": {"type": "object"}},
    "for each name a mapping that is written as the design is",
)
