"""inaccessible capacity: devices are there, and links between the places where they stand let less through.

## What
Every pool serves its first tries, and a link between them is asked for more than it carries: of what the pools serve
only a share is reached.  The same members on other tiers of the same kind (the same part, the same stated values, room
for their devices) reach more over the same links: it is the placement that keeps capacity from being used.

A conflict is certain where it is one at the better ends of today's ranges beside the worse ends of the other place.
Where members do not fit where they stand, or a link that they need lets nothing through, it is undecided.

Where no placement reaches more, the link is a plain bottleneck: `link load` says so, and here it is noted: more
members may have filled the place that would have reached more.  Where pools themselves do not serve the load it is
`overload`.  Nor is anything said where there is one placement alone.
Routes are those of `link load`.  Where ends of links fall into two sides with more to pass than all links between them
carry, that cut is told: no other routes would do either.  Of very many placements those that move fewest components
are tried.

## Why it hurts
Devices are added, all of them are half idle, and throughput does not grow: it is bound by a link that no utilization
shows.

## Example
```yaml
coherence: 1
workload: {r: {rate: 40 req/s}}
infrastructure:
  tiers: {east: {count: 8}, west: {count: 8}}
  links: [{ends: [east, west], bandwidth: 10 GB/s}]
components:
  prefill: {runs_on: east, copies: 4, rate_per_copy: 12 req/s}
  decode: {runs_on: west, copies: 4, rate_per_copy: 12 req/s}
calls: [{from: r, to: prefill}, {from: prefill, to: decode, carries: 500 MB}]
```

## Instead
`runs_on: east` for both: eight devices are there, and nothing goes over the link.

## Source
L. R. Ford and D. R. Fulkerson, Maximal flow through a network (1956): a cut bounds every flow across it.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

from coherence.base.number_text import render_decimal
from coherence.base.places import Place
from coherence.findings import repairs
from coherence.findings.finding import Edit, Finding, Repair, Step
from coherence.findings.question_input import Certificate, Question, Subject, arithmetic, rational
from coherence.language.schema_kinds import Quantity

if TYPE_CHECKING:
    from coherence.verify.facts.design_facts import DesignFacts
    from coherence.verify.patterns.placement._other_places import Places
    from coherence.verify.queues.link_loads import LinkWay, LoadedWay
    from coherence.verify.queues.loaded_things import LoadedThing

QUESTION = Question("COH503", "inaccessible-capacity", "ai.01 interconnect stability")
QUESTIONS = (QUESTION,)
FIRST = "first tries alone, and nothing of what comes back"
MOST_ENDS = 12  # of links, of which every cut is tried


@dataclass(frozen=True)
class LinkCut:
    """Ends of links on one side, with what has to pass to the other and what the links between carry (B/s)."""

    side: tuple[str, ...]
    passing: Fraction
    carried: Fraction


def ask(subject: Subject) -> Iterator[Finding]:
    """Yields the answer about a design whose pools could stand elsewhere, where all loads are stated."""
    design = subject.design
    if design.infrastructure is None or not design.infrastructure.links or len(design.tiers) < 2:
        return
    from coherence.verify.facts.design_facts import known
    from coherence.verify.patterns.placement._other_places import choices

    facts = known(subject)
    if choices(facts) and _serves(facts):
        yield from _answer(subject, facts)


def _answer(subject: Subject, facts: DesignFacts) -> Iterator[Finding]:
    """Yields the answer where members could stand elsewhere, or do not fit where they stand."""
    from coherence.verify.patterns.placement._other_places import choices, loaded_ways, misfit, other_places, today
    from coherence.verify.queues.link_loads import link_ways

    others, unfit = other_places(facts), misfit(facts)
    first = next(others, None)
    lacking = next((way for way in link_ways(facts) if way.needs), None)
    if lacking is not None and (unfit is not None or first is not None):
        yield _undecided(lacking.needs, lacking, choices(facts))
    elif ways := loaded_ways(facts, today(facts)):
        worst = max(ways, key=lambda way: way.load)
        if worst.load <= 1 and first is not None:
            yield _reached(facts, ways, worst)
        elif worst.load > 1 and unfit is not None:
            yield _undecided(unfit.needs, worst.way, unfit.components)
        elif worst.load > 1:
            better = _best(facts, itertools.chain([first] if first is not None else [], others), worst.load)
            yield _nowhere_more(worst) if better is None else _conflict(subject, facts, ways, *better)


def absences(subject: Subject) -> Iterator[Finding]:
    """Yields the proof that the links carry all, where there is one placement alone or nothing goes over a link."""
    design = subject.design
    if design.infrastructure is None or not design.infrastructure.links:
        return
    from coherence.verify.facts.design_facts import known
    from coherence.verify.patterns.placement._other_places import loaded_ways

    facts = known(subject)
    ways = loaded_ways(facts, {}) if _serves(facts) else None
    if ways is not None and all(way.load <= 1 for way in ways):
        claims = "".join(f" (<= {rational(way.most)} {rational(way.low)})" for way in ways)
        evidence = arithmetic({}, certificate=Certificate(claim=f"(and true{claims})").script())
        names = (*(call.name for call in design.calls), *design.components)
        yield QUESTION.absent("links carry all that the pools serve", (), names, evidence, assumptions=_assumed(facts))


def _pools(facts: DesignFacts) -> list[LoadedThing]:
    from coherence.verify.queues.loaded_things import station_of

    return [pool for name in facts.design.components if (pool := station_of(facts, name)) is not None]


def _assumed(facts: DesignFacts) -> tuple[str, ...]:
    """Returns what is taken for granted: first tries, and that pools have the members that loops may give them."""
    from coherence.verify.facts.design_facts import as_many

    scaled = (pool for pool in _pools(facts) if pool.scaled)
    return (FIRST, *(words for pool in scaled for words in as_many(facts, pool.thing, pool.members[1])))


def _serves(facts: DesignFacts) -> bool:
    """Whether every loaded pool serves what comes."""
    pools = _pools(facts)
    return bool(pools) and all(not pool.demand.open and pool.demand.high <= pool.capacity for pool in pools)


def _best(facts: DesignFacts, others: Iterator[Places], load: Fraction) -> tuple[Places, Fraction] | None:
    """Returns the first placement that carries all, else the one that comes nearest; None where none is better."""
    from coherence.verify.patterns.placement._other_places import loaded_ways

    better: tuple[Places, Fraction] | None = None
    for places in others:
        ways = loaded_ways(facts, places)
        worst = max((way.load for way in ways), default=Fraction(0)) if ways is not None else load
        if worst < (better[1] if better is not None else load):
            better = places, worst
            if worst < 1:
                break
    return better


def _reached(facts: DesignFacts, ways: tuple[LoadedWay, ...], worst: LoadedWay) -> Finding:
    claims = " ".join(f"(<= {rational(way.most)} {rational(way.low)})" for way in ways)
    message = f"links carry all that the pools serve: the fullest, {worst.way.name}, has a load of "
    message += f"at most {render_decimal(worst.load)} of 1"
    evidence = arithmetic({"load": (worst.load, "")}, certificate=Certificate(claim=f"(and {claims})").script())
    places, of = _places(worst.way), _of(worst.way)
    return QUESTION.proved(message, places, of, evidence, assumptions=_assumed(facts), margin=worst.load < 1)


def _nowhere_more(worst: LoadedWay) -> Finding:
    """Returns that it is no matter of placement: no other one that holds all members reaches more."""
    from coherence.verify.patterns.placement._other_places import MOST

    message = (
        f"no other placement that holds all members reaches more (of {MOST} at most): {worst.way.name}, with a load of "
        f"{render_decimal(worst.load)} of 1, is a plain bottleneck"
    )
    return QUESTION.note(message, _places(worst.way), _of(worst.way), arithmetic({"load": (worst.load, "")}))


def _undecided(needs: str, way: LinkWay, components: Iterable[str]) -> Finding:
    return QUESTION.undecided(needs, _places(way), (*_of(way), *components))


def _conflict(
    subject: Subject, facts: DesignFacts, ways: tuple[LoadedWay, ...], places: Places, load: Fraction
) -> Finding:
    """Returns that other places reach more; certain where they do at their worst ends, beside today's best ones."""
    from coherence.verify.patterns.placement._other_places import today

    worst, least = max(ways, key=lambda way: way.load), max(way.least_load for way in ways)
    moved = {name: tier for name, tier in places.items() if tier != today(facts)[name]}
    where = " and ".join(f"{name} on {tier}" for name, tier in moved.items())
    share, other = 1 / worst.load, min(Fraction(1), 1 / load if load else Fraction(1))
    ends = "" if least == worst.load else "at the worse ends of ranges "
    message = (
        f"{ends}links let {render_decimal(share)} of the load through that all pools serve ({worst.way.name} has "
        f"{render_decimal(worst.load)} of 1); with {where} {render_decimal(other)} of it is reached"
    )
    cut = _cut(facts)
    numbers = {"reached": (share, "of the load"), "reached elsewhere": (other, "of the load"), "load": (worst.load, "")}
    witness = [Step(None, f"{where}: the fullest link has a load of {render_decimal(load)} of 1")]
    if cut is not None:
        words = f"from {' and '.join(cut.side)} to the rest {_rate(cut.passing)} have to pass"
        witness.insert(0, Step(None, f"{words}, links between carry {_rate(cut.carried)}: no other routes would do"))
        numbers |= {"cut: to pass": (cut.passing, "B/s"), "cut: carried": (cut.carried, "B/s")}
    places_of_both = (*_places(worst.way), *_standing(facts, moved))
    return QUESTION.conflict(
        message, places_of_both, (*_of(worst.way), *moved), arithmetic(numbers, witness=witness),
        certain=least > 1 and least > load, assumptions=_assumed(facts), repairs=_move(subject, facts, moved, load),
    )  # fmt: skip


def _cut(facts: DesignFacts) -> LinkCut | None:
    """Returns the fullest cut, where more has to pass than it carries."""
    links = facts.design.infrastructure.links if facts.design.infrastructure is not None else ()
    ends = tuple(dict.fromkeys(end.text for link in links for end in link.ends))
    if len(ends) > MOST_ENDS or any(not isinstance(link.constants.get("bandwidth"), Quantity) for link in links):
        return None
    sides = (side for size in range(1, len(ends)) for side in itertools.combinations(ends, size))
    cuts = [_across(facts, side) for side in sides]
    fullest = max(cuts, key=lambda cut: cut.passing / cut.carried if cut.carried else Fraction(0))
    return fullest if fullest.passing > fullest.carried > 0 else None


def _across(facts: DesignFacts, side: tuple[str, ...]) -> LinkCut:
    """Returns what has to pass from one side to the other, at least, and what all links between carry, at most."""
    from coherence.model.routes import transfers
    from coherence.verify.queues.link_loads import ONE_LINK, rate_of

    passing = carried = Fraction(0)
    for transfer in transfers(facts.design):
        rate, hops = rate_of(facts, transfer), transfer.hops
        crosses = bool(hops) and hops[0].start in side and hops[-1].end not in side
        if rate is not None and transfer.carries is not None and crosses:
            passing += rate.low * transfer.carries.low
    for link in facts.design.infrastructure.links if facts.design.infrastructure is not None else ():
        inside = sum(end.text in side for end in link.ends)
        pairs, bandwidth = inside * (len(link.ends) - inside), link.constants["bandwidth"]
        if isinstance(bandwidth, Quantity):
            carried += pairs * bandwidth.high * (link.count.high if link.count is not None else ONE_LINK)
    return LinkCut(side, passing, carried)


def _rate(amount: Fraction) -> str:
    return f"{render_decimal(amount / 10**9)} GB/s" if amount >= 10**9 else f"{render_decimal(amount / 10**6)} MB/s"


def _of(way: LinkWay) -> tuple[str, ...]:
    names = (t.name if t.call is not None else t.callee for t in way.transfers)
    return tuple(dict.fromkeys(names))


def _places(way: LinkWay) -> tuple[Place, ...]:
    bandwidth = way.link.constants.get("bandwidth")
    stated = [bandwidth.place.labelled("one link carries this")] if isinstance(bandwidth, Quantity) else []
    stated += [way.link.count.place.labelled("so many links")] if way.link.count is not None else []
    sizes = [(t.name, t.carries) for t in way.transfers]
    return (*stated, *(size.place.labelled(f"{name} carries this") for name, size in sizes if size is not None))


def _standing(facts: DesignFacts, moved: Places) -> Iterator[Place]:
    from coherence.verify.patterns.placement._other_places import tier_word

    words = ((name, tier_word(facts.design.components[name])) for name in moved)
    yield from (word.place.labelled(f"{name} stands here") for name, word in words if word is not None)


def _move(subject: Subject, facts: DesignFacts, moved: Places, load: Fraction) -> Iterator[Repair]:
    """Yields the components on their other tiers, where those links carry the load."""
    edits: list[Edit] = []
    for place, tier in zip(_standing(facts, moved), moved.values(), strict=True):
        old = repairs.text_at(subject.sources, place)
        if old is None:
            return
        edits.append(Edit(place, old, tier))
    if load < 1:
        yield Repair(tuple(edits), "")
