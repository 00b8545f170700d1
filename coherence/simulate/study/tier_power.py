"""Computes what the devices of a tier draw in a run: while they serve, wait for work, or sleep because none holds them.

A device that a member holds draws `full_power` while the member serves and `idle_power` otherwise; one that none holds
draws `sleep_power`, where that is not stated `idle_power`.  Waking it takes the `start` of the member that a loop adds.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from coherence.base.errors import InputError, Problem
from coherence.language.design import Component, Design
from coherence.language.infrastructure import Hosting, Tier
from coherence.language.schema_kinds import Quantity
from coherence.simulate.processes.numbers import lower
from coherence.simulate.processes.stations import READY, served_by
from coherence.simulate.requests.program import Program

if TYPE_CHECKING:
    from coherence.simulate.requests.engine import RequestResult
    from coherence.simulate.study.readings import Rows
    from coherence.simulate.study.setting import Setting

POWERS = ("sleep_power", "idle_power", "full_power")  # in rising order


@dataclass(frozen=True)
class TierPower:
    """A tier with what one of its devices draws (W); `held`: station -> devices that each of its servers holds."""

    name: str
    devices: float
    asleep: float
    idle: float
    full: float
    held: tuple[tuple[str, float], ...]


def tier_powers(design: Design, program: Program, notes: list[str]) -> tuple[TierPower, ...]:
    """Returns the tiers that state their power; `notes` tell what is taken for granted, and what is not told."""
    stated = [tier for tier in design.tiers.values() if not tier.constants.keys().isdisjoint(POWERS)]
    powers = (_tier_power(design, tier, program, notes) for tier in stated)
    return tuple(power for power in powers if power is not None)


def _tier_power(design: Design, tier: Tier, program: Program, notes: list[str]) -> TierPower | None:
    drawn = {key: _watts(tier, key, notes) for key in POWERS if key in tier.constants}
    _check_order(tier, drawn)
    lacking = [key for key in ("idle_power", "full_power") if drawn.get(key) is None]
    lacking += [] if tier.count is not None else ["count"]
    hosted = [one for one in design.components.values() if one.runs_on is not None and one.runs_on.text == tier.name]
    stations = {pool.name: [s.name for s in program.stations if _serves(design, s.name, pool)] for pool in hosted}
    others = [name for name, own in stations.items() if len(own) != 1]
    uncounted = [pool.name for pool in hosted if not _is_counted(design, pool)]
    claims = design.claims.keys() & {tier.name, f"{tier.name}.count"}
    unsaid = [one.name for one in hosted if _devices(one) is None and claims]
    why = next(iter([
        *(f"its {key} is not stated" for key in lacking),
        *(f"{name} on it is no one queue of requests" for name in others),
        *(f"the members of {name} are not stated" for name in uncounted),
        *(f"`devices` of {name} is not stated" for name in unsaid),
        *_beyond(design, tier, hosted),
    ]), "")  # fmt: skip
    idle, full = drawn.get("idle_power"), drawn.get("full_power")
    if why or idle is None or full is None or tier.count is None:
        notes.append(f"the power of {tier.name} is not told: {why}")
        return None
    notes.append(
        f"members on {tier.name} draw full power while they serve or wait for what they call, and idle power else"
    )
    notes.append(f"devices of {tier.name} that no member holds, or one that still starts, {_resting(drawn)}")
    held = tuple((stations[one.name][0], _devices(one) or 1.0) for one in hosted)
    asleep = drawn.get("sleep_power")
    return TierPower(
        tier.name,
        lower(tier.count, f"count of {tier.name}", notes),
        idle if asleep is None else asleep,
        idle,
        full,
        held,
    )


def _resting(drawn: dict[str, float | None]) -> str:
    return "sleep" if drawn.get("sleep_power") is not None else "draw idle power: `sleep_power` is not stated"


def _watts(tier: Tier, key: str, notes: list[str]) -> float | None:
    stated = tier.constants.get(key)
    if not isinstance(stated, Quantity):
        return None
    if stated.low < 0:
        message = f"{key} of {tier.name} is no power: {stated}"
        raise InputError([Problem(stated.place, message, f"write for example `{key}: 60 W`")])
    return lower(stated, f"{key} of {tier.name}", notes)


def _check_order(tier: Tier, drawn: dict[str, float | None]) -> None:
    """Raises InputError where a device draws more asleep than at rest, or at rest than in work."""
    known = [(key, power) for key in POWERS if (power := drawn.get(key)) is not None]
    for (less, below), (more, above) in itertools.pairwise(known):
        if below > above:
            message = f"{less} of {tier.name} is above its {more}: {tier.constants[less]} and {tier.constants[more]}"
            raise InputError(
                [Problem(tier.constants[less].place, message, f"write {less} at most {tier.constants[more]}")]
            )


def _serves(design: Design, station: str, pool: Component) -> bool:
    component = design.components.get(station)
    return component is not None and served_by(design, component) is pool


def _is_counted(design: Design, pool: Component) -> bool:
    """Returns whether the servers of a pool are its members: as many copies, or as many as a loop gives it."""
    written = {loop.written for loop in design.loops.values()}
    one_by_one = pool.part is None or pool.part.text != "batcher"
    return one_by_one and (isinstance(pool.copies, Quantity) or any(f"{pool.name}.{word}" in written for word in READY))


def _beyond(design: Design, tier: Tier, hosted: Sequence[Component]) -> Iterator[str]:
    """Yields that the members of pools whose number no loop writes hold more devices than a tier has, where they do."""
    moved = {loop.written.partition(".")[0] for loop in design.loops.values()}
    fixed = ((pool, pool.copies) for pool in hosted if pool.name not in moved)
    held = sum((float(many.low) * (_devices(pool) or 1.0) for pool, many in fixed if isinstance(many, Quantity)), 0.0)
    if tier.count is not None and held > tier.count.high:
        yield f"members on it hold {held:g} devices of {float(tier.count.high):g}"


def _devices(component: Component) -> float | None:
    host = component.runs_on
    return float(host.devices.low) if isinstance(host, Hosting) and host.devices is not None else None


def of_tiers(powers: Sequence[TierPower], program: Program, result: RequestResult, setting: Setting) -> Rows:
    """Returns the mean power of each tier (W), and its energy for each request that was answered (J)."""
    time = result.end - result.start
    answers = sum(result.counters[f"{source.name}.completed"] for source in program.sources if not source.again)
    shown = result.series["time"] >= setting.warmup
    at_once = {station.name: station.at_once for station in program.stations}
    for tier in powers if time > 0 and shown.any() else ():
        watts, awake = 0.0, 0.0
        for station, devices in tier.held:
            members = float(result.series[f"{station}.servers"][shown].mean()) / at_once[station]
            busy = min(result.work[f"{station}.busy_seconds"] / time / at_once[station], members)
            watts += devices * (members * tier.idle + busy * (tier.full - tier.idle))
            awake += devices * members
        resting = max(tier.devices - awake, 0.0)
        watts += resting * tier.asleep
        yield (tier.name, "power", "W"), watts
        yield (tier.name, "held by nobody", "%"), 100.0 * resting / tier.devices if tier.devices else 0.0
        if answers:
            yield (tier.name, "energy per answer", "J"), watts * time / answers
