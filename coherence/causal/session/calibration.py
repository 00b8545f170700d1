"""Puts what the telemetry says of a design's constants into the design: a range for each, with its source.

A constant is measured where it is the whole factor of a measured cause and the factor is identified.  Its range is the
interval at 1 % over all declared factors, so that a design that was written so is not contradicted by the same data.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from coherence.base.places import Place
from coherence.causal.session.context import Context
from coherence.causal.session.declared_strengths import (
    DeclaredStrength,
    Reach,
    constant_ranges,
    declared_strengths,
    equation_for,
    lasting_strength,
)
from coherence.findings.finding import Edit
from coherence.findings.repairs import apply, text_at

LEVEL = 0.01
DIGITS = 4
_NUMBER = r"[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?"
_UNIT = r"\s*[A-Za-z%][^\s.]*"
_STATED = re.compile(rf"({_NUMBER})(?:({_UNIT})?\s*\.\.\s*({_NUMBER}))?({_UNIT})?")
_SOURCE = "  # measured: "


@dataclass(frozen=True)
class Calibrated:
    """A constant with its measured range: the edit that writes it, or why there is none."""

    path: str
    place: Place
    old: str
    new: str = ""
    refused: str = ""


def calibrated(context: Context, sources: Mapping[str, str]) -> tuple[Calibrated, ...]:
    """Returns every constant that is a factor of a measured cause, each once, in the order of the design."""
    factors = [factor for factor in declared_strengths(context) if set(factor.constants) & set(context.model.constants)]
    by_path: dict[str, list[DeclaredStrength]] = {}
    for factor in factors:
        for path in factor.constants:
            by_path.setdefault(path, []).append(factor)
    level = LEVEL / max(len(factors), 1)
    constants = [_calibrated(context, sources, path, mine, level) for path, mine in by_path.items()]
    return tuple(sorted(constants, key=lambda constant: constant.place))


def _calibrated(
    context: Context, sources: Mapping[str, str], path: str, factors: list[DeclaredStrength], level: float
) -> Calibrated:
    place = context.model.constants[path].place
    old = text_at(sources, place) or ""
    stated = _STATED.fullmatch(old)
    alone = [factor for factor in factors if factor.per_unit is not None]
    measured = [reach for factor in alone if (reach := _measured(context, factor, level)) is not None]
    if place.file != context.design.file or stated is None or stated[2] not in (None, stated[4]):
        return Calibrated(path, place, old, refused="it is no number of this file")
    if not alone:
        return Calibrated(path, place, old, refused="the telemetry tells it only together with other constants")
    if len(measured) < len(alone):
        return Calibrated(path, place, old, refused="the telemetry does not tell it: see the influences")
    scale = _scale(stated, constant_ranges(context)[path])
    if scale is None:
        return Calibrated(path, place, old, refused="its unit is not clear from what is written: write a range above 0")
    low, high = min(one for one, _ in measured) / scale, max(one for _, one in measured) / scale
    return Calibrated(path, place, old, f"{_outward(low, -1)} .. {_outward(high, 1)}{stated[4] or ''}")


def _measured(context: Context, factor: DeclaredStrength, level: float) -> Reach | None:
    node = equation_for(context.fitted, factor)
    if node is None or factor.per_unit is None:
        return None
    _, *ends = lasting_strength(node, factor.cause, level)
    low, high = sorted(end / factor.per_unit for end in ends)
    return (low, high) if math.isfinite(low) and math.isfinite(high) else None


def _scale(stated: re.Match[str], reach: Reach) -> float | None:
    """Returns what one written unit is in the unit of the model; None where 0 is all that is written."""
    if not stated[4]:
        return 1.0
    written = float(stated[3] or stated[1]), float(stated[1])
    pairs = [(number, value) for number, value in zip(written, (reach[1], reach[0]), strict=True) if number]
    return pairs[0][1] / pairs[0][0] if pairs else None


def _outward(number: float, direction: int) -> str:
    """Returns the number with four digits, rounded away from the interval."""
    if not number:
        return "0"
    unit = 10.0 ** (math.floor(math.log10(abs(number))) - DIGITS + 1)
    steps = math.ceil(number / unit) if direction > 0 else math.floor(number / unit)
    return f"{steps * unit:.{DIGITS}g}"


def calibrated_texts(
    constants: Iterable[Calibrated], sources: Mapping[str, str], source: str
) -> Mapping[str, str]:  # fmt: skip
    """Returns the texts with the measured ranges, each line with a comment that names the source."""
    written = [constant for constant in constants if constant.new]
    changed = apply([Edit(constant.place, constant.old, constant.new) for constant in written], sources) or {}
    lines = {(constant.place.file, constant.place.line) for constant in written}
    return {file: "".join(_noted(file, text, lines, source)) for file, text in changed.items()}


def _noted(file: str, text: str, lines: set[tuple[str, int]], source: str) -> Iterator[str]:
    for number, line in enumerate(re.split(r"(?<=\n)", text), start=1):
        if (file, number) not in lines:
            yield line
            continue
        body = line.rstrip("\r\n")
        yield body.partition(_SOURCE)[0].rstrip() + _SOURCE + source + line[len(body) :]
