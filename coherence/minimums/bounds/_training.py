"""Applies bounds of jobs, collectives and pipelines to tiers that say what runs on them, and to jobs.

A tier's constants: `message_size` (of each collective), `operations` (of the work), `precision` (as in `dense_fp8`),
`checkpoint_time`, `restart_time`, `device_mtbf` (of one device), `stages`, `micro_batches`; the rates of a device are
`link_bandwidth` and `port_bandwidth` (of a port of its own beside that link).  A job is a component as `simulate` runs
it: `copies`, `takes: {step, checkpoint, restart}`, `mtbf` of a node, `ranks_per_node`; the time until a failure is
noticed is not counted, for other nodes fail in it as well and do not prolong it.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from math import ceil

from coherence.base.units import SECOND
from coherence.language.design import Component, Design
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
    for job in jobs(design):
        if "mtbf" in job.constants:
            gathered = _life(Gathered(job.name), "part_mtbf", job)
            yield _constant_rate(_nodes(gathered, design, job), job, "part_mtbf").application()


UNLIKE = "that the nodes of {} fail at random at a constant rate: its `shape` says otherwise"
BESIDE = "that {} stands while it saves: it saves beside the next steps (`takes.snapshot`)"


def jobs(design: Design) -> Iterator[Component]:
    """Yields the components that are jobs, as `simulate` runs them."""
    from coherence.model.gangs import is_job

    return (component for component in design.components.values() if is_job(component))


def _life(gathered: Gathered, symbol: str, job: Component) -> Gathered:
    """Adds the mean life of a node (s), where it is a time."""
    stated = constant(job, "mtbf")
    if stated is None or stated.dimension.physical != SECOND or stated.low <= 0:
        return gathered.needs(symbol, f"mtbf of {job.name}: the mean life of a node, a time above 0 s")
    gathered.span(symbol, stated.low, stated.high)
    gathered.places.append(stated.place.labelled(f"mean life of one node of {job.name}"))
    gathered.assumptions = ("life_of_one_node",)
    return gathered


def _nodes(gathered: Gathered, design: Design, job: Component) -> Gathered:
    """Adds how many nodes carry the ranks of a job; of a gang of several no number is taken."""
    from coherence.model.gangs import gang_of

    gang = gang_of(design, job.name)
    if gang is not None:
        names = " and ".join(member.name for member in gang.members)
        return gathered.needs("n", f"{names} as one job: their ranks meet at one barrier, and a node of each ends it")
    ranks = job.copies if isinstance(job.copies, Quantity) else constant(job, "ranks")
    each = constant(job, "ranks_per_node")
    most = each.high if each is not None else Fraction(1)
    if ranks is None or ranks.low < 1 or most < 1:
        return gathered.needs("n", f"copies of {job.name}: a number of at least 1")
    least = each.low if each is not None and each.low >= 1 else Fraction(1)
    return gathered.quantity("n", ranks, "").span(
        "n", Fraction(ceil(ranks.low / most)), Fraction(ceil(ranks.high / least))
    )


def _constant_rate(gathered: Gathered, job: Component, symbol: str) -> Gathered:
    """Asks for a symbol where the nodes of a job age."""
    shape = constant(job, "shape")
    aging = "shape" in job.constants and (shape is None or not shape.low == shape.high == 1)
    return gathered.needs(symbol, UNLIKE.format(job.name)) if aging else gathered


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
        yield from (self._of_job(design, job) for job in jobs(design) if "checkpoint" in (job.takes or {}))

    def _of_job(self, design: Design, job: Component) -> Application:
        """Returns the application to a job that saves."""
        takes = job.takes or {}
        gathered = Gathered(job.name).quantity("write", takes["checkpoint"], "")
        if "snapshot" in takes:
            gathered.needs("write", BESIDE.format(job.name))
        if "restart" in self.symbols:
            gathered.quantity("restart", takes.get("restart"), f"takes.restart of {job.name}")
        nodes = _nodes(Gathered(job.name), design, job)
        _life(gathered, "mtbf", job).missing.update(nodes.missing)
        if "mtbf" in gathered.spans and "n" in nodes.spans:
            (low, high), (fewest, most) = gathered.spans["mtbf"], nodes.spans["n"]
            gathered.span("mtbf", low / most, high / fewest).places.extend(nodes.places)
        return _constant_rate(gathered, job, "mtbf").application()


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
