"""Prices the states of a ledger: money beside the loss, never added to it.

    cost = sum_{d,s} p[d,s] t[d,s]        amplification[s] = (p.t[s] / cost) / (t[s] / (N T))

An amplification above 1 says that the state falls on dear devices.  Prices add no device-seconds.  Ghost costs are
accelerator time without progress (states of the structural types), tokens that no accepted result delivered, and
engineering time, which telemetry of infrastructure cannot tell.  SOURCE: definitions.md 1.5, 4.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from coherence.base.errors import InputError, Problem, did_you_mean
from coherence.base.places import Place
from coherence.base.units import unit
from coherence.causal.data.series import Floats
from coherence.causal.ledger.capacity import Fleet
from coherence.causal.ledger.states import Column
from coherence.causal.ledger.times import Times, expanded
from coherence.language.design import Design
from coherence.language.schema_kinds import Quantity

PROGRESSLESS = ("A", "B", "R", "C", "D")


@dataclass(frozen=True)
class Charge:
    """One state: its money, its share of the cost, its share of provisioned time, and their ratio (NaN: no time)."""

    name: str
    letter: str
    cost: float
    of_cost: float
    of_time: float
    amplification: float


@dataclass(frozen=True)
class Bill:
    """`cost` in the unit of the prices over the window; `currency` names the unit."""

    cost: float
    charges: tuple[Charge, ...]
    currency: str
    window: float


@dataclass(frozen=True)
class Ghost:
    """A cost without progress; `cost` is None where it cannot be told, and `missing` then says what to measure."""

    name: str
    cost: float | None
    words: str
    missing: str = ""


def bill(
    times: Times,
    prices: Mapping[str, float],
    *,
    states: Mapping[tuple[str, str], float] | None = None,
    currency: str = "usd",
) -> Bill:
    """Money by state: `prices[device]` a device-second, `states[device, state]` where a state has another price.

    Raises InputError: a device without a price, a price below 0 or not finite, an unknown state.
    """
    price = _prices(times, prices, states or {})
    seconds = times.seconds.sum(axis=0)
    money, time = (price * seconds).sum(axis=0), seconds.sum(axis=0)
    cost, whole = float(money.sum()), float(time.sum())
    charges = [
        Charge(label, column.letter, float(m), m / cost if cost else np.nan, t / whole if whole else np.nan, np.nan)
        for label, column, m, t in zip(times.labels, _columns(times), money, time, strict=True)
    ]
    return Bill(cost, tuple(_amplified(charge) for charge in charges), currency, times.window)


def _amplified(one: Charge) -> Charge:
    ratio = one.of_cost / one.of_time if one.of_time else np.nan
    return Charge(one.name, one.letter, one.cost, one.of_cost, one.of_time, ratio)


def _columns(times: Times) -> tuple[Column, ...]:
    return expanded(times.fleet.classes)


def _prices(times: Times, prices: Mapping[str, float], states: Mapping[tuple[str, str], float]) -> Floats:
    devices, labels = times.fleet.devices, times.labels
    problems = [f"{device} has no price" for device in devices if device not in prices]
    problems += [
        f"the price of {name} is {price!r}"
        for name, price in (*prices.items(), *states.items())
        if not (np.isfinite(price) and price >= 0)
    ]
    problems += [f"unknown device '{d}': {did_you_mean(d, devices)}" for d in prices if d not in devices]
    problems += [
        f"unknown state '{s}' of '{d}': {did_you_mean(s, labels)}"
        for d, s in states
        if d not in devices or s not in labels
    ]
    if problems:
        remedy = "give money per device-second for every device, such as `prices: {h100: 2.5 usd/h}`"
        raise InputError([Problem(Place("<prices>", 1, 1, 1, 1), message, remedy) for message in problems])
    table = np.array([[prices[device]] * len(labels) for device in devices])
    for (device, state), price in states.items():
        table[devices.index(device), labels.index(state)] = price
    return table


def prices_of(design: Design, fleet: Fleet) -> dict[str, float]:
    """Dollars per device-second from the `prices:` of a design, one key for each tier.  Raises InputError."""
    dollars = unit("usd/s")[1]
    prices, problems = {}, []
    for device in fleet.devices:
        stated = design.prices.get(device)
        if isinstance(stated, Quantity) and stated.exact and stated.dimension.physical == dollars:
            prices[device] = float(stated.low)
            continue
        message = f"prices: {device} is {stated}" if stated is not None else f"prices: has no '{device}'"
        place = stated.place if isinstance(stated, Quantity) else Place(design.file or "<design>", 1, 1, 1, 1)
        problems.append(Problem(place, message, f"write `prices: {{{device}: 2.5 usd/h}}`, for one device"))
    if problems:
        raise InputError(problems)
    return prices


def ghosts(
    given: Bill,
    *,
    tokens_generated: float | None = None,
    tokens_delivered: float | None = None,
    price_of_token: float | None = None,
) -> tuple[Ghost, ...]:
    """The three ghost costs, each with its amount or with what is missing to tell it.  They overlap: never add them.

    `tokens_delivered`: tokens in accepted results.
    """
    waited = sum(charge.cost for charge in given.charges if charge.letter in PROGRESSLESS)
    time = Ghost("accelerator time without progress", waited, "money of the states of types A, B, C, D and R")
    hours = Ghost(
        "engineering time on what was not the cause",
        None,
        "hours on tickets whose confirmed cause is another component than the one worked on",
        "tickets with hours, component worked on and confirmed cause: no telemetry of infrastructure has them",
    )
    return time, _tokens(tokens_generated, tokens_delivered, price_of_token), hours


def _tokens(generated: float | None, delivered: float | None, price: float | None) -> Ghost:
    name, words = "tokens burned without delivery", "tokens generated less tokens in accepted results, at their price"
    amounts = {
        "tokens generated, over all attempts (<workload>.tokens_generated)": generated,
        "tokens in accepted results (<workload>.tokens_delivered)": delivered,
    }
    missing = [
        what
        for what, n in (*amounts.items(), ("the price of a token (`prices: {token: 0.000002 usd/token}`)", price))
        if n is None
    ]
    if generated is None or delivered is None or price is None:
        return Ghost(name, None, words, ", ".join(missing))
    if not (0 <= delivered <= generated < np.inf and 0 <= price < np.inf):
        wrong = f"{delivered:.6g} tokens delivered of {generated:.6g} generated, at {price!r}"
        return Ghost(name, None, words, f"assumption violated: {wrong}; count both over the same attempts")
    return Ghost(name, price * (generated - delivered), words)
