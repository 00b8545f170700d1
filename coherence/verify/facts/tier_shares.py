"""Adds up what the members of components hold of the tier that they run on, and packs shares of a device into devices.

What runs on a tier claims it, with and without `claims:`.  A member holds `devices` of it; where that is not stated,
one.  Members that state what they `need` are added up elsewhere.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import partial, reduce

from coherence.base.places import Place
from coherence.findings.question_input import Certificate
from coherence.language.design import Component
from coherence.language.expressions.tree import Arithmetic, Name, Number, Tree
from coherence.language.infrastructure import Hosting
from coherence.language.words import MEMBERS
from coherence.verify.facts.design_facts import DesignFacts, wanted

Sizes = Mapping[Fraction, int]  # share of a device -> how many members hold it


@dataclass(frozen=True)
class TierShare:
    """The members of one component on a tier: the path that counts them, and how many devices each holds."""

    component: Component
    members: str
    devices: str  # the path of the stated number; nothing: one is assumed
    place: Place

    @property
    def tree(self) -> Tree:
        """Returns the devices that all members hold together."""
        members = Name(self.members)
        return Arithmetic("*", Name(self.devices), members) if self.devices else members


def tier_shares(facts: DesignFacts, tier: str) -> Iterator[TierShare]:
    """Yields what each component on a tier holds; one whose members nothing counts only where it says `devices`."""
    for component in facts.design.components.values():
        host = component.runs_on
        if host is None or host.text != tier or component.needs is not None:
            continue
        stated = f"{component.name}.runs_on.devices" if isinstance(host, Hosting) and host.devices else ""
        place = host.place if isinstance(host, Hosting) else None
        paths = _counted(facts, component.name) or ([f"{component.name}.copies"] if stated else [])
        for path in paths:
            yield TierShare(component, path, stated, place or component.place)


def _counted(facts: DesignFacts, thing: str) -> list[str]:
    """Returns the paths that count the members of a thing: what is wanted, else any number of members."""
    signals = {path.rpartition(".")[2]: path for path in facts.written if path.partition(".")[0] == thing}
    chosen = [path for path in wanted(facts.written, thing) if path in facts.written]
    stated = [f"{thing}.copies"] if f"{thing}.copies" in facts.values else []
    return chosen or [path for signal, path in signals.items() if signal in MEMBERS] or stated


def whole(shares: list[TierShare]) -> Tree:
    """Returns the devices that all of them hold together."""
    first, *others = [share.tree for share in shares] or [Number(Fraction(0))]
    return reduce(partial(Arithmetic, "+"), others, first)


def patterns(sizes: Sizes) -> tuple[Counter[Fraction], ...]:
    """Returns the ways to fill one device to which no further member can be added."""
    ordered = sorted(sizes, reverse=True)

    def fill(position: int, room: Fraction) -> Iterator[Counter[Fraction]]:
        if position == len(ordered):
            yield Counter()
            return
        size = ordered[position]
        for many in range(min(int(room / size), sizes[size]), -1, -1):
            for rest in fill(position + 1, room - many * size):
                yield rest + Counter({size: many}) if many else rest

    filled = [pattern for pattern in fill(0, Fraction(1)) if pattern]
    return tuple(way for way in filled if not any(way != other and way <= other for other in filled))


def packing(sizes: Sizes, devices: int, values: Mapping[str, int] | None = None) -> str:
    """Returns an SMT-LIB script, unsat where the members do not all have a place inside one of so many devices.

    With the values of a model of it the script is unsat because those values are such places.  The integers are how
    many devices are filled in each way; of shares that devices have (sevenths) there are few ways.
    SOURCE: Gilmore, Gomory, A Linear Programming Approach to the Cutting Stock Problem (1961).
    """
    ways = patterns(sizes)
    names = [f"way_{k}" for k in range(len(ways))]
    terms = [str(values.get(name, 0)) for name in names] if values is not None else names
    facts = [*(f"(<= 0 {term})" for term in terms), f"(<= {_sum(terms)} {devices})"]
    for size, many in sizes.items():
        places = [f"(* {way[size]} {term})" for way, term in zip(ways, terms, strict=True) if way[size]]
        facts.append(f"(<= {many} {_sum(places)})")
    if values is not None:
        return Certificate(claim=f"(and {' '.join(facts)})").script().replace("QF_LRA", "QF_LIA")
    return Certificate(dict.fromkeys(names, "Int"), tuple(facts), "false").script()


def _sum(terms: list[str]) -> str:
    return f"(+ {' '.join(terms)})" if len(terms) > 1 else next(iter(terms), "0")
