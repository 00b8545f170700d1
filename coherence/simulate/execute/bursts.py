"""Converts the bursts of a design into a schedule of the rates of its workloads."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from fractions import Fraction
from typing import Any

from coherence.language.workloads import Workload
from coherence.model.model import Model
from coherence.simulate.execute.exact import MissingValueError, Schedule

FIRST_BURST = Fraction(60)
MOST_BURSTS = 100_000  # of a workload in one run


class BurstError(ValueError):
    """Bursts that no run can go through."""


def bursts(
    model: Model, until: Fraction, *, first: Fraction = FIRST_BURST, values: Mapping[str, Any] | None = None
) -> Schedule:
    """`Choices.schedule` of every workload's bursts that begin by `until` seconds.

    The first burst begins at `first` seconds, once or again every `every`; `<workload>.rate` takes the burst's
    rate while it lasts and its own again afterwards.  Ranges count with their lower ends, unless `values`
    gives the rate.  Raises MissingValueError, and BurstError for a burst that outlasts its period or comes too often.
    """
    entries = [
        entry
        for workload in model.design.workload.values()
        if f"{workload.name}.rate" in model.constants
        for entry in _of(workload, until, first, values or {})
    ]
    return tuple(sorted(entries, key=lambda entry: entry[0]))


def _of(
    workload: Workload, until: Fraction, first: Fraction, values: Mapping[str, Any]
) -> Iterator[tuple[Fraction, str, Any]]:
    burst, path = workload.burst, f"{workload.name}.rate"
    if burst is None:
        return
    if burst.rate is None or burst.lasts is None or workload.rate is None:
        raise MissingValueError(f"{workload.name}.burst")
    every = burst.every.low if burst.every else None
    if every is not None and every < burst.lasts.low:
        raise BurstError(f"{workload.name}.burst lasts longer than the time after which it comes again")
    if every is not None and every * MOST_BURSTS < until - first:
        raise BurstError(f"{workload.name}.burst comes more than {MOST_BURSTS:,} times")
    start, usual = first, values.get(path, workload.rate.low)
    while start <= until:
        yield start, path, burst.rate.low
        yield start + burst.lasts.low, path, usual
        if every is None:
            return
        start += every
