"""Converts units of telemetry to SI; one that does not parse is refused where the user wrote it."""

from __future__ import annotations

import re
from fractions import Fraction

from coherence.base.errors import UsageError
from coherence.base.units import ONE, Dimension, UnitError, unit
from coherence.causal.telemetry.problems import quoted, refuse

NONE = frozenset({"", "1", "a bare number"})
_POWER = re.compile(r"([/*]?)([^/*^]+)(?:\^(-?\d))?")


def factor(text: str) -> tuple[Fraction, Dimension]:
    """Factor to SI and dimension of a unit; `rank*s`, `req/s^2` and `1/s` too.  Raises UnitError."""
    if text.strip() in NONE:
        return Fraction(1), ONE
    whole, dimension = Fraction(1), ONE
    pieces = _POWER.findall(text.strip())
    if "".join(sign + name + (f"^{power}" if power else "") for sign, name, power in pieces) != text.strip():
        raise UnitError(f"{quoted(text)} is not a unit", "write for example ms, req/s, GB or %")
    for sign, name, power in pieces:
        if name.strip() == "1":
            continue
        size, kind = unit(name.strip())
        for _ in range(abs(int(power or 1))):
            under = (sign == "/") is not (int(power or 1) < 0)
            whole, dimension = (whole / size, dimension / kind) if under else (whole * size, dimension * kind)
    return whole, dimension


def stated(text: str, where: object, line: int | None) -> None:
    """Raises InputError (UsageError where `line` is None) if the unit does not parse."""
    try:
        factor(text)
    except UnitError as error:
        if line is None:
            raise UsageError(f"the unit of {where}: {error}. {error.remedy}") from None
        raise refuse(where, line, str(error), error.remedy) from None


def shown(dimension: Dimension) -> str:
    """The SI unit as a text; 1 for none."""
    return str(dimension) if dimension.powers else "1"
