"""Computes what each assumption is worth: the bound that remains when it is dropped, at the same inputs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from coherence.minimums.assumptions import assumption
from coherence.minimums.bound import Bound
from coherence.minimums.floors import Floor, Span, over
from coherence.minimums.registry import entry


@dataclass(frozen=True)
class Rung:
    """Dropping `assumption` leaves `floor`; `bought` is by how much the assumption raised the floor (low ends)."""

    assumption: str
    says: str
    floor: Floor | None
    missing: tuple[str, ...]
    bought: float | None


def ladder(bound: Bound, spans: Mapping[str, Span]) -> tuple[Rung, ...]:
    """Returns one rung for each assumption that a known bound does without.

    `missing`: symbols which the weaker bound needs and this one has not; then there is no number.
    """
    top = over(bound, {name: spans[name] for name in bound.names})
    return tuple(_rung(top, name, entry(other).bound, spans) for name, other in bound.without.items())


def _rung(top: Floor, name: str, weaker: Bound, spans: Mapping[str, Span]) -> Rung:
    missing = tuple(symbol for symbol in weaker.names if symbol not in spans)
    if missing:
        return Rung(name, assumption(name).says, None, missing, None)
    floor = over(weaker, {symbol: spans[symbol] for symbol in weaker.names})
    return Rung(name, assumption(name).says, floor, (), float(top.low - floor.low))
