"""Reads the fleet that a design states: devices from its tiers, isolated rates, and the mix of its workloads.

What to write, each value with its unit:
- `infrastructure.tiers.<tier>.count`: devices; a tier without workloads' rates is left out, and told;
- `infrastructure.tiers.<tier>.rate_<workload>`: work units per second of one device alone (0: cannot run it);
- or a component that `runs_on` the tier with a `rate_per_replica`, called by the workload (directly or through
  others) or stating `serves: <workload>`; `needs: 2 gpu` says how many devices a replica takes;
- `workload.<workload>.rate` (with its `burst`): the mix is in proportion to the mean rates, which must be of one unit;
  or `share` on every workload, where units differ or no rate is known.

A tier that states a rate for some workloads cannot run the others: `assumed` names each such pair.
Facts that are missing are asked for by name.  SOURCE: definitions.md 1.1, 1.2.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from coherence.base.errors import InputError
from coherence.base.places import NOWHERE, Place
from coherence.base.units import ONE, SECOND, Dimension
from coherence.causal.ledger.capacity import Fleet, fleet
from coherence.language.design import Component, Design
from coherence.language.infrastructure import Hosting
from coherence.language.schema_kinds import Quantity, Word
from coherence.language.workloads import Workload


@dataclass(frozen=True)
class Missing:
    """A fact that the design does not state: what to write, or to measure."""

    key: str
    words: str
    place: Place


@dataclass(frozen=True)
class StatedFleet:
    """The fleet (None while facts are missing), and pairs of tier and workload that are taken to be impossible."""

    fleet: Fleet | None
    missing: tuple[Missing, ...]
    assumed: tuple[str, ...]


def fleet_of(design: Design) -> StatedFleet:
    """The fleet of a design, or every fact that is missing for it."""
    missing: list[Missing] = []
    count = dict(_counts(design, missing))
    rate = {tier: dict(_rates(design, tier, missing)) for tier in count}
    mix = _mix(design, missing)
    missing += _nothing(design, rate)
    if missing:
        return StatedFleet(None, tuple(missing), ())
    devices = [tier for tier in count if rate[tier]]
    assumed = [f"{tier} holds no device of the ledger: it states no rate" for tier in count if not rate[tier]]
    assumed += [
        f"{tier} cannot run {k}: it states rates, and none for {k} (rate_{k})"
        for tier in devices
        for k in mix
        if k not in rate[tier]
    ]
    source = design.file or "<design>"
    try:
        stated_fleet = fleet({d: count[d] for d in devices}, {d: rate[d] for d in devices}, mix, source=source)
    except InputError as error:
        missing_parts = tuple(
            Missing("infrastructure", f"{problem.message}: {problem.remedy}", problem.place)
            for problem in error.problems
        )
        return StatedFleet(None, missing_parts, tuple(assumed))
    return StatedFleet(stated_fleet, (), tuple(assumed))


def _number(found: object) -> Quantity | None:
    """A quantity that is one number."""
    return found if isinstance(found, Quantity) and found.exact else None


def _ask(key: str, words: str, found: object, place: Place) -> Missing:
    """A missing fact, or one that is there and is no number."""
    if found is None:
        return Missing(key, words, place)
    return Missing(key, f"{words}; '{found}' is not one number", getattr(found, "place", place))


def _counts(design: Design, missing: list[Missing]) -> Iterator[tuple[str, float]]:
    if not design.tiers:
        missing.append(Missing("infrastructure.tiers", "devices of each kind: tiers with a count", NOWHERE))
    for name, tier in design.tiers.items():
        count = _number(tier.count)
        if count is None:
            missing.append(_ask(f"infrastructure.tiers.{name}.count", f"devices of {name}", tier.count, tier.place))
        else:
            yield name, float(count.low)


def _rates(design: Design, tier: str, missing: list[Missing]) -> Iterator[tuple[str, float]]:
    """The isolated rate of each workload that this tier states one for."""
    for work in design.workload:
        stated = design.tiers[tier].constants.get(f"rate_{work}")
        rate = _number(stated)
        if stated is not None and (rate is None or not _per_second(rate)):
            words = f"{work} that one device of {tier} finishes alone, per second"
            missing.append(_ask(f"infrastructure.tiers.{tier}.rate_{work}", words, stated, design.tiers[tier].place))
        elif rate is not None:
            yield work, float(rate.low)
        else:
            serving = [component for component in design.components.values() if _serves(design, component, work, tier)]
            rates = [_per_device(one, missing) for one in serving]
            if rates:
                yield work, max(rates)


def _per_second(rate: Quantity) -> bool:
    return rate.dimension.physical == ONE / SECOND or (rate.low == 0 and rate.dimension.physical == ONE)


def _serves(design: Design, component: Component, work: str, tier: str) -> bool:
    if component.runs_on is None or component.runs_on.text != tier or "rate_per_replica" not in component.constants:
        return False
    serves = component.constants.get("serves")
    if serves is not None:
        return str(serves) == work
    return component.name in _reached(design, work)


def _reached(design: Design, work: str) -> set[str]:
    """Everything that is called, directly or not, for a workload."""
    reached, fresh = {work}, {work}
    while fresh:
        fresh = {
            call.callee.text for call in design.calls if call.caller and call.callee and call.caller.text in fresh
        } - reached
        reached |= fresh
    return reached


def _per_device(component: Component, missing: list[Missing]) -> float:
    stated = component.constants["rate_per_replica"]
    rate, needs = _number(stated), component.needs
    devices = _number(needs.get("gpu") if isinstance(needs, dict) else needs) if needs is not None else None
    if rate is None or not _per_second(rate):
        key = f"components.{component.name}.rate_per_replica"
        missing.append(_ask(key, "work that one replica finishes alone, per second", stated, component.place))
        return 0.0
    if needs is not None and (devices is None or devices.low <= 0):
        missing.append(_ask(f"components.{component.name}.needs", "devices of a replica, > 0", needs, component.place))
        return 0.0
    if devices is None and isinstance(component.runs_on, Hosting):
        devices = component.runs_on.devices
    return float(rate.low / devices.low) if devices is not None else float(rate.low)


def _mix(design: Design, missing: list[Missing]) -> dict[str, float]:
    """Shares of work, not scaled."""
    shares = {name: one.constants.get("share") for name, one in design.workload.items()}
    if shares and all(share is not None for share in shares.values()):
        return dict(_shares(design, shares, missing))
    units: dict[Dimension, str] = {}
    rates = {}
    for name, workload in design.workload.items():
        mean, dimension = _mean_rate(workload)
        if mean is None or dimension is None:
            key, words = f"workload.{name}.rate", f"mean arrivals of {name} (or `share` on every workload)"
            missing.append(_ask(key, words, workload.rate, workload.place))
        else:
            rates[name] = mean
            units.setdefault(dimension, name)
    if len(units) > 1:
        dimensions = " and ".join(f"{name} in {dimension}" for dimension, name in units.items())
        words = f"share of each workload: the rates are in different units ({dimensions})"
        missing.append(Missing("workload.<name>.share", words, next(iter(design.workload.values())).place))
    if not design.workload:
        missing.append(Missing("workload", "classes of work and their rates", NOWHERE))
    return rates


def _shares(design: Design, shares: Mapping[str, object], missing: list[Missing]) -> Iterator[tuple[str, float]]:
    for name, stated in shares.items():
        share = _number(stated)
        if share is None or share.dimension != ONE or share.low < 0:
            words = f"share of {name} in all work, a number from 0 to 1"
            missing.append(_ask(f"workload.{name}.share", words, stated, design.workload[name].place))
        else:
            yield name, float(share.low)


def _mean_rate(workload: Workload) -> tuple[float | None, Dimension | None]:
    """Work units per second, with bursts that come back."""
    rate = _number(workload.rate)
    if rate is None or rate.low < 0:
        return None, None
    mean, burst = float(rate.low), workload.burst
    if burst is not None and burst.every is not None:
        high, lasts, every = _number(burst.rate), _number(burst.lasts), _number(burst.every)
        if high is None or lasts is None or every is None or every.low <= 0:
            return None, None
        part = min(1.0, float(lasts.low / every.low))
        mean += (float(high.low) - mean) * part
    return mean, rate.dimension


def _nothing(design: Design, rate: dict[str, dict[str, float]]) -> Iterator[Missing]:
    """Workloads that no tier states a rate for."""
    for name in design.workload:
        if rate and not any(name in row for row in rate.values()):
            tiers = " or ".join(rate)
            words = f"work of {name} that one device of {tiers} finishes alone, per second"
            yield Missing(f"infrastructure.tiers.<tier>.rate_{name}", words, design.workload[name].place)


def signal_of(design: Design, signal: str) -> str:
    """The column or query that `telemetry:` gives for a signal such as `h100.barrier`; else its own name."""
    stated = design.telemetry.get(signal)
    return stated.text if isinstance(stated, Word) else signal
