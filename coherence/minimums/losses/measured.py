"""Compares measurements of a design with its floors: what is proved, what the scheme costs, what is recoverable.

    THING.BOUND=VALUE           a measurement, or a range A .. B
    THING.BOUND=@FILE           samples in the order of time, one a line: a range of their mean (of a worst case
                                the largest of them)
    THING.BOUND='max VALUE'     the largest over all runs, which alone says something against a worst case
    THING.BOUND.SYMBOL=VALUE    an input of that bound, where the design states none

A measurement of a ceiling or of an upper bound has no shares: it keeps it, or refutes an assumption.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

from coherence.base.errors import UsageError, did_you_mean
from coherence.base.number_text import render_bound
from coherence.language.design import Design
from coherence.language.schema_kinds import Quantity
from coherence.minimums.assumptions import assumption
from coherence.minimums.bound import Application, Bound, Quantifier, Role, Status, Symbol, Trend
from coherence.minimums.design_floors import DesignFloor, floor_of
from coherence.minimums.floors import Floor, Number, Span
from coherence.minimums.losses.bands import Band, band_of
from coherence.minimums.losses.composition import KnownTerm, Leaf
from coherence.minimums.losses.decomposition import Decomposition, decomposition, sentences
from coherence.minimums.losses.samples import mean_range
from coherence.minimums.registry import entries, entry
from coherence.minimums.sensitivity import Worth, value_of_telemetry

Read = Callable[[Symbol, str], Any]  # a symbol's text as a range


@dataclass(frozen=True)
class CostRate:
    """What the recoverable share costs a second, in the unit of the design's price; or why there is none."""

    low: Number
    high: Number
    unit: str
    missing: str = ""


@dataclass(frozen=True)
class FloorMeasurement:
    """One measurement.  `shares` is None of a ceiling or upper bound, of which `explanation` tells what it shows."""

    thing: str
    bound: Bound
    measured: Span
    floor: Floor
    shares: Decomposition | None
    explanation: tuple[str, ...]
    worth: tuple[Worth, ...]
    band: Band | None
    cost: CostRate | None


def measurements(
    texts: Iterable[str], design: Design, floors: Sequence[DesignFloor], read: Read
) -> tuple[FloorMeasurement, ...]:
    """Returns every measurement, in the order given.  Raises UsageError naming what is wrong, missing or unknown."""
    values: dict[tuple[str, str], str] = {}
    inputs: dict[tuple[str, str], dict[str, str]] = {}
    for text in texts:
        thing, bound, symbol, written = _split(text)
        if (symbol and symbol in inputs.get((thing, bound), {})) or (not symbol and (thing, bound) in values):
            raise UsageError(f"{text.partition('=')[0]} is measured twice")
        if symbol:
            inputs.setdefault((thing, bound), {})[symbol] = written
        else:
            values[thing, bound] = written
    for key in inputs:
        if key not in values:
            raise UsageError(f"inputs of {'.'.join(key)} without a measurement: add --measured '{'.'.join(key)}=VALUE'")
    return tuple(
        _measured(thing, entry(bound).bound, written, inputs.get((thing, bound), {}), design, floors, read)
        for (thing, bound), written in values.items()
    )


def _split(text: str) -> tuple[str, str, str, str]:
    """Returns (thing, bound, symbol or nothing, value)."""
    where, equals, written = text.partition("=")
    parts = where.strip().split(".")
    if not equals or len(parts) < 2 or not written.strip():
        raise UsageError(f"'{text}' is no measurement; write THING.BOUND=VALUE, or THING.BOUND.SYMBOL=VALUE")
    for count in (1, 2):
        if len(parts) > count and parts[-count] in entries():
            return ".".join(parts[:-count]), parts[-count], parts[-1] if count == 2 else "", written.strip()
    raise UsageError(f"'{where}' names no bound: {did_you_mean(parts[-1], entries())}")


def _measured(
    thing: str, bound: Bound, written: str, given: Mapping[str, str], design: Design,
    floors: Sequence[DesignFloor], read: Read,
) -> FloorMeasurement:  # fmt: skip
    known = _application(thing, bound, design, floors)
    spans: dict[str, Any] = dict(known.spans)
    for name, text in given.items():
        if name not in bound.names:
            raise UsageError(f"{bound.name} has no symbol '{name}': {did_you_mean(name, bound.names)}")
        spans[name] = read(bound.symbol(name), text)
    for name in bound.names:
        if name not in spans:
            why = known.missing.get(name, bound.symbol(name).means)
            raise UsageError(f"{thing}.{bound.name} needs {why}: add --measured '{thing}.{bound.name}.{name}=VALUE'")
    application = floor_of(bound, Application(thing, spans, {}, known.places))
    if application.floor is None:
        raise UsageError(f"{thing}.{bound.name}: {application.why}")
    measured, note = _read(thing, bound, written.removeprefix(MAXIMUM), read)
    largest = written.startswith(MAXIMUM)
    if largest and bound.quantifier is not Quantifier.WORST:
        raise UsageError(f"{thing}.{bound.name} is of {bound.quantifier}, no worst case: leave out 'max'")
    decomposed = _decomposed(thing, bound, measured, application.floor, design)
    if bound.stands and bound.quantifier is Quantifier.WORST and measured[0] < application.floor.high and not largest:
        decomposed = replace(decomposed, shares=None, explanation=(RUN_OF_WORST,), worth=(), cost=None)
    if _contradicts(decomposed) and not given:
        note = (*(f"{name}: {assumption(name).refuted_by}" for name in known.assumptions), *note)
    return replace(decomposed, explanation=(*decomposed.explanation, *note))


def _contradicts(found: FloorMeasurement) -> bool:
    """Returns whether the measurement lies beyond its floor or ceiling, so that something assumed is wrong."""
    if found.shares is not None:
        return bool(found.shares.violated)
    return found.bound.role is Role.CEILING and found.measured[0] > found.floor.high


MAXIMUM = "max "
RUN_OF_WORST = "a worst case: a run below it refutes nothing; write 'max VALUE' for the largest over all runs"
MEAN_NOTE = "each end of the measured mean, and so of what is recoverable, holds with 95 % (12 batch means)"


def _read(thing: str, bound: Bound, written: str, read: Read) -> tuple[Span, tuple[str, ...]]:
    """Returns what was measured, and how far its ends hold.  Raises UsageError for what cannot be measured."""
    sampled = written.startswith("@")
    measured = read(Symbol(bound.name, bound.unit, bound.quantity, Trend.LIST if sampled else Trend.NEITHER), written)
    note: tuple[str, ...] = ()
    if sampled:
        samples = [row[0] for row in measured[0] if row]
        worst = bound.quantifier is Quantifier.WORST
        measured, note = ((max(samples, default=0),) * 2, ()) if worst else (mean_range(samples), (MEAN_NOTE,))
    if measured[0] > measured[1]:
        raise UsageError(f"{thing}.{bound.name}: the measured range {written} is empty")
    if measured[0] < 0 and bound.role is not Role.POINT:
        raise UsageError(f"{thing}.{bound.name}: {bound.quantity} is never below zero: {written}")
    if measured[1] > 1 and bound.quantity.startswith(("share of", "largest share of")):
        raise UsageError(f"{thing}.{bound.name}: {bound.quantity} is never above 100 %: {written}")
    return measured, note


def _application(thing: str, bound: Bound, design: Design, floors: Sequence[DesignFloor]) -> Application:
    """Returns what the design states for this bound at this thing; nothing, where the thing is only named there."""
    for floor in floors:
        if floor.bound.name == bound.name and floor.application.thing == thing:
            return floor.application
    things = dict.fromkeys([*design.tiers, *design.components, *design.workload, *design.loops, *design.jobs])
    things.update(dict.fromkeys(floor.application.thing for floor in floors))
    if thing not in things:
        raise UsageError(f"the design has nothing named '{thing}': {did_you_mean(thing, things)}")
    return Application(thing, {}, {}, ())


def _decomposed(thing: str, bound: Bound, measured: Span, floor: Floor, design: Design) -> FloorMeasurement:
    low, high = measured
    if bound.role is not Role.FLOOR or bound.kind is Status.UPPER:
        return FloorMeasurement(
            thing, bound, measured, floor, None, _upper_bound_sentences(bound, measured, floor), (), None, None
        )
    leaf = Leaf(bound, floor.inputs)
    if bound.kind is Status.CLASS_COST:
        shares = decomposition(measured, KnownTerm(Fraction(0), Fraction(0), "no floor"), scheme=leaf)
    else:
        shares = decomposition(measured, leaf)
    rest, notes = shares.recoverable, sentences(shares)
    priced = bound.unit == "1" and bound.quantity.startswith("share of") and not shares.violated
    cost = _cost(thing, design, rest.low, rest.high) if priced else None
    return FloorMeasurement(
        thing, bound, (low, high), floor, shares, notes, _worth(leaf, measured), band_of(bound.loss, design), cost
    )


def _upper_bound_sentences(bound: Bound, measured: Span, floor: Floor) -> tuple[str, ...]:
    """Returns what a measurement says of a ceiling, an upper bound or a point."""
    if bound.role is Role.POINT:
        return ("neither side of it is a loss: it is told beside the measurement",)
    if measured[0] > floor.high:
        above = render_bound(measured[0] - floor.high, bound.unit)
        first = f"{above} above it: the measurement refutes one of its assumptions"
        if bound.role is Role.CEILING and bound.kind is not Status.UPPER:
            first = f"{above} above what is possible or safe"
        guilty = (name for name in bound.assumptions if not assumption(name).ideal)
        return (first, *(f"{name}: {assumption(name).refuted_by}" for name in guilty))
    if measured[1] > floor.low:
        return ("within or above it, depending on inputs in their ranges",)
    return (f"at least {render_bound(floor.low - measured[1], bound.unit)} below it",)


def _worth(leaf: Leaf, measured: Span) -> tuple[Worth, ...]:
    """Returns which range of an input, or of the measurement, widens the recoverable interval most."""
    scalar = {s.name: leaf.inputs[s.name] for s in leaf.bound.symbols if s.way is not Trend.LIST}
    listed = {n: s for n, s in leaf.inputs.items() if n not in scalar}

    def rest(spans: Mapping[str, Span]) -> Span:
        inputs = {**listed, **{n: spans[n] for n in scalar}}
        found = decomposition(spans["the measurement"], Leaf(leaf.bound, inputs)).recoverable
        return found.low, found.high

    if not leaf.bound.stands or all(low == high for low, high in (*scalar.values(), measured)):
        return ()
    return value_of_telemetry(rest, {**scalar, "the measurement": measured})


def _cost(thing: str, design: Design, low: Number, high: Number) -> CostRate:
    """Returns the recoverable share * members * price of one, where the design prices the thing."""
    price = design.prices.get(thing)
    if not isinstance(price, Quantity):
        return CostRate(0, 0, "", f"the cost of it needs prices: {{{thing}: 2 usd/h}}")
    owner = design.tiers.get(thing)
    count = owner.count if owner is not None else getattr(design.components.get(thing), "copies", None)
    if not isinstance(count, Quantity):
        return CostRate(0, 0, "", f"the cost of it needs {'count' if owner is not None else 'copies'} of {thing}")
    ends = [share * members * cost for share in (low, high) for members in (count.low, count.high)
            for cost in (price.low, price.high)]  # fmt: skip
    return CostRate(min(ends), max(ends), str(price.dimension))
