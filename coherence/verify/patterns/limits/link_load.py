"""link load: what calls and transfers bring to a link is more than it carries.

## What
For each link and way: requests per second times what each `carries` (bytes), over all calls and transfers whose route
goes over it, against `bandwidth` x `count` (with `duplex: half`, of both ways together).  A route is the one with the
fewest links, or the one that `via` names.  A queue whose `arrivals` are what another one has served takes a transfer
from there.  First tries alone are counted, and nothing of what comes back; a load beyond the link is certain where the
low ends of all ranges pass it, and no caller on the way serves less.

Where a size is not stated, it is asked: with the most that each may carry at the stated rate.  What jobs that call each
other exchange after each step waits for its link before the next step begins: it is no overload, and its largest share
of the link is told.

## Why it hurts
Accelerators on both sides are free while what lies between them is full: queues grow before the link, and no target
for utilization sees it.

## Example
```yaml
coherence: 1
workload: {r: {rate: 400 req/s}}
infrastructure:
  tiers: {pre: {count: 64}, dec: {count: 64}}
  links: [{ends: [pre, dec], bandwidth: 100 Gbit/s}]
components:
  pq: {uses: queue, arrivals: r.attempts, served_by: prefill}
  prefill: {uses: replica_pool, runs_on: pre, rate_per_replica: 10 req/s, takes: {start: 1 s}}
  dq: {uses: queue, arrivals: pq.served, served_by: decode, carries: 1 GB}
  decode: {uses: replica_pool, runs_on: dec, rate_per_replica: 10 req/s, takes: {start: 1 s}}
```

## Instead
`count: 40` of the link: a load of 0.8.  Or smaller transfers, or both pools on one tier.

## Source
L. Kleinrock, Queueing Systems I (1975), section 2.2: a queue without end where the load is above 1.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from fractions import Fraction
from functools import partial
from typing import TYPE_CHECKING

from coherence.base.number_text import render_decimal
from coherence.base.places import Place
from coherence.findings import repairs
from coherence.findings.finding import Finding, Repair, Step
from coherence.findings.question_input import Question, Subject, arithmetic
from coherence.language.infrastructure import Link
from coherence.language.schema_kinds import Quantity

if TYPE_CHECKING:
    from coherence.model.routes import Transfer
    from coherence.verify.facts.design_facts import DesignFacts
    from coherence.verify.queues.link_loads import LinkWay

QUESTION = Question("COH508", "link-load", "ai.01 interconnect stability")
QUESTIONS = (QUESTION,)
FIRST = "first tries alone, and nothing of what comes back"
IN_STEP = "a step of {} begins when all that it exchanges has come"
ALL_SERVED = "{} serves all that arrives there"


def ask(subject: Subject) -> Iterator[Finding]:
    """Yields one answer for each way of a link that something goes over, and for each transfer without a route."""
    design = subject.design
    if design.infrastructure is None or not design.infrastructure.links:
        return
    from coherence.model.routes import transfers
    from coherence.verify.facts.design_facts import known
    from coherence.verify.queues.link_loads import link_ways

    for transfer in (transfer for transfer in transfers(design) if transfer.needs):
        places = (transfer.place.labelled("goes over links"),)
        yield QUESTION.undecided(transfer.needs, places, _owners((transfer,)))
    for way in link_ways(known(subject)):
        yield _answer(subject, way)


def _owners(on_it: tuple[Transfer, ...]) -> tuple[str, ...]:
    names = (transfer.name if transfer.call is not None else transfer.callee for transfer in on_it)
    return tuple(dict.fromkeys(names))


def _answer(subject: Subject, way: LinkWay) -> Finding:
    from coherence.verify.calls.claims import bounded_sum
    from coherence.verify.facts.design_facts import known
    from coherence.verify.queues.link_loads import rate_of

    facts, low, high = known(subject), way.capacity(high=False), way.capacity(high=True)
    exchanges = tuple(exchange for _, exchange in way.exchanges)
    places, of = _places(way.link, (*way.transfers, *exchanges)), _owners((*way.transfers, *exchanges))
    if low is None or high is None or way.needs:
        return QUESTION.undecided(way.needs, places, of)
    rates = {transfer.name: rate_of(facts, transfer) for transfer in way.transfers}
    brought, most = Fraction(0), dict[str, Fraction]()
    for transfer in way.transfers:
        rate, size = rates[transfer.name], transfer.carries
        if rate is None:
            return QUESTION.undecided(_rate_needed(transfer), places, of)
        if size is None:
            return QUESTION.undecided(_size_needed(transfer, way.name, rate.high, low), places, of)
        brought += rate.low * size.low
        most[transfer.name] = rate.high * size.high
    total = sum(most.values(), Fraction(0))
    numbers = {"brought at most": (total, "B/s"), "carried at least": (low, "B/s"), "load": (total / low, "")}
    lacking = next((rate.lacking for rate in rates.values() if rate is not None and rate.lacking), "")
    if total < low and not lacking:
        script = bounded_sum({f"transfer_{k}": part for k, part in enumerate(most.values())} or {"nothing": total}, low)
        taken = (*([FIRST] if way.transfers else []), *(IN_STEP.format(gang.name) for gang, _ in way.exchanges))
        proof = arithmetic(numbers, certificate=script)
        return QUESTION.proved(_carried(way, total, low), places, of, proof, assumptions=tuple(dict.fromkeys(taken)))
    if total <= low:
        return QUESTION.undecided(f"needs {lacking or f'a load of {way.name} below 1, not at it'}", places, of)
    held = _held(facts, way, high)
    taken = (FIRST, *dict.fromkeys(ALL_SERVED.format(t.caller) for t in way.transfers if t.call is None), *held)
    message = (
        f"the link {way.name} has a load of {render_decimal(total / low)} of 1{_longest(way.transfers, most, low)}"
    )
    witness = (Step(None, f"in a minute {_amount((total - low) * 60)} more come than the link carries"),)
    return QUESTION.conflict(
        message, places, of, arithmetic(numbers, witness=witness), certain=brought > high and not held,
        assumptions=taken, repairs=_repairs(subject, way.link, way.transfers, total / low),
    )  # fmt: skip


def _held(facts: DesignFacts, way: LinkWay, capacity: Fraction) -> tuple[str, ...]:
    """Returns what a load beyond a link supposes of callers that may pass on less than is asked of them."""
    from coherence.verify.queues.let_through import held_above

    calls = [(t.callee, t.carries) for t in way.transfers if t.call is not None and t.carries is not None]
    words = (held_above(facts, callee, partial(_fills, size.low, capacity)) for callee, size in calls)
    return tuple(dict.fromkeys(words_of for own in words for words_of in own))


def _fills(size: Fraction, capacity: Fraction, rate: Fraction) -> bool:
    return rate * size > capacity


def _carried(way: LinkWay, total: Fraction, low: Fraction) -> str:
    """Returns the largest load in words; of gangs that could fill the link, that their steps get longer."""
    exchanged = way.exchanged
    if exchanged is not None and total + exchanged < low:
        return f"the link {way.name} has a load of at most {render_decimal((total + exchanged) / low)} of 1"
    others = " and ".join(dict.fromkeys(gang.name for gang, _ in way.exchanges))
    load = render_decimal(total / low)
    return f"the link {way.name} has a load of at most {load} of 1 beside what {others} exchanges after each step"


def _rate_needed(transfer: Transfer) -> str:
    """Returns what to write where nothing says how often a transfer comes."""
    return f"needs how often {transfer.name} comes (the `rate` of a workload that leads to it)"


def _size_needed(transfer: Transfer, name: str, rate: Fraction, capacity: Fraction) -> str:
    """Returns what to ask for where a size is missing, with the most that it may be."""
    owner = transfer.name if transfer.call is not None else transfer.callee
    room = f": at {render_decimal(rate)}/s each may carry at most {_amount(capacity / rate)}" if rate else ""
    return f"needs `carries` of {owner}, which goes over the link {name}{room}"


def _longest(on_it: tuple[Transfer, ...], most: dict[str, Fraction], capacity: Fraction) -> str:
    """Returns the longest possible rate of a link with one transfer, in words."""
    sizes = [transfer.carries for transfer in on_it]
    if len(sizes) != 1 or sizes[0] is None or not sizes[0].high:
        return ""
    rate = most[on_it[0].name] / sizes[0].high
    possible = render_decimal(capacity / sizes[0].high)
    return f": {render_decimal(rate)}/s of {sizes[0]} each, where at most {possible}/s can go"


def _amount(size: Fraction) -> str:
    units = (("GB", 10**9), ("MB", 10**6), ("kB", 10**3), ("B", 1))
    unit, scale = next(((unit, scale) for unit, scale in units if size >= scale), ("bit", Fraction(1, 8)))
    return f"{render_decimal(size / scale)} {unit}"


def _places(link: Link, on_it: tuple[Transfer, ...]) -> tuple[Place, ...]:
    rate = link.constants.get("bandwidth")
    stated = [rate.place.labelled("one link carries this")] if isinstance(rate, Quantity) else []
    stated += [link.count.place.labelled("so many links")] if link.count is not None else []
    stated += [
        transfer.carries.place.labelled(f"{transfer.name} carries this") for transfer in on_it if transfer.carries
    ]
    return tuple(stated) or tuple(place for place in (link.place,) if place is not None)


def _repairs(subject: Subject, link: Link, on_it: tuple[Transfer, ...], load: Fraction) -> Iterator[Repair]:
    """More links, or smaller transfers."""
    edits = []
    if link.count is not None and link.count.exact:
        edits.append(repairs.change(subject, link.count, Fraction(math.floor(link.count.low * load) + 1)))
    sizes = [transfer.carries for transfer in on_it if transfer.carries is not None]
    if len(sizes) == 1 and sizes[0].exact:
        edits.append(repairs.change(subject, sizes[0], Fraction(math.ceil(sizes[0].low / load) - 1)))
    for edit in edits:
        repair = repairs.proposal(edit)
        yield from [repair] if repair is not None else []
