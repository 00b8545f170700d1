"""Counts tokens that were generated, and those in accepted results, from telemetry, and reads their price.

Signals of a workload: `<workload>.tokens_generated`, over all attempts, and `<workload>.tokens_delivered`, in results
that were used; counters, or tokens per second.  The price is `prices: {token: 0.000002 usd/token}`.
SOURCE: definitions.md 4 (tokens burned without delivery).
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from coherence.base.units import unit
from coherence.causal.data.series import Series
from coherence.language.design import Design
from coherence.language.schema_kinds import Quantity

TOKEN = "token"  # noqa: S105  (a unit of work, and a key of `prices`)
GENERATED, DELIVERED = "tokens_generated", "tokens_delivered"


@dataclass(frozen=True)
class TokenCounts:
    """Tokens over the record, and dollars for one; None where nothing says so."""

    generated: float | None
    delivered: float | None
    price: float | None


def token_signals(design: Design, series: Series) -> tuple[str, ...]:
    """Returns the signals that count tokens."""
    every = (f"{name}.{which}" for name in design.workload for which in (GENERATED, DELIVERED))
    return tuple(name for name in every if name in series)


def token_counts(design: Design, series: Series) -> TokenCounts:
    """Returns the counts of the workloads that have a signal, over the times at which all these have a value."""
    names = token_signals(design, series)
    values = series.of(names).values
    known = np.isfinite(values).all(axis=1)
    totals = dict(zip(names, (values[known].sum(axis=0) * series.step).tolist(), strict=True))
    counted = [name for name in design.workload if any(f"{name}.{w}" in totals for w in (GENERATED, DELIVERED))]
    return TokenCounts(_sum(totals, counted, GENERATED), _sum(totals, counted, DELIVERED), _price(design))


def _sum(totals: dict[str, float], workloads: Iterable[str], which: str) -> float | None:
    each = [totals.get(f"{name}.{which}") for name in workloads]
    known = [one for one in each if one is not None]
    return sum(known) if known and len(known) == len(each) else None


def _price(design: Design) -> float | None:
    stated = design.prices.get(TOKEN)
    if isinstance(stated, Quantity) and stated.exact and stated.dimension == unit("usd/token")[1]:
        return float(stated.low)
    return None
