"""Adds up what calls and transfers bring to each link and way: requests per second times the bytes of each."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from fractions import Fraction

from coherence.language.expressions.tree import Name
from coherence.language.infrastructure import Link
from coherence.language.schema_kinds import Formula, Quantity
from coherence.model.gangs import JobGang, gangs
from coherence.model.routes import Transfer, transfers
from coherence.verify.facts.design_facts import DesignFacts
from coherence.verify.queues.offered_load import OfferedRate, offered, sent_by

ONE_LINK = Fraction(1)


@dataclass(frozen=True)
class LinkWay:
    """One way of a link (or both of one with half duplex), with the transfers that go over it.

    `exchanges`: those of gangs, whose next step begins when all of it has come, so that they bring no more than is
    carried; they are not among `transfers`.
    """

    link: Link
    name: str
    transfers: tuple[Transfer, ...]
    exchanges: tuple[tuple[JobGang, Transfer], ...] = ()

    @property
    def exchanged(self) -> Fraction | None:
        """Returns the most bytes a second that gangs bring, each as if it were alone; None where a size is missing."""
        total = Fraction(0)
        for gang, transfer in self.exchanges:
            step = gang.least_step + transfer.least
            if transfer.carries is None or not step:
                return None
            total += transfer.carries.high / step
        return total

    def capacity(self, *, high: bool) -> Fraction | None:
        """Returns bytes per second of all links alike; None where no bandwidth is stated."""
        rate, count = self.link.constants.get("bandwidth"), self.link.count
        if not isinstance(rate, Quantity):
            return None
        many = ONE_LINK if count is None else count.high if high else count.low
        return many * (rate.high if high else rate.low)

    @property
    def needs(self) -> str:
        """Returns what it needs to carry something that is known; empty where it does."""
        low = self.capacity(high=False)
        if low is None or self.capacity(high=True) is None:
            return f"needs bandwidth of the link {self.name}"
        if low <= 0:
            return f"needs a link {self.name} that is there: its bandwidth or count is 0"
        unsaid = next((exchange.name for _, exchange in self.exchanges if exchange.carries is None), "")
        return f"needs `carries` of {unsaid}, which goes over the link {self.name}" if unsaid else ""


@dataclass(frozen=True)
class LoadedWay:
    """One way of a link with the least and the most that comes over it, and what it carries, in B/s."""

    way: LinkWay
    least: Fraction
    most: Fraction
    low: Fraction
    high: Fraction

    @property
    def load(self) -> Fraction:
        """Returns the largest load, of 1."""
        return self.most / self.low

    @property
    def least_load(self) -> Fraction:
        """Returns the least load, of 1: at the better ends of all ranges."""
        return self.least / self.high


def link_ways(facts: DesignFacts) -> Iterator[LinkWay]:
    """Yields each way of a link that something goes over."""
    of = {id(exchange): gang for gang in gangs(facts.design) for exchange in gang.exchanges}
    over: dict[tuple[int, str], tuple[Link, list[Transfer]]] = {}
    for transfer in transfers(facts.design):
        for hop in transfer.hops:
            over.setdefault((id(hop.link), hop.shared_name), (hop.link, []))[1].append(transfer)
    for (_, name), (link, own) in over.items():
        others = tuple(one for one in own if id(one) not in of)
        yield LinkWay(link, name, others, tuple((of[id(one)], one) for one in own if id(one) in of))


def rate_of(facts: DesignFacts, transfer: Transfer) -> OfferedRate | None:
    """Returns how often a transfer comes; None where the design does not say."""
    if transfer.call is not None:
        return sent_by(facts.design, transfer.call)
    return _served(facts, transfer.caller, frozenset({transfer.callee}))


def _served(facts: DesignFacts, thing: str, passed: frozenset[str]) -> OfferedRate | None:
    """Returns what a thing serves where it serves all that arrives there: from the design, or from those before it."""
    rate, component = offered(facts, thing), facts.design.components.get(thing)
    arrivals = component.constants.get("arrivals") if component is not None else None
    if rate is not None or not isinstance(arrivals, Formula) or not isinstance(arrivals.tree, Name):
        return rate
    source, _, signal = arrivals.tree.path.partition(".")
    return _served(facts, source, passed | {thing}) if signal == "served" and source not in passed else None


def loads(facts: DesignFacts, ways: Iterable[LinkWay]) -> tuple[LoadedWay, ...] | None:
    """Returns what comes over each way; None where a number is lacking."""
    loaded = [_loaded(facts, way) for way in ways]
    return None if None in loaded else tuple(way for way in loaded if way is not None)


def _loaded(facts: DesignFacts, way: LinkWay) -> LoadedWay | None:
    low, high = way.capacity(high=False), way.capacity(high=True)
    brought = [_brought(facts, transfer) for transfer in way.transfers]
    if not low or high is None or None in brought:
        return None
    amounts = [pair for pair in brought if pair is not None]
    least, most = (sum((pair[end] for pair in amounts), Fraction(0)) for end in (0, 1))
    return LoadedWay(way, least, most, low, high)


def _brought(facts: DesignFacts, transfer: Transfer) -> tuple[Fraction, Fraction] | None:
    """Returns the least and the most bytes a second of a transfer; None where its size or rate is not all stated."""
    rate, size = rate_of(facts, transfer), transfer.carries
    if rate is None or size is None or rate.lacking or rate.open:
        return None
    return rate.low * size.low, rate.high * size.high
