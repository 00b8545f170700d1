"""Applies bounds of jobs, collectives and pipelines to tiers that say what runs on them.

A tier's constants: `message_size` (of each collective), `operations` (of the work), `precision` (as in `dense_fp8`),
`checkpoint_time`, `restart_time`, `device_mtbf` (of one device), `stages`, `micro_batches`; the rates of a device are
`link_bandwidth` and `port_bandwidth` (of a port of its own beside that link).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from coherence.language.design import Design
from coherence.language.infrastructure import Tier
from coherence.language.schema_kinds import Formula, Quantity, Word
from coherence.minimums.bound import Application
from coherence.minimums.facts import Gathered, constant


def needed(gathered: Gathered, tier: Tier, **symbols: str) -> Gathered:
    """Adds constants of a tier, symbol=constant; what is not stated is asked for by its name."""
    for symbol, name in symbols.items():
        gathered.quantity(symbol, constant(tier, name), f"{name} of tier {tier.name} ({tier.place})")
    return gathered


def states(tier: Tier, *names: str) -> bool:
    """Returns whether the tier states one of these constants."""
    return any(name in tier.constants for name in names)


@dataclass(frozen=True)
class OfTiers:
    """Applies a collective to the devices of each tier that says how large its messages are.

    parts: each device holds one message of the size, and all of them together are the bytes of the collective.
    """

    parts: bool = False

    def __call__(self, design: Design) -> Iterator[Application]:
        for tier in design.tiers.values():
            if not states(tier, "message_size"):
                continue
            gathered = needed(Gathered(tier.name), tier, size="message_size", bandwidth="link_bandwidth")
            _other_ports(gathered, tier)
            size, alone = constant(tier, "message_size"), isinstance(tier.count, Quantity) and tier.count.low < 2
            count = f"a count of {tier.name} of at least 2: one device alone has nothing to exchange, a floor of 0"
            gathered.quantity("n", None if alone else tier.count, count if alone else f"count of {tier.name}")
            if self.parts and size is not None and isinstance(tier.count, Quantity):
                gathered.spans["size"] = (size.low * tier.count.low, size.high * tier.count.high)
            yield gathered.application()


def _other_ports(gathered: Gathered, tier: Tier) -> None:
    """Adds the rate of the port that each device has beside its link, where the tier states one."""
    link, port = constant(tier, "link_bandwidth"), constant(tier, "port_bandwidth")
    if link is not None and port is not None:
        gathered.quantity("bandwidth", port, "")
        gathered.span("bandwidth", link.low + port.low, link.high + port.high)


def failing(design: Design) -> Iterator[Application]:
    """Yields the job on each tier that says how often a device fails."""
    for tier in design.tiers.values():
        if states(tier, "device_mtbf"):
            gathered = needed(Gathered(tier.name), tier, part_mtbf="device_mtbf")
            yield gathered.quantity("n", tier.count, f"count of {tier.name}").application()


KEYS = {"write": "checkpoint_time", "restart": "restart_time"}  # symbol of a bound -> key of a tier


@dataclass(frozen=True)
class OfCheckpoints:
    """Applies a bound of checkpoints, by symbol: the mean time between failures is that of all devices."""

    symbols: tuple[str, ...]

    def __call__(self, design: Design) -> Iterator[Application]:
        for tier in design.tiers.values():
            if not states(tier, "checkpoint_time"):
                continue
            gathered = needed(Gathered(tier.name), tier, **{name: KEYS[name] for name in self.symbols})
            needed(gathered, tier, mtbf="device_mtbf")
            device, count = constant(tier, "device_mtbf"), tier.count
            if not isinstance(count, Quantity) or count.low < 1:
                gathered.quantity("mtbf", None, f"a count of {tier.name} that is never 0")
            elif device is not None:
                gathered.span("mtbf", device.low / count.high, device.high / count.low)
            yield gathered.application()


def piped(design: Design) -> Iterator[Application]:
    """Yields the pipeline of each tier that says how many stages it has."""
    for tier in design.tiers.values():
        if states(tier, "stages", "micro_batches"):
            yield needed(Gathered(tier.name), tier, p="stages", m="micro_batches").application()


def computing(design: Design) -> Iterator[Application]:
    """Yields every tier with a peak rate, in the precision that it says (BF16 where it says none)."""
    for tier in design.tiers.values():
        stated = tier.constants.get("precision")
        key = f"dense_{stated.text}" if isinstance(stated, Word | Formula) else "dense_bf16"
        peak = constant(tier, key) if states(tier, "precision") else constant(tier, key, "peak")
        if peak is None and not states(tier, "precision"):
            continue
        gathered = Gathered(tier.name).quantity("peak", peak, f"{key} of tier {tier.name} ({tier.place})")
        gathered.quantity("units", tier.count, f"count of {tier.name}")
        work = f"operations of tier {tier.name}: floating point operations of the work (or a measurement)"
        yield gathered.quantity("operations", constant(tier, "operations"), work).application()
