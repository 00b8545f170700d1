"""Finds and renders the half-spaces beside the boxes of a region, for each choice of the numbers that count."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import partial

from coherence.base import units
from coherence.base.number_text import render_decimal, render_quantity
from coherence.exploring.box_answers import edit_of, spelled
from coherence.exploring.half_space_search import HalfSpaceResult, half_spaces
from coherence.exploring.half_spaces import Row
from coherence.exploring.regions import Region, is_whole
from coherence.exploring.swept_numbers import Axis, axes
from coherence.exploring.traced_answers import ParametricDesign
from coherence.findings import repairs
from coherence.findings.edited_designs import Rebuild
from coherence.findings.registry import QuestionModule

MOST_CHOICES = 8


@dataclass(frozen=True)
class Beside:
    """What was found with the counted numbers fixed: their keys and values, and the parameters that stay free."""

    fixed: tuple[tuple[str, str], ...]
    axes: tuple[Axis, ...]
    result: HalfSpaceResult


def beside(
    region: Region, parameters: Sequence[str], sources: Mapping[str, str], rebuild: Rebuild,
    modules: Sequence[QuestionModule], *, time_limit: float, bar: Callable[[float], None] = lambda _: None,
) -> tuple[Beside, ...]:  # fmt: skip
    """Returns the half-spaces of a region, for each choice of the numbers in it that count; `bar` hears the share."""
    counted = [axis for axis in region.axes if is_whole(axis)]
    free = [text for text, axis in zip(parameters, region.axes, strict=True) if not is_whole(axis)]
    chosen = [module for module in modules if any(q.code in region.at_stake for q in module.questions)]
    if not free or not chosen:
        return ()
    if region.refused:
        return (Beside((), (), HalfSpaceResult((), f"some of the values are no design: {region.refused}")),)
    choices = tuple(itertools.islice(_choices(counted), MOST_CHOICES + 1))
    if len(choices) > MOST_CHOICES:
        return (Beside((), (), HalfSpaceResult((), f"more than {MOST_CHOICES} choices of the numbers that count")),)
    done = []
    for number, choice in enumerate(choices):
        fixed = repairs.apply([edit_of(a, (n, n)) for a, n in zip(counted, choice, strict=True)], sources)
        if fixed is not None:
            axes_now = axes(free, fixed)
            values = tuple((a.key, spelled(a, n)) for a, n in zip(counted, choice, strict=True))
            result = half_spaces(
                ParametricDesign(fixed, rebuild, axes_now, time_limit), chosen, region.open_keys, region.at_risk,
                bar=partial(_heard, bar, number, len(choices)),
            )  # fmt: skip
            done.append(Beside(values, axes_now, result))
    return tuple(done)


def _heard(bar: Callable[[float], None], number: int, count: int, share: float) -> None:
    """Tells the share of all choices, from that of one of them."""
    bar((number + share) / count)


def _choices(counted: Sequence[Axis]) -> Iterator[tuple[Fraction, ...]]:
    ranges = [(int(min(axis.values)), int(max(axis.values))) for axis in counted]
    return itertools.product(*(map(Fraction, range(low, high + 1)) for low, high in ranges))


def in_words(row: Row, chosen: Sequence[Axis]) -> str:
    """Returns an inequality as `deadline >= 3 * per_try + 2 * pause`, with what is large enough on the left.

    Where the keys have one unit it is that of the constant; else every number is in the unit of its key.
    """
    alike = len({axis.dimension for axis, c in zip(chosen, row.form.coefficients, strict=True) if c}) == 1
    sizes = [Fraction(1) if alike or not axis.unit else units.unit(axis.unit)[0] for axis in chosen]
    terms = [(axis.key, c * size) for axis, c, size in zip(chosen, row.form.coefficients, sizes, strict=True) if c]
    above = any(c < 0 for _, c in terms)  # those that must be large enough stand on the left
    left = [(key, abs(c)) for key, c in terms if (c < 0) is above]
    right = [(key, abs(c)) for key, c in terms if (c < 0) is not above]
    scale = left[0][1]
    constant = (row.form.constant if above else -row.form.constant) / scale
    relation = {"<=": ">=" if above else "<=", "<": ">" if above else "<", "==": "="}[row.relation]
    others = [_term(key, c / scale) for key, c in right]
    if constant or not others:
        dimension = next(a.dimension for a, c in zip(chosen, row.form.coefficients, strict=True) if c)
        others.append(_shown(constant, dimension) if alike else _number(constant))
    words = " + ".join(_term(key, c / scale) for key, c in left)
    return f"{words} {relation} {' + '.join(others)}".replace("+ -", "- ")


def _term(key: str, factor: Fraction) -> str:
    return key if factor == 1 else f"{_number(factor)} * {key}"


def _number(number: Fraction) -> str:
    """Returns decimal digits where they are exact, else a fraction."""
    text = render_decimal(number)
    return text if units.number(text) == number else f"{number.numerator}/{number.denominator}"


def _shown(number: Fraction, dimension: units.Dimension) -> str:
    text = render_quantity(number, dimension)
    try:
        exact = units.quantity(text)[0] == number
    except units.UnitError:
        exact = False
    return text if exact else f"{_number(number)}{'' if dimension == units.ONE else f' {dimension}'}"


def in_text(all_of: Sequence[Beside]) -> list[str]:
    """Returns the lines about all half-spaces for a reader."""
    lines = []
    for entry in all_of:
        where = "".join(f"{key} = {told}: " for key, told in entry.fixed)
        for half_space in entry.result.sets:
            words = " and ".join(in_words(row, entry.axes) for row in half_space.rows) or "every value of the ranges"
            beyond = "; a conflict just beyond" if half_space.tight and half_space.rows else ""
            lines.append(f"safe, proved: {where}{words}{beyond}")
        if not entry.result.sets:
            lines.append(f"no half-space: {where}{entry.result.reason}")
    return lines


def as_data(all_of: Sequence[Beside]) -> list[dict[str, object]]:
    """Returns the same for JSON: sum of coefficient * key + constant REL 0, exact and in SI units."""
    return [
        {
            "fixed": dict(entry.fixed),
            "rows": [_row_data(row, entry.axes) for row in half_space.rows],
            "tight": half_space.tight,
            "parts": len(half_space.parts),
            "certificate": half_space.certificate,
        }
        for entry in all_of
        for half_space in entry.result.sets
    ]


def _row_data(row: Row, chosen: Sequence[Axis]) -> dict[str, object]:
    terms = {axis.key: str(c) for axis, c in zip(chosen, row.form.coefficients, strict=True)}
    return {
        "text": in_words(row, chosen),
        "coefficients": terms,
        "constant": str(row.form.constant),
        "relation": row.relation,
    }
